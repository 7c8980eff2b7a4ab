//go:build modelcheck

package notifier

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// tokens is the condition of these programs: waiters want one each.
type tokens struct{ n xatomic.Int32 }

func (t *tokens) put() { t.n.Add(1) }

func (t *tokens) take() bool {
	for {
		n := t.n.Load()
		if n == 0 {
			return false
		}
		if t.n.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// await takes a token, sleeping while there is none, as the package doc says.
func await(n *Notifier, w int, t *tokens) {
	for !t.take() {
		n.Prepare(w)
		if t.take() {
			if n.Cancel(w) {
				n.Notify(1) // the notification may have been for a token that is still there
			}
			return
		}
		n.Commit(w)
	}
}

// settled checks the word when no waiter waits: no signal and no waiter may be left in it.
func settled(n *Notifier) {
	s := word(n.state.Load())
	model.Assert(!s.hasTop() && s.pre() == 0 && s.signals() == 0, "at the end the word is %v", s)
}

// TestModelNoLostWakeup: two waiters, and two notifiers that put a token each. A lost wake-up is a deadlock.
func TestModelNoLostWakeup(t *testing.T) {
	model.Check(t, func() {
		n, tok := New(2), new(tokens)
		join0 := model.Go(func() { await(n, 0, tok) })
		join1 := model.Go(func() { await(n, 1, tok) })
		join2 := model.Go(func() { tok.put(); n.Notify(1) })
		tok.put()
		n.Notify(1)
		join0()
		join1()
		join2()
		settled(n)
	})
}

// TestModelSpurious: one waiter whose sleep may end for no reason.
func TestModelSpurious(t *testing.T) {
	park.Spurious = true
	defer func() { park.Spurious = false }()
	model.Check(t, func() {
		n, tok := New(1), new(tokens)
		join := model.Go(func() { await(n, 0, tok); await(n, 0, tok) })
		for range 2 {
			tok.put()
			n.Notify(1)
		}
		join()
		settled(n)
	})
}

// TestModelNotifyTwo: one Notify(2) for two tokens.
func TestModelNotifyTwo(t *testing.T) {
	model.Check(t, func() {
		n, tok := New(2), new(tokens)
		join0 := model.Go(func() { await(n, 0, tok) })
		join1 := model.Go(func() { await(n, 1, tok) })
		tok.put()
		tok.put()
		n.Notify(2)
		join0()
		join1()
		settled(n)
	})
}

// awaitFlag is await for a condition that stays true.
func awaitFlag(n *Notifier, w int, flag *xatomic.Bool) {
	for !flag.Load() {
		n.Prepare(w)
		if flag.Load() {
			n.Cancel(w)
			return
		}
		n.Commit(w)
	}
}

// TestModelNotifyAll: all waiters wait for one flag.
func TestModelNotifyAll(t *testing.T) {
	model.Check(t, func() {
		n, flag := New(2), new(xatomic.Bool)
		join0 := model.Go(func() { awaitFlag(n, 0, flag) })
		join1 := model.Go(func() { awaitFlag(n, 1, flag) })
		flag.Store(true)
		n.NotifyAll()
		join0()
		join1()
		settled(n)
	})
}

// TestModelCancelForwards: a waiter that has a token already prepares and cancels. A notification that reached it must
// not be lost for the other waiter, which sleeps.
func TestModelCancelForwards(t *testing.T) {
	model.Check(t, func() {
		n, tok := New(2), new(tokens)
		join0 := model.Go(func() { await(n, 0, tok) })
		join1 := model.Go(func() {
			n.Prepare(1)
			n.Cancel(1) // if this is true no other waits, or waiter 0 has yet to look
		})
		tok.put()
		n.Notify(1)
		join0()
		join1()
		settled(n)
	})
}

// TestModelWoken: Notify returns how many waiters it woke. With two waiters asleep or about to sleep, Notify(1) twice
// wakes both, in any order, and neither of them twice.
func TestModelWoken(t *testing.T) {
	model.Check(t, func() {
		n := New(2)
		n.Prepare(0)
		n.Prepare(1)
		join0 := model.Go(func() { n.Commit(0) })
		join1 := model.Go(func() { n.Commit(1) })
		woken := n.Notify(1)
		woken += n.Notify(1)
		model.Assert(woken == 2, "woke %d of 2", woken)
		join0()
		join1()
		model.Assert(n.Notify(1) == 0, "woke somebody who had left")
		settled(n)
	})
}

// TestModelCommitAgain: a woken waiter commits again at once, while the notifier that woke it is still in its call and
// another pops. The epoch keeps their compare-and-swaps apart.
func TestModelCommitAgain(t *testing.T) {
	model.Check(t, func() {
		n := New(2)
		n.Prepare(0)
		n.Prepare(1)
		join0 := model.Go(func() { n.Commit(0); n.Prepare(0); n.Commit(0) })
		join1 := model.Go(func() { n.Commit(1) })
		join2 := model.Go(func() {
			for woken := 0; woken < 2; {
				if k := n.Notify(1); k > 0 {
					woken += k
				} else {
					model.Spin()
				}
			}
		})
		for n.Notify(1) == 0 {
			model.Spin()
		}
		join0()
		join1()
		join2()
		settled(n)
	})
}

// TestModelPromise: a waiter that has prepared before a NotifyAll goes on, even if a waiter that prepares later, with
// another condition, takes the signal that was left for the first.
func TestModelPromise(t *testing.T) {
	model.Check(t, func() {
		n, gone := New(2), new(xatomic.Bool)
		n.Prepare(0)
		join1 := model.Go(func() {
			n.Prepare(1)
			n.Commit(1)
			gone.Store(true)
		})
		n.NotifyAll()
		n.Commit(0)
		for !gone.Load() {
			if n.Notify(1) == 0 {
				model.Spin()
			}
		}
		join1()
	})
}

// TestModelPromiseInTheMiddle: the same while the call that notifies all is under way.
func TestModelPromiseInTheMiddle(t *testing.T) {
	model.Check(t, func() {
		n, gone := New(2), new(xatomic.Bool)
		n.Prepare(0)
		join1 := model.Go(func() {
			n.Prepare(1)
			n.Commit(1)
			gone.Store(true)
		})
		join2 := model.Go(func() { n.NotifyAll() })
		n.Commit(0)
		for !gone.Load() {
			if n.Notify(1) == 0 {
				model.Spin()
			}
		}
		join1()
		join2()
	})
}

// TestModelWalk: while NotifyAll walks along the sleepers, the first of them sleeps again.
func TestModelWalk(t *testing.T) {
	model.Check(t, func() {
		n, all := New(2), new(xatomic.Bool)
		sleeper := func(w int) func() {
			return model.Go(func() {
				n.Prepare(w)
				n.Commit(w)
				for !all.Load() {
					n.Prepare(w)
					if all.Load() {
						n.Cancel(w)
						return
					}
					n.Commit(w)
				}
			})
		}
		join0, join1 := sleeper(0), sleeper(1)
		bothSleep := func() bool {
			s := word(n.state.Load())
			return s.hasTop() && s.pre() == 0 && word(n.waiters[s.top()].next.Load()).hasTop()
		}
		for !bothSleep() {
			model.Spin()
		}
		n.NotifyAll()
		all.Store(true)
		n.NotifyAll()
		join0()
		join1()
		settled(n)
	})
}

// borrow stands in for a waiter that sleeps, if there is one: it takes a token if it finds one, and returns the waiter.
func borrow(n *Notifier, t *tokens) (took bool) { return standInFor(n, n.Borrow(len(n.waiters)), t) }

// recall is borrow for a waiter that was notified and has not got up.
func recall(n *Notifier, t *tokens) (took bool) { return standInFor(n, n.Recall(len(n.waiters)), t) }

func standInFor(n *Notifier, w int, t *tokens) (took bool) {
	if w < 0 {
		return false
	}
	took = t.take()
	n.Return(w)
	if t.n.Load() > 0 {
		n.Notify(1)
	}
	return took
}

// TestModelBorrow: two waiters, a thread that borrows one of them, and as many tokens as they take together.
func TestModelBorrow(t *testing.T) { besideOneThatStandsIn(t, borrow) }

// TestModelRecall: the same with a thread that takes back the wake-up of one of them. One waiter may be on loan while
// the other's notification comes.
func TestModelRecall(t *testing.T) { besideOneThatStandsIn(t, recall) }

func besideOneThatStandsIn(t *testing.T, standIn func(*Notifier, *tokens) (took bool)) {
	model.Check(t, func() {
		n, tok := New(2), new(tokens)
		join0 := model.Go(func() { await(n, 0, tok) })
		join1 := model.Go(func() { await(n, 1, tok) })
		join2 := model.Go(func() {
			if standIn(n, tok) {
				tok.put()
				n.Notify(1)
			}
		})
		tok.put()
		n.Notify(1)
		tok.put()
		n.Notify(1)
		join0()
		join1()
		join2()
		settled(n)
	})
}

// TestModelRecallFresh: a waiter's wake-up is taken back before the waiter has begun its Park, or while it gets up. The
// waiter sleeps again after it was woken. Sleeps may end for no reason.
func TestModelRecallFresh(t *testing.T) {
	park.Spurious = true
	defer func() { park.Spurious = false }()
	model.Check(t, func() {
		n, tok := New(1), new(tokens)
		join0 := model.Go(func() { await(n, 0, tok); await(n, 0, tok) })
		join1 := model.Go(func() {
			if recall(n, tok) {
				tok.put()
				n.Notify(1)
			}
		})
		for range 2 {
			tok.put()
			n.Notify(1)
		}
		join0()
		join1()
		settled(n)
	})
}

// TestModelRecallAll: NotifyAll reaches a waiter, or the thread that takes its wake-up back and then looks.
func TestModelRecallAll(t *testing.T) {
	model.Check(t, func() {
		n, flag := New(1), new(xatomic.Bool)
		join0 := model.Go(func() { awaitFlag(n, 0, flag) })
		join1 := model.Go(func() {
			if w := n.Recall(1); w >= 0 {
				n.Return(w)
				if flag.Load() {
					n.NotifyAll()
				}
			}
		})
		flag.Store(true)
		n.NotifyAll()
		join0()
		join1()
		settled(n)
	})
}

// TestModelBorrowFresh: a waiter is borrowed as soon as it is on the stack, and sleeps again after it was woken.
func TestModelBorrowFresh(t *testing.T) {
	model.Check(t, func() {
		n, tok := New(1), new(tokens)
		join0 := model.Go(func() { await(n, 0, tok); await(n, 0, tok) })
		join1 := model.Go(func() {
			for range 2 {
				if borrow(n, tok) {
					tok.put()
					n.Notify(1)
				}
			}
		})
		for range 2 {
			tok.put()
			n.Notify(1)
		}
		join0()
		join1()
		settled(n)
	})
}

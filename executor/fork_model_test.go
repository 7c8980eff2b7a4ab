//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// scoped runs fn with a scope and checks that nothing of it is left.
func scoped(ex *Executor, fn func(*Scope) error) error {
	err := ex.Run(context.Background(), NewJob("scope", fn))
	for _, w := range ex.workers() {
		f := forksOf(w)
		model.Assert(f.level() == f.base && f.public == f.base, "worker %d has forks left: level %d, public %d", w.id,
			f.level(), f.public)
		model.Assert(f.InUse() == 0, "worker %d has calls left", w.id)
	}
	return err
}

// once is a function that must be called exactly once. It returns its argument plus 1.
func once() (fn func(*Scope, int) int, calls *tally) {
	calls = new(tally)
	return func(_ *Scope, n int) int {
		times := calls.add()
		model.Assert(times == 1, "called %d times", times)
		return n + 1
	}, calls
}

// TestModelFork: a fork is made once, by its owner or by a thief, and its result arrives.
func TestModelFork(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		fn, calls := once()
		err := scoped(ex, func(s *Scope) error {
			model.Assert(Fork(s, fn, 1).Join(s) == 2, "the wrong result")
			return nil
		})
		model.Assert(err == nil && calls.get() == 1, "%d calls, error %v", calls.get(), err)
		stop(ex)
	})
}

// TestModelForkNested: a fork that forks. Its owner, if it has to wait, runs what the thief has forked.
func TestModelForkNested(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		inner, calls := once()
		outer := func(s *Scope, n int) int {
			f := Fork(s, inner, n)
			return f.Join(s) + 1
		}
		err := scoped(ex, func(s *Scope) error {
			model.Assert(Fork(s, outer, 1).Join(s) == 3, "the wrong result")
			return nil
		})
		model.Assert(err == nil && calls.get() == 1, "%d calls, error %v", calls.get(), err)
		stop(ex)
	})
}

// TestModelForkSiblings: thieves can take all forks of one function at the same time: three that wait for each other
// run on three workers.
func TestModelForkSiblings(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		met := barrier{n: int32(n)}
		meet := func(s *Scope, _ int) int {
			met.meet(nil)
			return 1
		}
		err := scoped(ex, func(s *Scope) error {
			var forks [2]Forked[int, int]
			for i := range n {
				forks[i] = Fork(s, meet, 0)
			}
			for i := n - 1; i >= 0; i-- {
				model.Assert(forks[i].Join(s) == 1, "the wrong result")
			}
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelForkOrder: forks that are joined in the order in which they were made, or not at all.
func TestModelForkOrder(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var fns [3]func(*Scope, int) int
		var calls [3]*tally
		for i := range fns {
			fns[i], calls[i] = once()
		}
		err := scoped(ex, func(s *Scope) error {
			var forks [3]Forked[int, int]
			for i := range forks {
				forks[i] = Fork(s, fns[i], i)
			}
			for i := range 2 {
				model.Assert(forks[i].Join(s) == i+1, "the wrong result")
			}
			return nil
		})
		for i := range calls {
			model.Assert(calls[i].get() == 1, "fork %d was called %d times, error %v", i, calls[i].get(), err)
		}
		stop(ex)
	})
}

// TestModelForkPanics: a fork panics, on any worker. Its joiner may recover, and the run goes on.
func TestModelForkPanics(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		fn, calls := once()
		fail := func(s *Scope, n int) int {
			Fork(s, fn, n) // left behind
			panic("fork")
		}
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, fail, 1)
			func() {
				defer func() {
					value := recover()
					model.Assert(value == "fork", "the panic is %v", value)
				}()
				f.Join(s)
			}()
			return nil
		})
		model.Assert(err == nil && calls.get() <= 1, "%d calls, error %v", calls.get(), err)
		stop(ex)
	})
}

// TestModelChildren: children run once each, on any worker, before Wait returns.
func TestModelChildren(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		ran := make([]int, 3)
		err := scoped(ex, func(s *Scope) error {
			s.Spawn(func(s *Scope) error {
				s.Go(func(context.Context) error { ran[0]++; return nil })
				return nil
			})
			s.Go(func(context.Context) error { ran[1]++; return nil })
			model.Assert(s.Wait() == nil, "children failed")
			model.Assert(ran[0] == 1 && ran[1] == 1, "children ran %v times", ran)
			s.Go(func(context.Context) error { ran[2]++; return nil })
			return nil
		})
		model.Assert(err == nil && ran[2] == 1, "children ran %v times, error %v", ran, err)
		stop(ex)
	})
}

// TestModelJoinSleeps: the owner has to sleep in a Join until the thief is done. The thief waits for an item from
// outside.
func TestModelJoinSleeps(t *testing.T) { onEach(t, []int{2}, joinsAThief) }

// joinsAThief joins a fork that a thief has, and that waits for something from outside.
func joinsAThief(n int, p string) {
	ex := start(n, p)
	var stolen, release xatomic.Bool
	fn := func(*Scope, int) int {
		stolen.Store(true)
		release.Await()
		return 1
	}
	join := model.Go(func() {
		stolen.Await()
		release.Store(true)
	})
	err := scoped(ex, func(s *Scope) error {
		f := Fork(s, fn, 0)
		stolen.Await() // a thief has it
		model.Assert(f.Join(s) == 1, "the wrong result")
		return nil
	})
	model.Assert(err == nil, "error %v", err)
	join()
	stop(ex)
}

// TestModelForkPushed: a fork that is pushed at once wakes a thief, though its owner attends to nothing until the fork
// is done. The next one, at the same level, is made again.
func TestModelForkPushed(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p, Forks: "pushed"}})
		err := scoped(ex, func(s *Scope) error {
			for range 2 {
				var done xatomic.Bool
				first, calls := once()
				f := Fork(s, first, 1)
				g := Fork(s, func(*Scope, int) int { done.Store(true); return 0 }, 0)
				done.Await()
				model.Assert(g.Join(s) == 0 && f.Join(s) == 2 && calls.get() == 1, "the wrong result")
			}
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelForkPushedAboveAStolenOne: a fork that is pushed at once, and joined after the one below, which a thief has
// taken, leaves no fork in use.
func TestModelForkPushedAboveAStolenOne(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p, Forks: "pushed"}})
		err := scoped(ex, func(s *Scope) error {
			var stolen xatomic.Bool
			f := Fork(s, func(*Scope, int) int { stolen.Store(true); return 1 }, 0)
			g := Fork(s, func(*Scope, int) int { return 2 }, 0)
			stolen.Await()
			model.Assert(f.Join(s) == 1 && g.Join(s) == 2, "the wrong result")
			model.Assert(forksOf(s.w).level() == s.level, "%d forks are in use", forksOf(s.w).level()-s.level)
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelForkPublicAgain: a fork at the level of one that was public and is joined is private again, and joined as
// such.
func TestModelForkPublicAgain(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var fns [2]func(*Scope, int) int
		var calls [2]*tally
		for i := range fns {
			fns[i], calls[i] = once()
		}
		err := scoped(ex, func(s *Scope) error {
			for i, fn := range fns {
				f := Fork(s, fn, i)
				model.Assert(forksOf(s.w).public <= forksOf(s.w).level(), "%d forks, %d of them public", forksOf(s.w).level(),
					forksOf(s.w).public)
				model.Assert(f.Join(s) == i+1, "the wrong result")
				model.Assert(forksOf(s.w).public <= forksOf(s.w).level(), "%d forks, %d of them public", forksOf(s.w).level(),
					forksOf(s.w).public)
			}
			return nil
		})
		model.Assert(err == nil && calls[0].get() == 1 && calls[1].get() == 1, "%d and %d calls, error %v",
			calls[0].get(), calls[1].get(), err)
		stop(ex)
	})
}

// TestModelForkAbandoned: the forks of a function are not run after it has failed, unless a thief has them.
func TestModelForkAbandoned(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var by *Worker
		err := scoped(ex, func(s *Scope) error {
			owner := s.w
			Fork(s, func(s *Scope, _ int) int { by = s.w; return 0 }, 0)
			defer func() { model.Assert(by != owner, "run before the failure") }()
			panic(owner)
		})
		p2, ok := err.(*PanicError)
		model.Assert(ok && any(by) != p2.Value, "a fork that was left behind was run by its owner, error %v", err)
		stop(ex)
	})
}

// TestModelChildrenBelow: a child that lies below where an older one was pushed is found.
func TestModelChildrenBelow(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := started(Config{
			Workers: n, Experiment: experiment.Options{Policy: p, Forks: "pushed"},
		}) // alone it would publish nothing else
		ran := 0
		count := func(context.Context) error { ran++; return nil }
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, func(*Scope, int) int { return 1 }, 0)
			s.Go(count)
			f.Join(s)
			s.Go(count)
			return s.Wait()
		})
		model.Assert(err == nil && ran == 2, "%d children ran, error %v", ran, err)
		stop(ex)
	})
}

// TestModelForkDemand: when a thief has taken the only fork that was public, the next one is published.
func TestModelForkDemand(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var stolen xatomic.Bool
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, func(*Scope, int) int { stolen.Store(true); return 1 }, 0)
			stolen.Await()
			model.Assert(s.w.lane.Demand(), "nothing to steal, and nobody has said so")
			return func() error {
				g := Fork(s, func(*Scope, int) int { return 2 }, 0)
				model.Assert(forksOf(s.w).public == forksOf(s.w).level(), "the next fork is private")
				model.Assert(g.Join(s)+f.Join(s) == 3, "the wrong result")
				return nil
			}()
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelForkSiblingsArePublic: a function's second fork publishes the first, though there is something to steal.
func TestModelForkSiblingsArePublic(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		err := scoped(ex, func(s *Scope) error {
			s.w.lane.Answer()
			var forks [2]Forked[int, int]
			for i := range forks {
				forks[i] = Fork(s, func(_ *Scope, n int) int { return n }, i)
			}
			model.Assert(forksOf(s.w).public == forksOf(s.w).level(), "of %d forks of a function %d are public",
				forksOf(s.w).level(), forksOf(s.w).public)
			model.Assert(forks[1].Join(s) == 1 && forks[0].Join(s) == 0, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelChildrenAndGoexit: Goexit ends a child that Wait runs, and with it the Wait. The other children have run,
// or never will, and no wait lasts for ever.
func TestModelChildrenAndGoexit(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		ran := 0
		err := scoped(ex, func(s *Scope) error {
			s.Go(func(context.Context) error { ran++; return nil })
			s.Go(func(context.Context) error { runtime.Goexit(); return nil })
			s.Go(func(context.Context) error { return nil })
			return s.Wait()
		})
		model.Assert(errors.Is(err, ErrGoexit) && ran <= 1, "ran %d, error %v", ran, err)
		stop(ex)
	})
}

// TestModelGoexitInForkAndChild: a fork that a thief has taken calls Goexit, and so does its child. The fork ends all
// the same, and so does its joiner.
func TestModelGoexitInForkAndChild(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var stolen xatomic.Bool
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, func(s *Scope, _ int) int {
				stolen.Store(true)
				s.Go(func(context.Context) error { runtime.Goexit(); return nil })
				runtime.Goexit()
				return 0
			}, 0)
			stolen.Await()
			f.Join(s)
			return nil
		})
		model.Assert(errors.Is(err, ErrGoexit), "error %v", err)
		stop(ex)
	})
}

// TestModelJoinHoldsALock: a function that holds a lock joins a fork, which the worker that waits for this function has
// taken. This worker has a child in its deque that wants the lock.
func TestModelJoinHoldsALock(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var mu xsync.Mutex
		var begun, taken, locked xatomic.Bool
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, func(s *Scope, _ int) int {
				begun.Store(true)
				x := Fork(s, func(*Scope, int) int {
					taken.Store(true)
					locked.Await()
					return 1
				}, 0)
				forksOf(s.w).expose()
				taken.Await()
				mu.Lock()
				defer mu.Unlock()
				locked.Store(true)
				return x.Join(s)
			}, 0)
			s.Go(func(context.Context) error {
				mu.Lock()
				mu.Unlock()
				return nil
			})
			begun.Await()
			model.Assert(f.Join(s) == 1, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelForkDemandStays: a Join that would publish older forks finds that all were joined before newer ones. There
// is still nothing to steal, and demand must say so, or later forks would all stay private.
func TestModelForkDemandStays(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var taken, release xatomic.Bool
		one := func(*Scope, int) int { return 1 }
		err := scoped(ex, func(s *Scope) error {
			busy := Fork(s, func(*Scope, int) int { taken.Store(true); release.Await(); return 1 }, 0)
			taken.Await() // by the other worker, which steals nothing meanwhile
			model.Calm(func() {
				s.w.lane.Answer()
				f := Fork(s, one, 0)
				g := func() Forked[int, int] { return Fork(s, one, 0) }()
				model.Assert(f.Join(s) == 1, "the wrong result")
				s.w.lane.NoteEmpty()
				model.Assert(g.Join(s) == 1, "the wrong result")
				model.Assert(s.w.lane.Demand(), "nothing to steal, and demand does not say so")
			})
			release.Store(true)
			model.Assert(busy.Join(s) == 1, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelChildSkipped: a run is cancelled while its child is to begin. A child that is skipped has failed, and
// observers are told why.
func TestModelChildSkipped(t *testing.T) {
	told := &Observer{TaskSkip: func(e *Event) { model.Assert(e.Err != nil, "skipped for nothing") }}
	for _, observers := range [][]*Observer{nil, {told}} {
		onDefault(t, []int{1}, func(n int, p string) {
			ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p}, Observers: observers})
			var begun xatomic.Bool
			called, waited := false, error(nil)
			r := ex.Start(context.Background(), NewJob("job", func(s *Scope) error {
				begun.Store(true)
				s.Go(func(context.Context) error { called = true; return nil })
				waited = s.Wait()
				return nil
			}))
			begun.Await()
			r.Cancel(errors.New("cancelled"))
			_ = r.Wait()
			model.Assert(called == (waited == nil), "called: %v, waited: %v", called, waited)
			death(ex)
		})
	}
}

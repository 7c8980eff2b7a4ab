package notifier

import (
	"fmt"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// MaxWaiters is the largest number of waiters of one notifier.
const MaxWaiters = stackMask - 1

// A Notifier wakes waiters that sleep because their condition was false. Make one with [New]; it must not be copied.
//
// It is the signal form of Eigen's EventCount (commit e5ac8cbd and later): the word keeps a notification for a waiter
// that has prepared and not yet committed as a signal, and any committing waiter may take it. So no thread waits for a
// preempted one.
type Notifier struct {
	_       pad.Line
	state   xatomic.Uint64 // a word
	alls    xatomic.Uint64 // calls of NotifyAll
	_       pad.Line
	waiters []waiter
}

// A waiter is written by its own thread before it commits, and read by the thread that pops it from the stack. The
// thread that has borrowed it writes what Return needs.
type waiter struct {
	next     xatomic.Uint64 // stack and epoch bits below this waiter; P1: published by the commit's compare-and-swap
	epoch    uint64         // epoch bits of the next commit or Return; the waiter's own thread, or the borrower's
	alls     uint64         // calls of NotifyAll before the last Prepare; the waiter's own thread only
	prepared bool           // between Prepare and Commit or Cancel; the waiter's own thread only
	parker   park.Parker
	place    park.Place // P1: plain fields are the waiter's, or from a notifier's pop to its Unpark the notifier's
	_        pad.Line
}

// A word is the whole state:
//
//	bits  0–13  stack    index of the waiter that committed last; all ones: none
//	bits 14–27  pre      waiters between Prepare and Commit or Cancel
//	bits 28–41  signals  notifications for pre-waiters, not yet taken; signals ≤ pre
//	bits 42–63  epoch    changes with every commit of the waiter on top of the stack
//
// W1: the epoch is per waiter. It makes a slow pop fail if the waiter left the stack and came back with another next.
// The pop errs only if the epoch wraps, by exactly 2^22 commits of one waiter, between its load and its
// compare-and-swap.
type word uint64

const (
	stackBits = 14
	stackMask = 1<<stackBits - 1

	preShift = stackBits
	preMask  = stackMask << preShift
	onePre   = 1 << preShift

	signalShift = 2 * stackBits
	signalMask  = stackMask << signalShift
	oneSignal   = 1 << signalShift

	epochShift        = 3 * stackBits
	epochMask  uint64 = 1<<64 - 1<<epochShift
	oneEpoch   uint64 = 1 << epochShift
)

func (s word) pre() int      { return int(s & preMask >> preShift) }
func (s word) signals() int  { return int(s & signalMask >> signalShift) }
func (s word) hasTop() bool  { return s&stackMask != stackMask }
func (s word) top() int      { return int(s & stackMask) }
func (s word) waiting() bool { return s.hasTop() || s.pre() > s.signals() }

func (s word) String() string {
	top := "none"
	if s.hasTop() {
		top = fmt.Sprint(s.top())
	}
	return fmt.Sprintf("stack=%s pre=%d signals=%d epoch=%d", top, s.pre(), s.signals(), uint64(s)>>epochShift)
}

// New returns a notifier for waiters 0 … waiters-1. It panics if waiters is negative or more than [MaxWaiters].
func New(waiters int) *Notifier {
	if waiters < 0 || waiters > MaxWaiters {
		panic(fmt.Sprintf("notifier: %d waiters, want 0 to %d", waiters, MaxWaiters))
	}
	n := &Notifier{waiters: make([]waiter, waiters)}
	n.state.Store(stackMask)
	return n
}

// Prepare announces that waiter w is about to check its condition for the last time. A Commit or a Cancel must follow.
// Prepare panics if w has prepared before and neither followed, or if the notifier has no waiter w.
//
// Waiter w's thread only.
func (n *Notifier) Prepare(w int) {
	me := &n.waiters[w]
	if me.prepared {
		panic(fmt.Sprintf("notifier: waiter %d prepares again without a Commit or Cancel of the first time", w))
	}
	me.prepared = true
	// D1(prepare): announce, then the caller checks the condition. Pairs with D1(notify): the notifier makes the
	// condition true, then loads the word. At least one of the two sees the other. If the waiter checked first, a
	// notifier could come in between and find no waiter to wake.
	me.alls = n.alls.Load()
	n.state.Add(onePre)
}

// unprepare takes back waiter w's Prepare. It panics if there was none, which would break I1 and corrupt the word.
func (n *Notifier) unprepare(w int) *waiter {
	me := &n.waiters[w]
	if !me.prepared {
		panic(fmt.Sprintf("notifier: Commit or Cancel of waiter %d, which has not prepared", w))
	}
	me.prepared = false
	return me
}

// Commit sleeps until waiter w is notified. A notification since its Prepare makes it return at once. It panics if
// there was no Prepare.
//
// Waiter w's thread only, after Prepare.
func (n *Notifier) Commit(w int) {
	me := n.unprepare(w)
	me.place.Note()
	epoch := me.nextEpoch() // before the compare-and-swap: from then on a borrower may write it
	for {
		s := word(n.state.Load())
		if s.signals() > 0 {
			// Any signal will do: signals are for any pre-waiter, and w is one.
			if n.state.CompareAndSwap(uint64(s), uint64(s)-onePre-oneSignal) {
				me.epoch = epoch
				return
			}
			continue
		}
		me.next.Store(uint64(s) & (stackMask | epochMask))
		if n.state.CompareAndSwap(uint64(s), uint64(s)&preMask-onePre|uint64(w)|epoch) {
			// D2(commit): go on the stack, then look for a NotifyAll since Prepare. Pairs with D2(all). NotifyAll left
			// a signal for w, but signals are anonymous: a waiter that prepared later, perhaps with another
			// condition, may have taken it.
			if n.alls.Load() != me.alls {
				n.notifyAll()
			}
			me.parker.Park()
			me.place.Return()
			return
		}
	}
}

// nextEpoch returns the epoch bits for a commit.
func (me *waiter) nextEpoch() uint64 {
	epoch := me.epoch
	me.epoch += oneEpoch
	return epoch
}

// Cancel withdraws waiter w's Prepare. If a notification was meant for w, Cancel passes it on to another waiter. If
// there is no other, Cancel returns true, and the caller must check the condition as if it had slept and been woken.
// Cancel panics if there was no Prepare.
//
// Waiter w's thread only, after Prepare.
func (n *Notifier) Cancel(w int) (notified bool) {
	n.unprepare(w)
	for {
		s := word(n.state.Load())
		next := uint64(s) - onePre
		// With fewer signals than pre-waiters, the others can take all of them.
		mine := s.signals() == s.pre()
		if mine {
			next -= oneSignal
		}
		if n.state.CompareAndSwap(uint64(s), next) {
			return mine && n.Notify(1) == 0
		}
	}
}

// Notify wakes up to count waiters, which all check the same condition, and returns how many it woke. Waiters that have
// prepared come before waiters that sleep: they cost nothing to wake. A waiter that prepares after the call began need
// not be woken by it. A count below 1 wakes no waiter.
//
// Any thread. If the caller has made the condition true by an atomic write, no further barrier is needed.
func (n *Notifier) Notify(count int) (woken int) { return n.notify(count, false) }

// NotifyApart is Notify for a caller that goes on to compute. On Linux a waiter whose thread ran last on the caller's
// CPU wakes on another: it would often wait there for the caller, though another is idle, above all on virtual
// machines. For a moment, until about the return of its Commit, the thread may not use the caller's CPU. A set of CPUs
// that the thread is given before both calls have returned may be lost.
// Nothing of the kind happens to a thread with another set of CPUs than the program began with, nor in a process that
// began with a set of its own or has a filter of system calls.
//
// The waiters must be goroutines that are locked to their threads. Any thread, as Notify.
func (n *Notifier) NotifyApart(count int) (woken int) { return n.notify(count, true) }

func (n *Notifier) notify(count int, apart bool) (woken int) {
	for woken < count {
		// D1(notify): see Prepare.
		s := word(n.state.Load())
		switch {
		case !s.waiting():
			return woken
		case s.pre() > s.signals():
			if n.state.CompareAndSwap(uint64(s), uint64(s)+oneSignal) {
				woken++
			}
		default:
			w := &n.waiters[s.top()]
			// The word changes when the waiter leaves the stack. So next is that of this commit if the
			// compare-and-swap succeeds (W1), and is discarded if not.
			if n.state.CompareAndSwap(uint64(s), uint64(s)&(preMask|signalMask)|w.next.Load()) {
				woken++
				if apart {
					w.place.Leave()
				}
				w.parker.Unpark()
				if apart {
					w.place.Return()
				}
			}
		}
	}
	return woken
}

// NotifyAll wakes every waiter that has prepared or sleeps, and returns their number. Any thread.
func (n *Notifier) NotifyAll() (woken int) {
	n.alls.Add(1) // D2(all): count the call, then empty the stack; see Commit
	return n.notifyAll()
}

// notifyAll is NotifyAll without counting the call. A waiter uses it to repeat an earlier call: if the repetition
// counted, the waiters that have prepared since would repeat it too, one after the other.
func (n *Notifier) notifyAll() (woken int) {
	for {
		// D1(notify): see Prepare.
		s := word(n.state.Load())
		if !s.waiting() {
			return 0
		}
		// Every pre-waiter gets a signal, and the stack is taken as a whole.
		if !n.state.CompareAndSwap(uint64(s), uint64(s)&preMask|uint64(s)&preMask<<stackBits|stackMask) {
			continue
		}
		woken = s.pre() - s.signals()
		for s.hasTop() {
			w := &n.waiters[s.top()]
			s = word(w.next.Load()) // before Unpark: the waiter may commit again at once and overwrite it
			woken++
			w.parker.Unpark()
		}
		return woken
	}
}

// Borrow takes the waiter that sleeps and has committed last off the stack, without waking it, and returns its index.
// It returns -1 if no waiter sleeps, or if that one's index is not below limit. Otherwise the caller stands in for the
// waiter: nobody else wakes it or borrows it until Return. Any thread.
func (n *Notifier) Borrow(limit int) int {
	for {
		s := word(n.state.Load())
		if !s.hasTop() || s.top() >= limit {
			return -1
		}
		w := &n.waiters[s.top()]
		if n.state.CompareAndSwap(uint64(s), uint64(s)&(preMask|signalMask)|w.next.Load()) { // as in Notify
			return s.top()
		}
	}
}

// Recall takes back the wake-up of a waiter below limit that a Notify has taken off the stack and that has not got up
// since: its Commit sleeps on. It returns the waiter's index, or -1 if there is none. The caller then stands in for the
// waiter as after Borrow, and has been notified in its place. Any thread.
func (n *Notifier) Recall(limit int) int {
	for w := range n.waiters[:min(limit, len(n.waiters))] {
		if n.waiters[w].parker.Recall() {
			return w
		}
	}
	return -1
}

// Return puts a borrowed waiter back to sleep: from now on it is woken as if it had just committed. Afterwards the
// caller checks the waiter's condition, as a waiter does after Prepare, and calls Notify if it is true, since
// notifications during the loan have not reached the waiter. If other threads call NotifyAll, the caller checks for
// that condition too.
//
// The borrower only, on any thread, once.
func (n *Notifier) Return(w int) {
	me := &n.waiters[w]
	epoch := me.nextEpoch()
	for {
		// D1(return): put the waiter back, then the caller checks the condition. Pairs with D1(notify).
		s := word(n.state.Load())
		me.next.Store(uint64(s) & (stackMask | epochMask))
		if n.state.CompareAndSwap(uint64(s), uint64(s)&(preMask|signalMask)|uint64(w)|epoch) {
			return
		}
	}
}

// Waiting reports whether a Notify(1) would have found a waiter to wake at some moment during the call. It is a cheap
// check before a notification that needs preparation. Any thread; barriers are as for Notify.
func (n *Notifier) Waiting() bool { return word(n.state.Load()).waiting() }

// Idle reports whether no waiter slept and none had prepared at some moment during the call. Waiting was false at that
// moment. A waiter that was notified after its Prepare counts until its Commit or Cancel. Idle is small enough to be
// inlined. Any thread; barriers are as for Notify.
func (n *Notifier) Idle() bool { return n.state.Load()&^epochMask == stackMask }

// String returns the word's fields, for dumps. Any thread.
func (n *Notifier) String() string { return word(n.state.Load()).String() }

package notifier

import (
	"fmt"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// MaxWaiters is how many waiters one notifier can have.
const MaxWaiters = stackMask - 1

// A Notifier wakes waiters that were told to sleep by their own checks. Make one with [New]; it must not be copied.
//
// It is the signal form of Eigen's EventCount (commit e5ac8cbd and later): a notification for a waiter that has
// prepared and not yet committed is kept in the word as a signal, and any committing waiter may take it, so that
// nobody waits for a preempted thread.
type Notifier struct {
	_       pad.Line
	state   xatomic.Uint64 // a word
	alls    xatomic.Uint64 // calls of NotifyAll
	_       pad.Line
	waiters []waiter
}

// A waiter is written by its own thread before it commits, and read by the thread that pops it from the stack.
type waiter struct {
	next     xatomic.Uint64 // the stack and epoch bits below this waiter; P1: published by the commit's compare-and-swap
	epoch    uint64         // epoch bits of the next commit; the waiter's own thread only
	alls     uint64         // calls of NotifyAll before the last Prepare; the waiter's own thread only
	prepared bool           // between Prepare and Commit or Cancel; the waiter's own thread only
	parker   park.Parker
	_        pad.Line
}

// A word is the whole state:
//
//	bits  0–13  stack    index of the waiter that committed last; all ones: none
//	bits 14–27  pre      waiters between Prepare and Commit or Cancel
//	bits 28–41  signals  notifications for those, not yet taken; signals ≤ pre
//	bits 42–63  epoch    changes with every commit of the waiter on top of the stack
//
// W1: the epoch is per waiter and keeps a slow pop from succeeding on a waiter that left and came back with another
// next. It would have to come round, 2^22 commits of one waiter, while one thread is between a load and its
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

// New returns a notifier for waiters 0 … waiters-1. It panics if there are more than [MaxWaiters] or fewer than none.
func New(waiters int) *Notifier {
	if waiters < 0 || waiters > MaxWaiters {
		panic(fmt.Sprintf("notifier: %d waiters, want 0 to %d", waiters, MaxWaiters))
	}
	n := &Notifier{waiters: make([]waiter, waiters)}
	n.state.Store(stackMask)
	return n
}

// Prepare announces that waiter w is about to check its condition for the last time. A Commit or a Cancel must follow.
// The announcement itself is anonymous; w says whose call it is. Prepare panics if w has prepared before and neither
// followed, or is none of the notifier's waiters.
//
// Waiter w's thread only.
func (n *Notifier) Prepare(w int) {
	me := &n.waiters[w]
	if me.prepared {
		panic(fmt.Sprintf("notifier: waiter %d prepares again without a Commit or Cancel of the first time", w))
	}
	me.prepared = true
	// D1(prepare): announce, then the caller checks the condition. Pairs with D1(notify): the notifier makes the
	// condition true, then loads the word. At least one of the two sees the other. Checking first would let a
	// notifier come in between and find nobody to wake.
	me.alls = n.alls.Load()
	n.state.Add(onePre)
}

// unprepare ends what Prepare has begun, and panics if it has not: I1 would be lost, and the word with it.
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
	for {
		s := word(n.state.Load())
		if s.signals() > 0 {
			// Any signal will do: signals are for pre-waiters, and w is one of them.
			if n.state.CompareAndSwap(uint64(s), uint64(s)-onePre-oneSignal) {
				return
			}
			continue
		}
		me.next.Store(uint64(s) & (stackMask | epochMask))
		if n.state.CompareAndSwap(uint64(s), uint64(s)&preMask-onePre|uint64(w)|me.epoch) {
			me.epoch += oneEpoch
			// D2(commit): go on the stack, then look for a NotifyAll since Prepare. Pairs with D2(all). It left a signal
			// for w, but signals carry no names: another that prepared later may have taken it, and its condition need
			// not be w's.
			if n.alls.Load() != me.alls {
				n.notifyAll()
			}
			me.parker.Park()
			return
		}
	}
}

// Cancel withdraws waiter w's Prepare. If a notification was meant for w it goes on to another waiter; if there is no
// other, Cancel returns true, and the caller must act on it: look at the condition as if it had slept and been woken.
// It panics if there was no Prepare.
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

// Notify wakes up to count waiters, all of which look at the same condition, and returns how many. Waiters that have
// prepared come before those that sleep: they cost nothing to wake. A waiter that prepares after Notify was called is
// not owed anything by this call. A count below 1 wakes nobody.
//
// Any thread. The barrier between what the caller wrote before and the look at the waiters is inside, provided that the
// write was atomic.
func (n *Notifier) Notify(count int) (woken int) {
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
			// The waiter cannot leave the stack without the word changing, so next is that of this commit if the
			// compare-and-swap succeeds (W1), and discarded if not.
			if n.state.CompareAndSwap(uint64(s), uint64(s)&(preMask|signalMask)|w.next.Load()) {
				woken++
				w.parker.Unpark()
			}
		}
	}
	return woken
}

// NotifyAll wakes every waiter that has prepared or sleeps, and returns how many there were. Any thread.
func (n *Notifier) NotifyAll() (woken int) {
	n.alls.Add(1) // D2(all): count the call, then empty the stack; see Commit
	return n.notifyAll()
}

// notifyAll is NotifyAll for a waiter that was due to be woken by an earlier call. Counting it as another would make
// those who have prepared since do the same, one after the other.
func (n *Notifier) notifyAll() (woken int) {
	for {
		// D1(notify): see Prepare.
		s := word(n.state.Load())
		if !s.waiting() {
			return 0
		}
		// Every pre-waiter gets a signal, the stack is taken as a whole.
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

// Waiting reports whether a Notify(1) would have found somebody to wake at some moment during the call. It is the cheap
// check for callers that have more to do than to notify. Any thread; the same barrier as in Notify.
func (n *Notifier) Waiting() bool { return word(n.state.Load()).waiting() }

// String tells the word's fields, for dumps. Any thread.
func (n *Notifier) String() string { return word(n.state.Load()).String() }

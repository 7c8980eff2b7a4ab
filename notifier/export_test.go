package notifier

import (
	"fmt"

	"github.com/magpie-go/magpie/internal/park"
)

// EpochBits is the width of a waiter's epoch.
const EpochBits = 64 - epochShift

// Fields is the word, unpacked.
type Fields struct {
	Pre, Signals int
	Stack        []int // top first
}

// Fields unpacks the word and walks the stack. No other thread may use the notifier meanwhile.
func (n *Notifier) Fields() Fields {
	s := word(n.state.Load())
	f := Fields{Pre: s.pre(), Signals: s.signals()}
	for s.hasTop() {
		if len(f.Stack) >= len(n.waiters) {
			panic(fmt.Sprintf("the stack runs in a circle: %v", f.Stack))
		}
		f.Stack = append(f.Stack, s.top())
		s = word(n.waiters[s.top()].next.Load())
	}
	return f
}

// Check returns an error if the word violates an invariant that holds at all times. Any thread.
func (n *Notifier) Check() error {
	s := word(n.state.Load())
	switch {
	case s.signals() > s.pre():
		return fmt.Errorf("more signals than pre-waiters: %v", s)
	case s.pre() > len(n.waiters):
		return fmt.Errorf("more pre-waiters than the %d waiters there are: %v", len(n.waiters), s)
	case s.hasTop() && s.top() >= len(n.waiters):
		return fmt.Errorf("the stack's top is none of the %d waiters: %v", len(n.waiters), s)
	case !s.hasTop() && s.pre() == len(n.waiters) && s.signals() == 0 && !s.waiting() && s.pre() > 0:
		return fmt.Errorf("pre-waiters without signals, but nobody waiting: %v", s)
	}
	return nil
}

// HasSleeper reports whether a waiter is on the stack. Any thread.
func (n *Notifier) HasSleeper() bool { return word(n.state.Load()).hasTop() }

// StartEpochs gives every waiter the same epoch. While there is no waiter.
func (n *Notifier) StartEpochs(epoch uint64) {
	for i := range n.waiters {
		n.waiters[i].epoch = epoch << epochShift
	}
}

// Sleeps returns how often waiter w went on the stack since its epoch was start. No other thread may use the notifier
// meanwhile.
func (n *Notifier) Sleeps(w int, start uint64) uint64 {
	return (n.waiters[w].epoch - start<<epochShift) >> epochShift
}

// CommitAwake is Commit without the sleep: waiter w stays on the stack, and the thread does not block. It reports
// whether it left w there. A call of Rise must follow the notification of w.
func (n *Notifier) CommitAwake(w int) (asleep bool) {
	me := &n.waiters[w]
	epoch := me.epoch
	me.parker.Unpark()
	n.Commit(w)
	me.place = park.Place{} // no thread sleeps
	asleep = me.epoch != epoch
	if !asleep {
		me.parker.Park() // the permission was not used
	}
	return asleep
}

// Rise is the rest of the Commit that CommitAwake began: it returns when waiter w has been unparked.
func (n *Notifier) Rise(w int) { n.waiters[w].parker.Park() }

// Moves returns how often waiter w's thread was kept off the CPU of its notifier. The waiter is awake.
func (n *Notifier) Moves(w int) uint64 { return n.waiters[w].place.Moves() }

package bench

import (
	"sync/atomic"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
)

// A dequeThief takes items of another thread, and counts the outcomes.
type dequeThief struct {
	steal  func() (*Item, deque.Outcome)
	deals  bool // steal is Receive
	counts outcomes
	patience
	_ pad.Line

	// The owner reads these now and then.
	stolen atomic.Int64
	failed atomic.Int64
	_      pad.Line
}

// newDequeThief returns thief i of queues[0], one of so many threads. Its own queue, queues[i], stays empty.
func newDequeThief(queues []deque.Queue[Item], i, threads int) *dequeThief {
	t := &dequeThief{steal: queues[0].Steal, patience: newPatience(threads)}
	if r, ok := queues[i].(deque.Receiver[Item]); ok {
		t.steal, t.deals = r.Receive, true
	}
	return t
}

// try tries to steal once, and marks the item that it gets.
func (t *dequeThief) try() bool {
	p, outcome := t.steal()
	t.counts[outcome]++
	if outcome != deque.Stolen {
		t.failed.Add(1)
		if !t.deals { // a receiver had better lose its core while it waits
			t.pause()
		}
		return false
	}
	p.taken++
	t.stolen.Store(int64(t.counts.stolen()))
	return true
}

// outcomes counts the outcomes of attempts to steal.
type outcomes [4]int

func (o *outcomes) stolen() int { return o[deque.Stolen] }

func (o *outcomes) add(other *outcomes) {
	for i := range o {
		o[i] += other[i]
	}
}

// retries returns two figures of failed attempts per item stolen. Empty is no reason to try again and not among the
// retries, though with the kinds that hide items it may be wrong.
func (o *outcomes) retries() []Metric {
	stolen := float64(max(o.stolen(), 1))
	return []Metric{
		{"retries/steal", float64(o[deque.NotReady]+o[deque.Lost]) / stolen},
		{"empties/steal", float64(o[deque.Empty]) / stolen},
	}
}

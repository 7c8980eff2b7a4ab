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

	// Retries are attempts that lost a race or found nothing ready. Empty is no reason to try again, though with the
	// kinds that hide items it may be wrong. Of each item the first MostRetries count: a thief that has retried more
	// often waits for an owner that has lost its core.
	retries int
	failed  int // since the last item
	atOnce  int // items that took no retry
	_       pad.Line

	// The owner reads these now and then.
	stolen   atomic.Int64
	failures atomic.Int64
	_        pad.Line
}

// MostRetries is how many retries count for one item.
const MostRetries = 32

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
		if outcome != deque.Empty {
			if t.failed++; t.failed <= MostRetries {
				t.retries++
			}
		}
		t.failures.Add(1)
		if !t.deals { // a receiver had better lose its core while it waits
			t.pause()
		}
		return false
	}
	if t.failed == 0 {
		t.atOnce++
	}
	t.failed = 0
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

// failures returns the figures of failed attempts per item stolen.
func failures(thieves ...*dequeThief) []Metric {
	var counts outcomes
	retries, atOnce := 0, 0
	for _, t := range thieves {
		counts.add(&t.counts)
		retries += t.retries
		atOnce += t.atOnce
	}
	stolen := float64(max(counts.stolen(), 1))
	return []Metric{
		{"retries/steal", float64(retries) / stolen},
		{"empties/steal", float64(counts[deque.Empty]) / stolen},
		{"at-once-percent", 100 * float64(atOnce) / stolen},
	}
}

package bench

import (
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/pad"
)

// A shared queue has one owner, which makes a number of pushes, and one thief, which makes sure that a share of them is
// stolen. After each round the owner tells how often it has pushed, and the thief makes the steals that are due then,
// and no more.
//
// If the thief cannot keep up, either the owner waits for it after each round, or the owner goes on until all steals
// that were due have been made. In the second case the share that is reached is smaller.
type shared struct {
	crowd
	owner  *dequeOwner
	thief  *dequeThief // nil if nothing is to be stolen
	pushes int
	share  int // percent

	waits bool // at the end of each round the owner waits for the steals that were due in the round before
	watch *stopwatch
	began time.Duration
	timed time.Duration // in rounds, not between them

	latencies []time.Duration // up to its capacity: the thief's times from the first attempt to the item
	_         pad.Line

	pushed atomic.Int64 // written by the owner, read by the thief
	_      pad.Line
}

// answeringRound is a round in which every kind of owner answers: an owner that deals does so about every 16
// operations.
const answeringRound = 8

// LongestRound is how many pushes the owner makes before it tells their number and hears how many items were stolen.
const LongestRound = 64

// sharing prepares a trial of a shared queue.
func sharing(trial func(*dequeRun, *shared) dequeTrial) func(*dequeRun) (dequeTrial, error) {
	return func(r *dequeRun) (dequeTrial, error) {
		queues, err := r.kind.Open(2, r.Capacity, r.Block)
		if err != nil {
			return nil, err
		}
		s := &shared{pushes: r.N, share: r.Stolen, watch: newStopwatch()}
		s.owner = newDequeOwner(r, queues[0], s.due(r.N))
		if r.Stolen > 0 {
			s.thief = newDequeThief(queues, 1, 2)
		}
		return trial(r, s), nil
	}
}

// due returns how many of the pushed items are to be stolen.
func (s *shared) due(pushed int) int { return int(int64(pushed) * int64(s.share) / 100) }

// run returns when the owner has made its pushes, with an error unless every item came out once.
func (s *shared) run(r *dequeRun) error {
	threads := []func(){s.own}
	if s.thief != nil {
		threads = append(threads, s.rob)
	}
	progress := s.pushed.Load
	if s.thief != nil {
		progress = func() int64 { return s.pushed.Load() + s.thief.stolen.Load() }
	}
	if err := s.crowd.run(r.ctx, progress, threads...); err != nil {
		return err
	}
	if s.thief == nil {
		return s.owner.check()
	}
	return s.owner.check(s.thief)
}

// counts returns the outcomes of the thief's attempts.
func (s *shared) counts() (c outcomes) {
	if s.thief != nil {
		c = s.thief.counts
	}
	return c
}

// reached returns the share that was stolen, in percent.
func (s *shared) reached() Metric {
	c := s.counts()
	return Metric{"stolen-percent", 100 * float64(c.stolen()) / float64(max(s.owner.pushes, 1))}
}

// own is the owner's thread.
func (s *shared) own() {
	defer s.over.Store(true)
	o := s.owner
	s.began = s.watch.now()
	for size := LongestRound; !s.done() && !s.over.Load(); {
		begin := s.watch.now()
		o.round(size)
		s.timed += s.watch.now() - begin - s.watch.cost
		size = s.settle(size)
	}
}

// done reports whether the owner has done its part, or its time is over.
func (s *shared) done() bool {
	switch {
	case s.owner.pushes >= s.pushes && (s.waits || s.owner.stolen >= s.due(s.pushes)):
		return true
	case s.watch.now()-s.began < runLimit:
		return false
	}
	return s.thief == nil || s.owner.stolen > 0
}

// settle tells the thief what was pushed, notes what was stolen, and returns the length of the next round. If the thief
// has to wait for operations of the owner, rounds become so short that about one item is stolen in each, but have at
// least two pushes: a look at the clock for each push would disturb the measurement; for every two it adds half a
// nanosecond.
func (s *shared) settle(size int) int {
	before := s.due(int(s.pushed.Swap(int64(min(s.owner.pushes, s.pushes)))))
	if s.thief == nil {
		return size
	}
	reached := !s.waits || s.wait(before)
	stolen := int(s.thief.stolen.Load())
	switch least := max(100/s.share, 2); {
	case reached:
		size *= 2
	case stolen == s.owner.stolen && size < answeringRound:
		size *= 2
	default:
		size = max(size/2, least)
	}
	s.owner.hear(stolen)
	return min(size, LongestRound)
}

// wait waits until that many items have been stolen, and reports whether they were. It returns false if the thief finds
// nothing meanwhile: then the thief needs an operation of the owner.
func (s *shared) wait(stolen int) bool {
	failed := s.thief.failed.Load()
	idle := newPatience(2)
	for s.thief.stolen.Load() < int64(stolen) {
		if s.thief.failed.Load() != failed || s.over.Load() {
			return false
		}
		idle.pause()
	}
	return true
}

// rob is the thief's thread.
func (s *shared) rob() {
	t := s.thief
	for !s.over.Load() {
		if t.counts.stolen() >= s.due(int(s.pushed.Load())) {
			t.pause()
			continue
		}
		if len(s.latencies) == cap(s.latencies) {
			t.try()
			continue
		}
		begin := s.watch.now()
		for !t.try() {
			if s.over.Load() {
				return
			}
		}
		s.latencies = append(s.latencies, max(0, s.watch.now()-begin-s.watch.cost))
	}
}

package bench

import (
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/pad"
)

// A shared queue has one owner, which makes a number of pushes, and one thief, which makes sure that a share of them is
// stolen. After each round the owner tells how often it has pushed, and the thief makes the steals that are due then,
// and no more. The thief spaces them evenly over the next round, by the clock: the owner also tells how long it takes
// for the pushes between two steals. Steals in bursts would wait for answers that the owner has no time to give. If the
// owner told each push that makes a steal due, it would pay for that in the round.
//
// If the thief cannot keep up, either the owner waits for it after each round, or the owner goes on until all steals
// that were due have been made. In the second case the share that is reached is smaller.
type shared struct {
	crowd
	owner  *dequeOwner
	thief  *dequeThief // nil if nothing is to be stolen
	pushes int
	share  int // percent

	pass    float64    // ns that a cache line takes from one thread's core to the other's; 0 if passes is nil
	passes  *ball      // nil, or begins the run
	waits   bool       // at the end of each round the owner waits for the steals that were due in the round before
	watch   *stopwatch // the owner's
	began   time.Duration
	timed   time.Duration // in rounds, not between them, with the looks at the clock
	rounds  int
	perPush float64 // ns, of the last few rounds
	_       pad.Line

	thiefWatch *stopwatch
	latencies  []time.Duration // up to its capacity: the thief's times from the first attempt to the item
	_          pad.Line

	// Written by the owner, read by the thief.
	pushed atomic.Int64
	gap    atomic.Int64 // ns from one steal to the next
	_      pad.Line
}

// gaugeEvery is the number of rounds, or of latencies, for one measurement of the clock's cost.
const gaugeEvery = 32

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
		s := &shared{pushes: r.N, share: r.Stolen, watch: newStopwatch(), thiefWatch: newStopwatch()}
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
	threads := []func(){s.own, s.standBy}
	progress := s.pushed.Load
	if s.thief != nil {
		threads[1] = s.rob
		progress = func() int64 { return s.pushed.Load() + s.thief.stolen.Load() }
	}
	if err := s.crowd.run(r.ctx, progress, threads...); err != nil {
		return err
	}
	return s.owner.check(s.thieves()...)
}

// thieves returns the thief, if there is one.
func (s *shared) thieves() []*dequeThief {
	if s.thief == nil {
		return nil
	}
	return []*dequeThief{s.thief}
}

// reached returns the share that was stolen, in percent.
func (s *shared) reached() Metric {
	stolen := 0
	for _, t := range s.thieves() {
		stolen = t.counts.stolen()
	}
	return Metric{"stolen-percent", 100 * float64(stolen) / float64(max(s.owner.pushes, 1))}
}

// own is the owner's thread.
func (s *shared) own() {
	defer s.over.Store(true)
	o := s.owner
	if s.passes != nil {
		s.pass = s.passes.serve()
	}
	s.began = s.watch.now()
	s.watch.gauge(gaugeEvery)
	for size := LongestRound; !s.done() && !s.over.Load(); {
		begin := s.watch.now()
		o.round(size)
		took := s.watch.now() - begin
		s.timed += took
		if s.rounds++; s.rounds%gaugeEvery == 0 {
			s.watch.gauge(1)
		}
		s.pace(took, size)
		size = s.settle(size)
	}
}

// spent returns the time in rounds, in ns.
func (s *shared) spent() float64 {
	return max(0, float64(s.timed.Nanoseconds())-float64(s.rounds)*s.watch.cost())
}

// pace tells the thief how far apart its steals should be, after a round of n pushes. A round in which the owner lost
// its core counts as one of twice the usual length.
func (s *shared) pace(took time.Duration, n int) {
	if s.thief == nil {
		return
	}
	last := float64(took.Nanoseconds()) / float64(n)
	if s.perPush == 0 {
		s.perPush = last
	}
	s.perPush += (min(last, 2*s.perPush) - s.perPush) / 8
	s.gap.Store(int64(s.perPush * 100 / float64(s.share)))
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
	failed := s.thief.failures.Load()
	idle := newPatience(2)
	for s.thief.stolen.Load() < int64(stolen) {
		if s.thief.failures.Load() != failed || s.over.Load() {
			return false
		}
		idle.pause()
	}
	return true
}

// standBy is the thief's thread if nothing is to be stolen. It waits as a thief does between two steals. Where two
// hardware threads share a core, the owner would have the core for itself without it, at this share alone.
func (s *shared) standBy() {
	for idle := newPatience(2); !s.over.Load(); {
		idle.pause()
	}
}

// rob is the thief's thread. A thief that is more than a round behind steals twice as often, until it has caught up.
func (s *shared) rob() {
	t, watch := s.thief, s.thiefWatch
	if s.passes != nil {
		s.passes.answer()
	}
	watch.gauge(gaugeEvery)
	aRound := s.due(LongestRound) + 1
	for next := time.Duration(0); !s.over.Load(); {
		behind := s.due(int(s.pushed.Load())) - t.counts.stolen()
		if behind <= 0 {
			t.pause()
			continue
		}
		begin := watch.now()
		if begin < next {
			t.pause()
			continue
		}
		for !t.try() {
			if s.over.Load() {
				return
			}
		}
		gap := time.Duration(s.gap.Load())
		if behind > aRound {
			gap /= 2
		}
		next = begin + gap
		if len(s.latencies) == cap(s.latencies) {
			continue
		}
		s.latencies = append(s.latencies, watch.now()-begin)
		if len(s.latencies)%gaugeEvery == 0 {
			watch.gauge(1)
		}
	}
}

//go:build modelcheck

package executor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onQueues checks a program with two workers for each of the kinds of deque and each policy.
func onQueues(t *testing.T, kinds []deque.Kind, program func(cfg Config)) {
	for _, d := range kinds {
		for _, p := range explored {
			t.Run(fmt.Sprintf("%v/%v", d, p), func(t *testing.T) {
				model.Check(t, func() { program(Config{Workers: 2, Experiment: experiment.Options{Policy: p, Deque: d}}) })
			})
		}
	}
}

// onForks is onQueues for a program that forks: it does so in each way that makes a difference.
func onForks(t *testing.T, kinds []deque.Kind, program func(cfg Config)) {
	for _, d := range kinds {
		for _, p := range explored {
			seen := map[bool]bool{}
			for _, forks := range experiment.Forks() {
				cfg := Config{Workers: 2, Experiment: experiment.Options{Policy: p, Deque: d, Forks: forks}}
				if seen[cfg.PushesForks()] {
					continue
				}
				seen[cfg.PushesForks()] = true
				t.Run(fmt.Sprintf("%v/%v/%v", d, p, forks), func(t *testing.T) {
					model.Check(t, func() { program(cfg) })
				})
			}
		}
	}
}

// kindsThat are those of the kinds for which is returns true.
func kindsThat(kinds []deque.Kind, is func(deque.Kind) bool) []deque.Kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(d deque.Kind) bool { return !is(d) })
}

// queueKinds are the kinds with a queue beside the open deque. Of these askedKinds have thieves that ask,
// hidingKinds hide items, and boundedKinds may have no room. Scopes can use forkKinds.
var (
	queueKinds   = kindsThat(deque.Kinds(), func(d deque.Kind) bool { return d != deque.KindChaseLev })
	askedKinds   = kindsThat(queueKinds, deque.Kind.Asks)
	hidingKinds  = kindsThat(queueKinds, deque.Kind.Hides)
	forkKinds    = kindsThat(deque.Kinds(), func(d deque.Kind) bool { return !d.FIFO() })
	boundedKinds = []deque.Kind{deque.KindABP, deque.KindBWoS, deque.KindBWoSFIFO, deque.KindPadWS}
)

// TestModelQueue: an item that a worker pushes is run once, by the worker or by a thief, with any kind of queue.
func TestModelQueue(t *testing.T) {
	onQueues(t, queueKinds, func(cfg Config) {
		ex := started(cfg)
		runJob(ex, pushes(2))
		stop(ex)
	})
}

// TestModelQueueOverflows: items that overflow are run once too.
func TestModelQueueOverflows(t *testing.T) {
	onQueues(t, boundedKinds, func(cfg Config) {
		cfg.Experiment.Capacity = 1
		ex := started(cfg)
		runJob(ex, pushes(4))
		stop(ex)
	})
}

// TestModelQueueAsked: an item that a busy worker has pushed, and hides, while the other goes to sleep is run by the
// other, as long as the busy one begins items: it wakes the other.
func TestModelQueueAsked(t *testing.T) {
	onQueues(t, askedKinds, pollsUntilStolen)
}

// pollsUntilStolen is a program in which a worker pushes an item and polls until the other worker has run it.
func pollsUntilStolen(cfg Config) {
	ex := started(cfg)
	var done xatomic.Bool
	runJob(ex, func(j *job, w *Worker) {
		j.push(w, func(*Worker) { done.Store(true) })
		for !done.Load() {
			if w.lane.Demand() { // as before each item
				w.tell(w.lane.Poll())
			}
			model.Spin()
		}
	})
	stop(ex)
}

// TestModelQueueBegs: the same where the busy worker deals, and the other sleeps whenever it could. A policy whose
// thieves do not look everywhere before they sleep has one that stays awake.
func TestModelQueueBegs(t *testing.T) {
	for _, d := range kindsThat(queueKinds, deque.Kind.Receives) {
		model.Check(t, func() { pollsUntilStolen(Config{Workers: 2, Experiment: experiment.Options{Deque: d}}) })
	}
}

// TestModelQueueForkAsked: the same for a private fork, as long as the worker forks and joins others.
func TestModelQueueForkAsked(t *testing.T) {
	onForks(t, askedKinds, func(cfg Config) {
		ex := started(cfg)
		err := scoped(ex, func(s *Scope) error {
			var done xatomic.Bool
			for range 2 { // the first wakes the thief, and the second is what it asks for, and does not get
				Fork(s, func(*Scope, int) int { return 0 }, 0).Join(s)
			}
			first := Fork(s, func(*Scope, int) int { done.Store(true); return 1 }, 0)
			for !done.Load() {
				Fork(s, func(*Scope, int) int { return 0 }, 0).Join(s)
				model.Spin()
			}
			model.Assert(first.Join(s) == 1, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelQueueFork: a fork that forks is made once, and its result arrives. Forks that thieves have asked for are
// taken back if they do not come.
func TestModelQueueFork(t *testing.T) {
	onForks(t, forkKinds, func(cfg Config) {
		ex := started(cfg)
		inner, calls := once()
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, inner, 1)
			g := Fork(s, func(*Scope, int) int { return 5 }, 1)
			model.Assert(g.Join(s) == 5, "the wrong result")
			model.Assert(f.Join(s) == 2, "the wrong result")
			return nil
		})
		model.Assert(err == nil && calls.get() == 1, "%d calls, error %v", calls.get(), err)
		stop(ex)
	})
}

// TestModelQueueBlocking: a task waits, in Blocking, for an item that it has pushed and no thief sees, because its
// worker is alone or has it in its queue.
func TestModelQueueBlocking(t *testing.T) {
	onQueues(t, hidingKinds, func(cfg Config) {
		cfg.Workers, cfg.Spares = 1, 1
		ex := started(cfg)
		runJob(ex, func(j *job, w *Worker) {
			if model.Choose(2) == 1 {
				w.lane.Share(ex.lanes.Enough())
			}
			blocks(j, w)
		})
		rest(ex)
	})
}

// TestModelQueueBatch: each of several items that a thief takes at once is run once.
func TestModelQueueBatch(t *testing.T) {
	for _, batch := range []deque.Batch{deque.Half, deque.Block} {
		t.Run(batch.String(), func(t *testing.T) {
			onQueues(t, slices.DeleteFunc(deque.Kinds(), func(k deque.Kind) bool { return !k.Batches() }),
				func(cfg Config) {
					cfg.Experiment.Steal = batch
					ex := started(cfg)
					runJob(ex, pushes(3))
					stop(ex)
				})
		})
	}
}

// TestModelQueueBatchOfForks: a function joins a fork that a thief has taken together with an older one. The thief runs
// the older one first, which waits for that Join.
func TestModelQueueBatchOfForks(t *testing.T) {
	onQueues(t, kindsThat(forkKinds, deque.Kind.Batches), func(cfg Config) {
		cfg.Experiment.Steal, cfg.Experiment.Forks = deque.Block, "pushed"
		ex := started(cfg)
		var joined xatomic.Bool
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, func(*Scope, int) int { joined.Await(); return 1 }, 0)
			g := Fork(s, func(*Scope, int) int { return 2 }, 0)
			model.Assert(g.Join(s) == 2, "the wrong result")
			joined.Store(true)
			model.Assert(f.Join(s) == 1, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelQueueOverflowWakes: an item that thieves could see, and that moves from the queue to the open deque when a
// thief looks for the last time, is run by that thief.
func TestModelQueueOverflowWakes(t *testing.T) {
	onQueues(t, []deque.Kind{deque.KindBWoS, deque.KindPadWS}, func(cfg Config) {
		cfg.Experiment.Capacity, cfg.Experiment.BlockSize = 2, 1
		ex := started(cfg)
		var x, y xatomic.Bool
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, func(*Worker) { x.Store(true) })
			j.push(w, func(*Worker) { y.Store(true) }) // grants x
			x.Await()
			j.push(w, nothing) // grants y
			j.push(w, nothing) // overflows
			y.Await()
		})
		stop(ex)
	})
}

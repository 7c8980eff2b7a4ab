//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A loneJob is a job whose items count themselves down, like the tasks of a graph, without locked instructions while
// its worker is alone.
type loneJob struct {
	job
	counter xatomic.JoinCount
	fired   xatomic.Int32
}

func newLoneJob(counts uint32, first func(*loneJob, *Worker)) *loneJob {
	j := &loneJob{}
	j.job.first = func(w *Worker) { first(j, w) }
	j.Body.Init(j)
	j.counter.Arm(counts)
	return j
}

// Alone implements Hooks.
func (j *loneJob) Alone() bool { return true }

func (j *loneJob) count(w *Worker) {
	done := false
	if j.Run().Alone(w) {
		done = j.counter.DoneAlone()
	} else {
		done = j.counter.Done(1)
	}
	if done {
		j.fired.Add(1)
	}
}

func (j *loneJob) ended(err error) {
	j.job.ended(err)
	model.Assert(j.fired.Load() == 1, "the counter fired %d times", j.fired.Load())
}

// pushesCounts returns the first item of a loneJob. It pushes n items that count down, and counts down itself.
func pushesCounts(n int) func(*loneJob, *Worker) {
	return func(j *loneJob, w *Worker) {
		for range n {
			j.push(w, j.count)
		}
		j.count(w)
	}
}

// underWatch makes an executor of one worker and a spare, whose tasks a watch would look at.
func underWatch(cfg Config) *Executor {
	cfg.Workers, cfg.Spares = 1, 1
	ex := receiving(cfg)
	ex.attached.sharesLanes = true
	return ex
}

// runSilently runs a job of n counts that begins with first. A spare is called up while first has not ended, as for a
// task that blocks without Blocking.
func runSilently(ex *Executor, n uint32, first func(*loneJob, *Worker)) {
	j := newLoneJob(n, func(j *loneJob, w *Worker) {
		first(j, w)
		ex.spares.Block() // as the watch does
	})
	j.ended(ex.Run(context.Background(), j))
	ex.spares.Unblock()
	rest(ex)
}

// runBothSilently runs two jobs. A spare is called up at any moment before the first has ended.
func runBothSilently(ex *Executor, a, b *loneJob) {
	first := ex.Start(context.Background(), a)
	second := ex.Start(context.Background(), b)
	ex.spares.Block() // as the watch does
	a.ended(first.Wait())
	ex.spares.Unblock()
	b.ended(second.Wait())
	rest(ex)
}

// TestModelSilentSteals: a task of the only worker blocks without Blocking. The spare begins another run, and the
// worker steals from it when its task has gone on.
func TestModelSilentSteals(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch(Config{Callers: IdleCallers})
		var begun xatomic.Bool
		sleeper := newLoneJob(1, func(j *loneJob, w *Worker) {
			begun.Await()
			j.count(w)
		})
		j := newLoneJob(2, func(j *loneJob, w *Worker) {
			begun.Store(true)
			j.push(w, j.count)
			j.count(w)
		})
		runBothSilently(ex, sleeper, j)
	})
}

// TestModelSilentInjected: the only worker turns to another run and injects an item of its first one. A spare, called
// up for a task that blocks without Blocking, takes that item while the worker runs others of the run.
func TestModelSilentInjected(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch(Config{Callers: IdleCallers})
		runBothSilently(ex, newLoneJob(3, pushesCounts(2)), newLoneJob(1, (*loneJob).count))
	})
}

// TestModelSilentGuest: the guest of the only worker leaves, and the worker's own thread goes on with what the guest
// has handed over. The first item there blocks without Blocking, and the spare takes another.
func TestModelSilentGuest(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch(Config{Callers: BriefCallers})
		blocked := false // the worker's own
		j := newLoneJob(guestItems+2, func(j *loneJob, w *Worker) {
			for range guestItems + 1 {
				j.push(w, func(w *Worker) {
					if !w.isSpare() && guestOf(w).run == nil && !blocked {
						blocked = true
						ex.spares.Block() // as the watch does
					}
					j.count(w)
				})
			}
			j.count(w)
		})
		j.ended(ex.Run(context.Background(), j))
		if blocked {
			ex.spares.Unblock()
		}
		rest(ex)
	})
}

// TestModelSilentHelps: a task of the only worker waits for a run whose first item lies in the lane, below items of the
// task's own run. These go to the injector, where the spare finds one.
func TestModelSilentHelps(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch(Config{Callers: IdleCallers})
		inner := newLoneJob(1, (*loneJob).count)
		runSilently(ex, 3, func(j *loneJob, w *Worker) {
			awaited := ex.Start(context.Background(), inner)
			pushesCounts(2)(j, w)
			inner.ended(awaited.Wait())
		})
	})
}

// TestModelSilentFIFO: thieves see items in the lane of the only worker, which is first in, first out.
func TestModelSilentFIFO(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch(Config{
			Callers: IdleCallers, Experiment: experiment.Options{Deque: deque.KindBWoSFIFO, Capacity: 4, BlockSize: 1},
		})
		runSilently(ex, 4, pushesCounts(3))
	})
}

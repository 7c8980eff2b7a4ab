//go:build modelcheck

package executor

import (
	"context"
	"testing"

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
	j.Body = NewBody(j)
	j.counter.Arm(counts)
	return j
}

// Alone implements Loner.
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

// underWatch makes an executor of one worker and a spare, whose tasks a watch would look at.
func underWatch() *Executor {
	ex := spared(1, 1, Adaptive)
	ex.attached.sharesLanes = true
	return ex
}

// TestModelSilentSteals: a task of the only worker blocks without Blocking. The spare begins another run, and the
// worker steals from it when its task has gone on.
func TestModelSilentSteals(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch()
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
		first := ex.Start(context.Background(), sleeper)
		second := ex.Start(context.Background(), j)
		ex.spares.Block() // as the watch does
		sleeper.ended(first.Wait())
		ex.spares.Unblock()
		j.ended(second.Wait())
		rest(ex)
	})
}

// TestModelSilentInjected: the only worker turns to another run and injects an item of its first one. A spare, called
// up for a task that blocks without Blocking, takes that item while the worker runs others of the run.
func TestModelSilentInjected(t *testing.T) {
	model.Check(t, func() {
		ex := underWatch()
		j := newLoneJob(3, func(j *loneJob, w *Worker) {
			for range 2 {
				j.push(w, j.count)
			}
			j.count(w)
		})
		other := newLoneJob(1, (*loneJob).count)
		first := ex.Start(context.Background(), j)
		second := ex.Start(context.Background(), other)
		ex.spares.Block() // as the watch does
		j.ended(first.Wait())
		ex.spares.Unblock()
		other.ended(second.Wait())
		rest(ex)
	})
}

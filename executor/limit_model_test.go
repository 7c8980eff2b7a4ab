//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A room counts the workers in it, of which there is one at a time.
type room struct{ in xatomic.Int32 }

func (r *room) visit(*Worker) {
	model.Assert(r.in.Add(1) == 1, "two workers run items of a run with limit 1")
	r.in.Add(-1)
}

// TestModelLimit: of a run with limit 1, one worker runs items at a time, and none is left held.
func TestModelLimit(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var r room
		j := newJob(nil)
		j.first = func(w *Worker) {
			j.push(w, r.visit)
			r.visit(w)
		}
		j.ended(ex.Run(context.Background(), With(j, RunOptions{Workers: 1})))
		stop(ex)
	})
}

// TestModelLimitHelper: a task of a run with limit 1 waits for a nested run. A worker without a slot may have met the
// item of that run, and the helper has to find it among those that are held. It may also have met another item of the
// outer run, which has to come to a worker after the wait.
func TestModelLimitHelper(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var r room
		outer, inner := newJob(nil), newJob(nil)
		inner.first = r.visit
		outer.first = func(w *Worker) {
			outer.push(w, nothing)
			inner.ended(ex.Run(context.Background(), inner))
		}
		outer.ended(ex.Run(context.Background(), With(outer, RunOptions{Workers: 1})))
		stop(ex)
	})
}

// TestModelLimitNested: a task waits for a nested run with limit 1. The helper has the slot of that run only while it
// runs an item of it, and held items have to come to a worker after that.
func TestModelLimitNested(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var r room
		outer, inner := newJob(nil), newJob(nil)
		inner.first = func(w *Worker) {
			inner.push(w, r.visit)
			r.visit(w)
		}
		outer.first = func(*Worker) {
			inner.ended(ex.Run(context.Background(), With(inner, RunOptions{Workers: 1})))
		}
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelLimitJoin: the same for a forked call and its Join.
func TestModelLimitJoin(t *testing.T) {
	model.Check(t, func() {
		ex := started(Config{Workers: 2, Experiment: experiment.Options{Forks: "pushed"}})
		called := false
		job := NewJob("join", func(s *Scope) error {
			f := Fork(s, func(*Scope, int) int { called = true; return 1 }, 0)
			model.Assert(f.Join(s) == 1 && called, "the call was not made")
			return nil
		})
		err := ex.Run(context.Background(), With(job, RunOptions{Workers: 1}))
		model.Assert(err == nil, "the run failed: %v", err)
		stop(ex)
	})
}

// TestModelPriority: an item of a Low run that is put back by a helper lies in another queue than the Normal item that
// the helper waits for, and the other way round.
func TestModelPriority(t *testing.T) {
	for _, p := range []Priority{Low, High} {
		t.Run(p.String(), func(t *testing.T) {
			model.Check(t, func() {
				ex := start(1, "adaptive")
				outsider, other := newJob(nothing), newJob(nothing)
				var r *Run
				outer := newJob(func(*Worker) { outsider.ended(r.Wait()) })
				foreign := ex.Start(context.Background(), With(other, RunOptions{Priority: p}))
				r = ex.Start(context.Background(), With(outsider, RunOptions{Priority: -p}))
				outer.ended(ex.Run(context.Background(), outer))
				other.ended(foreign.Wait())
				stop(ex)
			})
		})
	}
}

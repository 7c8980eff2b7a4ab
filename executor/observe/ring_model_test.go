//go:build modelcheck

package observe

import (
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/model"
)

// TestModelRing: a worker puts five events into a ring of two places, and leaves out those for which there is none,
// while the writer drains the ring. The writer gets the events that have a place, in order, whole, and each once. The
// word with the task is plain: accesses that are not ordered are a data race.
func TestModelRing(t *testing.T) {
	tasks := make([]executor.TaskInfo, 5)
	for i := range tasks {
		tasks[i].Index = i
	}
	model.Check(t, func() {
		r := newRing(2)
		var put, got []int
		join := model.Go(func() {
			for i := range tasks {
				if e := r.place(); e != nil {
					e.task.Set(&tasks[i])
					e.run.Set(new(runInfo))
					r.publish()
					put = append(put, i)
				}
			}
		})
		drain := func() {
			r.drain(func(e *event) {
				task := e.task.Get()
				model.Assert(task != nil, "an event without a task")
				got = append(got, task.Index)
			})
		}
		drain()
		drain()
		join()
		drain()
		model.Assert(len(put) >= 2, "the first two have places: %v", put)
		model.Assert(len(got) == len(put), "put %v, got %v", put, got)
		for i := range got {
			model.Assert(got[i] == put[i], "put %v, got %v", put, got)
		}
		for i := range r.places {
			model.Assert(r.places[i].task.Get() == nil, "a place that was drained keeps a task")
			model.Assert(r.places[i].run.Get() == nil, "a place that was drained keeps a run")
		}
	})
}

package pipeline

import (
	"context"
	"iter"

	"github.com/magpie-go/magpie/executor"
)

// taskSet describes the stages for observers.
func taskSet(pipeline string, stages []Stage) *executor.TaskSet {
	set := &executor.TaskSet{Job: pipeline, Tasks: make([]executor.TaskInfo, len(stages))}
	for i, s := range stages {
		set.Tasks[i] = executor.TaskInfo{Set: set, Index: i, Name: s.Name}
	}
	set.Successors = func(i int) iter.Seq[int] {
		return func(yield func(int) bool) {
			if i+1 < len(set.Tasks) {
				yield(i + 1)
			}
		}
	}
	return set
}

// observe makes the run tell its tasks. At most one cell of a line runs at a time, so the token of the line can have
// the worker.
func (s *run) observe(r *executor.JobRun) {
	s.stages = append([]Stage(nil), s.stages...)
	for i := range s.stages {
		task, fn := &s.tasks.Tasks[i], s.stages[i].Run
		s.stages[i].Run = func(t *Token) error {
			return r.CallTask(t.worker, task, func(ctx context.Context) error {
				t.ctx = ctx
				return fn(t)
			})
		}
	}
	for i := range s.cells {
		c := &s.cells[i]
		exec := c.Exec
		c.Exec = func(w *executor.Worker, it *executor.Item) *executor.Item {
			s.tokens[c.line].worker = w
			return exec(w, it)
		}
	}
}

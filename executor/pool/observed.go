package pool

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// tasksOf describes the pool for observers: one TaskInfo stands for all of its tasks. The caller has locked mu.
func (p *Pool) tasksOf() *executor.TaskSet {
	if p.set == nil {
		p.set = &executor.TaskSet{Job: p.name, Tasks: make([]executor.TaskInfo, 1)}
		p.set.Tasks[0].Set = p.set
	}
	return p.set
}

// callObserved calls fn with observers.
func (s *run) callObserved(w *executor.Worker, d *drainer, fn func(*Task) error) error {
	return s.Run().CallTask(w, s.watched, func(ctx context.Context) error {
		d.task.ctx = ctx
		return fn(&d.task)
	})
}

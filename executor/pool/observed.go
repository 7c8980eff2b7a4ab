package pool

import "github.com/magpie-go/magpie/executor"

// tasksOf describes the pool for observers: one Task stands for all of its tasks. The caller has locked mu.
func (p *Pool) tasksOf() *executor.TaskSet {
	if p.set == nil {
		p.set = &executor.TaskSet{Job: p.name, Tasks: make([]executor.Task, 1)}
		p.set.Tasks[0].Set = p.set
	}
	return p.set
}

// callObserved calls fn with observers.
func (s *run) callObserved(w *executor.Worker, d *drainer, fn func(*Task) error) error {
	run := s.Run()
	run.BeginTask(w, s.watched)
	defer run.EndTask(w, s.watched)
	return fn(&d.task)
}

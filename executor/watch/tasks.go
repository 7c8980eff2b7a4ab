package watch

import (
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// tasks has the task that each worker runs, as the Observer is told.
type tasks struct {
	cells [executor.MaxWorkers]xatomic.Pointer[cell] // by worker ID; each is set by its worker
}

// A cell has the tasks of one worker.
type cell struct {
	_      pad.Line
	begins xatomic.Uint64                 // tasks that have begun so far; written by the worker
	task   xatomic.Pointer[executor.Task] // the innermost task, or nil; written by the worker
	stack  []*executor.Task               // all tasks on the worker's stack; the worker only, plain
	_      pad.Line
}

// running is what a worker runs at the moment of a sample.
type running struct {
	begins uint64         // tasks that have begun so far
	task   *executor.Task // the innermost, or nil
}

// begin is called by the worker when a task begins.
func (t *tasks) begin(worker int, task *executor.Task) {
	c := t.cells[worker].Load()
	if c == nil {
		c = new(cell)
		t.cells[worker].Store(c)
	}
	c.stack = append(c.stack, task)
	c.task.Store(task)
	c.begins.Store(c.begins.Load() + 1)
}

// end is called by the worker when its innermost task ends.
func (t *tasks) end(worker int) {
	c := t.cells[worker].Load()
	if c == nil || len(c.stack) == 0 {
		return // the Observer was attached while the task ran
	}
	last := len(c.stack) - 1
	c.stack[last] = nil
	c.stack = c.stack[:last]
	var below *executor.Task
	if last > 0 {
		below = c.stack[last-1]
	}
	c.task.Store(below)
}

// read returns what the first n workers run. The two words of a cell may be of two moments: then the next read finds
// others.
func (t *tasks) read(n int) []running {
	all := make([]running, n)
	for i := range all {
		if c := t.cells[i].Load(); c != nil {
			all[i].begins = c.begins.Load()
			all[i].task = c.task.Load()
		}
	}
	return all
}

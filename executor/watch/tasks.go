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
	begins xatomic.Uint64                     // tasks that have begun so far; written by the worker
	task   xatomic.Pointer[executor.TaskInfo] // the innermost task, or nil; written by the worker
	run    xatomic.Pointer[executor.Run]      // that of the innermost task, or of the last one; written by the worker
	stack  []begun                            // all tasks on the worker's stack; the worker only, plain
	_      pad.Line
}

// begun is a task that has begun, with its run, which is nil for an Async.
type begun struct {
	run  *executor.Run
	task *executor.TaskInfo
}

// turnTo sets the cell's run. Most tasks are of the same run as the one before, and a store costs more than a load.
func (c *cell) turnTo(run *executor.Run) {
	if c.run.Load() != run {
		c.run.Store(run)
	}
}

// running is what a worker runs at the moment of a sample.
type running struct {
	begins uint64             // tasks that have begun so far
	task   *executor.TaskInfo // the innermost, or nil
	run    *executor.Run      // that of task; nil if that has none
}

// begin is called by the worker when a task of run begins.
func (t *tasks) begin(worker int, run *executor.Run, task *executor.TaskInfo) {
	c := t.cells[worker].Load()
	if c == nil {
		c = new(cell)
		t.cells[worker].Store(c)
	}
	c.stack = append(c.stack, begun{run, task})
	c.turnTo(run)
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
	c.stack[last] = begun{}
	c.stack = c.stack[:last]
	if last == 0 {
		c.task.Store(nil)
		return
	}
	below := c.stack[last-1]
	c.turnTo(below.run)
	c.task.Store(below.task)
}

// park is called by the worker before it sleeps. A worker without a task forgets its last run, which it would keep
// alive.
func (t *tasks) park(worker int) {
	if c := t.cells[worker].Load(); c != nil && len(c.stack) == 0 {
		c.turnTo(nil)
	}
}

// read returns what the first n workers run. The words of a cell may be of several moments: then the next read finds
// others.
func (t *tasks) read(n int) []running {
	all := make([]running, n)
	for i := range all {
		if c := t.cells[i].Load(); c != nil {
			all[i].begins = c.begins.Load()
			if all[i].task = c.task.Load(); all[i].task != nil {
				all[i].run = c.run.Load()
			}
		}
	}
	return all
}

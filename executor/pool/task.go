package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/internal/errfmt"
)

// ErrFound is the cause of the end of [Task.Context] after a task has found the result. It is never the error of a run.
var ErrFound = errors.New("pool: a task has found the result")

// A Task is a task that is running. Only the function that gets it may use it, and only until it returns.
type Task struct {
	run    *run
	number int
	ctx    context.Context // with observers: for this task
}

// Number returns how many tasks were added before this one.
func (t *Task) Number() int { return t.number }

// Context returns the run's context: it is cancelled when the caller's is, when a task fails or has found the result,
// and when the run ends.
func (t *Task) Context() context.Context {
	if t.ctx != nil {
		return t.ctx
	}
	return t.run.ctx
}

// Found says that the result of the run is found: no further task begins, on any worker. Tasks that are running, or
// just beginning on another worker, see their context end with the cause [ErrFound]. The run's error is nil, unless a
// task fails otherwise. Found reports whether this call is the first of the run. The caller of the first may store the
// result in a variable that is read after the run.
func (t *Task) Found() bool {
	s := t.run
	if s.found.Swap(1) != 0 {
		return false
	}
	s.Run().Abort(ErrFound)
	return true
}

// A TaskError is the failure of a task.
type TaskError struct {
	Pool string // the name given to New
	Task int    // the task's number, from 0
	Err  error  // what the task returned, a *executor.PanicError, or executor.ErrGoexit
}

func (e *TaskError) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter]. The verb %+v formats Err by %+v, and so adds the stack of a panic.
func (e *TaskError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

func (e *TaskError) say(verb string) string {
	return fmt.Sprintf("pool %q: task %d: "+verb, e.Pool, e.Task, e.Err)
}

// Unwrap returns Err.
func (e *TaskError) Unwrap() error { return e.Err }

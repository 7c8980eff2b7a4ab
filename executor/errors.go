package executor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/internal/errfmt"
)

var (
	// ErrClosed is the error of a run or future that was started after Close or Shutdown.
	ErrClosed = errors.New("executor: closed")
	// ErrInTask is returned by a Close or Shutdown that a task of the same executor calls: it would wait for itself.
	ErrInTask = errors.New("executor: Close or Shutdown called from one of its own tasks; close it from outside")
	// ErrBusy is returned by TryStart if Config.MaxRuns leaves no room.
	ErrBusy = errors.New("executor: as many runs and futures are in progress as Config.MaxRuns allows")
	// ErrShutdown is matched by the error of a Shutdown whose context has ended before all work was done. That error is
	// the cause for which the rest of the work is cancelled, and so the errors of the runs and futures match it too.
	ErrShutdown = errors.New("executor: shut down before all work was done")
	// ErrGoexit is the failure of a task that called [runtime.Goexit], as t.FailNow does in a test, or panic(nil) with
	// GODEBUG=panicnil=1. If a caller of [Executor.Run] ran the task, Goexit ends the caller too, once the run is over.
	ErrGoexit = errors.New("executor: task called runtime.Goexit")
	// ErrTooDeep is the error of work that would lie on top of too many waits on the stack of one worker. A run that a
	// task starts may lie on 4096 waits for runs, and a child of a [Scope] or a future on 32768 waits for children and
	// futures. Calls of [Fork] may lie in each other as deep if they are not joined. On 32-bit systems all three are
	// 4096. With several workers the depth varies. Memory alone bounds what nothing waits for: [Group.Go] in its
	// functions, [Async] in those of Async, and subflows.
	ErrTooDeep = errors.New("executor: too many tasks on one worker wait for each other")

	// ErrForgotten is the error of the Future of a [Promise] that became unreachable and was not resolved.
	ErrForgotten = errors.New("executor: nothing refers to the Promise any more, so nothing can resolve it")

	// errNotBegun is the error of a run whose Begin panicked. Start passes the panic on to its caller; a job that has
	// kept the run gets this error.
	errNotBegun = errors.New("executor: the job's Begin panicked")
)

// A PanicError is the failure of a task that panicked.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the worker's stack at the panic, as debug.Stack formats it

	job string // of the run, or asyncName; "" if the layer that wraps the error says it
}

// Error returns the value, on one line, after the name of the run if its job is of this package or of package parallel;
// other jobs say in their errors which task it was. It leaves out the stack, because the text may go to a client. The
// verb %+v adds it, also if another error of this module wraps e.
func (e *PanicError) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter].
func (e *PanicError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

// oneLine returns the text on one line.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "\r", `\r`)
}

func (e *PanicError) say(verb string) string {
	value := oneLine(fmt.Sprintf("panic: %v", e.Value))
	if e.job != "" {
		value = fmt.Sprintf("run of %q: %s", e.job, value)
	}
	if verb == "%v" {
		return value
	}
	return fmt.Sprintf("%s\n\n%s", value, e.Stack)
}

// inJob returns err, and notes whose failure it is if it is a panic of which no job is noted yet. The caller is the
// worker of the task. No other thread knows such a panic, or job is "".
func inJob(err error, job string) error {
	if p, ok := err.(*PanicError); ok && p.job == "" && job != "" {
		p.job = job
	}
	return err
}

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// A cancelError is the error of a run or future that was cancelled from outside. It matches both the context's error
// and its cause. Its text is one line, like that of a PanicError. %+v writes the cause as it is.
type cancelError struct {
	job   string
	err   error // context.Canceled or context.DeadlineExceeded
	cause error
}

func newCancelError(job string, err, cause error) error {
	if cause == nil {
		cause = err
	}
	return &cancelError{job, err, cause}
}

// wasCancelled reports whether the error of r, which has ended, tells a cancellation of r and no failure. That of
// another run or future may be the failure of a task which has waited for it.
func (r *Run) wasCancelled() bool {
	_, is := r.err.Get().(*cancelError)
	return is && !r.failed
}

func (e *cancelError) Error() string                 { return e.say("%v") }
func (e *cancelError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }
func (e *cancelError) Unwrap() []error               { return []error{e.err, e.cause} }

func (e *cancelError) say(verb string) string {
	text := fmt.Sprintf("run of %q: "+verb, e.job, e.err)
	if !isSame(e.cause, e.err) {
		text += fmt.Sprintf(": "+verb, e.cause)
	}
	if verb == "%v" {
		text = oneLine(text)
	}
	return text
}

// join is errors.Join for errors that have a longer form for %+v. It returns a single error as it is.
func join(errs ...error) error {
	var all []error
	for _, err := range errs {
		if err != nil {
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &joinedError{all}
}

// A joinedError is several errors, each on a line of its own.
type joinedError struct{ all []error }

func (e *joinedError) Error() string                 { return e.say("%v") }
func (e *joinedError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }
func (e *joinedError) Unwrap() []error               { return e.all }

func (e *joinedError) say(verb string) string {
	said := make([]string, len(e.all))
	for i, err := range e.all {
		said[i] = fmt.Sprintf(verb, err)
	}
	return strings.Join(said, "\n")
}

package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Measure says how a run or a task has ended, and how long it has taken.
type Measure struct {
	Run     *executor.Run      // nil for an Async
	Task    *executor.TaskInfo // nil for a run
	Outcome Outcome
	Err     error // of Failed, Panicked and Cancelled; why a task was skipped
	// Wait is the time from the begin of a run to that of its first task, or to its end if no task has begun. A run begins
	// when it has room: the wait for that, with [executor.Config].MaxRuns, is not in it, nor in Took.
	Wait time.Duration
	// Took is the time from the begin of the run, or of the task, to its end.
	Took time.Duration
}

// An Outcome is how a run or a task has ended.
type Outcome uint8

// The outcomes.
const (
	OK        Outcome = iota // no error
	Failed                   // an error, or runtime.Goexit
	Panicked                 // a panic
	Cancelled                // of a run: from outside, and nothing has failed; of a task: with its context
	Skipped                  // a task that was not run
)

var outcomeNames = [...]string{"ok", "failed", "panicked", "cancelled", "skipped"}

// String returns the outcome as a label of metrics: "ok", "failed", "panicked", "cancelled" or "skipped". A value that
// is none of the constants is written as Outcome(9).
func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return fmt.Sprintf("Outcome(%d)", uint8(o))
	}
	return outcomeNames[o]
}

// OutcomeOf returns how the run or the task of e, a RunEnd or TaskEnd, has ended. A task that returns the error of its
// ended context, or the cause, was cancelled, also if the cause is the panic of another task. If a method of the error
// panics, the outcome is Failed.
func OutcomeOf(e *executor.Event) (o Outcome) {
	defer func() {
		if recover() != nil {
			o = Failed
		}
	}()
	switch p := (*executor.PanicError)(nil); {
	case e.Err == nil:
		return OK
	case e.Cancelled, e.Task != nil && endedWith(e.Context, e.Err):
		return Cancelled
	case errors.As(e.Err, &p):
		return Panicked
	}
	return Failed
}

// endedWith reports whether ctx has ended, and err, of a task, says so. A panic of the task itself does not.
func endedWith(ctx context.Context, err error) bool {
	ended := ctx.Err()
	if ended == nil {
		return false
	}
	cause := context.Cause(ctx)
	if _, panicked := err.(*executor.PanicError); panicked && err != cause {
		return false
	}
	return errors.Is(err, ended) || errors.Is(err, cause)
}

// MeasureOptions are the choices of [Measures].
type MeasureOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Tasks measures each task too, also those that are skipped, and calls of [executor.Async] among them.
	Tasks bool
	// Asyncs measures each call of [executor.Async] whose function is called, also without Tasks.
	Asyncs bool
}

// Measures returns an observer that calls record at the end of each run and, if asked to, of each task or Async. It is
// for metrics: the modules executor/metrics/prom and executor/metrics/otel have histograms that are made with it.
// record is called where the observer is, see [executor.Observer], and should return soon.
//
// A task costs some 20 ns, and with Asyncs some 50. A task or an Async that is measured costs some 200 ns and record,
// most of it two readings of the clock (AMD EPYC, Go 1.26, 2026-11-27 and 28). The observer is for one executor at a
// time. Measures panics if record is nil.
func Measures(choice MeasureOptions, record func(Measure)) *executor.Observer {
	if record == nil {
		panic("observe: Measures needs a function, got nil")
	}
	m := &measures{tasks: choice.Tasks, asyncs: choice.Asyncs, record: record}
	o := &executor.Observer{
		Attach: m.attach, Detach: m.detach, RunBegin: m.runBegin, RunEnd: m.runEnd, TaskBegin: m.taskBegin, Park: m.park,
	}
	if choice.Tasks || choice.Asyncs {
		o.TaskEnd = m.taskEnd
	}
	if choice.Tasks {
		o.TaskSkip = m.taskSkip
	}
	return o
}

// measures is the state of a Measures.
type measures struct {
	single
	tasks   bool // measures all tasks
	asyncs  bool // measures Asyncs at least
	record  func(Measure)
	workers slots[measurer]
	runs    sync.Map // *executor.Run → *runClock, in progress
}

// A runClock has the times of a run.
type runClock struct {
	begin time.Time
	wait  xatomic.Int64 // until the first task has begun; 0 before, and then at least 1
}

// A measurer is a worker's part. The worker only.
type measurer struct {
	_     pad.Line
	begun []time.Time   // when the tasks on the worker's stack that are measured have begun
	run   *executor.Run // the last one
	clock *runClock     // of run; nil if its begin was not told
	_     pad.Line
}

func (m *measures) runBegin(e *executor.Event) { m.runs.Store(e.Run, &runClock{begin: e.Time()}) }

func (m *measures) runEnd(e *executor.Event) {
	had, ok := m.runs.LoadAndDelete(e.Run)
	if !ok {
		return // the run was begun before the observer was switched on
	}
	clock := had.(*runClock)
	took := e.Time().Sub(clock.begin)
	wait := time.Duration(clock.wait.Load())
	if wait == 0 {
		wait = took
	}
	m.record(Measure{Run: e.Run, Outcome: OutcomeOf(e), Err: e.Err, Wait: wait, Took: took})
}

func (m *measures) taskBegin(e *executor.Event) {
	w := m.workers.of(e.Worker)
	if w == nil {
		w = new(measurer)
		m.workers.set(e.Worker, w)
	}
	if e.Run != w.run {
		w.run, w.clock = e.Run, nil
		if clock, ok := m.runs.Load(e.Run); ok {
			w.clock = clock.(*runClock)
		}
	}
	if c := w.clock; c != nil && c.wait.Load() == 0 {
		c.wait.CompareAndSwap(0, max(1, int64(e.Time().Sub(c.begin))))
	}
	if m.isMeasured(e) {
		w.begun = append(w.begun, e.Time())
	}
}

// isMeasured reports whether the task of e is measured.
func (m *measures) isMeasured(e *executor.Event) bool { return m.tasks || m.asyncs && e.Run == nil }

func (m *measures) taskEnd(e *executor.Event) {
	if !m.isMeasured(e) {
		return
	}
	w := m.workers.of(e.Worker)
	if w == nil || len(w.begun) == 0 {
		return // the task was begun before the observer was switched on
	}
	n := len(w.begun) - 1
	took := e.Time().Sub(w.begun[n])
	w.begun = w.begun[:n]
	m.record(Measure{Run: e.Run, Task: e.Task, Outcome: OutcomeOf(e), Err: e.Err, Took: took})
}

func (m *measures) taskSkip(e *executor.Event) {
	m.record(Measure{Run: e.Run, Task: e.Task, Outcome: Skipped, Err: e.Err})
}

// park makes the worker forget its last run, which it would keep alive.
func (m *measures) park(e *executor.Event) {
	if w := m.workers.of(e.Worker); w != nil {
		w.run, w.clock = nil, nil
	}
}

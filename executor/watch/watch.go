/*
Package watch reports when an executor stalls, and tasks that run for long, to a [slog.Logger].

	w := watch.Start(ex, watch.Options{NoProgress: 10 * time.Second})
	defer w.Close()

An executor stalls if no task ends although there is work, and nothing computes: its tasks wait for each other, for a
lock that is never released, or for something outside that does not come. A task that waits in [executor.Blocking] is
expected to wait, and others may wait for it: meanwhile it is a stall only if items are queued that no worker takes, as
when tasks in Blocking hold all workers and spares. An executor whose tasks compute makes progress, however long they
take; reports of long tasks are for these.

Tasks that were found to wait outside [executor.Blocking] while items were queued are told too, once a NoProgress at
most: a spare worker stood in for them, some milliseconds later than with Blocking. See [host.Threads].OnlyBlocking.

Each other report comes once, when the stall or the long task is found, and once more when it is over, with its
duration. The first has the executor's dump and the stacks of the workers concerned.

# Cost

A Watcher takes a sample once a second, or four times within the shorter of the two durations of [Options] if that is
less. A sample is a call of [executor.Executor.Stats], some microseconds on a goroutine that ends with it. Between
samples there is no goroutine. When a Watcher suspects a stall or finds a long task, it calls
[executor.Executor.Stacks], which stops the process for a moment. For stalls it does so at most twice within
[Options.NoProgress], and for long tasks at most once within [Options.LongTask] for each worker.

# Names of tasks

A Watcher that [Start] has made does not know the names of tasks. It goes by the counters of the executor, which may lag
by 64 tasks of a worker. If the usual task is longer than a 64th of [Options.LongTask], it may take several tasks of a
worker for one. A Watcher that is made before its executor and observes it knows each task, and its reports of stalls
tell those of all workers:

	w := watch.New(watch.Options{LongTask: time.Minute})
	ex, err := executor.New(executor.Config{Observers: []*executor.Observer{w.Observer()}})

That costs some 40 ns a task. A task without a name is told as "#7", where 7 is its index in the job, and a job without
a name as "job". The name of its run is told too, if [executor.RunOptions] gives it another than the job's.
*/
package watch

import (
	"log/slog"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Options say what a [Watcher] reports. The zero value is a good choice.
type Options struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// NoProgress is for how long no task has ended, when a stall is reported. 0 means 10 seconds, a negative duration
	// never.
	NoProgress time.Duration
	// LongTask is for how long a worker has run one task without a pause, when the task is reported. Time in which the
	// task waits in Blocking, or sleeps in a Wait or Join, or in which the worker runs other tasks meanwhile, starts
	// the count anew. 0 means a minute, a negative duration never.
	LongTask time.Duration
	// Logger gets the reports: those of stalls and long tasks at the level Warn, those of their ends, and of
	// tasks that wait outside Blocking, at the level Info.
	// nil means [slog.Default]. The next sample waits until its handler has returned, and tasks go on meanwhile. The
	// handler must not call methods of the Watcher or, if that has an Observer, close the executor. A handler that
	// panics loses its report. It is told the panic instead, and so is the default logger if it panics again.
	Logger *slog.Logger
}

// The defaults of Options, and bounds of the time between two samples.
const (
	defaultNoProgress = 10 * time.Second
	defaultLongTask   = time.Minute
	longestPeriod     = time.Second
	shortestPeriod    = time.Millisecond
	samples           = 4 // within the shorter duration
)

func (o Options) withDefaults() Options {
	if o.NoProgress == 0 {
		o.NoProgress = defaultNoProgress
	}
	if o.LongTask == 0 {
		o.LongTask = defaultLongTask
	}
	return o
}

// period returns the time between two samples.
func (o Options) period() time.Duration {
	period := longestPeriod
	for _, d := range []time.Duration{o.NoProgress, o.LongTask} {
		if d > 0 {
			period = min(period, d/samples)
		}
	}
	return max(period, shortestPeriod)
}

// A Watcher watches one executor. All methods may be called from any goroutine.
//
// A Watcher does not keep its executor open. It ends by itself if the garbage collector closes an executor that nothing
// else refers to, and when its executor is closed and the work is done.
type Watcher struct {
	opts     Options
	observed xatomic.Bool // Observer was called
	tasks    tasks

	mu       xsync.Mutex // guards what follows; held during a sample
	ex       weak.Pointer[executor.Executor]
	attached bool
	closed   bool
	timer    *time.Timer
	detector detector
}

// Start returns a Watcher of ex, which takes samples from now on. It panics if ex is nil.
func Start(ex *executor.Executor, opts Options) *Watcher {
	w := New(opts)
	w.attach(ex)
	return w
}

// New returns a Watcher for an executor that is not made yet, see [Watcher.Observer].
func New(opts Options) *Watcher {
	opts = opts.withDefaults()
	return &Watcher{opts: opts, detector: detector{opts: opts}}
}

// Observer returns an Observer for the Config of one executor. The Watcher takes samples from New until Close of that
// executor, and its reports name tasks.
func (w *Watcher) Observer() *executor.Observer {
	w.observed.Store(true)
	return &executor.Observer{
		Attach:    w.attach,
		Detach:    w.Close,
		TaskBegin: func(e *executor.Event) { w.tasks.begin(e.Worker, e.Run, e.Task) },
		TaskEnd:   func(e *executor.Event) { w.tasks.end(e.Worker) },
		Park:      func(e *executor.Event) { w.tasks.park(e.Worker) },
	}
}

// attach begins to watch ex.
func (w *Watcher) attach(ex *executor.Executor) {
	if ex == nil {
		panic("watch: a Watcher needs an executor, got nil")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attached {
		panic("watch: a Watcher watches one executor: make one for each")
	}
	w.attached = true
	if w.closed || w.opts.NoProgress < 0 && w.opts.LongTask < 0 {
		return
	}
	w.ex = weak.Make(ex)
	w.timer = time.AfterFunc(w.opts.period(), w.tick)
}

// Close ends the Watcher. It waits for a sample in progress, and no report comes after it. A second call does nothing.
func (w *Watcher) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// tick takes a sample, and has the next one taken in time.
func (w *Watcher) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	ex := w.ex.Value()
	if ex == nil {
		return
	}
	s := w.sample(ex)
	for _, r := range w.detector.step(s) {
		r.log(w.opts.Logger, ex)
	}
	if !s.isOver() {
		w.timer.Reset(w.opts.period())
	}
}

// sample reads what the detector decides by.
func (w *Watcher) sample(ex *executor.Executor) sample {
	s := sample{now: time.Now(), stats: ex.Stats(), stacks: ex.Stacks}
	if w.observed.Load() {
		s.tasks = w.tasks.read(len(s.stats.Workers))
	}
	return s
}

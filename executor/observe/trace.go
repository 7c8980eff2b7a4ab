package observe

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/names"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// TraceOptions change what a [Trace] writes. The zero value is a good choice.
type TraceOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Buffer is the number of events that each worker has room for until they are written, rounded up to a power of
	// two, from 64 to a million. An event takes 56 bytes, and one of a failure or of a skipped task its text besides, a
	// kilobyte at most. 0 or less means 8192.
	Buffer int
	// Wait makes a worker wait when its room is used up: the trace is complete, and the tasks are as slow as the
	// writing. By default the worker leaves the event out and counts it.
	Wait bool
	// Edges draws an arrow from each task to the tasks that come after it, if the job tells its edges. It takes memory
	// for each edge of the graphs that a program keeps, and makes the file about three times as large.
	Edges bool
	// Parks shows as slices the times when a worker sleeps.
	Parks bool
	// Sample is how often the numbers of workers at work and of queued items are noted. 0 means every 10 ms. If it is
	// negative, they are not noted.
	Sample time.Duration
}

// A Trace writes what executors do as trace events in JSON, for https://ui.perfetto.dev and chrome://tracing. The form
// is the object of the Trace Event Format, with the events in its traceEvents:
//
//   - The executors are processes, in the order of the calls of Observer, and their workers are threads. A process has
//     the name of its executor.
//   - A task is a slice ("X") of the worker's thread. Its category is the name of the job. If the name of the run is
//     another, it is the argument "run". If the task has failed, its error is the argument "error", cut after a
//     kilobyte, and an instant ("i") "failed" is at its end. Tasks that ran while the task waited are slices within it.
//   - A skipped task is an instant "skipped", of category "skip", of the worker that left it out. Its arguments are
//     "task", "job", and "run" as above, and "cause", why the task was skipped, cut as well. It takes about 200 bytes.
//   - A steal is an arrow ("s" and "f", category "steal") from the victim to the next task of the thief. Viewers leave
//     it out if the victim was between two tasks. The arrow's end tells the number of items.
//   - An edge is an arrow of category "edge", see [TraceOptions]. Perfetto draws the arrow of a task that has waited
//     from the last slice within it.
//   - A run is an asynchronous slice ("b" and "e", category "run"), written when it ends or, without an end, by Close.
//     If it has failed, it has the argument "error", too.
//   - The counter "workers" has the number of workers that are running items, and of those that look for some.
//   - The counter "queued items" has the number of items that wait for a worker, as far as they can be seen: see
//     [executor.Gauges].
//   - The counter "dropped events" is there if events were left out. Its last value is their number.
//
// Times are in microseconds since NewTrace, with three decimals. No two slices of a thread begin or end at the same
// time: if the clock has not moved, two nanoseconds are added.
//
// The trace is written while the executors run, by a goroutine of its own, and at least every tenth of a second. Memory
// is bounded, whatever the number of events. Parts are written in whole events: if the program ends without Close, the
// file lacks only the two brackets at its end, ]}, without which viewers refuse it. The file takes about 85 bytes a
// task, or a tenth of that if out is a [compress/gzip.Writer], which Perfetto reads too.
//
// Ten million tasks of a microsecond, on both of two cores, made a file of 858 MB, all but 89 of them, in a process of
// 18 MB. Through a gzip.Writer the file had 56 MB and lacked a third of the events, since the writer needed a core too.
//
// All methods may be called from any goroutine.
type Trace struct {
	opts  TraceOptions
	start time.Time
	off   xatomic.Bool // the rest is not traced: the trace is closed or writing has failed

	mu      xsync.Mutex
	sources []*source // by process, less one

	runs xatomic.Uint64 // the number of the latest run

	lost xatomic.Tell64 // dropped events, counted by the goroutine that writes

	writer *writer
}

// A source is one executor of a trace.
type source struct {
	trace *Trace
	pid   int

	workers slots[tracer]

	mu      xsync.Mutex // guards what follows, not the fields of the tracers
	tracers []*tracer
	ex      weak.Pointer[executor.Executor] // weak, so that an executor can be abandoned
	name    string                          // of ex
	used    bool

	runs sync.Map // *executor.Run → *runInfo, in progress

	ended struct {
		mu xsync.Mutex // held by the ring's producer
		*ring
	}
}

// runInfo is what a trace knows of a run in progress.
type runInfo struct {
	name   string // as it is shown
	number uint64 // in the trace
	begin  int64
	told   bool // the run is written with its end; the goroutine that writes only
}

// A tracer has what one worker has to tell.
type tracer struct {
	_ pad.Line
	// Constant.
	source *source
	id     int
	ring   *ring

	// The worker only.
	last  int64   // the time of the last event
	begun []int64 // when the tasks on the worker's stack have begun, and its sleep
	run   *executor.Run
	job   string   // of the last task
	info  *runInfo // of run, if it is to be told
	_     pad.Line
}

// NewTrace begins a trace that is written to out. It must be closed: until then it has a goroutine. If out is nil or
// fails, tracing stops, and Close returns the error.
func NewTrace(out io.Writer, opts TraceOptions) *Trace {
	t := newTrace(out, opts)
	t.writer.start()
	return t
}

// newTrace makes a trace whose writer is not started.
func newTrace(out io.Writer, opts TraceOptions) *Trace {
	if opts.Buffer <= 0 {
		opts.Buffer = 8192
	}
	opts.Buffer = 1 << bits.Len(uint(min(max(opts.Buffer, 64), 1<<20)-1))
	if opts.Sample == 0 {
		opts.Sample = 10 * time.Millisecond
	}
	t := &Trace{opts: opts, start: time.Now()}
	t.writer = newWriter(t, out)
	if out == nil {
		t.writer.fail(errors.New("observe: NewTrace needs a writer, got nil"))
	}
	return t
}

// Observer returns an observer for the Config of one executor. Each executor needs an observer of its own.
func (t *Trace) Observer() *executor.Observer {
	t.mustBeMade()
	s := &source{trace: t}
	s.ended.ring = newRing(t.opts.Buffer)
	t.mu.Lock()
	t.sources = append(t.sources, s)
	s.pid = len(t.sources)
	t.mu.Unlock()
	o := &executor.Observer{
		Attach:    s.attach,
		RunBegin:  s.runBegin,
		RunEnd:    s.runEnd,
		TaskBegin: s.taskBegin,
		TaskEnd:   s.taskEnd,
		TaskSkip:  s.taskSkip,
		Steal:     s.steal,
		Park:      s.park,
		Unpark:    s.unpark,
	}
	return o
}

// Close writes what is left and ends the trace. It does not close the writer that NewTrace was given. It waits for
// calls of that writer's Write. Executors may go on: what they do from then on is not traced.
//
// The error is that of the writer. If there is none but events were left out, it is a [*DroppedError]. A second Close
// returns the same error.
func (t *Trace) Close() error {
	t.mustBeMade()
	t.off.Store(true)
	if err := t.writer.close(); err != nil {
		return err
	}
	if n := t.lost.Load(); n > 0 {
		return &DroppedError{n}
	}
	return nil
}

// A DroppedError says that a trace is not complete, because it was not written as fast as events came.
type DroppedError struct {
	Events uint64 // the number of tasks, steals, sleeps and runs that the trace lacks
}

func (e *DroppedError) Error() string {
	return fmt.Sprintf("observe: the trace lacks %d events that came faster than they could be written", e.Events)
}

// mustBeMade panics if t is nil or zero.
func (t *Trace) mustBeMade() {
	if t == nil || t.writer == nil {
		panic("observe: a Trace is made by NewTrace")
	}
}

// begun reports whether an executor has been attached to an observer of the trace.
func (t *Trace) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.sources, func(s *source) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.used
	})
}

func (t *Trace) now() int64 { return int64(time.Since(t.start)) }

func (s *source) attach(ex *executor.Executor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used {
		panic("observe: an observer of a Trace is for one executor: call Observer again for another")
	}
	s.used, s.name = true, ex.Name()
	s.ex = weak.Make(ex)
}

// tracer returns the tracer of a worker. The worker only.
func (s *source) tracer(worker int) *tracer {
	if w := s.workers.of(worker); w != nil {
		return w
	}
	w := &tracer{source: s, id: worker, ring: newRing(s.trace.opts.Buffer)}
	s.workers.set(worker, w)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracers = append(s.tracers, w)
	return w
}

// stamp returns the time of an event. It is larger than that of the worker's last event by at least two.
func (w *tracer) stamp() int64 {
	w.last = max(w.source.trace.now(), w.last+2)
	return w.last
}

func (s *source) taskBegin(of *executor.Event) {
	if s.trace.off.Load() {
		return
	}
	w := s.tracer(of.Worker)
	w.begun = append(w.begun, w.stamp())
}

func (s *source) taskEnd(of *executor.Event) {
	if s.trace.off.Load() {
		return
	}
	w := s.tracer(of.Worker)
	begin, ok := w.pop()
	if !ok {
		return // the task was begun before the observer was switched on
	}
	end := w.stamp()
	e := w.place()
	if e == nil {
		return
	}
	e.kind, e.begin, e.end = taskSlice, begin, end
	e.task.Set(of.Task)
	e.run.Set(w.infoOf(of.Run, of.Task.Set.Job))
	e.failure.Set(failureText(of.Err))
	w.publish()
}

func (s *source) taskSkip(of *executor.Event) {
	if s.trace.off.Load() {
		return
	}
	w := s.tracer(of.Worker)
	at := w.stamp()
	e := w.place()
	if e == nil {
		return
	}
	e.kind, e.begin = skipMark, at
	e.task.Set(of.Task)
	e.run.Set(w.infoOf(of.Run, of.Task.Set.Job))
	e.failure.Set(failureText(of.Err))
	w.publish()
}

// pop returns when the innermost task or sleep has begun.
func (w *tracer) pop() (begin int64, ok bool) {
	n := len(w.begun)
	if n == 0 {
		return 0, false
	}
	begin = w.begun[n-1]
	w.begun = w.begun[:n-1]
	return begin, true
}

// infoOf returns what a trace is to tell of the run of a task of that job, or nil. Edges need its number.
func (w *tracer) infoOf(run *executor.Run, job string) *runInfo {
	if run != w.run || job != w.job {
		w.run, w.job, w.info = run, job, nil
		if run != nil && (w.source.trace.opts.Edges || names.Run(run, job) != "") {
			w.info = w.source.info(run)
		}
	}
	return w.info
}

// info returns what is known of a run. The run is new, or it was begun before the observer was switched on.
func (s *source) info(run *executor.Run) *runInfo {
	if i, ok := s.runs.Load(run); ok {
		return i.(*runInfo)
	}
	i := &runInfo{name: names.Job(run.Name()), number: s.trace.runs.Add(1), begin: s.trace.now()}
	had, _ := s.runs.LoadOrStore(run, i)
	return had.(*runInfo)
}

func (s *source) runBegin(of *executor.Event) {
	if !s.trace.off.Load() {
		s.info(of.Run)
	}
}

func (s *source) runEnd(of *executor.Event) {
	had, ok := s.runs.Load(of.Run)
	if !ok || s.trace.off.Load() {
		if s.trace.writer.isDone() {
			s.runs.Delete(of.Run) // noted too late to be forgotten
		}
		return // Close writes the run without an end
	}
	// The run stays in runs until its end is in the ring, so that Close finds it in one of the two, see writer.rest.
	defer s.runs.Delete(of.Run)
	info := had.(*runInfo)
	s.ended.mu.Lock()
	defer s.ended.mu.Unlock()
	e := s.trace.place(s.ended.ring)
	if e == nil {
		return
	}
	e.kind, e.begin, e.end = runSlice, info.begin, s.trace.now()
	e.run.Set(info)
	e.failure.Set(failureText(of.Err))
	s.trace.publish(s.ended.ring)
}

func (s *source) steal(of *executor.Event) {
	if s.trace.off.Load() || of.Victim < 0 { // a thief that is dealt an item does not know from where
		return
	}
	w := s.tracer(of.Worker)
	e := w.place()
	if e == nil {
		return
	}
	e.kind, e.begin, e.other, e.n = stealArrow, w.stamp(), int32(of.Victim), int32(of.Items)
	w.publish()
}

func (s *source) park(of *executor.Event) {
	if s.trace.off.Load() {
		return
	}
	w := s.tracer(of.Worker)
	w.run, w.info = nil, nil // an idle worker keeps no run alive
	if s.trace.opts.Parks {
		w.begun = append(w.begun, w.stamp())
	}
}

func (s *source) unpark(of *executor.Event) {
	if s.trace.off.Load() || !s.trace.opts.Parks {
		return
	}
	w := s.tracer(of.Worker)
	begin, ok := w.pop()
	if !ok {
		return
	}
	end := w.stamp()
	if e := w.place(); e != nil {
		e.kind, e.begin, e.end = parkSlice, begin, end
		w.publish()
	}
}

// failureText returns the text of a failure that a trace shows, or nil if there is none. The methods of err are user
// code: package fmt contains their panics.
func failureText(err error) *string {
	if err == nil {
		return nil
	}
	text := fmt.Sprint(err)
	if len(text) > maxFailureText {
		text = text[:maxFailureText] + "…"
	}
	return &text
}

// maxFailureText is the largest number of bytes of a failure's text in a trace. It is arbitrary.
const maxFailureText = 1000

func (w *tracer) place() *event {
	if e := w.ring.place(); e != nil {
		return e
	}
	return w.source.trace.place(w.ring)
}

func (w *tracer) publish() { w.source.trace.publish(w.ring) }

// place returns the next place of a ring. If there is none it waits for one, or counts the event as dropped and returns
// nil. The ring's producer only.
func (t *Trace) place(r *ring) *event {
	for {
		e := r.place()
		switch {
		case e != nil:
			return e
		case !t.opts.Wait || t.off.Load():
			r.drop()
			return nil
		}
		t.writer.nudge()
		time.Sleep(50 * time.Microsecond)
	}
}

// publish hands the event in the ring's next place to the writer. The ring's producer only.
func (t *Trace) publish(r *ring) {
	if r.publish() {
		t.writer.nudge()
	}
}

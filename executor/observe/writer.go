package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A writer is the goroutine that writes a trace. Workers meet its channel only when their ring is half full or full,
// and never wait for it.
type writer struct {
	trace *Trace
	out   io.Writer
	wake  chan struct{} // has room for one
	quit  chan struct{}
	done  chan struct{} // closed when the goroutine has ended; publishes err
	once  xsync.Once    // closes quit
	holds bool          // nothing is written unless an executor is attached; constant

	// The goroutine only, until done.
	file    traceFile
	err     error
	counted uint64 // the last value of the counter of dropped events
}

func newWriter(t *Trace, out io.Writer) *writer {
	return &writer{
		trace: t, out: out,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// start starts the goroutine.
func (w *writer) start() { xsync.Go(w.write) }

// close ends the goroutine and returns its error.
func (w *writer) close() error {
	w.once.Do(func() { close(w.quit) })
	<-w.done
	return w.err
}

// nudge makes the goroutine look at the rings soon. It does not wait.
func (w *writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// fail stops the trace. Only the first error counts.
func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.trace.off.Store(true)
}

// flushEvery is how long an event may stay in memory. Its size is arbitrary.
const flushEvery = 100 * time.Millisecond

// flushSize is how much text is written at once. Its size is arbitrary.
const flushSize = 64 << 10

func (w *writer) write() {
	defer w.forget()
	defer close(w.done) // first, see runEnd
	if w.err != nil {
		return
	}
	w.file.begin()
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	var sample <-chan time.Time
	if every := w.trace.opts.Sample; every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		sample = ticker.C
	}
	for w.err == nil {
		select {
		case <-w.wake:
			w.drain()
		case <-sample:
			w.drain()
			w.sample()
		case <-flush.C:
			w.drain()
			w.flush()
		case <-w.quit:
			w.rest()
			return
		}
	}
}

// sourcesNow returns the sources so far.
func (w *writer) sourcesNow() []*source {
	w.trace.mu.Lock()
	defer w.trace.mu.Unlock()
	return w.trace.sources
}

// drain writes the events in all rings.
func (w *writer) drain() {
	dropped := uint64(0)
	for _, s := range w.sourcesNow() {
		s.mu.Lock()
		tracers, name := s.tracers, s.name
		s.mu.Unlock()
		w.file.name(s.pid, name, tracers)
		for _, t := range tracers {
			tid := t.id + 1 // 0 is the idle thread of Linux, which viewers leave out
			t.ring.drain(func(e *event) { w.event(s.pid, tid, e) })
			dropped += t.ring.dropped.Load()
		}
		s.ended.drain(func(e *event) { w.event(s.pid, 1, e) })
		dropped += s.ended.dropped.Load()
	}
	if dropped != w.counted {
		w.counted = dropped
		w.trace.lost.Store(dropped)
		w.file.dropped(w.trace.now(), dropped)
	}
}

// event writes one event.
func (w *writer) event(pid, tid int, e *event) {
	f := &w.file
	switch e.kind {
	case taskSlice:
		f.task(pid, tid, e, w.trace.opts.Edges)
	case skipMark:
		f.skip(pid, tid, e)
	case parkSlice:
		f.park(pid, tid, e)
	case stealArrow:
		f.steal(pid, tid, e)
	case runSlice:
		run := e.run.Get()
		run.told = true
		f.run(pid, "b", run, e.begin, e.failure.Get())
		f.run(pid, "e", run, e.end, nil)
	}
	if len(f.text) >= flushSize {
		w.flush()
	}
}

// sample writes the counters.
func (w *writer) sample() {
	for _, s := range w.sourcesNow() {
		s.mu.Lock()
		weak := s.ex
		s.mu.Unlock()
		ex := weak.Value()
		if ex == nil {
			continue
		}
		g := ex.Stats().Gauges
		searching := g.Count(executor.WorkerSearching) + g.Count(executor.WorkerPreparing)
		w.file.workers(s.pid, w.trace.now(), g.Count(executor.WorkerRunning), searching, g.Pending())
	}
}

// rest writes what is left, and the end of the trace. A run that ends meanwhile is in a ring before it is no longer in
// progress: so the runs in progress are looked for first, and those whose end is in a ring are left out then.
func (w *writer) rest() {
	runs := make(map[*runInfo]int) // to pid
	for _, s := range w.sourcesNow() {
		for _, info := range s.runs.Range {
			runs[info.(*runInfo)] = s.pid
		}
	}
	w.drain()
	for run, pid := range runs {
		if !run.told {
			w.file.run(pid, "b", run, run.begin, nil)
		}
	}
	w.file.end()
	w.flush()
}

func (w *writer) isDone() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// forget drops the runs in progress: from now on their ends are not told.
func (w *writer) forget() {
	for _, s := range w.sourcesNow() {
		s.runs.Clear()
	}
}

// flush passes the text so far to the trace's Writer. A panic of that is a failure, and so is a Goexit, which ends the
// goroutine.
func (w *writer) flush() {
	if w.holds && !w.trace.begun() {
		return
	}
	text := w.file.text
	w.file.text = text[:0]
	if len(text) == 0 || w.err != nil {
		return
	}
	returned := false
	defer func() {
		switch v := recover(); {
		case v != nil:
			w.fail(fmt.Errorf("observe: the trace's writer panicked: %v", v))
		case !returned:
			w.fail(errors.New("observe: the trace's writer called runtime.Goexit"))
		}
	}()
	n, err := w.out.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.fail(fmt.Errorf("observe: writing the trace: %w", err))
	}
	returned = true
}

// Errors of [Switch.Record].
var (
	// ErrSwitched says that another observer is put in, or was put in before the trace has ended.
	ErrSwitched = errors.New("observe: another observer is put in")
	// ErrNoExecutor says that nothing was traced: no executor runs with the observer of the Switch.
	ErrNoExecutor = errors.New("observe: nothing was traced: no executor runs with the observer of this Switch")
)

// Record writes a trace to out until ctx ends. That end is no error: otherwise the error is that of [Trace.Close]. If
// an observer is put in already, Record returns [ErrSwitched] at once and writes nothing. An observer that somebody
// puts in meanwhile stays in: Record then ends the trace and returns ErrSwitched. So Set(nil) ends a Record. It ends at
// once if out is nil or fails. If no executor called the Switch, it returns an error such as [ErrNoExecutor], and has
// written nothing if it is that one.
func (s *Switch) Record(ctx context.Context, out io.Writer, opts TraceOptions) error {
	if ctx == nil {
		panic("observe: Record needs a context, got nil")
	}
	trace := newTrace(out, opts)
	trace.writer.holds = true
	o := s.seat(trace.Observer())
	taken := make(chan struct{})
	o.taken = func() { close(taken) }
	if !s.swap(nil, o) {
		return ErrSwitched
	}
	trace.writer.start()
	select {
	case <-ctx.Done():
	case <-trace.writer.done:
	case <-taken:
	}
	dead := s.dead.Load()
	mine := s.swap(o, nil)
	err := trace.Close()
	switch failed := o.failed.Load(); {
	case err != nil:
		return err
	case failed != nil:
		return fmt.Errorf("observe: the trace is cut off: its observer %s", *failed)
	case dead != nil:
		return fmt.Errorf("observe: the executor does not call this Switch any more: an observer in it %s", *dead)
	case !mine:
		return ErrSwitched
	case !trace.begun():
		return ErrNoExecutor
	}
	return nil
}

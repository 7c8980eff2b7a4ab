package otel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// SpanOptions are the choices of [Spans].
type SpanOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Provider makes the tracer. nil means the global provider.
	Provider trace.TracerProvider
	// RunsOnly leaves the tasks out. A function then finds the span of its run in its context.
	RunsOnly bool
	// Links gives the span of a task a link to that of each task before it in its graph.
	Links bool
}

// Spans returns an observer for the Config of one executor at a time, which makes a span of each run and of each task.
//
// The span of a run is a child of that in the context that the run was started with, and the spans of tasks are
// children of their run's; those of the children of a function are children of the function's. A function finds its
// task's span in its context. So calls that it makes with that context are children of the task, and so are runs that
// it starts. An Async has the span of its task only.
//
// A span that has failed has the status Error and an event with the error and, after a panic, the stack. The span of a
// run has an event for each task that was skipped. The attributes are magpie.executor, magpie.job and magpie.worker.
//
// A run whose span is not recorded, because it was not sampled, has no spans of tasks. A task then costs some 200 ns,
// and otherwise as much as a span does: some 2.5 µs without an exporter (AMD EPYC, Go 1.26, 2026-11-27). It is for
// tasks that are worth a line in a trace of a request. For others set RunsOnly, or use package observe.
func Spans(o SpanOptions) *executor.Observer {
	if o.Provider == nil {
		o.Provider = otel.GetTracerProvider()
	}
	s := &spans{options: o, tracer: o.Provider.Tracer(ScopeName)}
	observer := &executor.Observer{Attach: s.attach, Detach: s.detach, RunBegin: s.runBegin, RunEnd: s.runEnd}
	observer.TaskBegin = s.taskBegin
	if !o.RunsOnly {
		observer.TaskEnd, observer.TaskSkip = s.taskEnd, s.taskSkip
	}
	return observer
}

type spans struct {
	options SpanOptions
	tracer  trace.Tracer
	on      atomic.Pointer[attachment] // nil if there is none
	runs    sync.Map                   // *executor.Run → *runSpan, in progress
}

// An attachment is an executor that an observer is attached to.
type attachment struct {
	name attribute.KeyValue
	ex   weak.Pointer[executor.Executor]
}

// A runSpan is the span of a run in progress.
type runSpan struct {
	trace.Span
	mu    sync.Mutex
	links map[*executor.TaskInfo][]trace.Link // of tasks that have not begun, to those before them
}

// A taskSpan is the span of a task in progress or, if tasks have none, of its run. It is a value of the task's context.
type taskSpan struct {
	trace.Span
	of     *spans
	before *taskSpan // in the same context, of the tasks around it or of other observers
	run    *executor.Run
	task   *executor.TaskInfo
	ended  atomic.Bool
}

type taskKey struct{}

func (s *spans) attach(ex *executor.Executor) {
	on := attachment{attribute.String("magpie.executor", valid(ex.Name())), weak.Make(ex)}
	if !s.on.CompareAndSwap(nil, &on) {
		panic("otel: an observer of Spans is for one executor at a time: call Spans again for another")
	}
}

func (s *spans) detach() { s.on.Store(nil) }

func (s *spans) executor() attribute.KeyValue {
	if on := s.on.Load(); on != nil {
		return on.name
	}
	return attribute.String("magpie.executor", "")
}

// isBeside reports whether s and other observe one executor.
func (s *spans) isBeside(other *spans) bool {
	a, b := s.on.Load(), other.on.Load()
	return s != other && a != nil && b != nil && a.ex == b.ex
}

func (s *spans) runBegin(e *executor.Event) {
	name := cmp.Or(valid(e.Run.Name()), "job")
	ctx, _, _ := s.within(e.Context)
	_, span := s.tracer.Start(ctx, name, trace.WithTimestamp(e.Time()), trace.WithAttributes(s.executor()))
	s.runs.Store(e.Run, &runSpan{Span: span})
}

func (s *spans) runEnd(e *executor.Event) {
	if r := s.of(e.Run, true); r != nil {
		end(r.Span, e)
	}
}

// of returns the span of a run; nil if it has none, or its begin was not told. takes says that the run has ended.
func (s *spans) of(run *executor.Run, takes bool) *runSpan {
	load := s.runs.Load
	if takes {
		load = s.runs.LoadAndDelete
	}
	if r, ok := load(run); ok {
		return r.(*runSpan)
	}
	return nil
}

// around returns the innermost span of a task that s has put into a context, and the innermost of all observers. Each
// is nil if there is none.
func (s *spans) around(ctx context.Context) (own, last *taskSpan) {
	last, _ = ctx.Value(taskKey{}).(*taskSpan)
	for own = last; own != nil && own.of != s; {
		own = own.before
	}
	return own, last
}

// within returns the context for what begins within ctx, and what around does. If the span in ctx is that of another
// observer of the executor, it is replaced by that of s.
func (s *spans) within(ctx context.Context) (_ context.Context, own, last *taskSpan) {
	own, last = s.around(ctx)
	if own != nil && s.isBeside(last.of) && trace.SpanContextFromContext(ctx).Equal(last.SpanContext()) {
		ctx = trace.ContextWithSpan(ctx, own.Span)
	}
	return ctx, own, last
}

func (s *spans) taskBegin(e *executor.Event) {
	ctx, above, last := s.within(e.Context)
	run := s.of(e.Run, false)
	enters := run != nil && (above == nil || above.run != e.Run)
	if enters {
		ctx = trace.ContextWithSpan(ctx, run.Span)
	}
	if s.options.RunsOnly || run != nil && !run.IsRecording() {
		if enters { // of no task, so that it is not ended
			ctx = context.WithValue(ctx, taskKey{}, &taskSpan{Span: run.Span, of: s, before: last, run: e.Run})
		}
		e.Context = ctx
		return
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(e.Time()), trace.WithAttributes(
		s.executor(), attribute.String("magpie.job", valid(e.Task.Set.Job)), attribute.Int("magpie.worker", e.Worker))}
	if s.options.Links && run != nil {
		options = append(options, trace.WithLinks(run.take(e.Task)...))
	}
	ctx, span := s.tracer.Start(ctx, nameOf(e.Task), options...)
	e.Context = context.WithValue(ctx, taskKey{}, &taskSpan{Span: span, of: s, before: last, run: e.Run, task: e.Task})
}

func (s *spans) taskEnd(e *executor.Event) {
	t, _ := s.around(e.Context)
	if t == nil || t.run != e.Run || t.task != e.Task || t.ended.Swap(true) {
		return // its begin was not told
	}
	if run := s.of(e.Run, false); run != nil && s.options.Links && e.Task.Set.Successors != nil {
		run.give(e.Task, t.SpanContext())
	}
	end(t.Span, e)
}

func (s *spans) taskSkip(e *executor.Event) {
	run := s.of(e.Run, false)
	if run == nil || !run.IsRecording() {
		return
	}
	attributes := []attribute.KeyValue{
		attribute.String("magpie.job", valid(e.Task.Set.Job)), attribute.String("magpie.task", nameOf(e.Task)),
	}
	if e.Err != nil {
		attributes = append(attributes, attribute.String("magpie.cause", valid(fmt.Sprint(e.Err))))
	}
	run.AddEvent("task skipped", trace.WithTimestamp(e.Time()), trace.WithAttributes(attributes...))
}

// give gives the tasks after task a link to its span.
func (r *runSpan) give(task *executor.TaskInfo, span trace.SpanContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.links == nil {
		r.links = make(map[*executor.TaskInfo][]trace.Link)
	}
	for i := range task.Set.Successors(task.Index) {
		after := &task.Set.Tasks[i]
		r.links[after] = append(r.links[after], trace.Link{SpanContext: span})
	}
}

// take returns the links of a task that begins.
func (r *runSpan) take(task *executor.TaskInfo) []trace.Link {
	r.mu.Lock()
	defer r.mu.Unlock()
	links := r.links[task]
	delete(r.links, task)
	return links
}

// end ends a span as e says.
func end(span trace.Span, e *executor.Event) {
	if e.Err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, valid(fmt.Sprint(e.Err)))
		record(span, e)
	}
	span.End(trace.WithTimestamp(e.Time()))
}

// record adds the failure to the span, unless a method of the error panics.
func record(span trace.Span, e *executor.Event) {
	defer func() { _ = recover() }()
	options := []trace.EventOption{trace.WithTimestamp(e.Time())}
	if p := (*executor.PanicError)(nil); errors.As(e.Err, &p) {
		stack := attribute.String("exception.stacktrace", valid(string(p.Stack)))
		options = append(options, trace.WithAttributes(stack))
	}
	err := e.Err
	if text := err.Error(); !utf8.ValidString(text) {
		err = errors.New(valid(text)) // the span is not told its type
	}
	span.RecordError(err, options...)
}

// nameOf returns the name of a task. If it has none, that is the job's if the job has no other task, and otherwise its
// index in the job: "#7".
func nameOf(t *executor.TaskInfo) string {
	switch {
	case t.Name != "":
		return valid(t.Name)
	case len(t.Set.Tasks) == 1 && t.Set.Job != "":
		return valid(t.Set.Job)
	}
	return "#" + strconv.Itoa(t.Index)
}

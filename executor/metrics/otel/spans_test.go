package otel_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics/otel"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// traced returns an executor with spans, and what records them.
func traced(t *testing.T, o otel.SpanOptions, cfg executor.Config) (*executor.Executor, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	if o.Provider == nil {
		o.Provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	}
	cfg.Observers = append(cfg.Observers, otel.Spans(o))
	return newExecutor(t, cfg), recorder
}

// tree returns the spans as "parent > name", in order, after ex has been closed.
func tree(recorder *tracetest.SpanRecorder) (all []string) {
	names := map[trace.SpanID]string{}
	for _, s := range recorder.Ended() {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	for _, s := range recorder.Ended() {
		all = append(all, names[s.Parent().SpanID()]+" > "+s.Name())
	}
	slices.Sort(all)
	return all
}

func find(t *testing.T, recorder *tracetest.SpanRecorder, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	var found []sdktrace.ReadOnlySpan
	for _, s := range recorder.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	require.Len(t, found, 1, name)
	return found[0]
}

// TestSpans: runs, tasks and what they start are spans below each other, with links for edges.
func TestSpans(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ex := newExecutor(t, executor.Config{
		Workers: 2, Name: "pictures",
		Observers: []*executor.Observer{otel.Spans(otel.SpanOptions{Provider: provider, Links: true})},
	})
	ctx, request := provider.Tracer("test").Start(t.Context(), "request")
	g := graph.New("g")
	a := g.Task(func(context.Context) error { return nil }).Named("a")
	b := g.Task(func(ctx context.Context) error {
		_, query := provider.Tracer("test").Start(ctx, "query")
		query.End()
		return ex.Run(ctx, executor.NewJob("inner", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return nil })
			return nil
		}))
	}).Named("b")
	c := g.Task(func(context.Context) error { return nil })
	a.Precede(b, c)
	b.Precede(c)
	require.NoError(t, ex.Run(ctx, g))
	_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }).Wait()
	require.NoError(t, err)
	request.End()
	require.NoError(t, ex.Close())

	require.Equal(t, []string{
		" > request", "b > inner", "b > query", "g > #2", "g > a", "g > b", "inner > root", "request > async",
		"request > g", "root > child",
	}, tree(recorder))
	links := func(name string) (to []string) {
		for _, l := range find(t, recorder, name).Links() {
			for _, s := range recorder.Ended() {
				if s.SpanContext().SpanID() == l.SpanContext.SpanID() {
					to = append(to, s.Name())
				}
			}
		}
		slices.Sort(to)
		return to
	}
	require.Empty(t, links("a"))
	require.Equal(t, []string{"a"}, links("b"))
	require.Equal(t, []string{"a", "b"}, links("#2"))
	attributes := attribute.NewSet(find(t, recorder, "b").Attributes()...)
	job, _ := attributes.Value("magpie.job")
	name, _ := attributes.Value("magpie.executor")
	require.Equal(t, "g pictures", job.AsString()+" "+name.AsString())
	require.True(t, attributes.HasValue("magpie.worker"))
	for _, s := range recorder.Ended() {
		require.Equal(t, codes.Unset, s.Status().Code, s.Name())
		require.False(t, s.EndTime().Before(s.StartTime()))
	}
}

// TestSpansFailures: what has failed says why, and a run says which tasks were skipped.
func TestSpansFailures(t *testing.T) {
	for name, fn := range map[string]func() error{
		"error":  func() error { return errors.New("broken") },
		"panic":  func() error { panic("broken") },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			ex, recorder := traced(t, otel.SpanOptions{}, executor.Config{Workers: 1, Callers: executor.IdleCallers})
			g := graph.New("g")
			bad := g.Task(func(context.Context) error { return fn() }).Named("bad")
			bad.Precede(g.Task(func(context.Context) error { return nil }).Named("after"))
			require.Error(t, ex.Run(t.Context(), g))
			require.NoError(t, ex.Close())
			require.Equal(t, []string{" > g", "g > bad"}, tree(recorder))
			for _, failed := range []string{"bad", "g"} {
				s := find(t, recorder, failed)
				require.Equal(t, codes.Error, s.Status().Code)
				i := slices.IndexFunc(s.Events(), func(e sdktrace.Event) bool { return e.Name == "exception" })
				require.GreaterOrEqual(t, i, 0)
				stack := slices.ContainsFunc(s.Events()[i].Attributes, func(a attribute.KeyValue) bool {
					return a.Key == "exception.stacktrace"
				})
				require.Equal(t, name == "panic", stack)
			}
			skips := 0
			for _, e := range find(t, recorder, "g").Events() {
				if e.Name == "task skipped" {
					require.Contains(t, fmt.Sprint(e.Attributes), "after")
					skips++
				}
			}
			require.Equal(t, 1, skips)
		})
	}
}

// A mute is an error whose methods panic.
type mute struct{}

func (mute) Error() string { panic("mute") }
func (mute) Unwrap() error { panic("mute") }

// TestSpansOfMuteErrors: an error that cannot be asked ends its spans all the same, and those of later runs.
func TestSpansOfMuteErrors(t *testing.T) {
	ex, recorder := traced(t, otel.SpanOptions{}, executor.Config{Workers: 1, Callers: executor.IdleCallers})
	for name, err := range map[string]error{"bad": mute{}, "good": nil} {
		g := graph.New("g")
		first := g.Task(func(context.Context) error { return err }).Named(name)
		first.Precede(g.Task(func(context.Context) error { return nil }).Named("after"))
		require.Equal(t, err != nil, ex.Run(t.Context(), g) != nil)
	}
	require.NoError(t, ex.Close())
	require.Equal(t, []string{" > g", " > g", "g > after", "g > bad", "g > good"}, tree(recorder))
	require.Equal(t, codes.Error, find(t, recorder, "bad").Status().Code)
}

// TestSpansSampled: a run that is not sampled has no spans of tasks, and its functions see its span all the same.
func TestSpansSampled(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sdktrace.NeverSample()))
	ex, _ := traced(t, otel.SpanOptions{Provider: provider}, executor.Config{Workers: 1})
	ctx, request := provider.Tracer("test").Start(t.Context(), "request")
	var sees trace.SpanContext
	require.NoError(t, ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
		sees = trace.SpanContextFromContext(s.Context())
		return nil
	})))
	require.Equal(t, request.SpanContext().TraceID(), sees.TraceID())
	require.NotEqual(t, request.SpanContext().SpanID(), sees.SpanID(), "the run's own")
	require.NoError(t, ex.Close())
	require.Empty(t, recorder.Ended())
}

// TestSpansRunsOnly: with RunsOnly a function finds the span of its run.
func TestSpansRunsOnly(t *testing.T) {
	ex, recorder := traced(t, otel.SpanOptions{RunsOnly: true}, executor.Config{Workers: 1})
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
		trace.SpanFromContext(s.Context()).AddEvent("here")
		return nil
	})))
	require.NoError(t, ex.Close())
	require.Equal(t, []string{" > f"}, tree(recorder))
	require.Len(t, find(t, recorder, "f").Events(), 1)
}

// TestSpansOfTwoExecutors: runs that functions start on each other's executor are below each other.
func TestSpansOfTwoExecutors(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	o := otel.SpanOptions{Provider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))}
	a, _ := traced(t, o, executor.Config{Workers: 1})
	b, _ := traced(t, o, executor.Config{Workers: 1})
	run := func(ctx context.Context, ex *executor.Executor, name string, fn func(context.Context) error) error {
		g := graph.New(name)
		g.Task(fn).Named("task of " + name)
		return ex.Run(ctx, g)
	}
	require.NoError(t, run(t.Context(), a, "1", func(ctx context.Context) error {
		return run(ctx, b, "2", func(ctx context.Context) error {
			return run(ctx, a, "3", func(context.Context) error { return nil })
		})
	}))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	require.Equal(t, []string{
		" > 1", "1 > task of 1", "2 > task of 2", "3 > task of 3", "task of 1 > 2", "task of 2 > 3",
	}, tree(recorder))
}

// TestSpansTwice: two observers of one executor make the same spans, each of its own tracer and below its own.
func TestSpansTwice(t *testing.T) {
	second := tracetest.NewSpanRecorder()
	ex, first := traced(t, otel.SpanOptions{}, executor.Config{Workers: 1, Observers: []*executor.Observer{
		otel.Spans(otel.SpanOptions{Provider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(second))}),
	}})
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
		s.Go(func(ctx context.Context) error {
			if err := ex.Run(ctx, executor.NewJob("inner", func(*executor.Scope) error { return nil })); err != nil {
				return err
			}
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }).Wait()
			return err
		})
		return s.Wait()
	})))
	require.NoError(t, ex.Close())
	for _, recorder := range []*tracetest.SpanRecorder{first, second} {
		require.Len(t, recorder.Started(), 6)
		require.Equal(t, []string{
			" > f", "child > async", "child > inner", "f > root", "inner > root", "root > child",
		}, tree(recorder))
	}
}

// TestSpansTwiceOfRuns: the same where tasks have no spans, for one of the observers or for both.
func TestSpansTwiceOfRuns(t *testing.T) {
	for _, both := range []bool{false, true} {
		second := tracetest.NewSpanRecorder()
		ex, first := traced(t, otel.SpanOptions{RunsOnly: both}, executor.Config{
			Workers: 1, Observers: []*executor.Observer{otel.Spans(otel.SpanOptions{
				RunsOnly: true, Provider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(second)),
			})},
		})
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			return ex.Run(s.Context(), executor.NewJob("inner", func(*executor.Scope) error { return nil }))
		})))
		require.NoError(t, ex.Close())
		require.Equal(t, []string{" > f", "f > inner"}, tree(second))
		if both {
			require.Equal(t, []string{" > f", "f > inner"}, tree(first))
		} else {
			require.Equal(t, []string{" > f", "f > root", "inner > root", "root > inner"}, tree(first))
		}
	}
}

// TestSpansRandom: however runs and children nest and fail, every span that begins ends, and is below its own run's.
func TestSpansRandom(t *testing.T) {
	seed := testkit.Seed(t)
	ex, recorder := traced(t, otel.SpanOptions{Links: true}, executor.Config{Workers: 3})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for round := range 30 {
				_ = ex.Run(t.Context(), randomJob(ex, rng, fmt.Sprintf("%d-%d", i, round), 0))
			}
		})
	}
	all.Wait()
	require.NoError(t, ex.Close())
	require.Len(t, recorder.Ended(), len(recorder.Started()))
	traces := map[trace.TraceID]string{}
	for _, s := range recorder.Ended() {
		if !s.Parent().IsValid() {
			require.Empty(t, traces[s.SpanContext().TraceID()])
			traces[s.SpanContext().TraceID()] = s.Name()
		}
	}
	require.Len(t, traces, 120, "the spans of a run without a span above are one trace")
	for _, s := range recorder.Ended() {
		require.Contains(t, traces, s.SpanContext().TraceID())
	}
}

// randomJob returns a job whose functions start children and runs, and fail, at random. A rng is not for several
// goroutines: each function gets one of its own.
func randomJob(ex *executor.Executor, rng *rand.Rand, name string, depth int) executor.Job {
	own := func() *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }
	var fn func(rng *rand.Rand, depth int) func(context.Context) error
	fn = func(rng *rand.Rand, depth int) func(context.Context) error {
		return func(ctx context.Context) error {
			switch n := rng.IntN(8); {
			case n < 2 && depth < 3:
				return ex.Run(ctx, randomJob(ex, rng, name, depth+1))
			case n == 2:
				return errors.New("broken")
			case n == 3:
				panic("broken")
			}
			return nil
		}
	}
	if rng.IntN(2) == 0 {
		children := []*rand.Rand{own(), own(), own()}
		return executor.NewJob(name, func(s *executor.Scope) error {
			for _, c := range children {
				s.Go(fn(c, depth))
			}
			return nil
		})
	}
	g := graph.New(name)
	var tasks []graph.Task
	for range 5 {
		t := g.Task(fn(own(), depth))
		for _, before := range tasks {
			if rng.IntN(3) == 0 {
				before.Precede(t)
			}
		}
		tasks = append(tasks, t)
	}
	return g
}

// The runs and tasks of a request are spans below its own. A task that fails says why.
func ExampleSpans() {
	recorder := tracetest.NewSpanRecorder() // a service has an exporter, in a batcher
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ex, err := executor.New(executor.Config{
		Workers: 2, Observers: []*executor.Observer{otel.Spans(otel.SpanOptions{Provider: provider})},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, request := provider.Tracer("example").Start(context.Background(), "GET /thumbnail")
	g := graph.New("thumbnail")
	read := g.Task(func(context.Context) error { return nil }).Named("read")
	read.Precede(g.Task(func(context.Context) error { return errors.New("not a picture") }).Named("decode"))
	_ = ex.Run(ctx, g)
	request.End()
	_ = ex.Close()

	for _, s := range recorder.Ended() {
		said := s.Status().Code.String()
		if s.Status().Code == codes.Error {
			said += ": " + s.Status().Description
		}
		fmt.Println(s.Name(), said)
	}
	// Unordered output:
	// read Unset
	// decode Error: not a picture
	// thumbnail Error: graph "thumbnail": task decode: not a picture
	// GET /thumbnail Unset
}

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// makeGraph returns a graph that compiles two sources, links them, and has a page besides that does not depend on them.
func makeGraph(fails func(name string) error, ran *[]string) *graph.Graph {
	g := graph.New("mk")
	task := func(name string) graph.Task {
		return g.Task(func(context.Context) error {
			*ran = append(*ran, name)
			return fails(name)
		}).Named(name)
	}
	a, b, link, test, page := task("a.o"), task("b.o"), task("link"), task("test"), task("page")
	link.Succeed(a, b)
	test.Succeed(link)
	publish := task("publish")
	publish.Succeed(page)
	return g
}

func TestKeepGoing(t *testing.T) {
	ex := inlineExecutor(t, testkit.Seed(t))
	boom := errors.New("boom")
	var ran []string
	g := makeGraph(func(name string) error {
		if name == "a.o" {
			return boom
		}
		return nil
	}, &ran)
	r := ex.Start(context.Background(), graph.KeepGoing(g))
	err := r.Wait()
	slices.Sort(ran)
	require.Equal(t, []string{"a.o", "b.o", "page", "publish"}, ran)
	require.ErrorIs(t, err, boom)
	var report *graph.Report
	require.ErrorAs(t, err, &report)
	failure := &graph.TaskError{Run: "mk", Graph: "mk", Task: "a.o", Err: boom}
	require.Equal(t, &graph.Report{
		Run: "mk", Graph: "mk",
		Failed:  []graph.TaskReport{{Index: 0, Name: "a.o", Cause: failure}},
		Skipped: []graph.TaskReport{{Index: 2, Name: "link", Cause: failure}, {Index: 3, Name: "test", Cause: failure}},
	}, report)
	require.EqualError(t, err, "graph \"mk\": failed: 1, skipped for that: 2\ngraph \"mk\": task a.o: boom")
	require.Equal(t, executor.Progress{Total: 6, Done: 3, Failed: 1, Skipped: 2, Over: true}, r.Progress())

	// The graph itself stops, also after a run that has kept going.
	ran = nil
	r = ex.Start(context.Background(), g)
	err = r.Wait()
	require.ErrorIs(t, err, boom)
	require.NotErrorAs(t, err, &report)
	p := r.Progress()
	require.EqualValues(t, len(ran), p.Done+p.Failed)
	require.EqualValues(t, 1, p.Failed)
	require.EqualValues(t, 6-len(ran), p.Skipped)
	require.Zero(t, p.Left)

	require.NoError(t, ex.Run(context.Background(), graph.KeepGoing(makeGraph(func(string) error { return nil }, &ran))))
	require.PanicsWithValue(t, panicOf(func() { (*graph.Graph)(nil).Len() }), func() { graph.KeepGoing(nil) })
}

// inlineExecutor returns an executor of NewInline that is closed when the test ends.
func inlineExecutor(t testing.TB, seed uint64) *executor.Executor {
	ex := executor.NewInline(seed)
	t.Cleanup(func() { _ = ex.Close() })
	return ex
}

func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// A spoilt is a random graph some of whose tasks fail.
type spoilt struct {
	*graph.Graph
	tasks []graph.Task
	how   []string // fails by task: "", "error", "panic", "goexit"
	times []atomic.Int32

	inline bool // the tasks run on the caller's goroutine
}

func newSpoilt(r *rand.Rand, n int, kinds bool) *spoilt {
	s := &spoilt{Graph: graph.New("spoilt"), how: make([]string, n), times: make([]atomic.Int32, n)}
	sem := graph.NewSemaphore(1)
	for i := range n {
		if r.IntN(6) == 0 {
			s.how[i] = []string{"error", "panic", "goexit"}[r.IntN(3)]
		}
		fn := func(context.Context) error {
			s.times[i].Add(1)
			switch s.how[i] {
			case "error":
				return fmt.Errorf("error of %d", i)
			case "panic":
				panic(i)
			case "goexit":
				if s.inline { // it would end the test
					return executor.ErrGoexit
				}
				runtime.Goexit()
			}
			return nil
		}
		var t graph.Task
		switch kind := r.IntN(8); {
		case kinds && kind == 0:
			t = s.Subflow(func(ctx context.Context, sub *graph.Graph) error {
				inner := sub.Task(fn)
				sub.Task(func(context.Context) error { return nil }).Succeed(inner)
				return nil
			})
		case kinds && kind == 1:
			t = s.External(func(ctx context.Context, done func(error)) error {
				err := fn(ctx)
				done(err)
				return nil
			})
		case kinds && kind == 2:
			t = s.Task(fn).Hold(sem)
		default:
			t = s.Task(fn)
		}
		for range r.IntN(4) {
			if i > 0 {
				t.Succeed(s.tasks[r.IntN(i)])
			}
		}
		s.tasks = append(s.tasks, t)
	}
	if r.IntN(4) == 0 { // one task before a crowd, which is a span
		first := s.tasks[0]
		for _, t := range s.tasks[1:] {
			if t.NumPredecessors() == 0 {
				t.Succeed(first)
			}
		}
	}
	return s
}

// check compares a run with what follows from the graph: a task runs once unless a task before it has failed.
func (s *spoilt) check(t *testing.T, err error, p executor.Progress) {
	t.Helper()
	n := len(s.tasks)
	var report *graph.Report
	if err != nil {
		require.ErrorAs(t, err, &report)
	} else {
		report = &graph.Report{}
	}
	out := make([]map[int]bool, n) // by task: the failed tasks before it
	var failed, skipped []int
	for i := range s.tasks {
		out[i] = make(map[int]bool)
		for p := range s.tasks[i].Predecessors() {
			j := p.Index()
			if s.how[j] != "" && len(out[j]) == 0 {
				out[i][j] = true
			}
			for k := range out[j] {
				out[i][k] = true
			}
		}
		switch times := s.times[i].Swap(0); {
		case len(out[i]) > 0:
			require.Zero(t, times, "task %d comes after a failure", i)
			skipped = append(skipped, i)
		case s.how[i] != "":
			failed = append(failed, i)
			fallthrough
		default:
			require.EqualValues(t, 1, times, "task %d", i)
		}
	}
	var told []int
	for _, f := range report.Failed {
		told = append(told, f.Index)
		require.Equal(t, f.Name, f.Cause.Task)
	}
	require.Equal(t, failed, told)
	told = nil
	for _, f := range report.Skipped {
		told = append(told, f.Index)
		cause := slices.IndexFunc(s.tasks, func(t graph.Task) bool { return t.Name() == f.Cause.Task })
		require.True(t, out[f.Index][cause], "%d was skipped for %d", f.Index, cause)
	}
	require.Equal(t, skipped, told)
	if p.Total == 0 { // several priorities
		p.Total = int64(n)
	}
	require.Equal(t, executor.Progress{
		Total: int64(n), Done: int64(n - len(failed) - len(skipped)), Failed: int64(len(failed)),
		Skipped: int64(len(skipped)), Over: true,
	}, p)
}

// TestKeepGoingRandom: whatever the graph, the executor and the failures, exactly that is skipped that comes after a
// failure.
func TestKeepGoingRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 1))
	var executors []*executor.Executor
	for _, cfg := range []executor.Config{
		{Workers: 1}, {Workers: 2}, {Workers: 4}, {Workers: 3, Experiment: experiment.Options{Verbatim: true}},
		{Workers: 2, Observers: []*executor.Observer{{TaskBegin: func(*executor.Event) {}}}},
	} {
		executors = append(executors, newExecutor(t, cfg))
	}
	inline := inlineExecutor(t, 1)
	executors = append(executors, inline)
	for range testkit.Count(t, 300) {
		s := newSpoilt(r, 1+r.IntN(40), r.IntN(2) == 0)
		if r.IntN(4) == 0 {
			for _, task := range s.tasks {
				task.Priority([]graph.Priority{graph.Low, graph.Normal, graph.High}[r.IntN(3)])
			}
		}
		job := graph.KeepGoing(s.Graph)
		if r.IntN(3) == 0 {
			job = executor.With(job, executor.RunOptions{Name: "named"})
		}
		for range 3 {
			ex := executors[r.IntN(len(executors))]
			s.inline = ex == inline
			run := ex.Start(context.Background(), job)
			if r.IntN(2) == 0 {
				run.Progress() // from here on each task asks before it begins
			}
			var err error
			within(t, ex, func() { <-run.Done(); err = run.Wait() })
			s.check(t, err, run.Progress())
			s.how[r.IntN(len(s.how))] = []string{"", "error"}[r.IntN(2)]
		}
	}
}

// TestKeepGoingModule: the report names tasks of modules as observers see them, those of modules in modules too.
func TestKeepGoingModule(t *testing.T) {
	var set atomic.Pointer[executor.TaskSet]
	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{
		{TaskBegin: func(e *executor.Event) {
			task := e.Task
			set.Store(task.Set)
		}},
	}})
	boom := errors.New("boom")
	inner := graph.New("inner")
	bad := inner.Task(func(context.Context) error { return boom }).Named("bad")
	inner.Task(nothing).Named("next").Succeed(bad)
	ok := false
	inner.Task(func(context.Context) error { ok = true; return nil }).Named("beside")
	middle, g := graph.New("middle"), graph.New("outer")
	middle.Module(inner).Named("m")
	m := g.Module(middle).Named("middle")
	g.Task(func(context.Context) error { t.Error("runs after a failed module"); return nil }).Named("after").Succeed(m)
	var report *graph.Report
	within(t, ex, func() { require.ErrorAs(t, ex.Run(context.Background(), graph.KeepGoing(g)), &report) })
	require.True(t, ok)
	require.Len(t, report.Failed, 1)
	require.Equal(t, "m/bad", report.Failed[0].Name)
	names := []string{"after", "m/next"} // and not the tasks that end the copies of the modules
	require.Len(t, report.Skipped, len(names))
	for i, s := range report.Skipped {
		require.Equal(t, names[i], s.Name)
		require.ErrorIs(t, s.Cause, boom)
	}
	for _, r := range slices.Concat(report.Failed, report.Skipped) {
		require.Equal(t, set.Load().Tasks[r.Index].Name, r.Name)
	}
}

// TestKeepGoingCondition: what does not depend on a failed condition goes on, and a report of it has no skipped tasks.
func TestKeepGoingCondition(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	boom := errors.New("boom")
	g := graph.New("choice")
	never := func(context.Context) error { t.Error("runs after a failed condition"); return nil }
	g.Condition(func(context.Context) (int, error) { return 0, boom }).Precede(g.Task(never))
	var ran atomic.Int32
	first := g.Task(func(context.Context) error { ran.Add(1); return nil })
	g.Task(func(context.Context) error { ran.Add(1); return nil }).Succeed(first)
	var report *graph.Report
	within(t, ex, func() { require.ErrorAs(t, ex.Run(context.Background(), graph.KeepGoing(g)), &report) })
	require.EqualValues(t, 2, ran.Load())
	require.Len(t, report.Failed, 1)
	require.Empty(t, report.Skipped)
}

// TestKeepGoingDetached: the task after a detached subflow does not wait for its tasks, and runs although they fail,
// whatever the priorities.
func TestKeepGoingDetached(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	boom := errors.New("boom")
	for _, priority := range []graph.Priority{graph.Normal, graph.High} {
		g := graph.New("detached")
		flow := g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(func(context.Context) error { return boom })
			return nil
		}).Named("flow")
		ran := false
		g.Task(func(context.Context) error { ran = true; return nil }).Priority(priority).Succeed(flow)
		var report *graph.Report
		within(t, ex, func() { require.ErrorAs(t, ex.Run(context.Background(), graph.KeepGoing(g)), &report) })
		require.True(t, ran)
		require.Len(t, report.Failed, 1)
		require.Equal(t, "flow", report.Failed[0].Name)
		require.Empty(t, report.Skipped)
	}
}

// TestKeepGoingCancelled: a run that is cancelled skips what has not begun, and its error is of both. The report has
// all that comes after the failure, and nothing else.
func TestKeepGoingCancelled(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	boom, enough := errors.New("boom"), errors.New("enough")
	for _, priority := range []graph.Priority{graph.Normal, graph.High} {
		var run *executor.Run
		started, stopped := make(chan struct{}), make(chan struct{})
		g := graph.New("cancelled")
		fails := g.Task(func(context.Context) error {
			<-started
			run.Cancel(enough)
			close(stopped)
			return boom
		})
		waits := g.Task(func(context.Context) error { <-stopped; return nil }).Priority(priority)
		never := func(name string) graph.Task {
			return g.Task(func(context.Context) error { t.Error("runs: " + name); return nil }).Named(name)
		}
		next, last, cancelled := never("next"), never("last"), never("cancelled")
		fails.Precede(next)
		last.Succeed(next, cancelled)
		cancelled.Succeed(waits)
		run = ex.Start(context.Background(), graph.KeepGoing(g))
		close(started)
		within(t, ex, func() { <-run.Done() })
		err := run.Wait()
		require.ErrorIs(t, err, enough)
		require.ErrorIs(t, err, context.Canceled)
		var report *graph.Report
		require.ErrorAs(t, err, &report)
		require.Len(t, report.Failed, 1)
		var names []string
		for _, s := range report.Skipped {
			names = append(names, s.Name)
		}
		require.Equal(t, []string{"next", "last"}, names)
		p := run.Progress()
		require.EqualValues(t, 1, p.Failed)
		require.EqualValues(t, 4, p.Done+p.Skipped)
	}
}

// TestKeepGoingPermits: a task that is skipped gives back the permits that it is to release, whatever the priorities.
func TestKeepGoingPermits(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	boom := errors.New("boom")
	for _, priority := range []graph.Priority{graph.Normal, graph.Low} {
		g := graph.New("permits")
		one := graph.NewSemaphore(1)
		acquires, fails := g.Task(nothing).Acquire(one), g.Task(func(context.Context) error { return boom })
		acquires.Precede(fails)
		fails.Precede(g.Task(nothing).Release(one))
		var ran atomic.Bool
		waits := g.Task(func(context.Context) error { ran.Store(true); return nil }).Hold(one).Priority(priority)
		waits.Succeed(acquires)
		r := ex.Start(context.Background(), graph.KeepGoing(g))
		within(t, ex, func() { <-r.Done() })
		var report *graph.Report
		require.ErrorAs(t, r.Wait(), &report)
		require.Len(t, report.Skipped, 1)
		require.True(t, ran.Load())
		require.EqualValues(t, 1, r.Progress().Skipped)
	}
}

// TestKeepGoingLimit: a task that is skipped does not wait for a permit.
func TestKeepGoingLimit(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	one := graph.NewSemaphore(1)
	require.True(t, one.TryAcquire(1))
	g := graph.New("limit")
	g.Task(func(context.Context) error { return errors.New("boom") }).Precede(g.Task(nothing).Hold(one))
	var report *graph.Report
	within(t, ex, func() { require.ErrorAs(t, ex.Run(context.Background(), graph.KeepGoing(g)), &report) })
	require.Len(t, report.Skipped, 1)
	one.Release(1)
}

// TestKeepGoingFailsTwice: a task with several failures is one task that has failed, and a report has each failure.
func TestKeepGoingFailsTwice(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	boom := errors.New("boom")
	fails := func(context.Context) error { return boom }
	one := graph.NewSemaphore(1)
	for name, c := range map[string]struct {
		build    func(g *graph.Graph)
		failures int
		want     executor.Progress
	}{
		"detached subflows": {func(g *graph.Graph) {
			g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
				sub.Task(fails)
				sub.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
					sub.Task(fails)
					return nil
				})
				return nil
			})
			g.Task(nothing)
		}, 2, executor.Progress{Total: 2, Done: 1, Failed: 1, Over: true}},
		"a release too many": {func(g *graph.Graph) {
			g.Task(fails).Release(one).Precede(g.Task(nothing).Acquire(one))
			g.Task(nothing)
		}, 2, executor.Progress{Total: 3, Done: 1, Failed: 1, Skipped: 1, Over: true}},
		"a release too many of a skipped task": {func(g *graph.Graph) {
			releases := g.Task(nothing).Release(one)
			releases.Succeed(g.Task(fails))
			releases.Precede(g.Task(nothing).Acquire(one))
		}, 1, executor.Progress{Total: 3, Failed: 1, Skipped: 2, Over: true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("twice")
			c.build(g)
			r := ex.Start(context.Background(), graph.KeepGoing(g))
			within(t, ex, func() { <-r.Done() })
			var report *graph.Report
			require.ErrorAs(t, r.Wait(), &report)
			require.Len(t, report.Failed, c.failures)
			require.Len(t, report.Skipped, int(c.want.Skipped))
			require.Equal(t, c.want, r.Progress())
		})
	}
}

// TestKeepGoingReleasesTooMany: a task that releases a permit which the run does not have fails, and no permit is lost.
func TestKeepGoingReleasesTooMany(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	one := graph.NewSemaphore(1)
	g := graph.New("too many")
	g.Task(nothing).Release(one).Precede(g.Task(nothing).Acquire(one))
	var report *graph.Report
	within(t, ex, func() { require.ErrorAs(t, ex.Run(context.Background(), graph.KeepGoing(g)), &report) })
	require.Len(t, report.Failed, 1)
	require.True(t, one.TryAcquire(1), "a permit is lost")
	one.Release(1)
}

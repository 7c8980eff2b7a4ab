package executor_test

import (
	"context"
	"maps"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A fork is a task for the worker that has stolen it, and for no other.
func TestObservedForks(t *testing.T) {
	c := newChecker()
	ex := newExecutor(t, executor.Config{Workers: 4, Observers: []*executor.Observer{c.observer()}})
	var fib func(s *executor.Scope, n int) int
	fib = func(s *executor.Scope, n int) int {
		if n < 2 {
			return n
		}
		f := executor.Fork(s, fib, n-1)
		return fib(s, n-2) + f.Join(s)
	}
	for range 50 {
		n, err := executor.Call(context.Background(), ex, fib, 18)
		require.NoError(t, err)
		require.Equal(t, 2584, n)
	}
	settled(t, c)
	told := c.counts(t)
	require.Equal(t, 50, told["root"])
	require.LessOrEqual(t, told["fork"], c.stolen)
	o := parallel.Options{Executor: ex}
	sum, err := parallel.Reduce(context.Background(), o, make([]int, 1e6), func(a, b int) int { return a + b })
	require.NoError(t, err)
	require.Zero(t, sum)
	require.NoError(t, ex.Close())

	alone := newChecker()
	ex = newExecutor(t, executor.Config{
		Workers: 1, Spares: -1,
		Experiment: experiment.Options{Forks: "pushed"},
		Observers:  []*executor.Observer{alone.observer()},
	})
	_, err = executor.Call(context.Background(), ex, func(s *executor.Scope, n int) int {
		first, second := executor.Fork(s, fib, n), executor.Fork(s, fib, n)
		return first.Join(s) + second.Join(s) // the first Join runs the second fork from the deque
	}, 10)
	require.NoError(t, err)
	settled(t, alone)
	require.Equal(t, map[string]int{"root": 1}, alone.counts(t))
}

// A task that calls Goexit ends for the observers, and its worker goes on.
func TestObservedGoexit(t *testing.T) {
	guests.None(t)
	c := newChecker()
	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{c.observer()}})
	for range 20 {
		var y tally
		g := graph.New("g")
		g.Task(func(context.Context) error { y.note("x"); runtime.Goexit(); return nil }).Named("x")
		require.ErrorIs(t, ex.Run(t.Context(), g), executor.ErrGoexit)
		err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			y.note("root")
			s.Go(func(context.Context) error { y.note("child"); runtime.Goexit(); return nil })
			return nil
		}))
		require.ErrorIs(t, err, executor.ErrGoexit)
		settled(t, c)
		require.Equal(t, y.ran, c.counts(t))
	}
}

// An observer that panics harms no task and no run and no other observer. It is logged once and told by Dump.
func TestObserverPanics(t *testing.T) {
	all := map[string]func(*executor.Observer){
		"Attach":   func(o *executor.Observer) { o.Attach = func(*executor.Executor) { panic("broken") } },
		"RunBegin": func(o *executor.Observer) { o.RunBegin = func(*executor.Event) { panic("broken") } },
		"RunEnd":   func(o *executor.Observer) { o.RunEnd = func(*executor.Event) { panic("broken") } },
		"TaskBegin": func(o *executor.Observer) {
			o.TaskBegin = func(*executor.Event) { panic("broken") }
		},
		"TaskEnd": func(o *executor.Observer) {
			o.TaskEnd = func(*executor.Event) { panic("broken") }
		},
		"Park":   func(o *executor.Observer) { o.Park = func(*executor.Event) { panic("broken") } },
		"Unpark": func(o *executor.Observer) { o.Unpark = func(*executor.Event) { panic("broken") } },
	}
	for name, breaks := range all {
		t.Run(name, func(t *testing.T) {
			c, broken := newChecker(), newChecker().observer()
			broken.Attach, broken.Detach = nil, func() { t.Error("Detach of an observer that has panicked") }
			breaks(broken)
			said := newJournal(t)
			cfg := executor.Config{Workers: 2, Observers: []*executor.Observer{broken, c.observer()}}
			ex := newExecutor(t, cfg)
			eventually(func() bool { return ex.Parked() == 2 })
			for _, kind := range observedKinds {
				var y tally
				extra, err := kind.work(&y, ex)
				require.NoError(t, err, kind.name)
				settled(t, c)
				maps.Copy(y.ran, extra)
				require.Equal(t, y.ran, c.counts(t), kind.name)
			}
			require.Contains(t, dump(ex), "observer 0 is not called again: panic: broken")
			require.NoError(t, ex.Close())
			require.Equal(t, 1, said.count("not called again"))
			require.Equal(t, 1, said.count("is not called again: panic: broken\n"))
		})
	}
}

// A function that blocks keeps no other worker from its work.
func TestObserverBlocks(t *testing.T) {
	blocked, free := make(chan bool, 1), make(chan bool)
	slow := &executor.Observer{TaskBegin: func(e *executor.Event) {
		task := e.Task
		if task.Name == "slow" {
			blocked <- true
			<-free
		}
	}}
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Observers: []*executor.Observer{slow}})
	var y tally
	g := graph.New("g")
	y.add(g, "slow")
	run := ex.Start(t.Context(), g)
	<-blocked
	other := graph.New("other")
	for range 100 {
		y.add(other, "x")
	}
	within(t, ex, func() { require.NoError(t, ex.Run(t.Context(), other)) })
	require.Equal(t, map[string]int{"x": 100}, y.ran)
	free <- true
	within(t, ex, func() { require.NoError(t, run.Wait()) })
	require.Equal(t, 1, y.ran["slow"])
}

// A graph that runs on executors with and without observers, in turn, is observed where it should be.
func TestObservedForm(t *testing.T) {
	c := newChecker()
	observed := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{c.observer()}})
	plain := newExecutor(t, executor.Config{Workers: 2})
	verbatim := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Verbatim: true}})
	var y tally
	g := graph.New("g")
	first, s := y.add(g, "first"), graph.NewSemaphore(3)
	for range 40 {
		first.Precede(y.add(g, "x"), y.add(g, "limited").Hold(s))
	}
	graph.Sink(graph.Source(g, func(context.Context) (int, error) { y.note("make"); return 7, nil }).Named("make"),
		func(_ context.Context, i int) error { y.note("use"); return nil }).Named("use")
	want := map[string]int{"first": 1, "x": 40, "limited": 40, "make": 1, "use": 1}
	for range 20 {
		for _, ex := range []*executor.Executor{observed, plain, verbatim, observed, observed, plain} {
			y.ran = nil
			require.NoError(t, ex.Run(t.Context(), g))
			require.Equal(t, want, y.ran)
			settled(t, c)
			if told := c.counts(t); ex == observed {
				require.Equal(t, want, told)
			} else {
				require.Empty(t, told)
			}
		}
	}
}

// A TaskSet is the same in all runs, and has the edges.
func TestTaskSet(t *testing.T) {
	var mu sync.Mutex
	sets := map[*executor.TaskSet]bool{}
	o := &executor.Observer{TaskBegin: func(e *executor.Event) {
		task := e.Task
		mu.Lock()
		defer mu.Unlock()
		sets[task.Set] = true
	}}
	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{o}})
	var y tally
	g := graph.New("g")
	a, b, c := y.add(g, "a"), y.add(g, "b"), y.add(g, "c")
	a.Precede(b, c)
	b.Precede(c)
	for range 5 {
		require.NoError(t, ex.Run(t.Context(), g))
	}
	require.Len(t, sets, 1)
	for set := range sets {
		require.Equal(t, "g", set.Job)
		require.Len(t, set.Tasks, 3)
		var edges []string
		for i := range set.Tasks {
			for j := range set.Successors(i) {
				edges = append(edges, set.Tasks[i].Name+set.Tasks[j].Name)
			}
		}
		require.Equal(t, []string{"ab", "ac", "bc"}, edges)
		for range set.Successors(0) {
			break
		}
	}
	clear(sets)
	for range 5 {
		for _, name := range []string{"f", "h"} {
			require.NoError(t, ex.Run(t.Context(), executor.NewJob(name, func(*executor.Scope) error { return nil })))
		}
	}
	require.Len(t, sets, 2)
}

func TestObserverNil(t *testing.T) {
	_, err := executor.New(executor.Config{Observers: []*executor.Observer{{}, nil}})
	require.EqualError(t, err, "executor: Config.Observers[1] is nil")
	require.PanicsWithError(t, "executor: Config.Observers[0] is nil", func() { executor.NewInline(1, nil) })
	// An observer without functions.
	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{{}}})
	for _, kind := range observedKinds {
		var y tally
		_, err := kind.work(&y, ex)
		require.NoError(t, err)
	}
}

// The observers are told nothing of a run that does not begin.
func TestObservedStillborn(t *testing.T) {
	c := newChecker()
	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{c.observer()}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var y tally
	g := graph.New("g")
	require.NoError(t, ex.Run(t.Context(), g)) // no task
	a := y.add(g, "a")
	require.Error(t, ex.Run(ended, g))
	a.Precede(a)
	require.Error(t, ex.Run(t.Context(), g))
	require.NoError(t, ex.Close())
	require.ErrorIs(t, ex.Run(t.Context(), g), executor.ErrClosed)
	require.Empty(t, c.runs)
	require.Empty(t, c.counts(t))
}

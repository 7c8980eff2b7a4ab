package executor_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A tally counts the tasks that have run.
type tally struct {
	mu  sync.Mutex
	ran map[string]int
}

func (y *tally) note(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.ran == nil {
		y.ran = map[string]int{}
	}
	y.ran[name]++
}

// task returns a function that notes its call.
func (y *tally) task(name string) func(context.Context) error {
	return func(context.Context) error { y.note(name); return nil }
}

func (y *tally) add(g *graph.Graph, name string) graph.Task { return g.Task(y.task(name)).Named(name) }

var errObserved = errors.New("a task has failed")

// observedKinds has work of each kind. Its functions note in y what runs. The map that it returns has the tasks that
// have no function.
var observedKinds = []struct {
	name string
	work func(y *tally, ex *executor.Executor) (map[string]int, error)
}{
	{"chain and join", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		a, b, c, d := y.add(g, "a"), y.add(g, "b"), y.add(g, "c"), y.add(g, "d")
		a.Precede(b, c)
		d.Succeed(b, c)
		g.Task(y.task("g#4"))
		return nil, ex.Run(context.Background(), g)
	}},
	{"span", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		first, last := y.add(g, "first"), y.add(g, "last")
		for range 100 {
			x := y.add(g, "x")
			first.Precede(x)
			x.Precede(last)
		}
		return nil, ex.Run(context.Background(), g)
	}},
	{"values", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		v := graph.Source(g, func(context.Context) (int, error) { y.note("make"); return 1, nil }).Named("make")
		graph.Sink(v, func(_ context.Context, i int) error { y.note("use"); return nil }).Named("use")
		return nil, ex.Run(context.Background(), g)
	}},
	{"loop", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		first, body, end := y.add(g, "first"), y.add(g, "body"), y.add(g, "end")
		n := 0
		loop := g.Condition(func(context.Context) (int, error) {
			y.note("loop")
			n++
			return min(n/10, 1), nil
		}).Named("loop")
		first.Precede(body)
		body.Precede(loop)
		loop.Precede(body, end)
		return nil, ex.Run(context.Background(), g)
	}},
	{"several branches", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		c := g.MultiCondition(func(context.Context) ([]int, error) { y.note("c"); return []int{0, 2}, nil }).Named("c")
		c.Precede(y.add(g, "0"), y.add(g, "1"), y.add(g, "2"))
		return nil, ex.Run(context.Background(), g)
	}},
	{"subflows", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		build := func(name string) func(context.Context, *graph.Graph) error {
			return func(_ context.Context, sub *graph.Graph) error {
				y.note(name)
				y.add(sub, "inner").Precede(y.add(sub, "inner"))
				return nil
			}
		}
		g.Subflow(build("joined")).Named("joined").Precede(y.add(g, "after"))
		g.DetachedSubflow(build("detached")).Named("detached").Precede(y.add(g, "after"))
		return nil, ex.Run(context.Background(), g)
	}},
	{"modules", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		sub, chooses := graph.New("sub"), graph.New("chooses")
		sub.Task(y.task("sub#0/x")).Named("x")
		sub.Task(y.task("sub#0/y")).Named("y")
		c := chooses.Condition(func(context.Context) (int, error) { y.note("c"); return 1, nil }).Named("c")
		c.Precede(y.add(chooses, "0"), y.add(chooses, "1"))
		g := graph.New("g")
		g.Module(sub).Precede(g.Module(chooses))
		// The second module's task has no function of its own. The copy has a task at its end.
		return map[string]int{"sub#0": 1, "chooses#1": 1, "g#4": 1}, ex.Run(context.Background(), g)
	}},
	{"permits", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		s := graph.NewSemaphore(1)
		for range 30 {
			y.add(g, "x").Hold(s)
		}
		return nil, ex.Run(context.Background(), g)
	}},
	{"priorities", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		first := y.add(g, "first").Priority(graph.High)
		s := graph.NewSemaphore(2)
		for range 30 {
			first.Precede(y.add(g, "x").Hold(s))
		}
		return nil, ex.Run(context.Background(), g)
	}},
	{"failing graph", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		s := graph.NewSemaphore(1)
		for range 20 {
			x := g.Task(func(context.Context) error { y.note("x"); panic(errObserved) }).Named("x")
			x.Precede(y.add(g, "after").Hold(s))
			g.Task(func(context.Context) error { y.note("e"); return errObserved }).Named("e").Hold(s)
		}
		err := ex.Run(context.Background(), g)
		if !errors.Is(err, errObserved) {
			return nil, fmt.Errorf("the error is %w", err)
		}
		return nil, nil
	}},
	{"failing dynamic graph", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := graph.New("g")
		c := g.Condition(func(context.Context) (int, error) { y.note("c"); panic(errObserved) }).Named("c")
		c.Precede(y.add(g, "0"))
		for range 20 {
			g.Task(func(context.Context) error { y.note("e"); return errObserved }).Named("e").Priority(graph.Low)
		}
		err := ex.Run(context.Background(), g)
		if !errors.Is(err, errObserved) {
			return nil, fmt.Errorf("the error is %w", err)
		}
		return nil, nil
	}},
	{"children", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		return nil, ex.Run(context.Background(), executor.NewJob("f", func(s *executor.Scope) error {
			y.note("root")
			for range 20 {
				s.Go(y.task("child"))
				s.Spawn(func(s *executor.Scope) error {
					y.note("child")
					s.Go(y.task("child"))
					return nil
				})
			}
			return s.Wait()
		}))
	}},
	{"failing children", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		err := ex.Run(context.Background(), executor.NewJob("f", func(s *executor.Scope) error {
			y.note("root")
			for range 50 {
				s.Go(func(context.Context) error { y.note("child"); return errObserved })
				s.Spawn(func(s *executor.Scope) error {
					y.note("child")
					s.Go(y.task("child"))
					panic(errObserved)
				})
			}
			panic(errObserved)
		}))
		if !errors.Is(err, errObserved) {
			return nil, fmt.Errorf("the error is %w", err)
		}
		return nil, nil
	}},
	{"nested runs", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g, inner := graph.New("g"), graph.New("inner")
		for range 20 {
			y.add(inner, "inner")
		}
		for range 5 {
			g.Task(func(ctx context.Context) error { y.note("outer"); return ex.Run(ctx, inner) }).Named("outer")
		}
		return nil, ex.Run(context.Background(), g)
	}},
	{"group", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		g := executor.NewGroup(ex)
		task := y.task("group#0")
		for range 20 {
			g.Go(func() error { return task(context.Background()) })
			g.GoAfter(task, g.GoAfter(task))
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		g.SetLimit(1)
		g.Go(func() error { y.note("group#0"); panic(errObserved) })
		g.GoContext(task)
		if err := g.Wait(); !errors.Is(err, errObserved) {
			return nil, fmt.Errorf("the error is %w", err)
		}
		return nil, nil
	}},
	{"async", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		var all []executor.Awaitable
		for i := range 50 {
			all = append(all, executor.Async(context.Background(), ex, func(context.Context) (int, error) {
				y.note("async#0")
				if i%7 == 6 {
					panic(errObserved)
				}
				return 0, nil
			}, all[max(0, i-i%7):]...))
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		all = append(all, executor.Async(ended, ex, func(context.Context) (int, error) { y.note("async#0"); return 0, nil }))
		for _, f := range all {
			<-f.Done()
		}
		return nil, nil
	}},
	{"pipeline", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		p, err := pipeline.New("p", 4,
			pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				y.note("p#0")
				if t.Number() == 40 {
					t.Stop()
				}
				return nil
			}},
			pipeline.Stage{Run: func(t *pipeline.Token) error { y.note("p#1"); return nil }},
			pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error { y.note("p#2"); return nil }})
		if err != nil {
			return nil, err
		}
		return nil, ex.Run(context.Background(), p)
	}},
	{"failing pipeline", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		p, err := pipeline.New("p", 4,
			pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error { y.note("p#0"); return nil }},
			pipeline.Stage{Run: func(t *pipeline.Token) error {
				y.note("p#1")
				if t.Number() > 9 {
					panic(errObserved)
				}
				return nil
			}})
		if err == nil && !errors.Is(ex.Run(context.Background(), p), errObserved) {
			err = errors.New("no failure")
		}
		return nil, err
	}},
	{"pool", func(y *tally, ex *executor.Executor) (map[string]int, error) {
		p, err := pool.New("p", pool.Options{})
		if err != nil {
			return nil, err
		}
		for i := range 50 {
			p.Add(func(*pool.Task) error {
				y.note("p#0")
				if i == 30 {
					panic(errObserved)
				}
				return nil
			})
		}
		if !errors.Is(ex.Run(context.Background(), p), errObserved) {
			return nil, errors.New("no failure")
		}
		return nil, nil
	}},
}

// settled waits until what the observers were still to be told of runs that are over has been told.
func settled(t *testing.T, c *checker) {
	eventually(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, open := range c.runs {
			if open {
				return false
			}
		}
		for _, stack := range c.stacks {
			if len(stack) > 0 {
				return false
			}
		}
		return true
	})
}

// A task of each kind is told once if it runs, and not at all if it is skipped.
func TestObservedKinds(t *testing.T) {
	check := func(t *testing.T, ex *executor.Executor, c *checker, rounds int) {
		for _, kind := range observedKinds {
			for range rounds {
				var y tally
				extra, err := kind.work(&y, ex)
				require.NoError(t, err, kind.name)
				settled(t, c)
				maps.Copy(y.ran, extra)
				require.Equal(t, y.ran, c.counts(t), kind.name)
			}
		}
		require.NoError(t, ex.Close())
		c.counts(t)
		require.True(t, c.detached)
	}
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("W=%d", workers), func(t *testing.T) {
			c := newChecker()
			ex := newExecutor(t, executor.Config{Workers: workers, Observers: []*executor.Observer{c.observer()}})
			eventually(func() bool { return c.parkings() > 0 })
			check(t, ex, c, 20)
		})
	}
	t.Run("verbatim", func(t *testing.T) {
		c := newChecker()
		ex := newExecutor(t, executor.Config{
			Workers: 2, Experiment: experiment.Options{Verbatim: true}, Observers: []*executor.Observer{c.observer()},
		})
		check(t, ex, c, 5)
	})
	t.Run("inline", func(t *testing.T) {
		for seed := range uint64(20) {
			c := newChecker()
			check(t, executor.NewInline(seed, c.observer()), c, 1)
			require.Zero(t, c.stolen)
		}
	})
}

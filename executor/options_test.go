package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// nothingTo is a job that does nothing.
func nothingTo(name string) executor.Job {
	return executor.NewJob(name, func(*executor.Scope) error { return nil })
}

// TestWithName: a run has the name of its options, or of its job, in Name, in dumps and in errors.
func TestWithName(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	started, end := make(chan struct{}), make(chan struct{})
	job := executor.NewJob("job", func(*executor.Scope) error {
		close(started)
		<-end
		return nil
	})
	r := ex.Start(context.Background(), executor.With(job, executor.RunOptions{Name: "tenant"}))
	<-started
	require.Equal(t, "tenant", r.Name())
	require.Contains(t, dump(ex), `run of "tenant"`)
	r.Cancel(nil)
	close(end)
	require.ErrorContains(t, r.Wait(), `run of "tenant"`)

	for _, c := range []struct {
		job  executor.Job
		name string
	}{
		{nothingTo("a"), "a"},
		{executor.With(nothingTo("a"), executor.RunOptions{}), "a"},
		{executor.With(executor.With(nothingTo("a"), executor.RunOptions{Name: "b"}), executor.RunOptions{Workers: 1}), "b"},
		{executor.With(executor.With(nothingTo("a"), executor.RunOptions{Name: "b"}), executor.RunOptions{Name: "c"}), "c"},
	} {
		r := ex.Start(context.Background(), c.job)
		require.Equal(t, c.name, r.Name())
		require.NoError(t, r.Wait())
	}
}

// TestWithBadInput: options that make no sense panic in With.
func TestWithBadInput(t *testing.T) {
	for want, f := range map[string]func(){
		"executor: With of a nil job": func() { executor.With(nil, executor.RunOptions{}) },
		"executor: With of Priority(2): there are Low, Normal and High": func() {
			executor.With(nothingTo("a"), executor.RunOptions{Priority: 2})
		},
		"executor: With of Workers -1: give a number of workers, or 0 for no limit": func() {
			executor.With(nothingTo("a"), executor.RunOptions{Workers: -1})
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// TestPriorityOrder: of the runs that wait to begin, a worker begins that of the highest priority.
func TestPriorityOrder(t *testing.T) {
	for _, cfg := range []executor.Config{{Workers: 1}, {Workers: 1, Experiment: experiment.Options{Verbatim: true}}} {
		ex := newExecutor(t, cfg)
		within(t, ex, func() {
			started, end := make(chan struct{}), make(chan struct{})
			first := ex.Start(context.Background(), executor.NewJob("first", func(*executor.Scope) error {
				close(started)
				<-end
				return nil
			}))
			<-started
			var order []executor.Priority
			runs := []*executor.Run{first}
			for _, p := range []executor.Priority{executor.Low, executor.Normal, executor.High} {
				runs = append(runs, ex.Start(context.Background(), executor.With(
					executor.NewJob("", func(*executor.Scope) error { order = append(order, p); return nil }),
					executor.RunOptions{Priority: p})))
			}
			close(end)
			for _, r := range runs {
				require.NoError(t, r.Wait())
			}
			require.Equal(t, []executor.Priority{executor.High, executor.Normal, executor.Low}, order)
		})
	}
}

// TestHighGetsWorkers: all workers are busy with an endless run of lower priority. The tasks of another run need all
// workers at once, and only one of them was submitted: the others lie in the deque of a worker.
func TestHighGetsWorkers(t *testing.T) {
	for _, p := range []executor.Priority{executor.Low, executor.Normal} {
		onEach(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
			var stop atomic.Bool
			var busy []*executor.Run
			for range ex.Workers() {
				busy = append(busy, ex.Start(context.Background(), executor.With(endless(&stop),
					executor.RunOptions{Priority: p})))
			}
			var met sync.WaitGroup
			met.Add(ex.Workers())
			meet := func(*executor.Worker, *executor.Item) *executor.Item {
				met.Done()
				met.Wait()
				return nil
			}
			var l *layer
			l = newLayer("urgent", func(w *executor.Worker, _ *executor.Item) *executor.Item {
				for range ex.Workers() - 1 {
					l.push(w, meet)
				}
				return meet(w, nil)
			})
			require.NoError(t, ex.Run(context.Background(), executor.With(l, executor.RunOptions{Priority: p + 1})))
			stop.Store(true)
			for _, r := range busy {
				require.NoError(t, r.Wait())
			}
		})
	}
}

// TestLowGetsItsTurn: beside endless runs of high priority on all workers, runs of lower priority end.
func TestLowGetsItsTurn(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		var busy []*executor.Run
		for range ex.Workers() {
			busy = append(busy, ex.Start(context.Background(), executor.With(endless(&stop),
				executor.RunOptions{Priority: executor.High})))
		}
		for _, p := range []executor.Priority{executor.Low, executor.Normal} {
			var n atomic.Int64
			require.NoError(t, ex.Run(context.Background(), executor.With(count(&n),
				executor.RunOptions{Priority: p})))
			require.EqualValues(t, 1, n.Load())
		}
		stop.Store(true)
		for _, r := range busy {
			require.NoError(t, r.Wait())
		}
	})
}

// TestLowDoesNotDisplace: beside an endless run of high priority, one of low priority gets a small part of the worker.
func TestLowDoesNotDisplace(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	const items = 64 * 1000
	var high, low int
	var stop atomic.Bool
	below := newLayer("low", func(_ *executor.Worker, self *executor.Item) *executor.Item {
		if stop.Load() {
			return nil
		}
		low++
		return self
	})
	above := newLayer("high", func(_ *executor.Worker, self *executor.Item) *executor.Item {
		if high++; high < items {
			return self
		}
		stop.Store(true)
		return nil
	})
	within(t, ex, func() {
		a := ex.Start(context.Background(), executor.With(above, executor.RunOptions{Priority: executor.High}))
		b := ex.Start(context.Background(), executor.With(below, executor.RunOptions{Priority: executor.Low}))
		require.NoError(t, a.Wait())
		require.NoError(t, b.Wait())
	})
	require.LessOrEqual(t, low, items/8)
}

// TestPriorityOfNested: a nested run has the priority of the run around it: beside an endless run of High, a nested run
// of High within a Low run waits as the Low run does.
func TestPriorityOfNested(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		inner := executor.With(graph.New("empty"), executor.RunOptions{Priority: executor.High, Workers: 1, Name: "inner"})
		require.NoError(t, ex.Run(context.Background(), executor.With(one(func(ctx context.Context) error {
			return ex.Run(ctx, inner)
		}), executor.RunOptions{Priority: executor.Low})))
	})
}

// A crowd counts those that are somewhere at a time.
type crowd struct{ now, most atomic.Int64 }

// in is called by each that comes. It returns what it calls when it goes.
func (c *crowd) in() (out func()) {
	now := c.now.Add(1)
	for {
		most := c.most.Load()
		if now <= most || c.most.CompareAndSwap(most, now) {
			break
		}
	}
	for range 300 {
		c.now.Load()
	}
	return func() { c.now.Add(-1) }
}

// limitedJobs are jobs of many tasks, of different kinds. Each leaf calls in and out of the crowd.
func limitedJobs(ex *executor.Executor, c *crowd) map[string]executor.Job {
	leaf := func(context.Context) error { c.in()(); return nil }
	wide := func() *graph.Graph {
		g := graph.New("wide")
		first, last := g.Task(leaf), g.Task(leaf)
		for range 100 {
			mid := g.Task(leaf)
			first.Precede(mid)
			mid.Precede(last)
		}
		return g
	}
	tree := func(depth int) executor.Job {
		var fork func(s *executor.Scope, n int) int
		fork = func(s *executor.Scope, n int) int {
			if n == 0 {
				c.in()()
				return 1
			}
			f := executor.Fork(s, fork, n-1)
			y := fork(s, n-1)
			return f.Join(s) + y
		}
		return executor.NewJob("tree", func(s *executor.Scope) error {
			if got := fork(s, depth); got != 1<<depth {
				return fmt.Errorf("%d leaves", got)
			}
			return nil
		})
	}
	children := executor.NewJob("children", func(s *executor.Scope) error {
		for range 60 {
			s.Go(leaf)
		}
		return s.Wait()
	})
	nested := func() *graph.Graph {
		g := graph.New("nested")
		for range 4 {
			g.Task(func(ctx context.Context) error { return ex.Run(ctx, wide()) })
			g.Task(func(ctx context.Context) error { return ex.Run(ctx, tree(5)) })
			g.Task(func(ctx context.Context) error { return ex.Run(ctx, children) })
		}
		return g
	}
	limits := func() *graph.Graph {
		g := graph.New("limits")
		for i := range 6 {
			o := executor.RunOptions{Workers: 1 + i%3}
			g.Task(func(ctx context.Context) error { return ex.Run(ctx, executor.With(wide(), o)) })
			g.Task(func(ctx context.Context) error { return ex.Run(ctx, executor.With(tree(5), o)) })
		}
		return g
	}
	blocking := func() *graph.Graph {
		g := graph.New("blocking")
		for range 30 {
			g.Task(func(ctx context.Context) error {
				executor.Blocking(func() { c.in()() })
				return ex.Run(ctx, children)
			})
		}
		return g
	}
	return map[string]executor.Job{
		"wide": wide(), "tree": tree(8), "children": children, "nested": nested(), "limits": limits(),
		"blocking": blocking(),
	}
}

// TestLimit: with any kind of job, at most as many workers as the limit run tasks of a run, and the run ends.
func TestLimit(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for limit := 1; limit <= 3; limit++ {
			var c crowd
			for name, job := range limitedJobs(ex, &c) {
				c.most.Store(0)
				r := ex.Start(context.Background(), executor.With(job, executor.RunOptions{Workers: limit}))
				require.NoError(t, r.Wait(), name)
				require.LessOrEqual(t, c.most.Load(), int64(limit), name)
			}
		}
		eventually(ex.Resting) // a spare may be in service for as long as it is kept
		require.Zero(t, ex.Injected())
	})
}

// TestLimitTwoTenants: two tenants have many runs each at the same time, of all kinds. Each run keeps its limit, all
// end, some are cancelled.
func TestLimitTwoTenants(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		var all sync.WaitGroup
		for tenant, limit := range []int{1, 3} {
			var of [2]crowd
			for twin := range of {
				all.Go(func() {
					c := &of[twin]
					for name, job := range limitedJobs(ex, c) {
						c.most.Store(0)
						r := ex.Start(context.Background(), executor.With(job, executor.RunOptions{
							Name: fmt.Sprintf("%s of tenant %d", name, tenant), Workers: limit,
							Priority: executor.Priority(tenant),
						}))
						if twin == 1 {
							r.Cancel(nil)
							_ = r.Wait()
						} else {
							require.NoError(t, r.Wait(), name)
						}
						if c.most.Load() > int64(limit) {
							t.Errorf("%s: %d workers, limit %d", name, c.most.Load(), limit)
						}
					}
				})
			}
		}
		all.Wait()
		eventually(ex.Resting) // a spare may be in service for as long as it is kept
		require.Zero(t, ex.Injected())
	})
}

// TestLimitLetsOthersIn: a run that is at its limit, with items in plenty, keeps no worker from other runs.
func TestLimitLetsOthersIn(t *testing.T) {
	onEach(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		begun := make(chan struct{})
		var l *layer
		l = newLayer("limited", func(w *executor.Worker, _ *executor.Item) *executor.Item {
			for range 100 {
				l.push(w, func(_ *executor.Worker, self *executor.Item) *executor.Item {
					if stop.Load() {
						return nil
					}
					return self
				})
			}
			close(begun)
			return nil
		})
		r := ex.Start(context.Background(), executor.With(l, executor.RunOptions{Workers: 1}))
		<-begun
		var met sync.WaitGroup
		met.Add(ex.Workers() - 1)
		g := graph.New("others")
		for range ex.Workers() - 1 {
			g.Task(func(context.Context) error {
				met.Done()
				met.Wait()
				return nil
			})
		}
		require.NoError(t, ex.Run(context.Background(), g))
		stop.Store(true)
		require.NoError(t, r.Wait())
	})
}

// A priority is a name in flags, JSON and the like.
func TestPriorityText(t *testing.T) {
	for p, name := range map[executor.Priority]string{
		executor.Low: "low", executor.Normal: "normal", executor.High: "high",
	} {
		text, err := json.Marshal(map[string]executor.Priority{"priority": p})
		require.NoError(t, err)
		require.JSONEq(t, `{"priority": "`+name+`"}`, string(text))
		var o struct{ Priority executor.Priority }
		require.NoError(t, json.Unmarshal(text, &o))
		require.Equal(t, p, o.Priority)
	}
	p := executor.High
	require.NoError(t, p.UnmarshalText(nil))
	require.Equal(t, executor.Normal, p)
	require.EqualError(t, p.UnmarshalText([]byte("urgent")),
		`executor: Priority is "urgent": use one of [low normal high]`)
	_, err := executor.Priority(9).MarshalText()
	require.EqualError(t, err, "executor: Priority is 9: use one of [low normal high]")
}

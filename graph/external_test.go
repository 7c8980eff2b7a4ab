package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/dag"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// started are functions that start something and call done: at once, from another goroutine, and from a task.
var started = map[string]func(ex *executor.Executor, done func()){
	"at once":   func(_ *executor.Executor, done func()) { done() },
	"goroutine": func(_ *executor.Executor, done func()) { go done() },
	"timer":     func(_ *executor.Executor, done func()) { time.AfterFunc(time.Millisecond, done) },
	"task": func(ex *executor.Executor, done func()) {
		executor.Async(context.Background(), ex, func(context.Context) (int, error) { done(); return 0, nil })
	},
}

func TestExternal(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for name, start := range started {
			var said, after atomic.Bool
			g := graph.New("g")
			x := g.External(func(_ context.Context, done func(error)) error {
				start(ex, func() { said.Store(true); done(nil) })
				return nil
			})
			x.Precede(g.Task(func(context.Context) error {
				require.True(t, said.Load(), "begins before done was called")
				after.Store(true)
				return nil
			}))
			for range 3 {
				said.Store(false)
				require.NoError(t, run(t, ex, t.Context(), g), name)
				require.True(t, after.Swap(false), name)
			}
		}
	})
}

func TestExternalErrors(t *testing.T) {
	guests.None(t)
	ex := newExecutor(t, executor.Config{Workers: 2})
	for name, start := range started {
		g := graph.New("g")
		g.External(func(_ context.Context, done func(error)) error {
			start(ex, func() { done(errTask); done(errors.New("the second call")) })
			return nil
		}).Named("x").Precede(g.Task(func(context.Context) error { t.Error("not skipped"); return nil }))
		require.EqualError(t, run(t, ex, t.Context(), g), `graph "g": task x: the task's own error`, name)
	}
	for name, test := range map[string]struct {
		end  func() error
		want error
	}{
		"returns": {func() error { return errTask }, errTask},
		"panics":  {func() error { panic(errTask) }, errTask},
		"exits":   {func() error { runtime.Goexit(); return nil }, executor.ErrGoexit},
	} {
		g := graph.New("g")
		var late func(error)
		g.External(func(_ context.Context, done func(error)) error {
			late = done
			done(nil)
			return test.end()
		})
		for range 2 {
			require.ErrorIs(t, run(t, ex, t.Context(), g), test.want, name)
			late(nil)
		}
	}
	require.PanicsWithValue(t, `graph "g": the function of task 0 is nil`, func() { graph.New("g").External(nil) })
	require.Panics(t, func() { graph.SourceExternal[int](graph.New("g"), nil) })
}

// TestExternalNever: a run whose external task is not ended waits, and tells so. When it is cancelled it ends.
func TestExternalNever(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var late func(error)
		returned := make(chan struct{})
		g := graph.New("g")
		a, b := graph.New("a"), graph.NewSemaphore(1)
		x := a.External(func(_ context.Context, done func(error)) error { late = done; close(returned); return nil })
		x.Hold(b).Precede(a.Task(func(context.Context) error { t.Error("not skipped"); return nil }))
		g.Module(a)
		r := ex.Start(t.Context(), g)
		<-returned
		within(t, ex, func() {
			for r.Progress().Waiting != 1 {
				time.Sleep(100 * time.Microsecond)
			}
			require.Contains(t, dumpOf(ex)(), "1 tasks wait without a worker")
			require.False(t, r.Progress().Over)
			r.Cancel(errOutside)
			require.ErrorIs(t, r.Wait(), errOutside)
			require.Zero(t, r.Progress().Waiting)
		})
		late(nil)
		late(errTask)
		free, _ := graph.Permits(b)
		require.Equal(t, 1, free)
		ok := graph.New("ok")
		ok.External(func(_ context.Context, done func(error)) error { late(errTask); done(nil); return nil })
		require.NoError(t, run(t, ex, t.Context(), ok))
	})
}

// TestExternalStopped: another task's failure ends the external task, in graphs with priorities and conditions too.
func TestExternalStopped(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for name, change := range map[string]func(g *graph.Graph, x graph.Task){
		"static":     func(*graph.Graph, graph.Task) {},
		"priorities": func(_ *graph.Graph, x graph.Task) { x.Priority(graph.High) },
		"conditions": func(g *graph.Graph, x graph.Task) {
			x.Precede(g.Condition(func(context.Context) (int, error) { t.Error("not skipped"); return 0, nil }))
		},
		"limit": func(_ *graph.Graph, x graph.Task) { x.Hold(graph.NewSemaphore(1)) },
	} {
		g := graph.New("g")
		begun := make(chan struct{})
		x := g.External(func(context.Context, func(error)) error { close(begun); return nil })
		x.Precede(g.Task(func(context.Context) error { t.Error("not skipped"); return nil }))
		g.Task(func(context.Context) error {
			executor.Blocking(func() { <-begun })
			return errTask
		})
		change(g, x)
		require.ErrorIs(t, run(t, ex, t.Context(), g), errTask, name)
		begun = make(chan struct{})
		require.ErrorIs(t, run(t, ex, t.Context(), g), errTask, name)
	}
}

// TestExternalInLoop: each round gets a done of its own, and the permits are held meanwhile.
func TestExternalInLoop(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		rounds, ended := 0, atomic.Int64{}
		s := graph.NewSemaphore(1)
		g := graph.New("g")
		begin := g.Task(nothing)
		body := g.External(func(_ context.Context, done func(error)) error {
			go func() {
				free, _ := graph.Permits(s)
				if free != 0 {
					t.Error("the permit was given back early")
				}
				ended.Add(1)
				done(nil)
			}()
			return nil
		}).Hold(s)
		again := g.Condition(func(context.Context) (int, error) {
			rounds++
			if rounds%10 == 0 {
				return 1, nil
			}
			return 0, nil
		})
		begin.Precede(body)
		body.Precede(again)
		again.Precede(body, g.Task(nothing))
		for n := range int64(3) {
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, 10*(n+1), ended.Load())
		}
	})
}

func TestSourceExternal(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for name, start := range started {
			g := graph.New("g")
			word := graph.SourceExternal(g, func(_ context.Context, done func(string, error)) error {
				start(ex, func() { done("magpie", nil); done("another", nil) })
				return nil
			})
			none := graph.SourceExternal(g, func(_ context.Context, done func(error, error)) error {
				start(ex, func() { done(nil, nil) })
				return nil
			})
			graph.Sink2(word, none, func(_ context.Context, w string, none error) error {
				require.Equal(t, "magpie", w, name)
				require.NoError(t, none)
				return nil
			})
			around := graph.New("around")
			around.Task(nothing).Precede(around.Module(g))
			require.NoError(t, run(t, ex, t.Context(), g))
			require.NoError(t, run(t, ex, t.Context(), around))
		}
	})
}

// TestExternalOnInline: the goroutine that calls done runs what comes next.
func TestExternalOnInline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		g := graph.New("g")
		x := g.External(func(_ context.Context, done func(error)) error {
			time.AfterFunc(time.Hour, func() { done(nil) })
			return nil
		})
		ran := false
		x.Precede(g.Task(func(context.Context) error { ran = true; return nil }))
		begin := time.Now()
		require.NoError(t, ex.Run(t.Context(), g))
		require.True(t, ran)
		require.Equal(t, time.Hour, time.Since(begin))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, ex.Run(ctx, g), context.DeadlineExceeded)
		synctest.Wait()
		require.NoError(t, ex.Close())
	})
}

// TestExternalRandom: many external tasks, subflows and limits in one graph, ended from everywhere, at times while the
// run is cancelled. Whatever happens, the run ends, every task runs at most once, and after its predecessors.
func TestExternalRandom(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		for seed := range uint64(testkit.Scale(150)) {
			rng := rand.New(rand.NewPCG(seed, uint64(workers)))
			s := graph.NewSemaphore(1 + rng.IntN(3))
			g := graph.New("g")
			var all sync.WaitGroup
			tasks := make([]graph.Task, 30)
			ended := make([]atomic.Int64, len(tasks))
			before := dag.Draw(rng, len(tasks)).Before()
			cancelAt, failAt := rng.IntN(60), rng.IntN(90)
			ctx, cancel := context.WithCancelCause(t.Context())
			for i := range tasks {
				way, pause := rng.IntN(4), rng.IntN(3)
				check := func() {
					for _, b := range before[i] {
						if ended[b].Load() != 1 {
							t.Errorf("seed %d: task %d begins before %d has ended", seed, i, b)
						}
					}
					if i == cancelAt {
						cancel(errOutside)
					}
				}
				end := func() error {
					ended[i].Add(1)
					if i == failAt {
						return errTask
					}
					return nil
				}
				start := func(_ context.Context, done func(error)) error {
					check()
					f := func() {
						for range pause {
							runtime.Gosched()
						}
						done(end())
					}
					if way == 0 {
						f()
					} else {
						all.Go(f)
					}
					return nil
				}
				switch {
				case way < 2:
					tasks[i] = g.External(start)
				case way == 2:
					tasks[i] = g.Subflow(func(_ context.Context, sub *graph.Graph) error {
						sub.Subflow(func(_ context.Context, sub *graph.Graph) error {
							sub.External(start).Precede(sub.Task(nothing))
							return nil
						})
						return nil
					})
				default:
					tasks[i] = g.Task(func(context.Context) error { check(); return end() })
				}
				if rng.IntN(3) == 0 {
					tasks[i].Hold(s)
				}
				if seed%2 == 0 && rng.IntN(3) == 0 {
					tasks[i].Priority(graph.High)
				}
				for _, b := range before[i] {
					tasks[b].Precede(tasks[i])
				}
			}
			err := run(t, ex, ctx, g)
			cancel(nil)
			all.Wait()
			switch {
			case err == nil:
				for i := range ended {
					require.EqualValues(t, 1, ended[i].Load(), "seed %d, task %d", seed, i)
				}
			case cancelAt < len(tasks) || failAt < len(tasks):
				require.True(t, errors.Is(err, errTask) || errors.Is(err, errOutside), "seed %d: %v", seed, err)
			default:
				t.Fatalf("seed %d: %v", seed, err)
			}
			free, waiting := graph.Permits(s)
			require.Zero(t, waiting)
			require.Positive(t, free)
			require.False(t, graph.IsRunning(g))
			require.False(t, strings.Contains(dumpOf(ex)(), "wait without a worker"))
		}
	}
}

// A task that ends later is added between two runs. It ends with the caller's context, as one that was there before.
func TestLaterTaskAddedBetweenRuns(t *testing.T) {
	never := func(context.Context, func(error)) error { return nil }
	for name, add := range map[string]func(g *graph.Graph) graph.Task{
		"external": func(g *graph.Graph) graph.Task { return g.External(never) },
		"source": func(g *graph.Graph) graph.Task {
			return graph.SourceExternal(g, func(context.Context, func(int, error)) error { return nil }).Task()
		},
		"subflow": func(g *graph.Graph) graph.Task {
			return g.Subflow(func(_ context.Context, sub *graph.Graph) error { sub.External(never); return nil })
		},
		"retry": func(g *graph.Graph) graph.Task {
			fails := func(context.Context) error { return errors.New("fails") }
			return g.Retry(graph.RetryPolicy{Tries: 2, Pause: time.Hour}, fails)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1})
			within(t, ex, func() {
				g := graph.New("g")
				first, second := g.Task(nothing), g.Task(nothing)
				require.NoError(t, ex.Run(t.Context(), g))
				second.Remove() // so that the run state has room for another
				add(g).Succeed(first)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				require.ErrorIs(t, ex.Run(ctx, g), context.DeadlineExceeded)
			})
		})
	}
}

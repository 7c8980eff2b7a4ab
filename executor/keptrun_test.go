package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// jobs are light jobs that call a function with the context of their run.
var jobs = map[string]func(fn func(ctx context.Context)) executor.Job{
	"graph": func(fn func(ctx context.Context)) executor.Job {
		return one(func(ctx context.Context) error { fn(ctx); return nil })
	},
	"keeps going": func(fn func(ctx context.Context)) executor.Job {
		return graph.KeepGoing(one(func(ctx context.Context) error { fn(ctx); return nil }))
	},
	"func": func(fn func(ctx context.Context)) executor.Job {
		return executor.NewJob("f", func(s *executor.Scope) error { fn(s.Context()); return nil })
	},
	"with options": func(fn func(ctx context.Context)) executor.Job {
		job := executor.NewJob("f", func(s *executor.Scope) error { fn(s.Context()); return nil })
		return executor.With(job, executor.RunOptions{Name: "other", Priority: executor.High})
	},
}

// TestRunAgain: runs from outside that the caller runs itself use one run after the other, and allocate no more than a
// context for tasks that get one, whether or not the caller's context can end.
func TestRunAgain(t *testing.T) {
	nothing := executor.NewJob("f", func(*executor.Scope) error { return nil })
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, ctx := range map[string]context.Context{"background": context.Background(), "live": live} {
		t.Run(name, func(t *testing.T) {
			for job, most := range map[executor.Job]float64{nothing: 0, one(func(context.Context) error { return nil }): 1} {
				ex := atCall(t, executor.Config{Workers: 2})
				require.NoError(t, ex.Run(ctx, job))
				require.True(t, ex.KeepsCall())
				testkit.Fits(t, func() (wrong string) {
					if n := allocations(func() { _ = ex.Run(ctx, job) }); n >= most+1 {
						return fmt.Sprintf("%s: a run makes %v allocations", job.Name(), n)
					}
					return ""
				})
				require.True(t, ex.KeepsCall())
			}
		})
	}
}

// TestRunKeptContext: a context that a task has kept ends with its run, and not with a later one that uses the same
// Run. What is done with it then has no effect on that one.
func TestRunKeptContext(t *testing.T) {
	for name, job := range jobs {
		t.Run(name, func(t *testing.T) {
			ex := atCall(t, executor.Config{Workers: 1})
			type key struct{}
			around, end := context.WithCancelCause(context.WithValue(context.Background(), key{}, name))
			var kept context.Context
			require.NoError(t, ex.Run(around, job(func(ctx context.Context) { kept = ctx; require.NoError(t, ctx.Err()) })))
			require.Equal(t, name != "func", ex.KeepsCall()) // a scope's context is part of the run
			for _, use := range []func(){
				func() { require.ErrorIs(t, kept.Err(), context.Canceled) },
				func() { <-kept.Done() },
				func() { require.Equal(t, name, kept.Value(key{})) },
				func() { require.ErrorIs(t, context.Cause(kept), context.Canceled) },
				func() {
					below, cancel := context.WithCancel(kept)
					defer cancel()
					require.Error(t, below.Err())
				},
				func() {
					never := job(func(context.Context) { t.Error("a run begins in a context that has ended") })
					require.ErrorIs(t, ex.Run(kept, never), context.Canceled)
				},
				func() {
					_, err := executor.Async(kept, ex, func(context.Context) (int, error) { return 0, nil }).Wait()
					require.ErrorIs(t, err, context.Canceled)
				},
				func() { end(errTest); require.ErrorIs(t, kept.Err(), context.Canceled) },
			} {
				require.NoError(t, ex.Run(context.Background(), job(func(ctx context.Context) {
					use()
					require.NoError(t, ctx.Err())
					require.NotSame(t, kept, ctx)
				})))
			}
		})
	}
}

// TestRunKeptContextAtOnce: goroutines use the contexts of runs that may have ended, while others begin.
func TestRunKeptContextAtOnce(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	contexts := make(chan context.Context, 64)
	var users sync.WaitGroup
	for i := range 3 {
		users.Go(func() {
			for ctx := range contexts {
				switch i {
				case 0:
					<-ctx.Done()
				case 1:
					if err := ex.Run(ctx, one(func(context.Context) error { return nil })); err != nil {
						require.ErrorIs(t, err, context.Canceled)
					}
					<-ctx.Done()
				case 2:
					testkit.Until(t, "the context has ended", func() bool { return ctx.Err() != nil })
				}
			}
		})
	}
	for i := range testkit.Scale(3000) {
		around, end := context.WithCancel(context.Background())
		ran := false
		err := ex.Run(around, one(func(ctx context.Context) error {
			ran = true
			select {
			case contexts <- ctx:
			default:
			}
			if i%3 == 0 {
				go end()
			}
			return nil
		}))
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			require.Zero(t, i%3)
		}
		require.True(t, ran)
		end()
	}
	close(contexts)
	users.Wait()
}

// TestRunObserved: an observer may keep a Run: it is not used again.
func TestRunObserved(t *testing.T) {
	var seen []*executor.Run
	ex := atCall(t, executor.Config{Workers: 1, Observers: []*executor.Observer{{
		RunBegin: func(e *executor.Event) { seen = append(seen, e.Run) },
	}}})
	for range 2 {
		_, err := executor.Call(context.Background(), ex, seven, 0)
		require.NoError(t, err)
		require.NoError(t, ex.Run(context.Background(), one(nothing)))
	}
	require.Len(t, seen, 4)
	for i, r := range seen {
		require.NotContains(t, seen[:i], r)
		require.Equal(t, []string{"call", "one"}[i%2], r.Name())
	}
}

// TestRunFollowsLate: however late a run follows its caller's context, nothing begins after the end of that, and what
// waits for the run's context is told.
func TestRunFollowsLate(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error{
		"next task": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			g := graph.New("g")
			first := g.Task(func(context.Context) error { end(); return nil })
			first.Precede(g.Task(func(context.Context) error { t.Error("a task begins"); return nil }))
			return ex.Run(ctx, g)
		},
		"child": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			return ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
				s.Go(func(context.Context) error { end(); return nil })
				require.NoError(t, s.Wait())
				s.Go(func(context.Context) error { t.Error("a child begins"); return nil })
				return s.Wait()
			}))
		},
		"Stopped": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
				require.False(t, s.Stopped())
				end()
				require.True(t, s.Stopped())
				return 0
			}, 0)
			return err
		},
		"Stopped, forked": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) bool {
				f := executor.Fork(s, func(s *executor.Scope, _ int) bool { end(); return s.Stopped() }, 0)
				require.True(t, f.Join(s))
				return true
			}, 0)
			return err
		},
		"Yield": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			_, err := executor.Call(ctx, ex, func(*executor.Scope, int) int {
				require.NoError(t, executor.Yield(context.Background()))
				end()
				require.ErrorIs(t, executor.Yield(context.Background()), context.Canceled)
				return 0
			}, 0)
			return err
		},
		"Done": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				over := ctx.Done()
				end()
				<-over
				require.ErrorIs(t, context.Cause(ctx), errTest)
				return nil
			}))
		},
		"derived": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
				below, cancel := context.WithCancel(s.Context())
				defer cancel()
				end()
				<-below.Done()
				require.ErrorIs(t, context.Cause(below), errTest)
				return 0
			}, 0)
			return err
		},
		"run within": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				inner := graph.New("inner")
				_ = inner.External(func(_ context.Context, done func(error)) error { end(); return nil })
				return ex.Run(ctx, inner)
			}))
		},
		"external task": func(_ *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			g := graph.New("g")
			g.External(func(context.Context, func(error)) error { go end(); return nil })
			return ex.Run(ctx, g)
		},
		"future": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				f := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { end(); <-ctx.Done(); return 0, ctx.Err() })
				_, err := f.Wait()
				require.ErrorIs(t, err, context.Canceled)
				return nil
			}))
		},
		"many looks": func(t *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
				for range 100 {
					require.False(t, s.Stopped())
				}
				end()
				testkit.Until(t, "the run is stopped", s.Stopped)
				return 0
			}, 0)
			return err
		},
		"end of a job": func(_ *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			return ex.Run(ctx, one(func(context.Context) error { end(); return nil }))
		},
		"end of a call": func(_ *testing.T, ex *executor.Executor, ctx context.Context, end func()) error {
			_, err := executor.Call(ctx, ex, func(*executor.Scope, int) int { end(); return 7 }, 0)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, callers := range []executor.Callers{executor.BusyCallers, executor.BriefCallers, executor.IdleCallers} {
				for _, w := range []int{1, 2} {
					ex := newExecutor(t, executor.Config{Workers: w, Callers: callers})
					comesToRest(t, ex)
					for range 3 {
						ctx, end := context.WithCancelCause(context.Background())
						err := test(t, ex, ctx, func() { end(errTest) })
						require.ErrorIs(t, err, context.Canceled)
						require.ErrorIs(t, err, errTest)
					}
					require.NoError(t, ex.Run(context.Background(), one(nothing)))
				}
			}
		})
	}
}

// TestLateContextTurnsHostile: a run that comes to follow its caller's context, which then panics, fails because of it.
func TestLateContextTurnsHostile(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, job := range jobs {
		var failed *executor.PanicError
		err := ex.Run(newStopper(hostile{Context: live, after: true}), job(func(ctx context.Context) { <-ctx.Done() }))
		require.ErrorAs(t, err, &failed, name)
	}
	require.NoError(t, ex.Run(live, one(nothing)))
}

// TestRunFollowsItsOwnContext: a run that comes to follow its caller's context does so although somebody waits for the
// context of an earlier run, which used the same Run.
func TestRunFollowsItsOwnContext(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	around, end := context.WithCancel(context.Background())
	defer end()
	var kept context.Context
	require.NoError(t, ex.Run(around, one(func(ctx context.Context) error { kept = ctx; return nil })))
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	require.ErrorIs(t, ex.Run(live, one(func(ctx context.Context) error {
		kept.Done()
		over := ctx.Done()
		cancel()
		testkit.Until(t, "the context has ended", func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
		return nil
	})), context.Canceled)
}

// TestRunOfNothing: a run that has no task leaves nothing of what it follows to the next one.
func TestRunOfNothing(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	g, within := executor.GroupWithContext(context.Background(), ex)
	comesToRest(t, ex)
	require.NoError(t, ex.Run(within, graph.New("nothing")))
	require.False(t, ex.KeepsCall())
	require.NoError(t, g.Wait())
	comesToRest(t, ex)
	ctx, cancel := context.WithCancel(context.Background())
	callStopped(t, ex, ctx, cancel)
}

// A lightLayer is a layer with Light. spares says that it takes no failure for one.
type lightLayer struct {
	*layer
	atBegin func(r *executor.JobRun)
	spares  bool
}

func newLightLayer(first step) *lightLayer {
	l := &lightLayer{layer: newLayer("light", first)}
	l.Body = executor.Body{}
	l.Body.Init(l)
	return l
}

func (l *lightLayer) Light() bool { return true }

func (l *lightLayer) Begin(r *executor.JobRun) (*executor.Item, error) {
	if l.atBegin != nil {
		l.atBegin(r)
	}
	return l.layer.Begin(r)
}

func (l *lightLayer) Fail(w *executor.Worker, it *executor.Item, err error) *executor.Item {
	if l.spares {
		l.left.Add(-1)
		return nil
	}
	return l.layer.Fail(w, it, err)
}

func (l *lightLayer) Leave(*executor.Worker) {
	if l.left.Add(-1) == 0 {
		l.Run().Finish(l.failures...)
	}
}

// TestLightLayer: the end of a run of a light job that the caller runs is told as that of any other.
func TestLightLayer(t *testing.T) {
	nothing := func(*executor.Worker, *executor.Item) *executor.Item { return nil }
	t.Run("OnEnd", func(t *testing.T) {
		ex := atCall(t, executor.Config{Workers: 1})
		told := 0
		l := newLightLayer(nothing)
		l.atBegin = func(r *executor.JobRun) { r.OnEnd(func(error) { told++ }) }
		require.NoError(t, ex.Run(context.Background(), l))
		require.Equal(t, 1, told)
	})
	t.Run("Done", func(t *testing.T) {
		ex := atCall(t, executor.Config{Workers: 1})
		var over <-chan struct{}
		l := newLightLayer(nothing)
		l.atBegin = func(r *executor.JobRun) { over = r.Done() }
		require.NoError(t, ex.Run(context.Background(), l))
		require.True(t, closed(over))
	})
	t.Run("Goexit that is no failure", func(t *testing.T) {
		ex := atCall(t, executor.Config{Workers: 1})
		var l *lightLayer
		l = newLightLayer(func(w *executor.Worker, _ *executor.Item) *executor.Item {
			l.push(w, func(*executor.Worker, *executor.Item) *executor.Item {
				executor.Blocking(func() { time.Sleep(5 * time.Millisecond) }) // so that the caller waits first, as a rule
				return nil
			})
			runtime.Goexit()
			return nil
		})
		l.spares = true
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = ex.Run(context.Background(), l)
		}()
		testkit.Until(t, "the caller ends", func() bool { return closed(ended) })
	})
}

// An askingContext asks something when it is followed.
type askingContext struct {
	context.Context
	ask func()
}

func (c *askingContext) AfterFunc(f func()) func() bool {
	c.ask()
	return context.AfterFunc(c.Context, f)
}

func (c *askingContext) Value(any) any { return nil }

// TestContextAsksItsGraph: a context may ask the graph whose run begins to follow it.
func TestContextAsksItsGraph(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	g := graph.New("g")
	g.External(func(_ context.Context, done func(error)) error { done(nil); return nil })
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	asked := false
	require.NoError(t, ex.Run(&askingContext{live, func() { asked = g.Validate() == nil }}, g))
	require.True(t, asked)
}

// A slowContext takes its time to be followed.
type slowContext struct {
	context.Context
	ended      atomic.Bool
	asked, let chan struct{}
}

func (c *slowContext) Done() <-chan struct{} { return c.let }

func (c *slowContext) AfterFunc(func()) func() bool {
	close(c.asked)
	<-c.let
	return func() bool { return true }
}

func (c *slowContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return nil
}

// TestRunLooksMeanwhile: nothing begins after the caller's context has ended, however long that takes to be followed.
func TestRunLooksMeanwhile(t *testing.T) {
	ex := atCall(t, executor.Config{Workers: 1})
	c := &slowContext{Context: context.Background(), asked: make(chan struct{}), let: make(chan struct{})}
	var follower sync.WaitGroup
	g := graph.New("g")
	g.Task(func(ctx context.Context) error {
		follower.Go(func() { ctx.Done() })
		<-c.asked
		c.ended.Store(true)
		return nil
	}).Precede(g.Task(func(context.Context) error { t.Error("a task begins"); return nil }))
	require.ErrorIs(t, ex.Run(c, g), context.Canceled)
	close(c.let)
	follower.Wait()
}

package executor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// Every function runs, whoever gives it to the group: a goroutine, a task, or a function of the group.
func TestGroup(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for _, limit := range []int{-1, 1, 2} {
			var ran atomic.Int64
			g := executor.NewGroup(ex)
			require.NoError(t, g.Wait(), "no function yet")
			g.SetLimit(limit)
			fill := func() error {
				for range 10 {
					g.Go(func() error {
						for range 10 {
							g.Go(func() error { ran.Add(1); return nil })
						}
						ran.Add(1)
						return nil
					})
				}
				return nil
			}
			require.NoError(t, fill())
			require.NoError(t, g.Wait())
			require.EqualValues(t, 110, ran.Load())
			require.NoError(t, g.Wait(), "again")
			require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
				return errors.Join(fill(), g.Wait(), fill(), g.Wait())
			})))
			require.EqualValues(t, 330, ran.Load())
		}
		comesToRest(t, ex)
		require.Zero(t, ex.RunsInProgress())
	})
}

// The first failure is the error of Wait, as it is, and cancels the context. Functions of Go are called nevertheless.
func TestGroupFails(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g, ctx := executor.GroupWithContext(t.Context(), ex)
		g.Go(func() error { return errTest })
		<-ctx.Done()
		require.Equal(t, errTest, context.Cause(ctx))
		called := false
		g.Go(func() error { called = true; return errors.New("a later one") })
		g.GoContext(func(context.Context) error { t.Error("called"); return nil })
		require.Equal(t, errTest, g.Wait())
		require.Equal(t, errTest, g.Wait(), "again")
		require.True(t, called)

		g = executor.NewGroup(ex)
		g.Go(func() error { panic(errTest) })
		var p *executor.PanicError
		require.ErrorAs(t, g.Wait(), &p)
		require.ErrorIs(t, p, errTest)
		g = executor.NewGroup(ex)
		g.Go(func() error { runtime.Goexit(); return nil })
		require.Equal(t, executor.ErrGoexit, g.Wait())

		g = executor.NewGroup(ex)
		g.GoContext(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		g.Cancel(errTest)
		require.ErrorIs(t, g.Wait(), errTest)
		require.ErrorIs(t, g.Wait(), context.Canceled)

		ended, cancel := context.WithCancelCause(t.Context())
		g, ctx = executor.GroupWithContext(ended, ex)
		g.GoContext(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		cancel(errTest)
		require.ErrorIs(t, g.Wait(), errTest)
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		g, ctx = executor.GroupWithContext(ended, ex)
		require.Error(t, ctx.Err())
		g.Go(func() error { t.Error("called"); return nil })
		require.ErrorIs(t, g.Wait(), errTest)

		g, ctx = executor.GroupWithContext(t.Context(), ex)
		require.NoError(t, ctx.Err())
		require.NoError(t, g.Wait(), "no function")
		require.Error(t, ctx.Err(), "after Wait")
	})
}

// No more functions run at a time than the limit, TryGo says when there is no room, and a function that gives others to
// its own full group does not wait for itself.
func TestGroupLimit(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for limit := 1; limit <= 3; limit++ {
			var inside, ran atomic.Int64
			g := executor.NewGroup(ex)
			g.SetLimit(limit)
			var fn func(depth int) func() error
			fn = func(depth int) func() error {
				return func() error {
					if n := inside.Add(1); n > int64(limit) {
						t.Errorf("%d functions run, the limit is %d", n, limit)
					}
					for range min(depth, 1) * 3 {
						g.Go(fn(depth - 1))
					}
					ran.Add(1)
					inside.Add(-1)
					return nil
				}
			}
			for range 100 {
				g.Go(fn(2))
			}
			require.NoError(t, g.Wait())
			require.EqualValues(t, 100*13, ran.Load())

			const many = 1000
			ran.Store(0)
			fill := func(context.Context) error {
				for range many {
					g.Go(fn(0))
				}
				return nil
			}
			g.GoContext(fill)
			g.GoContext(func(ctx context.Context) error { return ex.Run(ctx, one(fill)) })
			require.NoError(t, g.Wait())
			require.EqualValues(t, 2*many, ran.Load())

			gate := make(chan struct{})
			if limit <= ex.Workers() {
				for range limit {
					require.True(t, g.TryGo(func() error { <-gate; return nil }))
				}
				require.False(t, g.TryGo(func() error { return nil }))
				require.Panics(t, func() { g.SetLimit(7) })
				close(gate)
				require.NoError(t, g.Wait())
			}
			g.SetLimit(0)
			require.False(t, g.TryGo(func() error { return nil }))
			require.Panics(t, func() { g.Go(func() error { return nil }) })
		}
	})
}

// Functions without a limit may all run at a time: they wait for each other in Blocking, however many they are and
// whoever has given them to the group. None stays with a worker that runs another.
func TestGroupMeets(t *testing.T) {
	const n = 70
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers, Spares: n})
		var met sync.WaitGroup
		g := executor.NewGroup(ex)
		fill := func(n int) {
			for range n {
				g.Go(func() error {
					met.Done()
					executor.Blocking(met.Wait)
					return nil
				})
			}
		}
		for range testkit.Scale(10) {
			met.Add(n)
			fill(n / 2)
			g.Go(func() error { fill(n - n/2); return nil })
			require.NoError(t, g.Wait())
		}
	}
}

// With a limit, Go called from outside waits until its function has its turn: nothing piles up.
func TestGroupBackPressure(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for _, limit := range []int{1, 3} {
			g := executor.NewGroup(ex)
			g.SetLimit(limit)
			gate := make(chan struct{})
			var given, running, most atomic.Int64
			const callers, each = 4, 200
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for range each {
						g.Go(func() error {
							for now := running.Add(1); ; {
								if old := most.Load(); now <= old || most.CompareAndSwap(old, now) {
									break
								}
							}
							executor.Blocking(func() { <-gate })
							running.Add(-1)
							return nil
						})
						given.Add(1)
					}
				})
			}
			eventually(func() bool { return given.Load() == int64(limit) })
			time.Sleep(5 * time.Millisecond)
			require.EqualValues(t, limit, given.Load())
			close(gate)
			all.Wait()
			require.NoError(t, g.Wait())
			require.EqualValues(t, callers*each, given.Load())
			require.LessOrEqual(t, most.Load(), int64(limit))
		}
	})
}

// With a limit, Go called from tasks waits once many functions wait for their turn: few pile up, however many the tasks
// give. If the spares run out it does not wait, so that a worker is left for the functions.
func TestGroupBackPressureInTasks(t *testing.T) {
	const waiting, tasks, each = 256, 3, 2000
	for _, c := range []struct{ workers, spares int }{{1, 0}, {2, 0}, {4, tasks}, {1, -1}, {1, 1}, {2, 2}} {
		for _, limit := range []int{1, 3} {
			ex := newExecutor(t, executor.Config{Workers: c.workers, Spares: c.spares})
			g := executor.NewGroup(ex)
			g.SetLimit(limit)
			var begun, most atomic.Int64
			var given atomic.Int64
			fill := func(context.Context) error {
				for i := range each {
					g.Go(func() error {
						begun.Add(1)
						switch i % 100 {
						case 1:
							executor.Blocking(func() { time.Sleep(time.Microsecond) })
						case 2:
							return ex.Run(t.Context(), one(nothing))
						}
						return nil
					})
					for now := given.Add(1) - begun.Load(); ; {
						if old := most.Load(); now <= old || most.CompareAndSwap(old, now) {
							break
						}
					}
				}
				return nil
			}
			var runs []*executor.Run
			for range tasks {
				runs = append(runs, ex.Start(t.Context(), one(fill)))
			}
			for _, r := range runs {
				require.NoError(t, r.Wait())
			}
			require.NoError(t, g.Wait())
			require.EqualValues(t, tasks*each, begun.Load())
			if c.spares == 0 || c.spares >= tasks+limit {
				// A worker that is about to begin a function, of which there are limit, may not have counted it. On a
				// machine so busy that no function ends for a second, some more are added.
				require.LessOrEqual(t, most.Load(), int64(2*(waiting+limit+tasks)), "%+v, limit %d", c, limit)
			}
		}
	}
}

// Go of a task does not wait for ever where its function's turn depends on the task in a way that the group does not
// know: with a slot of a limit, on top of a function that waits, or through another group.
func TestGroupWaitsForNoTurn(t *testing.T) {
	t.Parallel()     // it waits most of the time
	const many = 300 // more than Go of a task puts into the queue without waiting
	for name, try := range map[string]func(t *testing.T, ex *executor.Executor, g *executor.Group, fill func()){
		"a future": func(t *testing.T, ex *executor.Executor, g *executor.Group, fill func()) {
			g.Go(func() error {
				f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { fill(); return 0, nil })
				_, err := f.Wait()
				return err
			})
		},
		"after the end of a run": func(t *testing.T, ex *executor.Executor, g *executor.Group, fill func()) {
			g.Go(func() error {
				r := ex.Start(t.Context(), one(nothing))
				r.OnEnd(func(error) { fill() })
				return r.Wait()
			})
		},
		"another group": func(_ *testing.T, ex *executor.Executor, g *executor.Group, fill func()) {
			other := executor.NewGroup(ex)
			other.Go(func() error { return nil })
			g.Go(func() error {
				other.Go(func() error { fill(); return nil })
				return other.Wait()
			})
		},
		"a run with a limit": func(t *testing.T, ex *executor.Executor, g *executor.Group, fill func()) {
			limited := executor.NewJob("limited", func(s *executor.Scope) error {
				inner, _ := executor.GroupWithContext(s.Context(), ex)
				inner.SetLimit(1)
				for range many {
					inner.Go(func() error { return nil })
				}
				return inner.Wait()
			})
			require.NoError(t, ex.Run(t.Context(), executor.With(limited, executor.RunOptions{Workers: 1})))
			fill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, workers := range testkit.Part(t, []int{1, 2}) {
				ex := newExecutor(t, executor.Config{Workers: workers})
				var ran atomic.Int64
				g := executor.NewGroup(ex)
				g.SetLimit(1)
				within(t, ex, func() {
					filled := make(chan struct{}) // a function of OnEnd may run on when its run has been waited for
					try(t, ex, g, func() {
						defer close(filled)
						for range many {
							g.Go(func() error { ran.Add(1); return nil })
						}
					})
					<-filled
					require.NoError(t, g.Wait())
				})
				require.EqualValues(t, many, ran.Load())
			}
		})
	}
}

// A function of GoAfter begins after all that it comes after, and not at all if one has failed.
func TestGroupGoAfter(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for _, limit := range []int{-1, 1} {
			g := executor.NewGroup(ex)
			g.SetLimit(limit)
			var ended [200]atomic.Bool
			var tasks [200]*executor.GroupTask
			for i := range tasks {
				var before []int
				var after []*executor.GroupTask
				for range min(i, 3) {
					k := rand.IntN(i)
					before, after = append(before, k), append(after, tasks[k])
				}
				tasks[i] = g.GoAfter(func(context.Context) error {
					for _, k := range before {
						if !ended[k].Load() {
							t.Errorf("%d begins before %d has ended", i, k)
						}
					}
					ended[i].Store(true)
					return nil
				}, after...)
			}
			require.NoError(t, g.Wait())
			for i := range ended {
				require.True(t, ended[i].Load(), i)
			}
			bad := g.GoAfter(func(context.Context) error { return errTest }, tasks[0])
			g.GoAfter(func(context.Context) error { t.Error("called"); return nil }, bad, tasks[1])
			require.Equal(t, errTest, g.Wait())
			nothing := func(context.Context) error { return nil }
			require.Panics(t, func() { g.GoAfter(nothing, nil) })
			require.Panics(t, func() { executor.NewGroup(ex).GoAfter(nothing, bad) })
		}
	})
}

func TestGroupMisuse(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := executor.NewGroup(ex)
	require.Panics(t, func() { g.Go(nil) })
	require.Panics(t, func() { g.GoContext(nil) })
	require.Panics(t, func() { g.TryGo(nil) })
	require.Panics(t, func() { g.GoAfter(nil) })
	require.Panics(t, func() { executor.GroupWithContext(nil, ex) }) //nolint
	g.Go(func() error { return g.Wait() })
	require.ErrorContains(t, g.Wait(), "wait for itself")
	g.Cancel(nil)
	require.NoError(t, executor.NewGroup(ex).Wait())

	open, _ := executor.GroupWithContext(t.Context(), ex) // nobody waits for it
	left := executor.NewGroup(ex)
	ran := false
	left.Go(func() error { ran = true; return nil })
	within(t, ex, func() { require.NoError(t, ex.Close()) })
	require.True(t, ran)
	for _, g := range []*executor.Group{open, executor.NewGroup(ex)} {
		g.Go(func() error { t.Error("called"); return nil })
		require.False(t, g.TryGo(func() error { t.Error("called"); return nil }))
		require.ErrorIs(t, g.Wait(), executor.ErrClosed)
	}
	g, ctx := executor.GroupWithContext(t.Context(), ex)
	require.Error(t, ctx.Err())
	require.ErrorIs(t, g.Wait(), executor.ErrClosed)
}

// A group of GroupWithContext is cancelled with the run whose context it was given. One of NewGroup goes on.
func TestGroupInCancelledRun(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for _, follows := range []bool{false, true} {
			var inside, result error
			called := false
			self := make(chan *executor.Run, 1)
			run := ex.Start(t.Context(), one(func(ctx context.Context) error {
				g := executor.NewGroup(ex)
				if follows {
					g, _ = executor.GroupWithContext(ctx, ex)
				}
				g.GoContext(func(own context.Context) error {
					(<-self).Cancel(errTest)
					inside = own.Err()
					g.GoContext(func(context.Context) error { called = true; return nil })
					return nil
				})
				result = g.Wait()
				return nil
			}))
			self <- run
			require.ErrorIs(t, run.Wait(), errTest)
			if follows {
				require.Equal(t, context.Canceled, inside)
				require.ErrorIs(t, result, errTest)
			} else {
				require.NoError(t, inside)
				require.NoError(t, result)
			}
			require.Equal(t, !follows, called)
		}
	})
}

func TestGroupInline(t *testing.T) {
	for seed := range uint64(50) {
		ex := executor.NewInline(seed)
		g, ctx := executor.GroupWithContext(t.Context(), ex)
		g.SetLimit(2)
		n := 0
		for range 5 {
			g.Go(func() error {
				n++
				for range 3 {
					g.GoContext(func(context.Context) error { n++; return nil })
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		require.Equal(t, 20, n)
		require.Error(t, ctx.Err())
	}
}

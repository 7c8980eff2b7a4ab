package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

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
		g.Go(func() error { runtime.Goexit(); return nil })
		require.Equal(t, executor.ErrGoexit, g.Wait(), "the group begins anew")
		g.GoContext(func(context.Context) error { return nil })
		require.NoError(t, g.Wait())

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

// If the caller's context ends before a function fails, the error of Wait says so, and has the function's failure
// unless that only says the same again.
func TestGroupWhoseContextEnds(t *testing.T) {
	const ended = `run of "group": context canceled`
	for name, c := range map[string]struct {
		fails func(ctx error) error
		text  string
	}{
		"nil":     {func(error) error { return nil }, ended},
		"same":    {func(err error) error { return err }, ended},
		"wrapped": {func(err error) error { return fmt.Errorf("fetch url7: %w", err) }, ended},
		"own":     {func(error) error { return errTest }, ended + "\n" + errTest.Error()},
		"both": {
			func(err error) error { return errors.Join(errTest, err) },
			ended + "\n" + errTest.Error() + "\ncontext canceled",
		},
	} {
		onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
			caller, cancel := context.WithCancel(t.Context())
			g, ctx := executor.GroupWithContext(caller, ex)
			g.Go(func() error { cancel(); <-ctx.Done(); return c.fails(ctx.Err()) })
			err := g.Wait()
			require.EqualError(t, err, c.text, name)
			require.ErrorIs(t, err, context.Canceled, name)
			require.NotEqual(t, context.Canceled, err, name)
			require.Equal(t, c.text != ended, errors.Is(err, errTest), name)
		})
	}
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		caller, cancel := context.WithCancel(t.Context())
		g, ctx := executor.GroupWithContext(caller, ex)
		g.Go(func() error { return errTest })
		<-ctx.Done()
		cancel()
		require.Equal(t, errTest, g.Wait(), "the function has failed before")
	})
}

// What is listed as different from an errgroup, and has no other test.
func TestGroupIsNoErrgroup(t *testing.T) {
	for name, try := range map[string]func(t *testing.T, ex *executor.Executor){
		"on a worker": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.Go(func() error {
				if ex.WorkerIndex() < 0 {
					t.Error("not on a worker")
				}
				return nil
			})
			require.NoError(t, g.Wait())
			require.Negative(t, ex.WorkerIndex())
		},
		"context ended before": func(t *testing.T, ex *executor.Executor) {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			g, _ := executor.GroupWithContext(ended, ex)
			g.Go(func() error { t.Error("called"); return nil })
			require.EqualError(t, g.Wait(), `run of "group": context canceled`)
		},
		"context ended between": func(t *testing.T, ex *executor.Executor) {
			ends, cancel := context.WithCancel(t.Context())
			g, _ := executor.GroupWithContext(ends, ex)
			cancel()
			called := false
			g.Go(func() error { called = true; return nil })
			require.ErrorIs(t, g.Wait(), context.Canceled)
			require.True(t, called)
			g.Go(func() error { t.Error("called"); return nil })
			require.ErrorIs(t, g.Wait(), context.Canceled, "the group begins anew")
		},
		"anew after Wait": func(t *testing.T, ex *executor.Executor) {
			g, ctx := executor.GroupWithContext(t.Context(), ex)
			g.Go(func() error { return errTest })
			require.Equal(t, errTest, g.Wait())
			g.GoContext(func(ctx context.Context) error { return ctx.Err() })
			require.NoError(t, g.Wait())
			require.Error(t, ctx.Err(), "the old one")
		},
		"SetLimit before Wait": func(t *testing.T, ex *executor.Executor) {
			for _, limit := range []int{-1, 1} {
				g := executor.NewGroup(ex)
				g.SetLimit(limit)
				done := make(chan struct{})
				g.Go(func() error { close(done); return nil })
				<-done
				eventually(func() bool { return ex.Stats().Active == 0 })
				require.Panics(t, func() { g.SetLimit(3) })
				require.NoError(t, g.Wait())
				g.SetLimit(3)
			}
		},
		"limit 0": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.SetLimit(0)
			require.Panics(t, func() { g.Go(func() error { return nil }) })
		},
		"Go at the limit": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.SetLimit(1)
			gate := make(chan struct{})
			var ran atomic.Int64
			for range executor.GroupBacklog { // TestGroupBackPressure has more
				g.Go(func() error { <-gate; ran.Add(1); return nil })
			}
			close(gate)
			require.NoError(t, g.Wait())
			require.EqualValues(t, executor.GroupBacklog, ran.Load())
		},
		"a run": func(t *testing.T, _ *executor.Executor) {
			ex := bounded(t, 2, 1)
			g, _ := executor.GroupWithContext(t.Context(), ex)
			_, err := ex.TryStart(t.Context(), one(nothing))
			require.ErrorIs(t, err, executor.ErrBusy)
			require.NoError(t, g.Wait())
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		},
	} {
		t.Run(name, func(t *testing.T) { onEach(t, []int{1, 2}, try) })
	}
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

// With a limit, Go called from outside waits when too many functions wait.
func TestGroupBackPressure(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		g.SetLimit(1)
		gate := make(chan struct{})
		g.Go(func() error { <-gate; return nil })
		var given atomic.Int64
		done := make(chan struct{})
		go func() {
			for range 5000 {
				g.Go(func() error { return nil })
				given.Add(1)
			}
			close(done)
		}()
		eventually(func() bool { return given.Load() >= executor.GroupBacklog })
		require.False(t, closed(done))
		require.EqualValues(t, executor.GroupBacklog, given.Load())
		close(gate)
		<-done
		require.NoError(t, g.Wait())
	})
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

// A zero Group, Promise or Future says how it is made, whatever is called first.
func TestZeroValues(t *testing.T) {
	const (
		group   = "executor: a Group is made by NewGroup or GroupWithContext"
		promise = "executor: a Promise is made by NewPromise"
		future  = "executor: a Future is made by Async, After or a Promise"
	)
	fn := func() error { t.Error("called"); return nil }
	cfn := func(context.Context) error { return fn() }
	var (
		g executor.Group
		p executor.Promise[int]
		f executor.Future[int]
	)
	for want, uses := range map[string]map[string]func(){
		group: {
			"Go":        func() { g.Go(fn) },
			"GoContext": func() { g.GoContext(cfn) },
			"GoAfter":   func() { g.GoAfter(cfn) },
			"TryGo":     func() { g.TryGo(fn) },
			"SetLimit":  func() { g.SetLimit(2) },
			"Cancel":    func() { g.Cancel(nil) },
			"Wait":      func() { _ = g.Wait() },
		},
		promise: {
			"Future":   func() { p.Future() },
			"Context":  func() { p.Context() },
			"Resolve":  func() { p.Resolve(1) },
			"Reject":   func() { p.Reject(errTest) },
			"Complete": func() { p.Complete(1, nil) },
		},
		future: {
			"Wait":     func() { _, _ = f.Wait() },
			"Done":     func() { f.Done() },
			"Cancel":   func() { f.Cancel(nil) },
			"AfterEnd": func() { f.AfterEnd(func(int, error) { t.Error("called") }) },
		},
	} {
		for method, use := range uses {
			require.PanicsWithValue(t, want, use, method)
			require.PanicsWithValue(t, want, use, method) // also the second time
		}
	}
}

func TestGroupMisuse(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := executor.NewGroup(ex)
	require.Panics(t, func() { g.Go(nil) })
	require.Panics(t, func() { g.GoContext(nil) })
	require.Panics(t, func() { g.TryGo(nil) })
	require.Panics(t, func() { g.GoAfter(nil) })
	require.Panics(t, func() { executor.NewGroup(nil) })
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

// Shutdown cancels groups, and skips all their functions that have not begun. Tasks that drain may use groups.
func TestGroupShutdown(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g, ctx := executor.GroupWithContext(t.Context(), ex)
		begun := make(chan struct{})
		g.Go(func() error { close(begun); <-ctx.Done(); return nil })
		for range ex.Workers() - 1 {
			g.Go(func() error { <-ctx.Done(); return nil })
		}
		<-begun
		inside := executor.NewGroup(ex)
		inside.Go(func() error { return nil })
		stop, end := deadline(t)
		end()
		isShutdown(t, ex.Shutdown(stop))
		isShutdown(t, g.Wait())
	})
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error {
			<-gate
			g := executor.NewGroup(ex)
			for range 10 {
				g.Go(func() error { return nil })
			}
			return g.Wait()
		}))
		var all sync.WaitGroup
		all.Go(func() { _ = ex.Close() })
		eventually(func() bool {
			r := ex.Start(t.Context(), one(nothing))
			return closed(r.Done()) && errors.Is(r.Wait(), executor.ErrClosed)
		})
		close(gate)
		all.Wait()
		require.NoError(t, r.Wait())
	})
}

// A task after one that has failed, or was not called, before another Wait is not called.
func TestGroupAfterFailureOfOld(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		failed := g.GoAfter(func(context.Context) error { return errTest })
		skipped := g.GoAfter(nothing, failed)
		require.Equal(t, errTest, g.Wait())
		for _, before := range []*executor.GroupTask{failed, skipped} {
			g.GoAfter(func(context.Context) error { t.Error("called"); return nil }, before)
			require.Equal(t, errTest, g.Wait())
		}
		g.GoAfter(nothing)
		require.NoError(t, g.Wait())
	})
}

// TryGo does not wait for room for the group, nor for a goroutine that does. The group is then as before.
func TestGroupTryGoWithoutRoom(t *testing.T) {
	ex := bounded(t, 2, 1)
	within(t, ex, func() {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), gated(gate))
		g := executor.NewGroup(ex)
		var ran atomic.Int64
		run := func() error { ran.Add(1); return nil }
		require.False(t, g.TryGo(run))
		require.NoError(t, g.Wait())
		var other sync.WaitGroup
		other.Go(func() { g.Go(run) })
		eventually(func() bool { return ex.Stats().Intake.Waiting == 1 })
		require.False(t, g.TryGo(run))
		close(gate)
		require.NoError(t, r.Wait())
		other.Wait()
		require.True(t, g.TryGo(run))
		require.NoError(t, g.Wait())
		require.EqualValues(t, 2, ran.Load())
	})
}

// A task of a run or future may use groups while the executor is being closed, as before: the context lives until Wait,
// which returns the first failure. Groups that the task leaves do not keep the executor open.
func TestGroupDuringClose(t *testing.T) {
	for _, future := range []bool{false, true} {
		for _, leaves := range []bool{false, true} {
			ex := newExecutor(t, executor.Config{Workers: 2})
			within(t, ex, func() {
				begun, gate := make(chan struct{}), make(chan struct{})
				task := func(ctx context.Context) error {
					early, live := executor.GroupWithContext(ctx, ex)
					close(begun)
					<-gate
					g, ctx := executor.GroupWithContext(ctx, ex)
					g.Go(func() error { return nil })
					executor.NewGroup(ex).Go(func() error { return nil }) // nobody waits for it
					eventually(func() bool { return ex.RunsInProgress() >= 3 })
					if live.Err() != nil || ctx.Err() != nil {
						t.Error("the context of a group has ended")
					}
					early.Go(func() error { return errTest })
					<-live.Done()
					early.Go(func() error { return errors.New("another") })
					if leaves {
						return nil
					}
					if err := early.Wait(); !errors.Is(err, errTest) {
						t.Error(err)
					}
					return g.Wait()
				}
				var wait func() error
				if future {
					f := executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) { return 0, task(ctx) })
					wait = func() error { _, err := f.Wait(); return err }
				} else {
					wait = ex.Start(t.Context(), one(task)).Wait
				}
				<-begun
				ended := make(chan error)
				go func() { ended <- ex.Shutdown(context.Background()) }()
				eventually(func() bool { return ex.Stats().Gauges.Closed })
				close(gate)
				require.NoError(t, <-ended)
				require.NoError(t, wait())
			})
		}
	}
}

// The first failure is the error of Wait also if Close has ended the group, and a later function is refused.
func TestGroupRefusedAfterFailure(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := executor.NewGroup(ex)
	g.Go(func() error { return errTest })
	require.NoError(t, ex.Close())
	g.Go(func() error { t.Error("called"); return nil })
	g.Go(func() error { t.Error("called"); return nil })
	require.Equal(t, errTest, g.Wait())
	require.Equal(t, errTest, g.Wait())
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

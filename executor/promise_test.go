package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A Promise is resolved from a goroutine, a timer, or a task of its own or another executor. The future after it sees
// what came before.
func TestPromise(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 1})
		in := func(ex *executor.Executor) func(func()) {
			return func(fn func()) { ex.Start(t.Context(), one(func(context.Context) error { fn(); return nil })) }
		}
		resolvers := []func(func()){
			func(fn func()) { fn() },
			func(fn func()) { go fn() },
			func(fn func()) { time.AfterFunc(time.Microsecond, fn) },
			in(ex),
			in(other),
		}
		within(t, ex, func() {
			for range testkit.Scale(100) {
				for _, resolve := range resolvers {
					p := executor.NewPromise[int](t.Context(), ex)
					seen := 0 // plain: the race detector checks the order
					f := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
						n, err := p.Future().Wait()
						return n + seen, err
					}, p.Future())
					resolve(func() {
						seen = 1
						p.Resolve(2)
					})
					n, err := f.Wait()
					require.NoError(t, err)
					require.Equal(t, 3, n)
					require.False(t, p.Resolve(4), "a second time")
					require.False(t, p.Reject(errTest))
					n, err = p.Future().Wait()
					require.NoError(t, err)
					require.Equal(t, 2, n)
				}
			}
		})
	})
}

// A Promise that is rejected fails what comes after it. Complete keeps the result beside the error.
func TestPromiseRejected(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	never := func(context.Context) (int, error) { t.Error("called"); return 0, nil }
	p := executor.NewPromise[int](t.Context(), ex)
	after := executor.Async(t.Context(), ex, never, p.Future())
	require.True(t, p.Reject(errTest))
	_, err := after.Wait()
	require.Equal(t, errTest, err)
	p = executor.NewPromise[int](t.Context(), ex)
	require.True(t, p.Complete(5, errTest))
	n, err := p.Future().Wait()
	require.Equal(t, errTest, err)
	require.Equal(t, 5, n)
	require.Error(t, p.Context().Err())

	require.PanicsWithValue(t, "executor: Promise.Reject of a nil error", func() { p.Reject(nil) })
	var none context.Context
	require.NoError(t, mustPanic(func() { executor.NewPromise[int](none, ex) }, "NewPromise needs a context"))
}

// Of several that complete a Promise at once, and a Cancel, one succeeds, and the Future has what that one said.
func TestPromiseOnce(t *testing.T) {
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for range testkit.Scale(300) {
				p := executor.NewPromise[int](t.Context(), ex)
				var winner atomic.Int64
				var wg sync.WaitGroup
				for i := range 4 {
					wg.Go(func() {
						if p.Resolve(i) && !winner.CompareAndSwap(0, int64(i)+1) {
							t.Error("two have succeeded")
						}
					})
				}
				wg.Go(func() { p.Future().Cancel(errTest) })
				n, err := p.Future().Wait()
				wg.Wait()
				if err != nil {
					require.ErrorIs(t, err, errTest)
					require.Zero(t, winner.Load())
				} else {
					require.EqualValues(t, winner.Load(), n+1)
				}
			}
		})
	})
}

// The end of the context ends the Promise, also when nobody waits, and Resolve then has no effect. The context of the
// Promise ends with it.
func TestPromiseCancelled(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), keyOfTest{}, 7))
		awaited := executor.NewPromise[int](ctx, ex)
		after := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
			t.Error("called")
			return 0, nil
		}, awaited.Future())
		unseen := executor.NewPromise[int](ctx, ex)
		worked := executor.NewPromise[int](ctx, ex)
		require.Equal(t, 7, worked.Context().Value(keyOfTest{}))
		own := executor.NewPromise[int](ctx, ex)
		require.NoError(t, own.Context().Err())
		own.Future().Cancel(errTest)
		require.ErrorIs(t, context.Cause(own.Context()), errTest)
		_, err := own.Future().Wait()
		require.EqualError(t, err, `run of "promise": context canceled: the test's own`)

		cancel(errTest)
		require.False(t, unseen.Resolve(1), "after the end of its context")
		_, err = unseen.Future().Wait()
		require.ErrorIs(t, err, errTest)
		_, err = after.Wait()
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, err, context.Canceled)
		<-worked.Context().Done()
		require.ErrorIs(t, context.Cause(worked.Context()), errTest)
	})
}

type keyOfTest struct{}

// A task waits for a Promise that another task of the only worker resolves: a spare worker runs that one. If the
// awaited future is cancelled, the wait ends, although the Promise before it does not.
func TestPromiseInside(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for range testkit.Scale(20) {
				require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
					p := executor.NewPromise[int](ctx, ex)
					add := func(context.Context) (int, error) {
						n, err := p.Future().Wait()
						return n + 1, err
					}
					f := executor.Async(ctx, ex, add, p.Future())
					executor.Async(ctx, ex, func(context.Context) (int, error) { p.Resolve(1); return 0, nil })
					n, err := f.Wait()
					require.Equal(t, 2, n)
					return err
				})))
			}
			p := executor.NewPromise[int](t.Context(), ex)
			require.ErrorIs(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
				f := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }, p.Future())
				time.AfterFunc(time.Millisecond, func() { f.Cancel(errTest) })
				_, err := f.Wait()
				return err
			})), errTest)
			require.True(t, p.Resolve(1))
		})
	})
}

// Close waits for a future after a Promise, and not for a Promise. Later promises are refused, and those left may still
// be resolved.
func TestPromiseClose(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		p, left := executor.NewPromise[int](t.Context(), ex), executor.NewPromise[int](t.Context(), ex)
		waits := make(chan int)
		go func() {
			n, _ := left.Future().Wait()
			waits <- n
		}()
		after := executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) {
			late := executor.NewPromise[int](ctx, ex) // in a task of the executor
			return 1, errors.Join(late.Context().Err())
		}, p.Future())
		over := make(chan error)
		go func() { over <- ex.Close() }()
		eventually(func() bool {
			_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }).Wait()
			return err != nil
		})
		late := executor.NewPromise[int](t.Context(), ex)
		require.False(t, late.Resolve(1))
		_, err := late.Future().Wait()
		require.ErrorIs(t, err, executor.ErrClosed)
		select {
		case <-over:
			t.Error("Close has not waited for the future")
		case <-time.After(time.Millisecond):
		}
		require.True(t, p.Resolve(1))
		n, err := after.Wait()
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, <-over)
		require.True(t, left.Resolve(9))
		require.Equal(t, 9, <-waits)
	})
}

// Shutdown cancels promises, and the futures after them, when its context ends. A task that waits for one goes on.
func TestPromiseShutdown(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		other := newExecutor(t, executor.Config{Workers: 1})
		within(t, ex, func() {
			ctx := t.Context()
			p, foreign := executor.NewPromise[int](ctx, ex), executor.NewPromise[int](ctx, other)
			never := func(context.Context) (int, error) { t.Error("called"); return 0, nil }
			first := executor.Async(ctx, ex, never, p.Future())
			second := executor.Async(ctx, ex, never, first)
			third := executor.Async(ctx, ex, never, foreign.Future())
			inTask := executor.NewPromise[int](ctx, ex)
			waiting := ex.Start(ctx, one(func(context.Context) error {
				_, err := inTask.Future().Wait()
				if !errors.Is(err, executor.ErrShutdown) {
					return fmt.Errorf("the promise ends with: %v", err)
				}
				return nil
			}))
			unseen := executor.NewPromise[int](ctx, ex)
			short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, ex.Shutdown(short), executor.ErrShutdown)
			for _, f := range []*executor.Future[int]{first, second, third, p.Future(), unseen.Future()} {
				_, err := f.Wait()
				require.ErrorIs(t, err, executor.ErrShutdown)
			}
			if err := waiting.Wait(); err != nil {
				require.ErrorIs(t, err, executor.ErrShutdown)
				require.NotContains(t, err.Error(), "the promise ends")
			}
			require.False(t, unseen.Resolve(1))
			require.True(t, foreign.Resolve(1))
		})
	}
}

// The garbage collector ends a Promise that nothing refers to, and frees one that is not waited for.
func TestPromiseForgotten(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := executor.NewPromise[int](ctx, ex).Future()
		after := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }, f)
		for !closed(after.Done()) {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		_, err := after.Wait()
		require.ErrorIs(t, err, executor.ErrForgotten)

		var freed atomic.Bool
		func() {
			p := executor.NewPromise[int](ctx, ex)
			runtime.AddCleanup(p.Future(), func(*struct{}) { freed.Store(true) }, nil)
		}()
		for !freed.Load() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, ex.Close())
	})
}

// Functions of OnEnd of a Promise that was forgotten may wait for each other: none keeps the finalizers from
// running.
func TestPromiseForgottenOnEnd(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		const promises = 3
		var ended sync.WaitGroup
		ended.Add(promises)
		for range promises {
			executor.NewPromise[int](t.Context(), ex).Future().OnEnd(func(_ int, err error) {
				if !errors.Is(err, executor.ErrForgotten) {
					t.Error(err)
				}
				ended.Done()
				ended.Wait()
			})
		}
		all := make(chan struct{})
		go func() { ended.Wait(); close(all) }()
		for !closed(all) {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
}

// On an inline executor, what comes after a Promise runs in Resolve. Time passes while a timer's future is waited for.
func TestPromiseInline(t *testing.T) {
	for seed := range uint64(testkit.Scale(30)) {
		ex := executor.NewInline(seed)
		p := executor.NewPromise[int](t.Context(), ex)
		ran := 0
		for range 3 {
			executor.Async(t.Context(), ex, func(context.Context) (int, error) { ran++; return 0, nil }, p.Future())
		}
		require.Zero(t, ran)
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			p.Resolve(1)
			return nil
		})))
		require.Equal(t, 3, ran)
		require.NoError(t, ex.Close())
	}
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		began := time.Now()
		f := executor.Timer(t.Context(), ex, time.Hour)
		g := executor.Async(t.Context(), ex, func(context.Context) (time.Duration, error) {
			at, err := f.Wait()
			return at.Sub(began), err
		}, f)
		d, err := g.Wait()
		require.NoError(t, err)
		require.Equal(t, time.Hour, d)
		require.NoError(t, ex.Close())
	})
}

// The Future of Timer ends with the time, or with its context, or is cancelled.
func TestTimer(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			begin := time.Now()
			at, err := executor.Timer(t.Context(), ex, time.Millisecond).Wait()
			require.NoError(t, err)
			require.GreaterOrEqual(t, at.Sub(begin), time.Millisecond)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errTest)
			defer cancel()
			_, err = executor.Timer(ctx, ex, time.Hour).Wait()
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			f := executor.Timer(t.Context(), ex, time.Hour)
			f.Cancel(errTest)
			_, err = f.Wait()
			require.ErrorIs(t, err, errTest)
		})
	})
}

// Each function of Future.OnEnd is called once with what Wait returns, before or after the end.
func TestFutureOnEnd(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var told atomic.Int32
		rounds := testkit.Scale(200)
		within(t, ex, func() {
			for round := range rounds {
				gate := make(chan struct{})
				f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { <-gate; return 3, errTest })
				if round%3 == 0 {
					p := executor.NewPromise[int](t.Context(), ex)
					f = p.Future()
					go func() { <-gate; p.Complete(3, errTest) }()
				}
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						f.OnEnd(func(n int, err error) {
							require.True(t, closed(f.Done()))
							require.Equal(t, 3, n)
							require.Equal(t, errTest, err)
							told.Add(1)
						})
					})
				}
				close(gate)
				wg.Wait()
			}
			eventually(func() bool { return int(told.Load()) == 3*rounds })
			require.PanicsWithValue(t, "executor: Future.OnEnd of a nil function",
				func() { executor.NewPromise[int](t.Context(), ex).Future().OnEnd(nil) })
		})
	})
}

// BenchmarkPromise makes promises and resolves them, each with a future after it.
func BenchmarkPromise(b *testing.B) {
	ex := newExecutor(b, executor.Config{Workers: 1})
	ctx := context.Background()
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			executor.NewPromise[int](ctx, ex).Resolve(1)
		}
	})
	b.Run("after", func(b *testing.B) {
		b.ReportAllocs()
		fn := func(context.Context) (int, error) { return 1, nil }
		var futures [1000]*executor.Future[int]
		for n := 0; n < b.N; n += len(futures) {
			for i := range futures {
				p := executor.NewPromise[int](ctx, ex)
				futures[i] = executor.Async(ctx, ex, fn, p.Future())
				p.Resolve(1)
			}
			for _, f := range futures {
				_, _ = f.Wait()
			}
		}
	})
}

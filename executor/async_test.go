package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

func TestAsync(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		ctx := t.Context()
		f := executor.Async(ctx, ex, func(context.Context) (string, error) { return "a", nil })
		s, err := f.Wait()
		require.NoError(t, err)
		require.Equal(t, "a", s)
		<-f.Done()
		s, err = f.Wait()
		require.NoError(t, err)
		require.Equal(t, "a", s, "again")

		g := executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, errTest })
		n, err := g.Wait()
		require.Equal(t, errTest, err)
		require.Equal(t, 1, n)
	})
}

func TestAsyncFails(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ctx := t.Context()
		var p *executor.PanicError
		_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { panic(errTest) }).Wait()
		require.ErrorAs(t, err, &p)
		require.ErrorIs(t, err, errTest)
		require.Contains(t, string(p.Stack), "TestAsyncFails")
		_, err = executor.Async(ctx, ex, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }).Wait()
		require.ErrorIs(t, err, executor.ErrGoexit)

		// Inside a task, too.
		err = ex.Run(ctx, one(func(ctx context.Context) error {
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { panic(errTest) }).Wait()
			return err
		}))
		require.ErrorAs(t, err, &p)
		_, err = executor.Async(ctx, ex, func(context.Context) (int, error) { return 3, nil }).Wait()
		require.NoError(t, err)
	})
	ex := newExecutor(t, executor.Config{Workers: 1})
	require.Panics(t, func() { executor.Async[int](t.Context(), ex, nil) })
	require.Panics(t, func() { executor.Async(nil, ex, func(context.Context) (int, error) { return 0, nil }) }) //nolint
	require.NoError(t, ex.Close())
	_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }).Wait()
	require.ErrorIs(t, err, executor.ErrClosed)
}

// A future that comes after others sees their results. If one of them fails, it ends with the error of that one, and so
// do those after it.
func TestAsyncAfter(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		ctx := t.Context()
		for range testkit.Scale(300) {
			a := executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, nil })
			b := executor.Async(ctx, ex, func(context.Context) (string, error) { return "b", nil })
			c := executor.Async(ctx, ex, func(context.Context) (string, error) {
				n, _ := a.Wait()
				s, _ := b.Wait()
				return fmt.Sprint(n, s), nil
			}, a, b)
			bad := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, errTest }, a)
			never := executor.Async(ctx, ex, func(context.Context) (int, error) {
				t.Error("called")
				return 0, nil
			}, c, bad, b)
			after := executor.Async(ctx, ex, func(context.Context) (int, error) {
				t.Error("called")
				return 0, nil
			}, never)
			_, err := after.Wait()
			require.Equal(t, errTest, err)
			s, err := c.Wait()
			require.NoError(t, err)
			require.Equal(t, "1b", s)
		}
	})
}

// A task waits for a future that it has started, and for those before it, with any number of workers.
func TestAsyncInside(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for range testkit.Scale(200) {
				require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
					var last *executor.Future[int]
					for i := range 20 {
						var after []executor.Awaitable
						if last != nil && i%3 != 0 {
							after = append(after, last)
						}
						last = executor.Async(ctx, ex, func(ctx context.Context) (int, error) {
							inner := executor.Async(ctx, ex, func(context.Context) (int, error) { return i, nil })
							return inner.Wait()
						}, after...)
					}
					n, err := last.Wait()
					if n != 19 {
						return errors.Join(err, fmt.Errorf("got %d", n))
					}
					return err
				})))
			}
		})
	})
}

// A chain of futures, each after the one before: the last is waited for before any has begun, on the only worker.
func TestAsyncLongChain(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	n := testkit.Scale(200_000)
	within(t, ex, func() {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			ran := 0
			next := func(context.Context) (int, error) { ran++; return ran, nil }
			last := executor.Async(ctx, ex, next)
			for range n - 1 {
				last = executor.Async(ctx, ex, next, last)
			}
			got, err := last.Wait()
			if got != n {
				return errors.Join(err, fmt.Errorf("got %d", got))
			}
			return err
		})))
	})
}

func TestAsyncCancel(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			ctx, cancel := context.WithCancelCause(t.Context())
			begun, free := make(chan struct{}), make(chan struct{})
			running := executor.Async(ctx, ex, func(ctx context.Context) (int, error) {
				close(begun)
				<-free
				return 1, context.Cause(ctx)
			})
			<-begun
			never := func(context.Context) (int, error) { t.Error("called"); return 0, nil }
			queued := executor.Async(ctx, ex, never)
			waited := executor.Async(ctx, ex, never)
			done := waited.Done()
			other := executor.Async(t.Context(), ex, never)
			other.Cancel(errTest)
			_, err := other.Wait()
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, err, context.Canceled)
			cancel(errTest)
			<-done // although the only worker is busy
			_, err = waited.Wait()
			require.ErrorIs(t, err, errTest)
			close(free)
			_, err = queued.Wait()
			require.ErrorIs(t, err, errTest)
			n, err := running.Wait()
			require.Equal(t, errTest, err)
			require.Equal(t, 1, n)
			running.Cancel(nil)
		})
	})
}

// Close waits for futures in progress, and for those that they start. It refuses others.
func TestAsyncClose(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		for range testkit.Scale(50) {
			ex, err := executor.New(executor.Config{Workers: workers})
			require.NoError(t, err)
			var ran atomic.Int32
			for range 10 {
				executor.Async(t.Context(), ex, func(context.Context) (int, error) {
					time.Sleep(10 * time.Microsecond)
					executor.Async(t.Context(), ex, func(context.Context) (int, error) { ran.Add(1); return 0, nil })
					ran.Add(1)
					return 0, nil
				})
			}
			within(t, ex, func() { require.NoError(t, ex.Close()) })
			require.EqualValues(t, 20, ran.Load())
		}
	}
}

// BenchmarkAsync starts a thousand calls from outside and waits for them.
func BenchmarkAsync(b *testing.B) {
	for _, w := range []int{1, 2} {
		b.Run(fmt.Sprintf("W=%d", w), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: w})
			b.ReportAllocs()
			var futures [1000]*executor.Future[int]
			ctx := context.Background()
			fn := func(context.Context) (int, error) { return 1, nil }
			for range b.N {
				for i := range futures {
					futures[i] = executor.Async(ctx, ex, fn)
				}
				for _, f := range futures {
					if n, err := f.Wait(); n != 1 || err != nil {
						b.Fatal(n, err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/async")
		})
	}
}

// Done returns the same channel each time.
func TestAsyncDoneIsOne(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	free := make(chan struct{})
	f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { <-free; return 1, nil })
	done := f.Done()
	require.Equal(t, done, f.Done())
	close(free)
	<-done
	require.Equal(t, done, f.Done())
}

// deepest is how many children in children one worker runs.
const deepest = 4096 << (3 * (strconv.IntSize / 64))

// Futures each of which waits for the one before in its function, and children each of which starts the next, are on
// one stack. They are refused before the stack is too large for the process.
func TestTooDeepInOneRun(t *testing.T) {
	if testkit.Race {
		return // the frames are larger: the stack would not last
	}
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		var last *executor.Future[int]
		err := ex.Run(t.Context(), one(func(context.Context) error {
			for range 50_000 {
				before := last
				last = executor.Async(t.Context(), ex, func(context.Context) (int, error) {
					if before == nil {
						return 0, nil
					}
					return before.Wait()
				})
			}
			_, err := last.Wait()
			return err
		}))
		require.ErrorIs(t, err, executor.ErrTooDeep)

		depth := 0
		var deeper func(s *executor.Scope) error
		deeper = func(s *executor.Scope) error {
			if depth++; depth < 100_000 {
				s.Spawn(deeper)
			}
			return nil
		}
		require.ErrorIs(t, ex.Run(t.Context(), executor.NewJob("deep", deeper)), executor.ErrTooDeep)
		require.Equal(t, 1+deepest, depth)
	})
}

// Calls that are not joined, each of which forks the next, are on one stack, too. The one that is too deep is not made.
// Those of the next run are.
func TestTooDeepUnjoined(t *testing.T) {
	if testkit.Race {
		return // as in TestTooDeepInOneRun
	}
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		made := 0
		var deeper func(s *executor.Scope, left int) int
		deeper = func(s *executor.Scope, left int) int {
			if made++; left > 0 {
				executor.Fork(s, deeper, left-1)
			}
			return made
		}
		_, err := executor.Call(t.Context(), ex, deeper, 2*deepest)
		require.ErrorIs(t, err, executor.ErrTooDeep)
		require.Equal(t, 1+deepest, made)
		made = 0
		_, err = executor.Call(t.Context(), ex, deeper, deepest)
		require.NoError(t, err)
		require.Equal(t, 1+deepest, made)
		require.Empty(t, ex.ForksLeft())
	})
}

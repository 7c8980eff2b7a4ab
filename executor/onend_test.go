package executor_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Each function of OnEnd is called once with the run's error, whether it was given before the end, during it or
// after it, and however the run ends.
func TestOnEnd(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for round := range testkit.Scale(300) {
				gate := make(chan struct{})
				r := ex.Start(t.Context(), one(func(context.Context) error {
					<-gate
					return errTest
				}))
				var called atomic.Int32
				fn := func(err error) {
					require.ErrorIs(t, err, errTest)
					require.True(t, closed(r.Done()))
					called.Add(1)
				}
				r.OnEnd(fn)
				r.OnEnd(fn)
				var wg sync.WaitGroup
				wg.Go(func() { r.OnEnd(fn) })
				if round%2 == 0 {
					r.Cancel(errTest)
				}
				close(gate)
				wg.Go(func() { r.OnEnd(fn) })
				wg.Wait()
				require.ErrorIs(t, r.Wait(), errTest)
				eventually(func() bool { return called.Load() == 4 })
				r.OnEnd(fn)
				require.EqualValues(t, 5, called.Load(), "called at once after the end")
			}
		})
	})
}

// A run that is refused, or whose Begin fails, is over at once.
func TestOnEndOfARunThatDoesNotBegin(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	require.NoError(t, ex.Close())
	called := 0
	ex.Start(t.Context(), one(nothing)).OnEnd(func(err error) {
		require.ErrorIs(t, err, executor.ErrClosed)
		called++
	})
	require.Equal(t, 1, called)
	require.PanicsWithValue(t, "executor: Run.OnEnd of a nil function",
		func() { ex.Start(t.Context(), one(nothing)).OnEnd(nil) })

	ex = newExecutor(t, executor.Config{Workers: 1})
	j := &failingJob{told: make(chan error, 1)}
	require.ErrorIs(t, ex.Run(t.Context(), j), errTest)
	require.ErrorIs(t, <-j.told, errTest)
}

// A failingJob asks in its Begin to be told of the end.
type failingJob struct{ told chan error }

func (j *failingJob) Name() string { return "failing" }

func (j *failingJob) Begin(r *executor.JobRun) (*executor.Item, error) {
	r.OnEnd(func(err error) { j.told <- err })
	return nil, errTest
}

// A panic in a function of OnEnd is logged. The worker, the run and the other functions go on.
func TestOnEndPanics(t *testing.T) {
	said := newJournal(t)
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error { <-gate; return nil }))
		told := make(chan error)
		r.OnEnd(func(error) { panic("first") })
		r.OnEnd(func(err error) { told <- err })
		close(gate)
		require.NoError(t, <-told)
		require.NoError(t, r.Wait())
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
		r.OnEnd(func(error) { panic("late") })
	})
	require.Equal(t, 1, said.count("OnEnd has panicked: panic: first\n"))
	require.Equal(t, 1, said.count("OnEnd has panicked: panic: late\n"))
}

// A function of OnEnd starts a run, of the same or another executor, whose end starts the next one: a chain that
// holds no goroutine.
func TestOnEndStartsRuns(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for _, other := range []*executor.Executor{ex, newExecutor(t, executor.Config{Workers: 1})} {
			within(t, ex, func() {
				done := make(chan struct{})
				n := 0
				var next func(error)
				next = func(err error) {
					require.NoError(t, err)
					if n++; n == testkit.Scale(1000) {
						close(done)
						return
					}
					[]*executor.Executor{ex, other}[n%2].Start(t.Context(), one(nothing)).OnEnd(next)
				}
				next(nil)
				<-done
			})
		}
	})
}

// Close waits for the functions of OnEnd, and for the futures that they start on the run's worker.
func TestOnEndAndClose(t *testing.T) {
	for round := range testkit.Scale(200) {
		ex := newExecutor(t, executor.Config{Workers: 1 + round%2})
		within(t, ex, func() {
			var ran atomic.Bool
			var told atomic.Pointer[executor.Future[int]]
			gate := make(chan struct{})
			r := ex.Start(t.Context(), one(func(context.Context) error { <-gate; return nil }))
			r.OnEnd(func(error) {
				told.Store(executor.Async(t.Context(), ex, func(context.Context) (int, error) { ran.Store(true); return 0, nil }))
			})
			close(gate)
			require.NoError(t, ex.Close())
			_, err := told.Load().Wait()
			require.Equal(t, err == nil, ran.Load())
			if err != nil {
				require.ErrorIs(t, err, executor.ErrClosed)
			}
		})
	}
}

// A future comes after runs and futures of its own executor and of another. It sees what they did, or has the error of
// one that has failed.
func TestAsyncAfterRuns(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 2})
		within(t, ex, func() {
			ctx := t.Context()
			for round := range testkit.Scale(300) {
				var ran [3]int // plain: the race detector checks the order
				own := ex.Start(ctx, chain(3, func(context.Context) error { ran[0]++; return nil }))
				foreign := other.Start(ctx, chain(3, func(context.Context) error { ran[1]++; return nil }))
				future := executor.Async(ctx, other, func(context.Context) (int, error) { ran[2]++; return 1, nil })
				sum := func(context.Context) (int, error) { return ran[0] + ran[1] + ran[2], nil }
				n, err := executor.Async(ctx, ex, sum, own, foreign, future).Wait()
				require.NoError(t, err)
				require.Equal(t, 7, n)

				bad := []*executor.Executor{ex, other}[round%2].Start(ctx, one(func(context.Context) error { return errTest }))
				_, err = executor.Async(ctx, ex, func(context.Context) (int, error) {
					t.Error("called")
					return 0, nil
				}, bad, own).Wait()
				require.ErrorIs(t, err, errTest)
			}
		})
	})
}

// A task waits for a future that comes after a run that it has started, on the only worker.
func TestAsyncAfterRunInside(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 1})
		within(t, ex, func() {
			for range testkit.Scale(200) {
				require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
					ran := 0
					count := func(context.Context) error { ran++; return nil }
					get := func(context.Context) (int, error) { return ran, nil }
					first := executor.Async(ctx, ex, get, ex.Start(ctx, chain(5, count)))
					last := executor.Async(ctx, ex, get, other.Start(context.WithoutCancel(ctx), one(nothing)), first)
					n, err := last.Wait()
					require.Equal(t, 5, n)
					return err
				})))
			}
		})
	})
}

// Runs that are nil have no end to come after.
func TestAsyncAfterNilRun(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	for _, r := range []*executor.Run{nil, {}} {
		require.Panics(t, func() {
			executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, nil }, r)
		})
	}
	require.NoError(t, ex.Close())
}

// On inline executors the end of a run starts the future after it, before the call that has ended the run returns.
func TestAsyncAfterRunInline(t *testing.T) {
	for seed := range uint64(testkit.Scale(50)) {
		a, b := executor.NewInline(seed), executor.NewInline(seed+1)
		ran := 0
		r := a.Start(t.Context(), fan(3, func(context.Context) error { ran++; return nil }))
		require.True(t, closed(r.Done()))
		f := executor.Async(t.Context(), b, func(context.Context) (int, error) { return ran, nil }, r)
		require.True(t, closed(f.Done()))
		n, err := f.Wait()
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	}
}

// TestOnEndStartsOther: a run that a function of OnEnd starts is nested in none, also if the body of the run that
// has ended serves the next run already.
func TestOnEndStartsOther(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, MaxRuns: 4})
	within(t, ex, func() {
		g := fan(3, func(context.Context) error { return nil })
		var others sync.WaitGroup
		for range testkit.Scale(2000) {
			r := ex.Start(t.Context(), g)
			others.Add(1)
			r.OnEnd(func(error) {
				other := ex.Start(context.Background(), one(func(context.Context) error { return nil }))
				other.OnEnd(func(err error) {
					if err != nil {
						t.Error(err)
					}
					others.Done()
				})
			})
			require.NoError(t, r.Wait())
		}
		others.Wait()
	})
}

// TestOnEndWaitsForNoRoom: a run that a function of OnEnd starts does not wait for room, which another run has
// that needs the worker.
func TestOnEndWaitsForNoRoom(t *testing.T) {
	for range testkit.Scale(200) {
		ex := newExecutor(t, executor.Config{Workers: 1, Spares: -1, MaxRuns: 1})
		within(t, ex, func() {
			nothing := func(context.Context) error { return nil }
			var all sync.WaitGroup
			all.Add(1)
			r := ex.Start(t.Context(), one(nothing))
			r.OnEnd(func(error) {
				ex.Start(context.Background(), one(nothing)).OnEnd(func(error) { all.Done() })
			})
			all.Go(func() { _ = ex.Run(t.Context(), one(nothing)) })
			all.Go(func() { _ = ex.Run(t.Context(), one(nothing)) })
			all.Wait()
		})
		require.NoError(t, ex.Close())
	}
}

// What comes after a run begins before the functions of OnEnd are called, whatever was asked for first: a function that
// starts a run may wait for room that it has.
func TestOnEndAfterFutures(t *testing.T) {
	ex, other := newExecutor(t, executor.Config{Workers: 1}), newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		begin, told := make(chan struct{}), make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error { <-begin; return nil }))
		var after *executor.Future[int]
		r.OnEnd(func(error) {
			<-after.Done() // the watchdog bounds it
			close(told)
		})
		after = executor.Async(t.Context(), other, func(context.Context) (int, error) { return 7, nil }, r)
		close(begin)
		<-told
	})
}

package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// bounded makes an executor with a MaxRuns.
func bounded(t *testing.T, workers, most int) *executor.Executor {
	return newExecutor(t, executor.Config{Workers: workers, MaxRuns: most, Host: host.Options{KeepGOMAXPROCS: true}})
}

// gated is a job that waits for the gate.
func gated(gate chan struct{}) executor.Job {
	return one(func(context.Context) error { <-gate; return nil })
}

// A caller of Wait finds the room of what it has waited for free.
func TestMaxRunsAfterWait(t *testing.T) {
	ex := bounded(t, 2, 1)
	within(t, ex, func() {
		for range testkit.Scale(20000) {
			_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }).Wait()
			require.NoError(t, err)
			r, err := ex.TryStart(t.Context(), one(nothing))
			require.NoError(t, err)
			require.NoError(t, r.Wait())
		}
	})
}

// With no room, TryStart returns ErrBusy and Start waits for room, in the order of the calls.
func TestMaxRuns(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := bounded(t, workers, 2)
		within(t, ex, func() {
			ctx := t.Context()
			gate := make(chan struct{})
			first := ex.Start(ctx, gated(gate))
			future := executor.Async(ctx, ex, func(context.Context) (int, error) { <-gate; return 1, nil })
			_, err := ex.TryStart(ctx, one(nothing))
			require.ErrorIs(t, err, executor.ErrBusy)

			var order []int
			var mu sync.Mutex
			var all sync.WaitGroup
			for i := range 3 {
				all.Go(func() {
					_ = ex.Run(ctx, one(func(context.Context) error {
						mu.Lock()
						defer mu.Unlock()
						order = append(order, i)
						return nil
					}))
				})
				eventually(func() bool { return ex.Stats().Gauges.Entering == i+1 })
			}
			ended, cancel := context.WithCancelCause(ctx)
			all.Go(func() {
				err := ex.Start(ended, one(nothing)).Wait()
				if !errors.Is(err, errTest) || !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
			all.Go(func() {
				_, err := executor.Async(ended, ex, func(context.Context) (int, error) { return 1, nil }).Wait()
				if !errors.Is(err, errTest) || !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
			eventually(func() bool { return ex.Stats().Gauges.Entering == 5 })
			cancel(errTest)
			eventually(func() bool { return ex.Stats().Gauges.Entering == 3 })
			s := ex.Stats()
			require.Equal(t, []int{2, 2, 3}, []int{s.Gauges.MaxRuns, s.Gauges.Inside, s.Gauges.Entering})
			require.Equal(t, []uint64{5, 1}, []uint64{s.RunsWaited, s.RunsRefused})
			d := s.Sub(executor.Stats{RunsWaited: 2, RunsRefused: 1})
			require.Equal(t, []uint64{3, 0}, []uint64{d.RunsWaited, d.RunsRefused})
			close(gate)
			all.Wait()
			require.NoError(t, first.Wait())
			_, err = future.Wait()
			require.NoError(t, err)
			require.NotEqual(t, 2, order[0], "the last to come has room when one of the others has ended")
			eventually(func() bool { return ex.Stats().Gauges.Inside == 0 })
			r, err := ex.TryStart(ctx, one(nothing))
			require.NoError(t, err)
			require.NoError(t, r.Wait())
		})
	}
}

// What tasks start is never refused and never waits.
func TestMaxRunsNested(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := bounded(t, workers, 1)
		within(t, ex, func() {
			require.NoError(t, ex.Run(t.Context(), fan(10, func(ctx context.Context) error {
				r, err := ex.TryStart(ctx, fan(3, func(ctx context.Context) error { return ex.Run(ctx, one(nothing)) }))
				if err != nil {
					return err
				}
				_, err = executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, nil }).Wait()
				return errors.Join(err, r.Wait())
			})))
		})
		require.Zero(t, ex.Stats().Gauges.Inside)
	}
}

// Close and Shutdown end the wait for room.
func TestMaxRunsClose(t *testing.T) {
	ex := bounded(t, 1, 1)
	within(t, ex, func() {
		gate := make(chan struct{})
		first := ex.Start(t.Context(), gated(gate))
		var all sync.WaitGroup
		all.Go(func() {
			if err := ex.Run(t.Context(), one(nothing)); !errors.Is(err, executor.ErrClosed) {
				t.Error(err)
			}
		})
		all.Go(func() {
			_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }).Wait()
			if !errors.Is(err, executor.ErrClosed) {
				t.Error(err)
			}
		})
		eventually(func() bool { return ex.Stats().Gauges.Entering == 2 })
		closing := make(chan error)
		go func() { closing <- ex.Shutdown(context.Background()) }()
		all.Wait()
		_, err := ex.TryStart(t.Context(), one(nothing))
		require.ErrorIs(t, err, executor.ErrClosed)
		close(gate)
		require.NoError(t, <-closing)
		require.NoError(t, first.Wait())
		require.Zero(t, ex.Stats().Gauges.Inside)
	})
}

// A run that does not begin gives its room back, whatever the reason.
func TestMaxRunsOfFailures(t *testing.T) {
	ex := bounded(t, 1, 1)
	within(t, ex, func() {
		for range 3 {
			require.Panics(t, func() { ex.Start(t.Context(), unbegun{}) })
			r, err := ex.TryStart(t.Context(), unbegun{err: errTest})
			require.Nil(t, r)
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, ex.Run(t.Context(), one(func(context.Context) error { panic(errTest) })), errTest)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = ex.TryStart(ended, one(nothing))
			require.ErrorIs(t, err, context.Canceled)
			require.Zero(t, ex.Stats().Gauges.Inside)
		}
	})
	_, err := executor.New(executor.Config{MaxRuns: -1})
	require.ErrorContains(t, err, "MaxRuns")
}

// TestRandomMaxRuns: goroutines start runs and futures under a bound, with contexts that may end while they wait. There
// are never more in progress than allowed, and each ends.
func TestRandomMaxRuns(t *testing.T) {
	var waited, given atomic.Int64
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 3))
	play := func() {
		most := 1 + rng.IntN(3)
		ex := bounded(t, 1+rng.IntN(3), most)
		within(t, ex, func() {
			var inside atomic.Int64
			body := func(context.Context) error {
				if n := inside.Add(1); n > int64(most) {
					t.Errorf("%d in progress, %d allowed", n, most)
				}
				time.Sleep(5 * time.Microsecond)
				inside.Add(-1)
				return nil
			}
			var all sync.WaitGroup
			for range 6 {
				seed := rng.Uint64()
				all.Go(func() {
					rng := rand.New(rand.NewPCG(seed, 4))
					for range 60 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(100))*time.Microsecond)
						if rng.IntN(3) > 0 {
							ctx = t.Context()
						}
						var err error
						switch rng.IntN(3) {
						case 0:
							err = ex.Run(ctx, one(body))
						case 1:
							_, err = executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 1, body(ctx) }).Wait()
						default:
							var r *executor.Run
							if r, err = ex.TryStart(ctx, one(body)); err == nil {
								err = r.Wait()
							}
						}
						cancel()
						switch {
						case errors.Is(err, context.DeadlineExceeded):
							given.Add(1)
						case err != nil && !errors.Is(err, executor.ErrBusy):
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			eventually(func() bool { return ex.Stats().Gauges.Inside == 0 })
			require.Zero(t, ex.Stats().Gauges.Entering)
			waited.Add(int64(ex.Stats().RunsWaited))
		})
	}
	for range testkit.Scale(40) {
		play()
	}
	testkit.Fits(t, func() (wrong string) { // goroutines may have taken turns, and no context may have ended in time
		if play(); waited.Load() == 0 || given.Load() == 0 {
			wrong = fmt.Sprintf("%d have waited, %d have given up", waited.Load(), given.Load())
		}
		return wrong
	})
}

// unbegun fails to begin: with err or, without one, by a panic.
type unbegun struct{ err error }

func (j unbegun) Name() string { return "bad" }
func (j unbegun) Begin(*executor.JobRun) (*executor.Item, error) {
	if j.err == nil {
		panic("bad")
	}
	return nil, j.err
}

// Callers that have given up take no memory while the executor has no room.
func TestMaxRunsOfCallersThatGiveUp(t *testing.T) {
	ex := bounded(t, 1, 1)
	within(t, ex, func() {
		gate := make(chan struct{})
		held := ex.Start(t.Context(), gated(gate))
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} { // of those that give up
			given := make([]chan error, len(order))
			giveUp := make([]context.CancelFunc, len(order))
			for i := range order {
				var ctx context.Context
				ctx, giveUp[i] = context.WithCancel(t.Context())
				given[i] = make(chan error)
				go func() { given[i] <- ex.Run(ctx, one(nothing)) }()
				eventually(func() bool { return ex.Waits() == i+1 })
			}
			for n, i := range order {
				giveUp[i]()
				require.ErrorIs(t, <-given[i], context.Canceled)
				require.Equal(t, len(order)-1-n, ex.Waits())
				require.Equal(t, ex.Waits(), ex.Stats().Gauges.Entering)
			}
		}
		close(gate)
		require.NoError(t, held.Wait())
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
}

// A function of OnEnd may start a run on any executor. Here the only room is that of a future which comes after what
// has ended: the future begins before the function is called, or the function does not wait.
func TestMaxRunsOnEnd(t *testing.T) {
	ctx := t.Context()
	seven := func(context.Context) (int, error) { return 7, nil }
	// Each has start called by a function of OnEnd after the call of what it returns.
	for name, program := range map[string]func(
		t *testing.T, ex *executor.Executor, start func(),
	) (after *executor.Future[int], end func()){
		"promise": func(_ *testing.T, ex *executor.Executor, start func()) (*executor.Future[int], func()) {
			p := executor.NewPromise[int](ctx, ex)
			p.Future().OnEnd(func(int, error) { start() })
			return executor.Async(ctx, ex, seven, p.Future()), func() { go p.Resolve(1) }
		},
		"timer": func(_ *testing.T, ex *executor.Executor, start func()) (*executor.Future[int], func()) {
			timer := executor.Timer(ctx, ex, 10*time.Millisecond)
			after := executor.Async(ctx, ex, seven, timer)
			timer.OnEnd(func(time.Time, error) { start() })
			return after, func() {}
		},
		"future of another executor": func(
			t *testing.T, ex *executor.Executor, start func(),
		) (*executor.Future[int], func()) {
			end := make(chan struct{})
			first := executor.Async(ctx, newExecutor(t, executor.Config{Workers: 1}),
				func(context.Context) (int, error) { <-end; return 1, nil })
			first.OnEnd(func(int, error) { start() })
			return executor.Async(ctx, ex, seven, first), func() { close(end) }
		},
		"run of another executor": func(
			t *testing.T, ex *executor.Executor, start func(),
		) (*executor.Future[int], func()) {
			end := make(chan struct{})
			first := newExecutor(t, executor.Config{Workers: 1}).Start(ctx, gated(end))
			first.OnEnd(func(error) { start() })
			return executor.Async(ctx, ex, seven, first), func() { close(end) }
		},
		"room for nobody": func(t *testing.T, ex *executor.Executor, start func()) (*executor.Future[int], func()) {
			end := make(chan struct{})
			first := newExecutor(t, executor.Config{Workers: 1}).Start(ctx, gated(end))
			started := make(chan struct{})
			first.OnEnd(func(error) { start(); close(started) })
			return executor.Async(ctx, ex, func(context.Context) (int, error) { <-started; return 7, nil }),
				func() { close(end) }
		},
	} {
		for _, kind := range []string{"run", "future"} {
			t.Run(name+", starts a "+kind, func(t *testing.T) {
				ex := bounded(t, 1, 1)
				within(t, ex, func() {
					started := make(chan func() error, 1)
					after, end := program(t, ex, func() {
						if kind == "run" {
							started <- ex.Start(ctx, one(nothing)).Wait
							return
						}
						f := executor.Async(ctx, ex, seven)
						started <- func() error { _, err := f.Wait(); return err }
					})
					end()
					result, err := after.Wait()
					require.NoError(t, err)
					require.Equal(t, 7, result)
					require.NoError(t, (<-started)())
					require.Zero(t, ex.Stats().Gauges.Inside)
				})
			})
		}
	}
}

// Go of a group in a function of OnEnd on a worker of another executor does not wait for a goroutine whose Go waits for
// room.
func TestMaxRunsOnEndGroup(t *testing.T) {
	ex, other := bounded(t, 1, 1), newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		end, given := make(chan struct{}), make(chan struct{})
		r := other.Start(t.Context(), gated(end))
		f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { <-given; return 7, nil })
		g := executor.NewGroup(ex)
		var all sync.WaitGroup
		all.Go(func() { g.Go(func() error { return nil }) })
		eventually(func() bool { return ex.Stats().Gauges.Entering == 1 })
		r.OnEnd(func(error) { g.Go(func() error { return nil }); close(given) })
		close(end)
		_, err := f.Wait()
		require.NoError(t, err)
		all.Wait()
		require.NoError(t, g.Wait())
	})
}

// What comes after a promise begins in the order in which it was started, if the promise is resolved outside.
func TestAfterPromiseInOrder(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), gated(gate))
		p := executor.NewPromise[int](t.Context(), ex)
		var order []int // appended to by the only worker
		var all []*executor.Future[int]
		for i := range 4 {
			all = append(all, executor.Async(t.Context(), ex, func(context.Context) (int, error) {
				order = append(order, i)
				return 0, nil
			}, p.Future()))
		}
		p.Resolve(1)
		close(gate)
		require.NoError(t, r.Wait())
		for _, f := range all {
			<-f.Done()
		}
		require.Equal(t, []int{0, 1, 2, 3}, order)
	})
}

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
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// hushAsyncs has the next futures of ex, which comes to rest, withheld.
func hushAsyncs(t *testing.T, ex *executor.Executor) {
	comesToRest(t, ex)
	ex.HushAsyncs()
}

// number returns a function of an Async that counts its calls and returns i.
func number(i int, called *atomic.Int64) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		called.Add(1)
		return i, nil
	}
}

// A future that is withheld until Wait wakes nobody: the caller runs it. The system may take the caller's core away, and
// then the clock shows it. So one round of many must be silent.
func TestAsyncWakesNobody(t *testing.T) {
	for _, p := range admitting {
		ex := withholding(t, executor.Config{Workers: 3, Experiment: experiment.Options{Policy: p}})
		within(t, ex, func() {
			for silent := false; !silent; {
				hushAsyncs(t, ex)
				before := ex.Stats().Total
				var called atomic.Int64
				f := executor.Async(t.Context(), ex, number(7, &called))
				for range 2 {
					got, err := f.Wait()
					require.NoError(t, err)
					require.Equal(t, 7, got)
				}
				require.EqualValues(t, 1, called.Load())
				require.Zero(t, ex.WithheldAsyncs())
				comesToRest(t, ex) // before that, a worker that woke up may not have counted it
				silent = ex.Stats().Total.Wakeups == before.Wakeups
			}
		})
	}
}

// If the caller does not come to Wait, but waits for what its function does, workers are told all the same. Futures of
// that place in the program are then withheld no more for a while.
func TestAsyncShowsLate(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := withholding(t, executor.Config{Workers: w})
		within(t, ex, func() {
			for range 3 {
				hushAsyncs(t, ex)
				for _, quiet := range []bool{true, false} {
					require.Equal(t, quiet, ex.LoudAsyncs() == 0)
					comesToRest(t, ex)
					done := make(chan struct{})
					f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { close(done); return 0, nil })
					if !quiet {
						require.Zero(t, ex.WithheldAsyncs())
					}
					<-done
					_, err := f.Wait()
					require.NoError(t, err)
				}
			}
		})
	}
}

// What cannot run a future that is withheld shows it, or ends it all the same. No clock does here. Where it had to be
// shown, futures are withheld no more for a while: another waiter could not run them either.
func TestAsyncShownFor(t *testing.T) {
	other := newExecutor(t, executor.Config{Workers: 1})
	for name, wait := range map[string]func(ctx context.Context, ex *executor.Executor, f *executor.Future[int]) error{
		"Done": func(_ context.Context, _ *executor.Executor, f *executor.Future[int]) error { <-f.Done(); return nil },
		"OnEnd": func(_ context.Context, _ *executor.Executor, f *executor.Future[int]) error {
			ended := make(chan error)
			f.OnEnd(func(_ int, err error) { ended <- err })
			return <-ended
		},
		"Async after it": func(ctx context.Context, ex *executor.Executor, f *executor.Future[int]) error {
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }, f).Wait()
			return err
		},
		"Async after it elsewhere": func(ctx context.Context, _ *executor.Executor, f *executor.Future[int]) error {
			_, err := executor.Async(ctx, other, func(context.Context) (int, error) { return 0, nil }, f).Wait()
			return err
		},
		"First": func(ctx context.Context, ex *executor.Executor, f *executor.Future[int]) error {
			_, err := executor.First(ctx, ex, func(context.Context) (int, error) { return f.Wait() })
			return err
		},
		"a task": func(ctx context.Context, ex *executor.Executor, f *executor.Future[int]) error {
			return ex.Run(ctx, one(func(context.Context) error { _, err := f.Wait(); return err }))
		},
		"a task elsewhere": func(ctx context.Context, _ *executor.Executor, f *executor.Future[int]) error {
			return other.Run(ctx, one(func(context.Context) error { _, err := f.Wait(); return err }))
		},
		"two callers": func(_ context.Context, _ *executor.Executor, f *executor.Future[int]) error {
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = f.Wait() })
			defer wg.Wait()
			_, err := f.Wait()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := withholding(t, executor.Config{Workers: 2})
			ex.StopQuietClock()
			within(t, ex, func() {
				for withheld := false; !withheld; {
					hushAsyncs(t, ex)
					var called atomic.Int64
					f := executor.Async(t.Context(), ex, number(7, &called))
					withheld = ex.WithheldAsyncs() == 1
					require.NoError(t, wait(t.Context(), ex, f))
					got, err := f.Wait()
					require.NoError(t, err)
					require.Equal(t, 7, got)
					require.EqualValues(t, 1, called.Load())
					switch name {
					case "First", "a task", "two callers":
					default:
						require.Equal(t, withheld, ex.LoudAsyncs() > 0)
					}
				}
			})
		})
	}
}

// A future that is withheld ends when it is cancelled, with its caller's context, and with the executor. Close calls
// its function.
func TestAsyncWithheldEnds(t *testing.T) {
	cause := errors.New("cause")
	for name, end := range map[string]func(ex *executor.Executor, f *executor.Future[int], cancel func(error)) error{
		"Cancel": func(_ *executor.Executor, f *executor.Future[int], _ func(error)) error {
			f.Cancel(cause)
			return cause
		},
		"context": func(_ *executor.Executor, _ *executor.Future[int], cancel func(error)) error {
			cancel(cause)
			return cause
		},
		"Close": func(ex *executor.Executor, _ *executor.Future[int], _ func(error)) error { return ex.Close() },
		"Shutdown": func(ex *executor.Executor, _ *executor.Future[int], _ func(error)) error {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(cause)
			_ = ex.Shutdown(ctx)
			return cause
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := withholding(t, executor.Config{Workers: 1})
			within(t, ex, func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var called atomic.Int64
				f := executor.Async(ctx, ex, number(7, &called))
				want := end(ex, f, cancel)
				_, err := f.Wait()
				if called.Load() == 0 {
					require.ErrorIs(t, err, cause)
				}
				if want == nil {
					require.NoError(t, err)
					require.EqualValues(t, 1, called.Load())
				}
			})
		})
	}
}

// Where a caller may have to wait for room, nothing is withheld: it could wait for what it has withheld.
func TestAsyncWithMaxRuns(t *testing.T) {
	ex := withholding(t, executor.Config{Workers: 1, MaxRuns: 1})
	ex.StopQuietClock()
	within(t, ex, func() {
		for i := range 20 {
			hushAsyncs(t, ex)
			var called atomic.Int64
			a, b := executor.Async(t.Context(), ex, number(i, &called)), executor.Async(t.Context(), ex, number(i, &called))
			for _, f := range []*executor.Future[int]{a, b} {
				_, err := f.Wait()
				require.NoError(t, err)
			}
		}
	})
}

// Futures of one burst may wait for each other, in Blocking or unseen. If the caller runs one of them, the others are
// shown: at once, or by the clock. Futures of that place in the program are then withheld no more for a while.
func TestAsyncsMeet(t *testing.T) {
	for name, wait := range map[string]func(chan struct{}){
		"blocking": func(all chan struct{}) { executor.Blocking(func() { <-all }) },
		"unseen":   func(all chan struct{}) { <-all },
	} {
		t.Run(name, func(t *testing.T) {
			ex := withholding(t, executor.Config{Workers: 3})
			within(t, ex, func() {
				for withheld := false; !withheld; {
					hushAsyncs(t, ex)
					if name == "blocking" {
						ex.StopQuietClock()
					}
					var met atomic.Int64
					met.Store(3)
					meeting := make(chan struct{})
					var all []*executor.Future[int]
					for i := range 3 {
						all = append(all, executor.Async(t.Context(), ex, func(context.Context) (int, error) {
							if met.Add(-1) == 0 {
								close(meeting)
							}
							wait(meeting)
							return i, nil
						}))
					}
					withheld = ex.WithheldAsyncs() == 3
					for i, f := range all {
						got, err := f.Wait()
						require.NoError(t, err)
						require.Equal(t, i, got)
					}
					if withheld {
						require.Positive(t, ex.LoudAsyncs())
					}
				}
			})
		})
	}
}

// Close shows what is withheld, and about to be. No clock ticks.
func TestAsyncWithheldClose(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Scale(100) {
		ex, err := executor.New(executor.Config{Workers: 1 + rng.IntN(2), Callers: executor.BusyCallers})
		require.NoError(t, err)
		within(t, ex, func() {
			hushAsyncs(t, ex)
			ex.StopQuietClock()
			var called atomic.Int64
			var closing sync.WaitGroup
			if spin := rng.IntN(4000); spin < 2000 {
				closing.Go(func() {
					for range spin {
						called.Load()
					}
					_ = ex.Close()
				})
			}
			f := executor.Async(t.Context(), ex, number(1, &called))
			require.NoError(t, ex.Close())
			closing.Wait()
			if n, err := f.Wait(); err == nil {
				require.Equal(t, 1, n)
				require.EqualValues(t, 1, called.Load())
			} else {
				require.ErrorIs(t, err, executor.ErrClosed)
			}
		})
	}
}

// Goexit of a function that the caller of Wait runs ends the caller.
func TestAsyncWithheldGoexit(t *testing.T) {
	ex := withholding(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		for ended := false; !ended; {
			hushAsyncs(t, ex)
			f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
			returned := make(chan bool)
			go func() {
				back := false
				defer func() { returned <- back }()
				_, _ = f.Wait()
				back = true
			}()
			ended = !<-returned
			_, err := f.Wait()
			require.ErrorIs(t, err, executor.ErrGoexit)
		}
	})
}

// A function that takes long has others of its place run by workers the next times.
func TestAsyncTakesLong(t *testing.T) {
	ex := withholding(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		for ex.LoudAsyncs() == 0 {
			hushAsyncs(t, ex)
			_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
				time.Sleep(2 * time.Millisecond)
				return 0, nil
			}).Wait()
			require.NoError(t, err)
		}
	})
}

// Whether futures are withheld is learned from those before, which have told how long they took.
func TestAsyncIsLearned(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BusyCallers})
	within(t, ex, func() {
		var called atomic.Int64
		for withheld := false; !withheld; {
			comesToRest(t, ex)
			f := executor.Async(t.Context(), ex, number(0, &called))
			withheld = ex.WithheldAsyncs() == 1
			_, err := f.Wait()
			require.NoError(t, err)
		}
	})
}

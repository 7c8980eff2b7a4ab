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
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// deadline is a context that end ends, with errTest as the cause.
func deadline(t *testing.T) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, func() { cancel(errTest) }
}

// isShutdown checks the error of a run or future that Shutdown has cancelled, or that of Shutdown.
func isShutdown(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, executor.ErrShutdown)
	require.ErrorIs(t, err, errTest)
}

// Shutdown of an executor without work cancels nothing, and says nothing else, also if its context has ended before.
func TestShutdownOfAnIdleExecutor(t *testing.T) {
	used, stop := deadline(t)
	stop()
	for i := range testkit.Scale(200) {
		ex := newExecutor(t, executor.Config{Workers: 1 + i%2})
		ex.SetShutdownPatience(testkit.Patience)
		if i%4 < 2 {
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if err := ex.Shutdown(used); err != nil {
					t.Errorf("%d: Shutdown returns %v", i, err)
				}
			})
		}
		all.Wait()
		require.ErrorIs(t, ex.Run(t.Context(), one(nothing)), executor.ErrClosed)
	}
}

// Shutdown of an executor without work cancels promises that somebody waits for, and says so.
func TestShutdownCancelsPromises(t *testing.T) {
	used, stop := deadline(t)
	stop()
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		p := executor.NewPromise[int](t.Context(), ex)
		over := p.Future().Done()
		isShutdown(t, ex.Shutdown(used))
		<-over
		_, err := p.Future().Wait()
		isShutdown(t, err)
	})
}

// Shutdown tells a failure of Threads.End, also if its context has ended before.
func TestShutdownTellsOfHooks(t *testing.T) {
	used, stop := deadline(t)
	stop()
	ex, err := executor.New(executor.Config{Workers: 1, Threads: host.Threads{End: func(int) { panic("the end") }}})
	require.NoError(t, err)
	ex.SetShutdownPatience(testkit.Patience)
	require.ErrorContains(t, ex.Shutdown(used), "the end")
}

// Shutdown waits for the work in progress, as Close does, if its context does not end.
func TestShutdownDrains(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		var ran atomic.Int64
		r := ex.Start(t.Context(), chain(2, func(ctx context.Context) error {
			<-gate
			return ex.Run(ctx, count(&ran)) // nested runs go on
		}))
		f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { <-gate; return 7, nil })
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := ex.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		eventually(func() bool {
			r := ex.Start(t.Context(), one(nothing))
			return closed(r.Done()) && errors.Is(r.Wait(), executor.ErrClosed)
		})
		_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, nil }).Wait()
		require.ErrorIs(t, err, executor.ErrClosed)
		require.False(t, closed(r.Done()))
		close(gate)
		all.Wait()
		require.NoError(t, r.Wait())
		n, err := f.Wait()
		require.NoError(t, err)
		require.Equal(t, 7, n)
		require.EqualValues(t, 2, ran.Load())
		require.NoError(t, ex.Close())
		require.NoError(t, ex.Shutdown(t.Context()), "again")
	})
}

// When its context ends, Shutdown cancels runs, futures and what they start, whether they have begun or not.
func TestShutdownCancels(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		ctx := t.Context()
		var begun sync.WaitGroup
		begun.Add(ex.Workers())
		var started atomic.Pointer[executor.Run]
		var late atomic.Pointer[executor.Future[int]]
		waits := func(ctx context.Context) (int, error) {
			begun.Done()
			<-ctx.Done()
			late.Store(executor.Async(context.Background(), ex, func(context.Context) (int, error) {
				t.Error("a future of a task begins after the deadline")
				return 0, nil
			}))
			started.Store(ex.Start(context.Background(), one(func(context.Context) error {
				t.Error("a run of a task begins after the deadline")
				return nil
			})))
			return 3, context.Cause(ctx)
		}
		never := func(context.Context) (int, error) { t.Error("begun"); return 0, nil }
		var runs []*executor.Run
		for range ex.Workers() - 1 {
			runs = append(runs, ex.Start(ctx, one(func(ctx context.Context) error { _, err := waits(ctx); return err })))
		}
		running := executor.Async(ctx, ex, waits)
		begun.Wait()
		queued := executor.Async(ctx, ex, never)
		after := executor.Async(ctx, ex, never, running, queued)
		for range 3 {
			runs = append(runs, ex.Start(ctx, one(func(context.Context) error { t.Error("begun"); return nil })))
		}
		stop, end := deadline(t)
		end()
		ex.SetShutdownPatience(testkit.Patience) // on a busy machine no task may end for a second
		isShutdown(t, ex.Shutdown(stop))
		for _, r := range runs {
			require.True(t, closed(r.Done()))
			isShutdown(t, r.Wait())
			require.ErrorIs(t, r.Wait(), context.Canceled)
		}
		n, err := running.Wait()
		require.Equal(t, 3, n)
		isShutdown(t, err)
		for _, f := range []*executor.Future[int]{queued, after, late.Load()} {
			_, err := f.Wait()
			isShutdown(t, err)
		}
		isShutdown(t, started.Load().Wait())
		require.NoError(t, ex.Close())
		require.NoError(t, ex.Shutdown(stop), "the executor is closed")
	})
}

// A function that polls Err, and asks its context for nothing else, sees the end too.
func TestShutdownIsSeenByErr(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		begun := make(chan struct{})
		f := executor.Async(context.Background(), ex, func(ctx context.Context) (int, error) {
			close(begun)
			eventually(func() bool { return ctx.Err() != nil })
			return 0, context.Cause(ctx)
		})
		<-begun
		stop, end := deadline(t)
		end()
		isShutdown(t, ex.Shutdown(stop))
		_, err := f.Wait()
		isShutdown(t, err)
	})
}

func TestShutdownInTask(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 1})
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			if !assertInTask(t, ex.Shutdown(ctx)) {
				return nil
			}
			return other.Shutdown(ctx) // another executor may be shut down
		})))
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
		require.Panics(t, func() { _ = ex.Shutdown(nil) }) //nolint
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
	ex := executor.NewInline(1)
	require.NoError(t, ex.Shutdown(t.Context()))
	require.ErrorIs(t, ex.Run(t.Context(), one(nothing)), executor.ErrClosed)
}

// A future that comes after one of another executor ends at the deadline, although that one runs on.
func TestShutdownAfterAnotherExecutor(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 1})
		gate := make(chan struct{})
		slow := executor.Async(t.Context(), other, func(context.Context) (int, error) { <-gate; return 0, nil })
		f := executor.Async(t.Context(), ex, func(context.Context) (int, error) { t.Error("called"); return 0, nil }, slow)
		stop, end := deadline(t)
		end()
		isShutdown(t, ex.Shutdown(stop))
		_, err := f.Wait()
		isShutdown(t, err)
		close(gate)
		_, err = slow.Wait()
		require.NoError(t, err)
	})
}

// With a million futures and a graph of a million tasks queued, Shutdown returns soon after its deadline, everything
// has ended, and every error says why.
func TestShutdownOfAMillion(t *testing.T) {
	n := 1_000_000
	if testkit.Quick() {
		n = 20_000
	}
	for _, workers := range []int{1, 2} {
		// By processor time: a thread of a busy machine may get little of it in the five seconds that are documented.
		testkit.Fits(t, func() (wrong string) {
			used := shutDownMany(t, workers, n)
			t.Logf("%d workers: Shutdown takes %v of processor time", workers, used)
			if used >= 5*time.Second {
				wrong = fmt.Sprintf("Shutdown takes %v of processor time", used)
			}
			return wrong
		})
	}
}

// shutDownMany shuts an executor down that has n futures and n tasks queued, and returns the processor time that this
// took.
func shutDownMany(t *testing.T, workers, n int) (used time.Duration) {
	ex := newExecutor(t, executor.Config{Workers: workers})
	within(t, ex, func() {
		gate := make(chan struct{})
		for range workers {
			ex.Start(t.Context(), one(func(ctx context.Context) error { <-gate; <-ctx.Done(); return nil }))
		}
		futures := make([]*executor.Future[int], n)
		for i := range futures {
			futures[i] = executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil })
		}
		r := ex.Start(t.Context(), fan(n, nothing))
		close(gate)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		before := osthread.ProcessCPU()
		err := ex.Shutdown(ctx)
		require.ErrorIs(t, err, executor.ErrShutdown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, ex.Close()) // of a busy machine, on which Shutdown has given up, too
		used = osthread.ProcessCPU() - before
		require.True(t, closed(r.Done()))
		isCancelled := func(err error) bool {
			return errors.Is(err, executor.ErrShutdown) && errors.Is(err, context.DeadlineExceeded) &&
				errors.Is(err, context.Canceled)
		}
		require.True(t, isCancelled(r.Wait()), r.Wait())
		for i, f := range futures {
			if !closed(f.Done()) {
				t.Fatalf("future %d has not ended", i)
			}
			if n, err := f.Wait(); n != 0 || !isCancelled(err) {
				t.Fatalf("future %d: %d, %v", i, n, err)
			}
		}
	})
	return used
}

// TestRandomShutdown: goroutines and tasks start runs and futures of all kinds, and wait for some, while others close
// the executor in both ways. Every run and every future ends, with nil or an error that says why it was not done.
func TestRandomShutdown(t *testing.T) {
	guests.None(t)
	cancelled, drained := 0, 0
	for round := 0; round < testkit.Scale(60) || cancelled == 0 || drained == 0; round++ {
		rng := rand.New(rand.NewPCG(uint64(round), 17))
		policies := usable()
		ex, err := fixture.New(t, executor.Config{
			Workers:    1 + rng.IntN(3),
			Experiment: experiment.Options{Policy: policies[rng.IntN(len(policies))]},
			Host:       host.Options{KeepGOMAXPROCS: true},
		})
		require.NoError(t, err)
		within(t, ex, func() {
			var mu sync.Mutex
			var ends []func() error
			keep := func(end func() error) { mu.Lock(); ends = append(ends, end); mu.Unlock() }
			var act func(rng *rand.Rand, ctx context.Context, depth int) error
			act = func(rng *rand.Rand, ctx context.Context, depth int) error {
				seed := rng.Uint64()
				body := func(ctx context.Context) error {
					rng := rand.New(rand.NewPCG(seed, 1))
					switch {
					case rng.IntN(20) == 0:
						select {
						case <-ctx.Done():
						case <-time.After(5 * time.Millisecond):
						}
					case rng.IntN(30) == 0:
						runtime.Goexit()
					}
					if depth == 0 {
						return nil
					}
					for range rng.IntN(4) {
						if err := act(rng, ctx, depth-1); err != nil {
							return err
						}
					}
					return nil
				}
				if rng.IntN(2) == 0 {
					r := ex.Start(ctx, fan(1+rng.IntN(3), body))
					keep(r.Wait)
					if rng.IntN(2) == 0 {
						return r.Wait()
					}
					return nil
				}
				var after []executor.Awaitable
				if rng.IntN(3) == 0 {
					after = append(after, executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, nil }))
				}
				f := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 1, body(ctx) }, after...)
				end := func() error { _, err := f.Wait(); return err }
				keep(end)
				if rng.IntN(2) == 0 {
					return end()
				}
				return nil
			}
			var all sync.WaitGroup
			for range 2 {
				seed := rng.Uint64()
				all.Go(func() {
					rng := rand.New(rand.NewPCG(seed, 2))
					for {
						if errors.Is(act(rng, context.Background(), 3), executor.ErrClosed) {
							return
						}
						if errors.Is(ex.Run(context.Background(), one(nothing)), executor.ErrClosed) {
							return
						}
					}
				})
			}
			for range 1 + rng.IntN(3) {
				wait := time.Duration(rng.IntN(4000)) * time.Microsecond
				patience := time.Duration(rng.IntN(3000)) * time.Microsecond
				closes := rng.IntN(4) == 0
				all.Go(func() {
					time.Sleep(wait)
					if closes {
						_ = ex.Close()
						return
					}
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					defer cancel()
					_ = ex.Shutdown(ctx)
				})
			}
			all.Wait()
			require.NoError(t, ex.Close())
			for _, end := range ends {
				err := end()
				switch {
				case err == nil:
					drained++
				case errors.Is(err, executor.ErrShutdown):
					cancelled++
				case errors.Is(err, executor.ErrClosed), errors.Is(err, executor.ErrGoexit):
				case errors.Is(err, context.Canceled): // the task that has started it has returned
				default:
					t.Errorf("ends with %v", err)
				}
			}
			require.Zero(t, ex.RunsInProgress())
		})
	}
}

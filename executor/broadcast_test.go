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
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A roll counts the calls of a broadcast by worker, and checks that each is on the worker that it says.
type roll struct {
	ex    *executor.Executor
	n     []atomic.Int32
	wrong atomic.Int32
}

func newRoll(ex *executor.Executor) *roll {
	return &roll{ex: ex, n: make([]atomic.Int32, ex.Workers())}
}

func (c *roll) fn(ctx context.Context, worker int) error {
	if ex, _ := executor.FromContext(ctx); ex != c.ex || c.ex.WorkerIndex() != worker {
		c.wrong.Add(1)
	}
	c.n[worker].Add(1)
	return nil
}

func (c *roll) each(t testing.TB, n int) {
	t.Helper()
	require.Zero(t, c.wrong.Load(), "calls on another worker")
	for i := range c.n {
		require.EqualValues(t, n, c.n[i].Load(), "worker %d", i)
	}
}

// A broadcast comes to each worker once, whether the workers sleep or look for work.
func TestBroadcast(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		c := newRoll(ex)
		n := testkit.Count(t, 200)
		for i := range n {
			if i%20 == 0 {
				eventually(func() bool { return ex.Parked() == ex.Workers() })
			}
			require.NoError(t, executor.Broadcast(t.Context(), ex, c.fn))
		}
		c.each(t, n)
	})
}

// Workers that are busy without end with short tasks call the function in between.
func TestBroadcastToBusyWorkers(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		var runs []*executor.Run
		for range 2 * ex.Workers() {
			runs = append(runs, ex.Start(t.Context(), endless(&stop)))
		}
		c, n := newRoll(ex), testkit.Scale(20)
		for range n {
			require.NoError(t, executor.Broadcast(t.Context(), ex, c.fn))
		}
		stop.Store(true)
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
		c.each(t, n)
	})
}

// A task may broadcast, and all workers may at once: each calls the functions of the others while it waits.
func TestBroadcastFromTasks(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		c := newRoll(ex)
		for range 20 {
			met := barrier{n: int64(ex.Workers())}
			require.NoError(t, ex.Run(t.Context(), fan(ex.Workers(), func(ctx context.Context) error {
				met.meet()
				return executor.Broadcast(ctx, nil, c.fn)
			})))
		}
		c.each(t, 20*ex.Workers())
	})
}

// Workers that wait for a run, for a fork or for a future call functions of a broadcast that is not of that run.
func TestBroadcastToWaiters(t *testing.T) {
	waits := map[string]func(s *executor.Scope, ex *executor.Executor, task func()){
		"run": func(s *executor.Scope, ex *executor.Executor, task func()) {
			var begun atomic.Bool
			r := ex.Start(s.Context(), one(func(context.Context) error {
				begun.Store(true)
				task()
				return nil
			}))
			eventually(begun.Load)
			_ = r.Wait()
		},
		"join": func(s *executor.Scope, _ *executor.Executor, task func()) {
			forkStolen(s, func(*executor.Scope, int) int { task(); return 0 }, 0).Join(s)
		},
		"future": func(s *executor.Scope, ex *executor.Executor, task func()) {
			var begun atomic.Bool
			f := executor.Async(s.Context(), ex, func(context.Context) (int, error) {
				begun.Store(true)
				task()
				return 0, nil
			})
			eventually(begun.Load)
			_, _ = f.Wait()
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
				// Of two workers one waits for the other, which is in a long task: it does not call the function before
				// the broadcast has come to the first.
				c := newRoll(ex)
				var begun, called atomic.Bool
				r := ex.Start(t.Context(), executor.Func("waiter", func(s *executor.Scope) error {
					wait(s, ex, func() {
						begun.Store(true)
						eventually(called.Load)
					})
					return nil
				}))
				told := make(chan error)
				go func() {
					eventually(begun.Load)
					told <- executor.Broadcast(t.Context(), ex, func(ctx context.Context, worker int) error {
						called.Store(true)
						return c.fn(ctx, worker)
					})
				}()
				require.NoError(t, r.Wait())
				require.NoError(t, <-told)
				c.each(t, 1)
			})
		})
	}
}

// A worker in Blocking calls the function after that, and its spare does not. A context that ends meanwhile is enough
// for Broadcast to return.
func TestBroadcastBesideBlocking(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	release := make(chan struct{})
	var blocked atomic.Int64
	blocked.Store(-1)
	r := ex.Start(t.Context(), one(func(context.Context) error {
		blocked.Store(int64(ex.WorkerIndex()))
		executor.Blocking(func() { <-release })
		return nil
	}))
	eventually(func() bool { return blocked.Load() >= 0 && ex.Blocked() == 1 })
	c := newRoll(ex)
	late, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("late")
	err := executor.Broadcast(late, ex, func(ctx context.Context, worker int) error {
		defer cancel(cause)
		return c.fn(ctx, worker)
	})
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, c.n[blocked.Load()].Load())
	require.EqualValues(t, 1, c.n[1-blocked.Load()].Load())

	whole := newRoll(ex)
	told := make(chan error)
	go func() { told <- executor.Broadcast(t.Context(), ex, whole.fn) }()
	eventually(func() bool { return whole.n[1-blocked.Load()].Load() == 1 })
	close(release)
	within(t, ex, func() {
		require.NoError(t, <-told)
		require.NoError(t, r.Wait())
	})
	whole.each(t, 1)
	require.Zero(t, c.n[blocked.Load()].Load(), "withdrawn, and called later")
}

// The failures of calls are joined in the order of the workers, whatever their kind. None of them is lost if all calls
// have begun.
func TestBroadcastFails(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		met := barrier{n: int64(ex.Workers())}
		errs := []error{errors.New("none"), errors.New("one"), errors.New("two")}
		err := executor.Broadcast(t.Context(), ex, func(_ context.Context, worker int) error {
			met.meet()
			switch worker {
			case 0:
				panic("zero")
			case 1:
				runtime.Goexit()
			}
			return errs[worker]
		})
		var p *executor.PanicError
		require.ErrorAs(t, err, &p)
		require.Equal(t, "zero", p.Value)
		if ex.Workers() > 1 {
			require.ErrorIs(t, err, executor.ErrGoexit)
			require.ErrorIs(t, err, errs[2])
		}
		c := newRoll(ex)
		require.NoError(t, executor.Broadcast(t.Context(), ex, c.fn))
		c.each(t, 1)
	})
}

// A Goexit of a call ends the task on whose top it was made, and only that.
func TestBroadcastGoexitOnATask(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for range 5 {
			var mine atomic.Int64
			err := ex.Run(t.Context(), one(func(ctx context.Context) error {
				mine.Store(int64(ex.WorkerIndex()))
				return executor.Broadcast(ctx, ex, func(_ context.Context, worker int) error {
					if int64(worker) == mine.Load() {
						runtime.Goexit()
					}
					return nil
				})
			}))
			require.ErrorIs(t, err, executor.ErrGoexit)
		}
		comesToRest(t, ex)
		c := newRoll(ex)
		require.NoError(t, executor.Broadcast(t.Context(), ex, c.fn))
		c.each(t, 1)
	})
}

// A context that has ended, and a closed executor, call nothing. MaxRuns counts a broadcast from outside.
func TestBroadcastRefused(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2, MaxRuns: 1})
	require.NoError(t, err)
	c := newRoll(ex)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, executor.Broadcast(over, ex, c.fn), context.Canceled)
	c.each(t, 0)
	require.NoError(t, executor.Broadcast(t.Context(), ex, func(ctx context.Context, worker int) error {
		_, err := ex.TryStart(ctx, one(nothing)) // from a task
		return err
	}))
	told := make(chan error, 1)
	require.NoError(t, executor.Broadcast(t.Context(), ex, func(ctx context.Context, worker int) error {
		if worker == 0 {
			go func() {
				_, err := ex.TryStart(context.Background(), one(nothing))
				told <- err
			}()
			require.ErrorIs(t, <-told, executor.ErrBusy)
		}
		return nil
	}))
	require.NoError(t, ex.Close())
	require.ErrorIs(t, executor.Broadcast(t.Context(), ex, c.fn), executor.ErrClosed)
	c.each(t, 0)
}

// The limit of the run around a broadcast does not keep it from any worker.
func TestBroadcastInALimitedRun(t *testing.T) {
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		c := newRoll(ex)
		err := ex.Run(t.Context(), executor.With(one(func(ctx context.Context) error {
			return executor.Broadcast(ctx, ex, c.fn)
		}), executor.RunOptions{Limit: 1, Priority: executor.Low}))
		require.NoError(t, err)
		c.each(t, 1)
	})
}

// Workers that rest under Config.Share or HostShare are woken.
func TestBroadcastToRestingWorkers(t *testing.T) {
	ex := newExecutor(t, executor.Config{
		Workers: 4, Share: &executor.Share{Path: t.TempDir() + "/table", Processors: 1},
	})
	within(t, ex, func() {
		for range max(5, testkit.Scale(20)) {
			require.NoError(t, ex.Run(t.Context(), fan(100, func(context.Context) error {
				time.Sleep(10 * time.Microsecond)
				return nil
			})))
			c := newRoll(ex)
			require.NoError(t, executor.Broadcast(t.Context(), ex, c.fn))
			c.each(t, 1)
		}
	})
}

func TestBroadcastInline(t *testing.T) {
	ex := executor.NewInline(testkit.Seed(t))
	c := newRoll(ex)
	require.NoError(t, executor.Broadcast(t.Context(), ex, c.fn))
	require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
		return executor.Broadcast(ctx, ex, c.fn)
	})))
	c.each(t, 2)
	err := executor.Broadcast(t.Context(), ex, func(context.Context, int) error { return errTest })
	require.ErrorIs(t, err, errTest)
}

func TestBroadcastMisuse(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	misuse := func() { _ = executor.Broadcast(t.Context(), ex, nil) }
	require.NoError(t, mustPanic(misuse, "Broadcast of a nil function"))
}

// Broadcasts among everything else: from outside and from tasks, beside loops, forks, waits and Blocking, some of them
// cancelled. Each that returns nil has come to each worker once, and none calls anything after it has returned.
func TestRandomBroadcasts(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		seed := testkit.Seed(t)
		broadcast := func(ctx context.Context, rng *rand.Rand) {
			c := newRoll(ex)
			var over atomic.Bool
			kind := rng.IntN(4)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			err := executor.Broadcast(ctx, ex, func(ctx context.Context, worker int) error {
				if over.Load() {
					t.Error("called after the end")
				}
				switch kind {
				case 0:
					cancel()
				case 1:
					_ = parallel.For(ctx, parallel.On{}, 0, 100, func(int) {})
				}
				return c.fn(ctx, worker)
			})
			over.Store(true)
			if err == nil {
				c.each(t, 1)
			} else if kind != 0 {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				for range testkit.Count(t, 30) {
					switch rng.IntN(4) {
					case 0:
						broadcast(context.Background(), rng)
					case 1:
						seeds := rng.Uint64()
						_ = ex.Run(context.Background(), fan(5, func(ctx context.Context) error {
							broadcast(ctx, rand.New(rand.NewPCG(seeds, 0)))
							return nil
						}))
					case 2:
						inScope(t, ex, func(s *executor.Scope) { fib(s, 12) })
					case 3:
						_ = ex.Run(context.Background(), fan(5, func(ctx context.Context) error {
							executor.Blocking(func() { time.Sleep(20 * time.Microsecond) })
							return nil
						}))
					}
				}
			})
		}
		all.Wait()
		comesToRest(t, ex)
		require.Empty(t, ex.ForksLeft())
	})
}

func BenchmarkBroadcast(b *testing.B) {
	ex := newExecutor(b, executor.Config{Workers: 2})
	nothing := func(context.Context, int) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := executor.Broadcast(context.Background(), ex, nothing); err != nil {
			b.Fatal(err)
		}
	}
}

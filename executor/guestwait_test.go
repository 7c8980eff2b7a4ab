package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// awaits are the ways to start a function and to wait for it.
var awaits = []struct {
	name string
	call func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) error
}{
	{"Start", func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) error {
		return ex.Start(ctx, one(fn)).Wait()
	}},
	{"TryStart", func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) error {
		r, err := ex.TryStart(ctx, one(fn))
		if err != nil {
			return err
		}
		return r.Wait()
	}},
	{"Async", func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) error {
		_, err := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, fn(ctx) }).Wait()
		return err
	}},
	{"Group", func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) error {
		g, _ := executor.GroupWithContext(ctx, ex)
		g.GoContext(fn)
		return g.Wait()
	}},
}

// A goroutine that waits for what nobody has begun runs it itself, in a worker's place: sooner or later it is faster
// than the worker's own thread. With idle callers it never does.
func TestWaiterTakesPart(t *testing.T) {
	for _, callers := range []executor.Callers{executor.BriefCallers, executor.BusyCallers, executor.IdleCallers} {
		for _, p := range admitting {
			for _, w := range []int{1, 3} {
				ex := newExecutor(t, executor.Config{Workers: w, Experiment: experiment.Options{Policy: p}, Callers: callers})
				within(t, ex, func() { waitOften(t, ex, callers != executor.IdleCallers) })
			}
		}
	}
}

// waitOften waits in each way until a task has run on the caller's thread or, if it must not, for some time.
func waitOften(t *testing.T, ex *executor.Executor, mayTakePart bool) {
	osthread.Lock()
	defer osthread.Unlock()
	caller := executor.Thread()
	for _, a := range awaits {
		for i := 0; mayTakePart || i < 50; i++ {
			comesToRest(t, ex)
			here, index, ran := false, -1, 0
			require.NoError(t, a.call(t.Context(), ex, func(context.Context) error {
				here, index = executor.Thread() == caller, ex.WorkerIndex()
				ran++
				return nil
			}))
			require.Equal(t, 1, ran, a.name)
			require.True(t, 0 <= index && index < ex.Workers(), a.name)
			require.Equal(t, -1, ex.WorkerIndex(), "the caller has kept the worker's index")
			if here {
				require.True(t, mayTakePart, a.name)
				break
			}
		}
	}
}

// Waiters that take wake-ups back keep no work from workers: what nobody waits for is done, whoever waits for others.
func TestWaitersBesideOthers(t *testing.T) {
	for _, p := range admitting {
		for _, w := range []int{1, 2, 3} {
			ex := newExecutor(t, executor.Config{Workers: w, Experiment: experiment.Options{Policy: p}})
			within(t, ex, func() { waitAtRandom(t, ex) })
		}
	}
}

func waitAtRandom(t *testing.T, ex *executor.Executor) {
	var running, ran, want atomic.Int64
	work := func(context.Context) error {
		if n := running.Add(1); n > int64(ex.Workers()) {
			t.Errorf("%d tasks at a time with %d workers", n, ex.Workers())
		}
		ran.Add(1)
		running.Add(-1)
		return nil
	}
	var wg sync.WaitGroup
	seed := testkit.Seed(t)
	for i := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for range testkit.Scale(500) {
				want.Add(2)
				if rng.IntN(16) == 0 {
					ex.HushAsyncs()
				}
				var left *executor.Run
				if rng.IntN(2) == 0 {
					left = ex.Start(t.Context(), one(work))
				} else {
					executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) { return 0, work(ctx) })
				}
				if err := awaits[rng.IntN(len(awaits))].call(t.Context(), ex, work); err != nil {
					t.Error(err)
				}
				if left != nil && rng.IntN(2) == 0 {
					<-left.Done() // unlike Wait it helps nobody
				}
				if rng.IntN(8) == 0 {
					time.Sleep(time.Duration(rng.IntN(int(200 * time.Microsecond)))) // workers may go to sleep
				}
			}
		})
	}
	wg.Wait()
	eventually(func() bool { return ran.Load() >= want.Load() }) // the clock shows what is still withheld
	comesToRest(t, ex)
	require.Equal(t, want.Load(), ran.Load())
}

// A waiter runs nothing but what it waits for: it may hold a lock that another run's task wants.
func TestWaiterRunsNothingElse(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.BusyCallers})
	within(t, ex, func() {
		osthread.Lock()
		defer osthread.Unlock()
		caller := executor.Thread()
		for i := range testkit.Scale(2000) {
			comesToRest(t, ex)
			begun := make(chan struct{})
			var here bool
			busy := func(context.Context) error {
				close(begun)
				for start := time.Now(); time.Since(start) < 20*time.Microsecond; {
				}
				return nil
			}
			look := func(context.Context) error {
				here = executor.Thread() == caller
				return nil
			}
			wait := starts[i%2](t.Context(), ex, busy)
			<-begun
			done := starts[i/2%2](t.Context(), ex, look).Done()
			require.NoError(t, wait.Wait())
			<-done
			require.False(t, here, "a waiter has run a task of another run or future")
		}
	})
}

// A started function has been started, and can be waited for in two ways.
type started interface {
	Done() <-chan struct{}
	Wait() error
}

// starts are the ways to start a function.
var starts = []func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) started{
	func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) started {
		return ex.Start(ctx, one(fn))
	},
	func(ctx context.Context, ex *executor.Executor, fn func(context.Context) error) started {
		f := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, fn(ctx) })
		return startedFuture{f}
	},
}

type startedFuture struct{ *executor.Future[int] }

func (f startedFuture) Wait() error {
	_, err := f.Future.Wait()
	return err
}

// A task that calls Goexit ends the goroutine that waits for it, if it has run there. The deferred calls of that
// goroutine find the end.
func TestWaiterGoexit(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: w, Callers: executor.BusyCallers})
		within(t, ex, func() {
			for _, a := range awaits {
				for ended := false; !ended; {
					comesToRest(t, ex)
					returned := make(chan bool)
					go func() {
						back := false
						defer func() { returned <- back }()
						err := a.call(context.Background(), ex, func(context.Context) error {
							runtime.Goexit()
							return nil
						})
						back = true
						if err == nil {
							t.Errorf("%s: no error", a.name)
						}
					}()
					ended = !<-returned
					require.NoError(t, a.call(t.Context(), ex, nothing), a.name)
				}
			}
		})
	}
}

// A waiter keeps its own profiler labels, and what it runs has them.
func TestWaiterKeepsLabels(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	pprof.Do(t.Context(), pprof.Labels("tenant", "a"), func(ctx context.Context) {
		for _, a := range awaits {
			for range testkit.Scale(50) {
				var inside string
				require.NoError(t, a.call(ctx, ex, func(context.Context) error { inside = labels(); return nil }))
				require.Equal(t, `{"tenant":"a"}`, inside, a.name)
				require.Equal(t, `{"tenant":"a"}`, labels(), a.name)
			}
		}
	})
}

// A waiter does not take a worker's wake-up for itself that was for a run of a higher priority.
func TestWaiterKeepsPriorities(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BusyCallers})
	within(t, ex, func() {
		osthread.Lock()
		defer osthread.Unlock()
		caller := executor.Thread()
		for range testkit.Scale(500) {
			comesToRest(t, ex)
			var before, ahead atomic.Bool
			high := ex.Start(t.Context(), executor.With(one(func(context.Context) error {
				before.Store(true)
				return nil
			}), executor.RunOptions{Priority: executor.High}))
			low := ex.Start(t.Context(), executor.With(one(func(context.Context) error {
				ahead.Store(executor.Thread() == caller && !before.Load())
				return nil
			}), executor.RunOptions{Priority: executor.Low}))
			require.NoError(t, low.Wait())
			<-high.Done()
			require.False(t, ahead.Load(), "the waiter ran its own task before that of High")
		}
	})
}

// With an observer that sets labels a waiter does not take part: it would lose its own, which nobody knows.
func TestWaiterKeepsLabelsBesideRelabel(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{{Relabel: func(*executor.Event) {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("observer", "o")))
	}}}})
	for _, a := range awaits {
		for range testkit.Scale(50) {
			comesToRest(t, ex)
			pprof.Do(t.Context(), pprof.Labels("tenant", "b"), func(context.Context) {
				require.NoError(t, a.call(t.Context(), ex, nothing)) // its labels are not the caller's
				require.Equal(t, `{"tenant":"b"}`, labels(), a.name)
			})
		}
	}
}

// BenchmarkWaitFromOutside starts a function and waits for it, back to back and after a millisecond of silence, in
// which the worker has gone to sleep. It reports the median.
func BenchmarkWaitFromOutside(b *testing.B) {
	for _, silence := range []time.Duration{0, time.Millisecond} {
		for _, callers := range []executor.Callers{executor.IdleCallers, executor.BriefCallers} {
			for _, a := range awaits {
				b.Run(fmt.Sprintf("%s/%v/silence=%v", a.name, callers, silence), func(b *testing.B) {
					ex := newExecutor(b, executor.Config{Workers: 1, Callers: callers})
					var times []time.Duration
					for b.Loop() {
						time.Sleep(silence)
						begun := time.Now()
						if err := a.call(context.Background(), ex, nothing); err != nil {
							b.Fatal(err)
						}
						times = append(times, time.Since(begun))
					}
					slices.Sort(times)
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
				})
			}
		}
	}
}

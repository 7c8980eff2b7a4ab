package executor_test

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// admitting are the policies under which callers take part.
var admitting = []string{"adaptive", "taskflow"}

// onCaller runs a job of one task and reports whether the task ran on the caller's thread.
func onCaller(t *testing.T, ex *executor.Executor) (here bool) {
	t.Helper()
	osthread.Lock()
	defer osthread.Unlock()
	caller := executor.Thread()
	require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
		here = executor.Thread() == caller
		return nil
	})))
	return here
}

// While all workers sleep, a caller runs the tasks of its run itself, in a worker's place, and no thread is woken.
func TestCallerTakesPart(t *testing.T) {
	for _, p := range admitting {
		for _, w := range []int{1, 3} {
			byDefault, err := executor.New(executor.Config{Workers: w, Experiment: experiment.Options{Policy: p}})
			require.NoError(t, err)
			comesToRest(t, byDefault)
			require.True(t, onCaller(t, byDefault))
			require.NoError(t, byDefault.Close())
			ex := newExecutor(t, executor.Config{
				Workers: w, Experiment: experiment.Options{Policy: p}, Callers: executor.BusyCallers,
			})
			comesToRest(t, ex)
			require.True(t, onCaller(t, ex))
			comesToRest(t, ex)
			before := ex.Stats().Total
			var index int
			require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
				index = ex.WorkerIndex()
				of, ok := executor.FromContext(ctx)
				require.True(t, ok)
				require.Equal(t, ex, of)
				if w > 1 {
					return nil // another worker might take the task of a nested run
				}
				return ex.Run(ctx, one(func(context.Context) error {
					require.Equal(t, index, ex.WorkerIndex())
					return nil
				}))
			})))
			require.GreaterOrEqual(t, index, 0)
			require.Less(t, index, w)
			require.Equal(t, -1, ex.WorkerIndex())
			after := ex.Stats().Total
			require.Equal(t, before.Wakeups, after.Wakeups)
			require.Less(t, before.Tasks, after.Tasks)
		}
	}
}

// IdleCallers, and each field because of which tasks need the workers' own threads, keep the caller idle. With
// other Callers such a field is an error that names it.
func TestCallersIdle(t *testing.T) {
	for name, cfg := range map[string]executor.Config{
		"Callers":             {Callers: executor.IdleCallers},
		"Threads.Start":       {Threads: host.Threads{Start: func(int) {}}},
		"Threads.End":         {Threads: host.Threads{End: func(int) {}}},
		"Experiment.Verbatim": {Experiment: experiment.Options{Verbatim: true}},
		"Experiment.Policy":   {Experiment: experiment.Options{Policy: "adaptive-published"}},
		"Host.Share":          {Host: host.Options{Share: &host.Share{Path: t.TempDir() + "/table"}}},
		"Host":                {Host: host.Options{Share: host.QuotaShare(0.1)}},
		"Threads.CPUs":        {Threads: host.Threads{CPUs: []int{0}, BestEffort: true}},
		"Threads.Pin":         {Threads: host.Threads{Pin: true, BestEffort: true}},
		"Threads.Nice":        {Threads: host.Threads{Nice: 1, BestEffort: true}},
		"Threads.Class":       {Threads: host.Threads{Class: host.ClassBatch, BestEffort: true}},
		"Threads.Slice":       {Threads: host.Threads{Slice: time.Millisecond, BestEffort: true}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Workers = 2
			ex, err := executor.New(cfg)
			require.NoError(t, err)
			defer ex.Close()
			for range max(3, testkit.Scale(20)) {
				comesToRest(t, ex)
				require.False(t, onCaller(t, ex))
			}
			if name == "Callers" {
				require.Contains(t, dump(ex), ", callers idle, thieves")
			} else {
				require.Contains(t, dump(ex), ", callers idle because of Config."+name)
			}
			switch name {
			case "Callers":
			case "Threads.Nice", "Threads.Class", "Threads.Slice": // a caller takes part if it is asked to
				cfg.Callers = executor.BusyCallers
				ex := newExecutor(t, cfg)
				comesToRest(t, ex)
				require.True(t, onCaller(t, ex))
			default:
				cfg.Callers = executor.BusyCallers
				_, err := executor.New(cfg)
				require.ErrorContains(t, err, "executor: Config.Callers is busy, but with "+name)
			}
		})
	}
	for _, none := range []host.Sharing{host.QuotaShare(0), (*host.Share)(nil)} { // as no Share
		ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{Share: none}})
		if os.Getenv("MAGPIE_CALLERS") == "" {
			require.Contains(t, dump(ex), ", callers busy, thieves")
		}
	}
	_, err := executor.New(executor.Config{Callers: 9})
	require.EqualError(t, err, "executor: Config.Callers is 9: use one of [auto idle brief busy]")
}

// Callers and workers together never run more tasks at a time than there are workers, whatever the runs are, and each
// worker's index is in use once.
func TestCallersKeepWithinWorkers(t *testing.T) {
	for _, callers := range []executor.Callers{executor.BriefCallers, executor.BusyCallers} {
		for _, p := range admitting {
			for _, w := range []int{1, 2, 3} {
				ex := newExecutor(t, executor.Config{Workers: w, Experiment: experiment.Options{Policy: p}, Callers: callers})
				within(t, ex, func() { callAtRandom(t, ex) })
			}
		}
	}
}

func callAtRandom(t *testing.T, ex *executor.Executor) {
	var running, ran atomic.Int64
	busy := make([]atomic.Bool, ex.Workers())
	work := func(context.Context) error {
		ran.Add(1)
		if n := running.Add(1); n > int64(ex.Workers()) {
			t.Errorf("%d tasks at a time with %d workers", n, ex.Workers())
		}
		if i := ex.WorkerIndex(); i < 0 || busy[i].Swap(true) {
			t.Errorf("worker index %d is in use twice", i)
		} else {
			defer busy[i].Store(false)
		}
		for begin := time.Now(); time.Since(begin) < time.Microsecond; {
		}
		running.Add(-1)
		return nil
	}
	var wg sync.WaitGroup
	var want atomic.Int64
	seed := testkit.Seed(t)
	for i := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for range testkit.Scale(200) {
				n := 1 + rng.IntN(12)
				want.Add(int64(n))
				var err error
				switch rng.IntN(4) {
				case 0:
					err = ex.Run(t.Context(), fan(n, work))
				case 1:
					err = ex.Start(t.Context(), fan(n, work)).Wait()
				case 2:
					o := parallel.Options{Executor: ex, Grain: 1}
					err = parallel.For(t.Context(), o, 0, n, func(int) { _ = work(t.Context()) })
				case 3: // a run that is started and outlives its starter
					var r *executor.Run
					err = ex.Run(t.Context(), one(func(context.Context) error {
						r = ex.Start(context.Background(), fan(n, work))
						return nil
					}))
					if err == nil {
						err = r.Wait()
					}
				}
				if err != nil {
					t.Error(err)
				}
				if rng.IntN(4) == 0 {
					time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, want.Load(), ran.Load())
	comesToRest(t, ex)
	require.Empty(t, ex.ForksLeft())
}

// Goexit of a task that the caller runs ends the caller, after the end of the run. The executor is as before.
func TestCallerGoexit(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: w, Callers: executor.BusyCallers})
		within(t, ex, func() { exitOnCaller(t, ex) })
	}
}

func exitOnCaller(t *testing.T, ex *executor.Executor) {
	for range testkit.Scale(50) {
		comesToRest(t, ex)
		var begun, ended atomic.Int64
		over := make(chan bool)
		go func() {
			defer func() { over <- begun.Load() == ended.Load() }()
			g := graph.New("g")
			for i := range 6 {
				g.Task(func(context.Context) error {
					if i == 3 {
						runtime.Goexit()
					}
					begun.Add(1)
					time.Sleep(100 * time.Microsecond)
					ended.Add(1)
					return nil
				})
			}
			_ = ex.Run(context.Background(), g)
		}()
		require.True(t, <-over, "a deferred call came before the end of the run")
		var n atomic.Int64
		require.NoError(t, ex.Run(t.Context(), fan(20, func(context.Context) error { n.Add(1); return nil })))
		require.EqualValues(t, 20, n.Load())
	}
}

// An executor may be closed while the guest of its last run leaves.
func TestCloseBesideCallers(t *testing.T) {
	for range testkit.Scale(200) {
		ex, err := executor.New(executor.Config{Workers: 1 + rand.IntN(2), Callers: executor.BriefCallers})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := ex.Run(t.Context(), fan(3, nothing)); err != nil {
					require.ErrorIs(t, err, executor.ErrClosed)
				}
			})
		}
		within(t, ex, func() { require.NoError(t, ex.Close()) })
		wg.Wait()
	}
}

// A caller keeps its own profiler labels while it runs tasks.
func TestCallerKeepsLabels(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BusyCallers})
	pprof.Do(t.Context(), pprof.Labels("tenant", "a"), func(ctx context.Context) {
		comesToRest(t, ex)
		var inside string
		require.NoError(t, ex.Run(ctx, one(func(context.Context) error { inside = labels(); return nil })))
		require.Equal(t, `{"tenant":"a"}`, inside)
		require.Equal(t, `{"tenant":"a"}`, labels())
	})
}

func BenchmarkRunFromOutside(b *testing.B) {
	for _, callers := range []executor.Callers{executor.IdleCallers, executor.BriefCallers} {
		b.Run(callers.String(), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: 1, Callers: callers})
			g := one(nothing)
			b.ReportAllocs()
			for b.Loop() {
				if err := ex.Run(context.Background(), g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCallerTakesColdPlace: a caller takes the place in which the last one was, though threads have gone to sleep
// since. The worker whose thread was the last to do so is woken first.
func TestCallerTakesColdPlace(t *testing.T) {
	for _, workers := range []int{2, 3, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers, Spares: -1, Callers: executor.BusyCallers})
		within(t, ex, func() {
			comesToRest(t, ex)
			cold, woken := wakeOthers(t, ex)
			for range testkit.Scale(20) {
				last := woken[workers-2]
				var place int
				place, woken = wakeOthers(t, ex)
				require.Equal(t, cold, place)
				require.Equal(t, last, woken[0])
				require.NoError(t, ex.Run(t.Context(), executor.NewJob("alone", func(s *executor.Scope) error {
					place = s.WorkerIndex()
					return nil
				})))
				require.Equal(t, cold, place)
			}
		})
	}
}

// wakeOthers has a caller, whose place it returns, wake all other workers. They go to sleep after it has left, in the
// order in which they were woken, in which they are returned.
func wakeOthers(t *testing.T, ex *executor.Executor) (place int, woken []int) {
	var ends []func()
	require.NoError(t, ex.Run(t.Context(), executor.NewJob("caller", func(s *executor.Scope) error {
		place = s.WorkerIndex()
		for range ex.Workers() - 1 {
			var begun atomic.Bool
			leaves := make(chan struct{})
			r := ex.Start(context.Background(), one(func(context.Context) error {
				woken = append(woken, ex.WorkerIndex())
				begun.Store(true)
				<-leaves
				return nil
			}))
			eventually(begun.Load)
			ends = append(ends, func() { close(leaves); require.NoError(t, r.Wait()) })
		}
		return nil
	})))
	for i, end := range ends {
		end()
		eventually(func() bool { return ex.AtRest(i + 2) })
	}
	return place, woken
}

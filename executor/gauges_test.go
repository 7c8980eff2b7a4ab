package executor_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// Each gauge tells what is there: runs, futures, items that wait, workers in each state.
func TestGauges(t *testing.T) {
	const workers, waiting = 2, 5
	ex := newExecutor(t, executor.Config{Workers: workers, Name: "gauged"})
	require.Equal(t, "gauged", ex.Name())
	within(t, ex, func() {
		gate := make(chan struct{})
		var begun atomic.Int64
		hold := func(context.Context) error {
			begun.Add(1)
			<-gate
			return nil
		}
		var runs []*executor.Run
		for range workers {
			runs = append(runs, ex.Start(t.Context(), one(hold)))
		}
		eventually(func() bool { return begun.Load() == workers })
		for range waiting {
			runs = append(runs, ex.Start(t.Context(), one(nothing)))
		}
		future := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil })
		s := ex.Stats()
		g := s.Gauges
		require.Equal(t, workers, g.Workers)
		require.Equal(t, workers+waiting, g.Runs)
		require.Equal(t, 1, g.Futures)
		require.Equal(t, waiting+1, g.Injected)
		require.Equal(t, waiting+1, g.Pending())
		require.Equal(t, workers, s.Gauges.Active)
		require.Equal(t, workers, g.Count(executor.WorkerRunning))
		require.Zero(t, g.Blocked+g.Waiting+g.Spares+g.Standby)
		require.False(t, g.Closed)
		close(gate)
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
		_, err := future.Wait()
		require.NoError(t, err)
		eventually(func() bool { return ex.Stats().Gauges.Count(executor.WorkerParked) == workers })
		g = ex.Stats().Gauges
		require.Zero(t, g.Runs+g.Futures+g.Pending())
	})
	require.NoError(t, ex.Close())
	g := ex.Stats().Gauges
	require.True(t, g.Closed)
	require.EqualValues(t, workers+5+1, ex.Stats().Total.Tasks, "counters are kept after Close")
	require.Equal(t, []uint64{0, 0}, g.Goroutines)
}

// Items in a worker's deque are told, and so are workers in Blocking and their spares.
func TestGaugesOfBlocking(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: 1})
	within(t, ex, func() {
		gate := make(chan struct{})
		var begun atomic.Int64
		r := ex.Start(t.Context(), fan(6, func(context.Context) error {
			if begun.Add(1) == 1 {
				executor.Blocking(func() { <-gate })
			}
			<-gate
			return nil
		}))
		eventually(func() bool { return begun.Load() == 3 })
		g := ex.Stats().Gauges
		require.Equal(t, 1, g.Blocked)
		require.Equal(t, 1, g.Spares)
		require.Equal(t, 1, g.Count(executor.WorkerBlocked))
		require.Len(t, g.Queued, 3)
		require.Positive(t, g.Pending())
		close(gate)
		require.NoError(t, r.Wait())
	})
}

// A worker that is busy for long publishes its counters soon after Stats has asked for them.
func TestStatsAskWorkersToPublish(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		const tasks = 900 // fewer than after which a worker publishes by itself
		var ran atomic.Int64
		step := make(chan struct{})
		r := ex.Start(t.Context(), chain(tasks, func(context.Context) error {
			ran.Add(1)
			<-step
			return nil
		}))
		ex.Stats()
		for range 500 {
			step <- struct{}{}
		}
		seen := ex.Stats().Total.Tasks // 2 polls' worth may lack
		require.Positive(t, seen)
		for range 200 {
			step <- struct{}{}
		}
		require.GreaterOrEqual(t, ex.Stats().Total.Tasks, seen+200-2*executor.PollInterval)
		close(step)
		require.NoError(t, r.Wait())
	})
}

func TestWorkerStates(t *testing.T) {
	var names []string
	for s := executor.WorkerRunning; s <= executor.WorkerThreadless; s++ {
		names = append(names, s.String())
	}
	require.Equal(t, []string{
		"running", "searching", "preparing", "parked", "blocked", "standing by", "resting", "without a thread",
	}, names)
	require.Equal(t, "WorkerState(8)", (executor.WorkerThreadless + 1).String())
	require.Equal(t, "WorkerState(200)", executor.WorkerState(200).String())
}

//go:noinline
func hangsHere(gate chan struct{}) { <-gate }

// A worker's stack shows where its task hangs, and its goroutine's number is that of the dump.
func TestStacks(t *testing.T) {
	guests.None(t)
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		gate, begun := make(chan struct{}), make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error {
			close(begun)
			hangsHere(gate)
			return nil
		}))
		<-begun
		eventually(func() bool {
			stacks := ex.Stacks()
			return len(stacks) == 2 && slices.ContainsFunc(stacks, func(s string) bool {
				return strings.HasPrefix(s, "goroutine ") && strings.Contains(s, "[chan receive") &&
					strings.Contains(s, "executor_test.hangsHere(")
			})
		})
		for i, s := range ex.Stacks() {
			require.NotEmpty(t, s, i)
			number, _, _ := strings.Cut(strings.TrimPrefix(s, "goroutine "), " ")
			require.Contains(t, dump(ex), ", goroutine "+number+"\n")
		}
		close(gate)
		require.NoError(t, r.Wait())
		// A task that ends its goroutine leaves the worker another one.
		before := slices.Clone(ex.Stats().Gauges.Goroutines)
		require.ErrorIs(t, ex.Run(t.Context(), one(func(context.Context) error { runtime.Goexit(); return nil })),
			executor.ErrGoexit)
		eventually(func() bool {
			now := ex.Stats().Gauges.Goroutines
			return !slices.Contains(now, 0) && !slices.Equal(before, now)
		})
	})
	require.NoError(t, ex.Close())
	require.Equal(t, []string{"", ""}, ex.Stacks())
	require.Equal(t, []string{""}, executor.NewInline(1).Stacks())
}

// While a caller has the place of a worker, the stack is the caller's, also at the first call of Stacks.
func TestStacksOfCallers(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.BusyCallers})
	within(t, ex, func() {
		gate, results := make(chan struct{}), make(chan error, 2)
		open := sync.OnceFunc(func() { close(gate) })
		defer open()
		var begun atomic.Int64
		for range 2 {
			go func() {
				results <- ex.Run(t.Context(), one(func(context.Context) error {
					begun.Add(1)
					hangsHere(gate)
					return nil
				}))
			}()
		}
		eventually(func() bool { return begun.Load() == 2 })
		eventually(func() bool {
			stacks := ex.Stacks()
			for _, s := range stacks {
				if !strings.Contains(s, "[chan receive") || strings.Count(s, "executor_test.hangsHere(") != 1 {
					return false
				}
			}
			return stacks[0] != stacks[1]
		})
		open()
		require.NoError(t, <-results)
		require.NoError(t, <-results)
	})
}

// A caller of Wait runs a future, as a guest that runs nothing else. Stacks has its stack, and Shutdown names the
// function.
func TestStacksOfWaiters(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	within(t, ex, func() {
		gate, begun := make(chan struct{}), make(chan struct{})
		go func() {
			for waits := false; !waits; { // until the caller runs it, and no worker
				_, _ = executor.Async(t.Context(), ex, func(context.Context) (int, error) {
					if waits = !bytes.Contains(debug.Stack(), []byte("executor.(*Worker).loop(")); waits {
						close(begun)
						hangsHere(gate)
					}
					return 0, nil
				}).Wait()
			}
		}()
		<-begun
		eventually(func() bool {
			return slices.ContainsFunc(ex.Stacks(), func(s string) bool {
				return strings.Contains(s, "[chan receive") && strings.Contains(s, "executor_test.hangsHere(")
			})
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorContains(t, ex.Shutdown(ctx), "TestStacksOfWaiters")
		close(gate)
	})
	require.NoError(t, ex.Close())
}

// Snapshots are taken flat out while the workers are busy.
func TestStatsWhileRunning(t *testing.T) {
	onEach(t, []int{1, 4}, func(t *testing.T, ex *executor.Executor) {
		over := make(chan struct{})
		go func() {
			defer close(over)
			for deadline := time.Now().Add(time.Duration(testkit.Scale(50)) * time.Millisecond); time.Now().Before(deadline); {
				_ = ex.Run(context.Background(), fan(100, nothing))
			}
		}()
		var last uint64
		for done := false; !done; {
			select {
			case <-over:
				done = true
			default:
			}
			s := ex.Stats()
			require.GreaterOrEqual(t, s.Total.Tasks, last)
			require.GreaterOrEqual(t, s.Gauges.Runs, 0)
			last = s.Total.Tasks
		}
	})
}

// The workers of a closed executor do nothing.
func TestGaugesAfterClose(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 3})
	within(t, ex, func() {
		blocks := one(func(context.Context) error { executor.Blocking(func() {}); return nil })
		require.NoError(t, ex.Run(t.Context(), blocks))
	})
	require.NoError(t, ex.Close())
	g := ex.Stats().Gauges
	require.Len(t, g.States, g.Count(executor.WorkerThreadless))
	require.True(t, g.Closed)
}

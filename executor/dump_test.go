package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

func TestDump(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "dumped"})
	within(t, ex, func() {
		eventually(func() bool { return ex.Parked() == 2 })
		s := dump(ex)
		require.Regexp(t,
			`executor "dumped": 2 workers, policy adaptive, callers (brief|busy|idle)( because of [A-Za-z.]+)?, thieves 0`, s)
		require.Contains(t, s, "notifier: stack=")
		require.Contains(t, s, "injector: 0 items")
		for id, thread := range ex.Threads() {
			require.Contains(t, s, fmt.Sprintf("worker %d: parked, thread %d, deque 0 items", id, thread))
		}
		require.Contains(t, s, "runs in progress: 0, closed false")

		gate := make(chan struct{})
		inner := graph.New("inner")
		inner.Task(func(context.Context) error {
			<-gate
			return nil
		})
		outer := graph.New("outer")
		begun := make(chan struct{})
		outer.Task(func(ctx context.Context) error {
			r := ex.Start(ctx, inner)
			close(begun)
			return r.Wait()
		})
		r := ex.Start(t.Context(), outer)
		<-begun
		s = dump(ex)
		require.Contains(t, s, "runs in progress: 2, closed false")
		require.Contains(t, s, `run of "outer": context error <nil>`)
		require.Contains(t, s, `run of "inner": context error <nil>, nested in run of "outer"`)
		r.Cancel(nil)
		require.Contains(t, dump(ex), `run of "outer": context error context canceled`)
		close(gate)
		require.ErrorIs(t, r.Wait(), context.Canceled)

		require.NoError(t, ex.Close())
		s = dump(ex)
		require.Contains(t, s, "stopping true")
		require.Contains(t, s, "runs in progress: 0, closed true")
	})
}

// A helper says what it waits for.
func TestDumpOfAHelper(t *testing.T) {
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		require.NoError(t, runSplit(t, ex, func(*layer, *executor.Worker, int64) *executor.Item {
			eventually(func() bool { return ex.SleepingHelpers() == 1 && ex.Parked() == 1 })
			s := dump(ex)
			if !containsAll(s, "helpers asleep 1", `waits for run of "split"`, ": parked", ": running") {
				t.Error(s)
			}
			return nil
		}))
	})
}

// Dumps may be taken at any time, from any goroutine, tasks included.
func TestDumpWhileRunning(t *testing.T) {
	onEach(t, []int{1, 4}, func(t *testing.T, ex *executor.Executor) {
		var over atomic.Bool
		var wg sync.WaitGroup
		defer wg.Wait()
		defer over.Store(true)
		wg.Go(func() {
			for !over.Load() {
				_ = dump(ex)
			}
		})
		for range 20 {
			require.NoError(t, ex.Run(t.Context(), fan(20, func(ctx context.Context) error {
				if s := dump(ex); !containsAll(s, `run of "fan"`, "worker 0: ") {
					return errors.New(s)
				}
				return ex.Run(ctx, one(nothing))
			})))
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errTest }

func TestDumpTellsOfAFailedWrite(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	require.ErrorIs(t, ex.Dump(brokenWriter{}), errTest)
}

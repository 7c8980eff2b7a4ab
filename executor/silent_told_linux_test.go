//go:build !magpie_portable_park

// With portable park no thread can tell what another one does.

package executor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestSilentIsTold: a task that waits outside Blocking, while an item waits, gets a stand-in and is told of until it
// goes on. With OnlyBlocking it gets none. One clock looks at both executors, so the other is found as soon as it would
// be.
func TestSilentIsTold(t *testing.T) {
	cfg := executor.Config{Workers: 1, Callers: executor.IdleCallers}
	only, watched := newExecutor(t, cfg), newWatched(t, cfg)
	gate, begun := make(chan struct{}), make(chan struct{})
	var held, queued []*executor.Run
	for _, ex := range []*executor.Executor{only, watched} {
		held = append(held, ex.Start(t.Context(), one(func(context.Context) error {
			begun <- struct{}{}
			<-gate
			return nil
		})))
		<-begun
		queued = append(queued, ex.Start(t.Context(), one(nothing)))
	}
	require.NoError(t, queued[1].Wait())

	require.Positive(t, watched.Stats().SilentBlocks)
	// A signal wakes the thread of the task. Until that has had a core, the task counts as one that goes on, and is found
	// again when another item waits.
	testkit.Until(t, "the task that waits is told of", func() bool {
		require.NoError(t, watched.Run(t.Context(), one(nothing)))
		return slices.Equal(watched.Stats().Gauges.Silent, []int{0}) && containsAll(dump(watched),
			"blocked without Blocking: ", ", blocked without Blocking, goroutine ")
	})

	require.Zero(t, only.Stats().SilentBlocks)
	require.Empty(t, only.Stats().Gauges.Silent)
	require.NotContains(t, dump(only), "blocked without Blocking")
	testkit.Until(t, "the other task sleeps", func() bool {
		return strings.Contains(dump(only), ", asleep in a task, outside Blocking, goroutine ")
	})
	require.Zero(t, queued[0].Progress().Done)

	close(gate)
	for _, r := range append(held, queued...) {
		require.NoError(t, r.Wait())
	}
	eventually(func() bool { return len(watched.Stats().Gauges.Silent) == 0 })
	require.NotContains(t, dump(watched), ", blocked without Blocking")
}

// TestSilentWithoutFiles: a task that waits outside Blocking gets a stand-in although the process may open no more
// files. It cannot ask then which of its threads sleep.
func TestSilentWithoutFiles(t *testing.T) {
	told, out := inChild(t, "wait")
	if told == "" {
		require.Contains(t, out, "went on")
		return
	}
	ex := newWatched(t, executor.Config{Workers: 1, Callers: executor.IdleCallers})
	gate, begun := make(chan struct{}), make(chan struct{})
	held := ex.Start(t.Context(), one(func(context.Context) error {
		close(begun)
		<-gate
		return nil
	}))
	<-begun
	within(t, ex, func() { // also so that the runtime has the files of its timers
		var was unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: was.Max}))
		_, err := unix.Open("/proc/self/stat", unix.O_RDONLY, 0)
		require.ErrorIs(t, err, unix.EMFILE)
		opens := ex.Start(t.Context(), one(func(context.Context) error { close(gate); return nil }))
		require.NoError(t, opens.Wait())
		require.NoError(t, held.Wait())
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was))
	})
	fmt.Println("went on")
}

//go:build !magpie_portable_park

// With portable park no thread can tell what another one does.

package executor_test

import (
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A task that waits outside Blocking for its own private forks hangs: no other thread can take them. Dump names its
// worker and says why.
func TestDumpTellsOfSleepWithForks(t *testing.T) {
	ex := newWatched(t, executor.Config{Workers: 1})
	c := make(chan struct{}, 2)
	r := ex.Start(t.Context(), forksThenWaits(49, func() { <-c }, func() { c <- struct{}{} }))
	// If the watch has looked while a spare took the forks that others can take, it has found the task first.
	testkit.Until(t, "a worker that sleeps, and what it keeps from others", func() bool {
		told := dump(ex)
		return strings.Contains(told, "private forks") && (strings.Contains(told, ", asleep in a task, outside Blocking") ||
			strings.Contains(told, ", blocked without Blocking"))
	})
	c <- struct{}{}
	require.NoError(t, r.Wait())
	// The watch finds at its next look that the task goes on.
	eventually(func() bool { return !strings.Contains(dump(ex), "private forks") })
}

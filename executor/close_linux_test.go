package executor_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkThreadIsGone tells by the thread's name: its number may have been given to a new thread of the runtime.
func checkThreadIsGone(t *testing.T, thread int64) {
	t.Helper()
	require.NotEqual(t, int64(os.Getpid()), thread, "a worker was on the main thread")
	name, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", thread))
	if err == nil {
		require.NotContains(t, string(name), "magpie-", "the thread of a worker is left after Close")
	}
}

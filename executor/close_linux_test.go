package executor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// checkThreadIsGone tells by the thread's name: its number may have been given to a new thread of the runtime. Close,
// which took so long, waits for a second at most for the ends of threads.
func checkThreadIsGone(t *testing.T, thread int64, took time.Duration) {
	t.Helper()
	require.NotEqual(t, int64(os.Getpid()), thread, "a worker was on the main thread")
	gone := func() bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", thread))
		return err != nil || !strings.Contains(string(name), "magpie-")
	}
	if took >= time.Second {
		testkit.Until(t, "the thread of a worker ends", gone)
	}
	require.True(t, gone(), "the thread of a worker is left after Close")
}

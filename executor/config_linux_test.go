package executor_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The workers' threads have the configured name and nice, also those that took over after a Goexit. The
// process's other threads keep theirs.
func TestThreadNameAndNice(t *testing.T) {
	guests.None(t)
	own, err := niceOf(int64(os.Getpid()))
	require.NoError(t, err)
	asked := min(max(own, 0)+5, 19) // a higher nice than the process's, if there is one: a lower one needs privileges
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "svc", Threads: host.Threads{Nice: asked}})
	within(t, ex, func() {
		check := func() {
			for id, thread := range ex.Threads() {
				name, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", thread))
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("svc-%d", id), strings.TrimSpace(string(name)))
				nice, err := niceOf(thread)
				require.NoError(t, err)
				require.Equal(t, asked, nice)
			}
		}
		check()
		before := ex.Threads()
		b := barrier{n: 2}
		err := ex.Run(t.Context(), fan(2, func(ctx context.Context) error {
			b.meet()
			return goexit(ctx)
		}))
		require.ErrorIs(t, err, executor.ErrGoexit)
		meetAll(t, ex)
		for id, thread := range ex.Threads() {
			require.NotEqual(t, before[id], thread)
		}
		check()
		nice, err := niceOf(int64(os.Getpid()))
		require.NoError(t, err)
		require.Equal(t, own, nice)
	})
}

func niceOf(thread int64) (int, error) {
	p, err := unix.Getpriority(unix.PRIO_PROCESS, int(thread))
	return 20 - p, err // the system call avoids negative results
}

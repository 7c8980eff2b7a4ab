package bench

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func affinity(t *testing.T) *unix.CPUSet {
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	return &set
}

// TestPin: if there are enough processors, each thread of a crowd has a processor of its own, and gives it back.
func TestPin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := affinity(t)
	for n := 1; n <= before.Count()+1; n++ {
		var threads []func()
		masks := make([]unix.CPUSet, n)
		for i := range n {
			threads = append(threads, func() { _ = unix.SchedGetaffinity(0, &masks[i]) })
		}
		require.NoError(t, new(crowd).run(context.Background(), func() int64 { return 0 }, threads...))
		distinct := make(map[unix.CPUSet]bool)
		for _, m := range masks {
			distinct[m] = true
			if n <= before.Count() {
				require.Equal(t, 1, m.Count())
			} else {
				require.Equal(t, *before, m)
			}
		}
		if n <= before.Count() {
			require.Len(t, distinct, n)
		}
	}

	restore := pin(0, 1)
	require.Equal(t, 1, affinity(t).Count())
	restore()
	require.Equal(t, before, affinity(t))
}

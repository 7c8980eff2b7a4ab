//go:build !linux

package osthread

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestID(t *testing.T) {
	id := ID()
	require.Positive(t, id)
	require.Equal(t, id, ID())
	Yield()
	require.Equal(t, id, ID())

	const n = 16
	ids := make(chan int64)
	for range n {
		go func() {
			runtime.LockOSThread()
			ids <- ID()
		}()
	}
	seen := map[int64]bool{id: true}
	for range n {
		seen[<-ids] = true
	}
	require.Len(t, seen, n+1, "every locked goroutine has a number of its own")
}

// TestFallbacks checks that each function without an implementation returns its documented value.
func TestFallbacks(t *testing.T) {
	require.False(t, IsMain())
	require.True(t, Gone(ID()))
	require.NoError(t, SetName("magpie"))
	require.ErrorIs(t, SetNice(1), ErrUnsupported)
	require.ErrorIs(t, SetClass(Idle), ErrUnsupported)
	require.ErrorIs(t, SetSlice(time.Millisecond), ErrUnsupported)
	require.ErrorIs(t, SetCPUs([]int{0}), ErrUnsupported)
	cpus, err := CPUs()
	require.ErrorIs(t, err, ErrUnsupported)
	require.Empty(t, cpus)
	require.Nil(t, OnlineCPUs())
	require.Equal(t, []int{3, 1}, CoresFirst([]int{3, 1}))
	require.ErrorIs(t, ResetPeakRSS(), errors.ErrUnsupported)
	_, err = CPU(ID())
	require.ErrorIs(t, err, ErrUnsupported)
	_, _, err = ThreadSwitches(ID())
	require.ErrorIs(t, err, ErrUnsupported)
	require.NoError(t, Claim(1<<20, 0))
	require.Zero(t, AvailableMemory())
}

//go:build linux && !magpie_portable_park && !modelcheck

package notifier_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/magpie-go/magpie/notifier"
)

// TestWakesElsewhere: a waiter whose thread ran last on the CPU of Notify's caller wakes on another, once for each
// notification, and its thread may use all its CPUs afterwards.
func TestWakesElsewhere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var mine, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &mine))
	if mine.Count() < 2 {
		t.Skip("one CPU")
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if mine.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &mine)) }()

	const times = 10
	n := notifier.New(1)
	thread, rounds, done := make(chan int), make(chan struct{}), make(chan unix.CPUSet)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		thread <- unix.Gettid()
		for range rounds {
			n.Prepare(0)
			n.Commit(0)
			var set unix.CPUSet
			_ = unix.SchedGetaffinity(0, &set)
			done <- set
		}
	}()
	id := <-thread
	for range times {
		require.NoError(t, unix.SchedSetaffinity(id, &one))
		rounds <- struct{}{}
		for !n.HasSleeper() {
			runtime.Gosched()
		}
		require.NoError(t, unix.SchedSetaffinity(id, &mine))
		require.Equal(t, 1, n.Notify(1))
		require.Equal(t, mine, <-done)
	}
	close(rounds)
	require.EqualValues(t, times, n.Moves(0))
}

//go:build linux && !magpie_portable_park && !modelcheck

package notifier_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/magpie-go/magpie/notifier"
)

// TestWakesElsewhere: a waiter whose thread ran last on the CPU of NotifyApart's caller wakes on another, and its thread
// may use all its CPUs afterwards. With Notify it wakes anywhere.
func TestWakesElsewhere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var mine, all, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &mine))
	all.Fill()
	require.NoError(t, unix.SchedSetaffinity(0, &all))
	all = unix.CPUSet{}
	require.NoError(t, unix.SchedGetaffinity(0, &all))
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
	thread, rounds, done := make(chan int), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		thread <- unix.Gettid()
		for range rounds {
			n.Prepare(0)
			n.Commit(0)
			done <- struct{}{}
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
		require.Equal(t, 1, n.NotifyApart(1))
		var set unix.CPUSet
		require.NoError(t, unix.SchedGetaffinity(id, &set))
		require.Equal(t, mine, set)
		<-done
	}
	if filtered, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err != nil || filtered != 0 || mine != all {
		require.Zero(t, n.Moves(0), "a filter might end the process, or its CPUs were chosen")
	} else {
		require.EqualValues(t, times, n.Moves(0))
	}
	moves := n.Moves(0)
	require.NoError(t, unix.SchedSetaffinity(id, &one))
	rounds <- struct{}{}
	for !n.HasSleeper() {
		runtime.Gosched()
	}
	require.NoError(t, unix.SchedSetaffinity(id, &mine))
	require.Equal(t, 1, n.Notify(1))
	<-done
	close(rounds)
	require.Equal(t, moves, n.Moves(0))
}

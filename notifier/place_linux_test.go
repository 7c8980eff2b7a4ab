//go:build linux && !magpie_portable_park && !modelcheck

package notifier_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/magpie-go/magpie/notifier"
)

// TestWakesElsewhere: a waiter whose thread ran last on the CPU of NotifyApart's caller may not wake there, and has all
// its CPUs afterwards. With Notify it wakes anywhere.
func TestWakesElsewhere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var mine, all, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &mine))
	if filter, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err == nil && filter != 0 || mine.Count() < 2 {
		t.Skip("one CPU, or a filter of system calls")
	}
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &mine)) }()
	all.Fill()
	require.NoError(t, unix.SchedSetaffinity(0, &all))
	all = unix.CPUSet{}
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	for cpu := 0; one.Count() == 0; cpu++ {
		if mine.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	require.NoError(t, unix.SchedSetaffinity(0, &one))

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
	// round has the waiter fall asleep on that CPU and wakes it. Either of the two may give the CPUs back, so both are
	// to have returned.
	round := func(notify func(int) int) {
		t.Helper()
		require.NoError(t, unix.SchedSetaffinity(id, &one))
		rounds <- struct{}{}
		for !n.HasSleeper() {
			runtime.Gosched()
		}
		require.NoError(t, unix.SchedSetaffinity(id, &mine))
		require.Equal(t, 1, notify(1))
		<-done
		var set unix.CPUSet
		require.NoError(t, unix.SchedGetaffinity(id, &set))
		require.Equal(t, mine, set)
	}
	for range times {
		round(n.NotifyApart)
	}
	if mine != all {
		require.Zero(t, n.Moves(0), "the CPUs of the process were chosen")
	} else {
		require.EqualValues(t, times, n.Moves(0))
	}
	moves := n.Moves(0)
	round(n.Notify)
	close(rounds)
	require.Equal(t, moves, n.Moves(0))
}

package osthread

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestContextSwitches(t *testing.T) {
	before, _ := ContextSwitches()
	onThread(func() { sleep(3) })
	after, _ := ContextSwitches()
	require.Greater(t, after, before, "a thread that slept gave up its core")
}

// sleep blocks the thread, not only the goroutine, n times.
func sleep(n int) {
	for range n {
		ts := unix.NsecToTimespec(int64(time.Millisecond))
		_ = unix.Nanosleep(&ts, nil) // EINTR: the thread blocked all the same
	}
}

func TestThreadSwitches(t *testing.T) {
	var before, after int64
	var errs [2]error
	id := onThread(func() {
		before, _, errs[0] = ThreadSwitches(ID())
		sleep(3)
		after, _, errs[1] = ThreadSwitches(ID())
	})
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.GreaterOrEqual(t, after, before+3)

	awaitGone(t, id)
	_, _, err := ThreadSwitches(id)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestPeakRSS(t *testing.T) {
	const size = 64 << 20
	// The pages are touched and given back, so the peak is above what is resident.
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	for i := 0; i < size; i += os.Getpagesize() {
		b[i] = 1
	}
	require.NoError(t, unix.Munmap(b))
	high := PeakRSS()
	require.GreaterOrEqual(t, high, int64(size))

	if err := ResetPeakRSS(); errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skipf("this kernel keeps the peak: %v", err)
	} else {
		require.NoError(t, err)
	}
	require.Less(t, PeakRSS(), high-size/2, "it begins again from what is resident")
}

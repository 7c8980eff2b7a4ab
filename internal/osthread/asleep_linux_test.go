//go:build !modelcheck && !magpie_portable_park

package osthread

import (
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAsleep: a thread that waits sleeps, and the one that asks does not. Of a thread that has ended nothing is known,
// nor of any while the process may open no more files.
func TestAsleep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	asleep, known := Asleep(ID())
	require.True(t, known)
	require.False(t, asleep)

	ids, gate := make(chan int64), make(chan struct{})
	go onThread(func() { ids <- ID(); <-gate })
	id := <-ids
	testkit.Until(t, "a thread that waits sleeps", func() bool { asleep, known := Asleep(id); return asleep && known })

	var was unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: was.Max}))
	asleep, known = Asleep(id)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was))
	require.False(t, known)
	require.False(t, asleep)

	close(gate)
	awaitGone(t, id)
	_, known = Asleep(id)
	require.False(t, known)
}

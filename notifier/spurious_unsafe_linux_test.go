//go:build linux && !magpie_portable_park && !modelcheck

package notifier

import (
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// wakeForNothing wakes the thread that sleeps in waiter w's parker, as a delayed wake of an earlier sleep does, and
// reports whether there was one.
func (n *Notifier) wakeForNothing(w int) bool {
	const wakePrivate = 1 | 128
	word := unsafe.Pointer(&n.waiters[w].parker) // the futex word is its first field
	woken, _, errno := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(word), wakePrivate, 1, 0, 0, 0)
	return errno == 0 && woken == 1
}

// Waiters that wake spuriously go back to sleep: they stay on the stack, and a notifier finds them.
func TestWakesForNothing(t *testing.T) {
	const waiters = 3
	n := New(waiters)
	storms := testkit.Scale(3000)
	testkit.Within(t, testkit.Patience, func() {
		var (
			wg       sync.WaitGroup
			permits  xatomic.Int64 // one for every notification that found a waiter
			returns  xatomic.Int64
			over     xatomic.Bool
			spurious = 0
		)
		for w := range waiters {
			wg.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				for !over.Load() {
					n.Prepare(w)
					if over.Load() {
						n.Cancel(w)
						return
					}
					n.Commit(w)
					returns.Add(1)
				}
			})
		}
		for round := 0; round < storms || spurious < storms; round++ {
			for w := range waiters {
				if n.wakeForNothing(w) {
					spurious++
				}
			}
			if round%10 == 0 {
				permits.Add(int64(n.Notify(1)))
			}
			require.NoError(t, n.Check())
			runtime.Gosched()
		}
		for returns.Load() < permits.Load() {
			runtime.Gosched()
		}
		require.Equal(t, permits.Load(), returns.Load(), "Commits returned without a notification")
		require.Positive(t, permits.Load())
		over.Store(true)
		n.NotifyAll()
		wg.Wait()
		t.Logf("%d wakes for nothing, %d notifications", spurious, permits.Load())
	}, n.String)
}

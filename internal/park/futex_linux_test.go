//go:build linux && !magpie_portable_park && !modelcheck

package park_test

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// A wait that ends early, for any reason of the kernel's, is no permission.
func TestFutexReturnsEarly(t *testing.T) {
	for _, errno := range []syscall.Errno{0, syscall.EAGAIN, syscall.EINTR} {
		t.Run(errno.Error(), func(t *testing.T) {
			// Every sleep ends early ten times before it is a real one. Only waits of the parked thread count.
			const perRound = 10
			var early, quota xatomic.Int64
			defer park.ReplaceWait(func(real func() syscall.Errno) syscall.Errno {
				if early.Load() < quota.Load() {
					early.Add(1)
					return errno
				}
				return real()
			})()
			rounds := testkit.Scale(500)
			testkit.Within(t, testkit.Patience, func() {
				var p park.Parker
				message := 0
				for r := 1; r <= rounds; r++ {
					quota.Add(perRound)
					wait := onThread(func() {
						p.Park()
						if message != r {
							t.Errorf("round %d: Park returned with message %d", r, message)
						}
					})
					for early.Load() < quota.Load() {
						runtime.Gosched()
					}
					message = r
					p.Unpark()
					wait()
				}
			})
			require.Equal(t, int64(rounds*perRound), early.Load())
		})
	}
}

// An Unpark between the announcement and the wait changes the word, and the kernel returns EAGAIN.
func TestUnparkJustBeforeTheWait(t *testing.T) {
	var p park.Parker
	var results []syscall.Errno
	defer park.ReplaceWait(func(real func() syscall.Errno) syscall.Errno {
		p.Unpark()
		errno := real()
		results = append(results, errno)
		return errno
	})()
	testkit.Within(t, testkit.Patience, p.Park)
	require.Equal(t, []syscall.Errno{syscall.EAGAIN}, results)
	require.False(t, p.Notified())
}

func TestUnexpectedErrno(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EFAULT, syscall.EPERM} {
		restore := park.ReplaceWait(func(func() syscall.Errno) syscall.Errno { return errno })
		message := func() (message any) {
			defer func() { message = recover() }()
			var p park.Parker
			p.Park()
			return nil
		}()
		restore()
		require.Contains(t, message, errno.Error(), "which error")
		require.Contains(t, message, "-tags magpie_portable_park", "what to do")
	}
}

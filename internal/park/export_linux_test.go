//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"syscall"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// ReplaceWait replaces the futex call by wait until restore is called. wait may call real.
func ReplaceWait(wait func(real func() syscall.Errno) syscall.Errno) (restore func()) {
	real := futexWait
	futexWait = func(word *xatomic.Uint32, while uint32) syscall.Errno {
		return wait(func() syscall.Errno { return real(word, while) })
	}
	return func() { futexWait = real }
}

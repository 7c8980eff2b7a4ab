//go:build unix

package embedded

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks an open file until it is closed.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

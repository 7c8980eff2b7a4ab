//go:build unix && !solaris && !illumos && !aix

package replay

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file against other processes until it is closed. It does not wait.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

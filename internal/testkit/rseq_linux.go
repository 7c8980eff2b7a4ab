package testkit

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// FreeRSEQ makes room for package peer in a test binary that links the C library, as with the race detector: there each
// thread has the library's rseq registration, and no other one. missing is what peer.Has says about peer.SameCPU. If
// that is a registration in the way, which package peer cannot use, FreeRSEQ starts the test binary anew with the
// library's registration off. TestMain calls it.
func FreeRSEQ(missing error) {
	const name, off = "GLIBC_TUNABLES", "glibc.pthread.rseq=0"
	tunables := os.Getenv(name)
	if !errors.Is(missing, syscall.EINVAL) || strings.Contains(tunables, off) {
		return
	}
	if tunables != "" {
		tunables += ":"
	}
	if os.Setenv(name, tunables+off) == nil {
		_ = syscall.Exec("/proc/self/exe", os.Args, os.Environ()) // if it fails, tests that need rseq are skipped
	}
}

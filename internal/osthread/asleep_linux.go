//go:build !modelcheck && !magpie_portable_park

package osthread

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// TellsAsleep says whether Asleep can know.
const TellsAsleep = true

// Asleep reports whether a thread of the process sleeps in the kernel: it neither runs nor waits for a core. The kernel
// does not tell where there is no proc file system, nor if the process may open no more files. Nor does it tell of a
// thread that has ended.
//
// Any thread.
func Asleep(id int64) (asleep, known bool) {
	// Not by package os, which tells the network poller of each file that it opens: seven system calls more.
	file, err := unix.Open("/proc/self/task/"+strconv.FormatInt(id, 10)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, false
	}
	var b [128]byte // a name has up to 15 bytes
	n, err := unix.Read(file, b[:])
	_ = unix.Close(file)
	if err != nil {
		return false, false
	}
	stat := b[:n]
	// 4711 (name) S …: the name may have spaces and parentheses.
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(rest) > 0 && (rest[0] == 'S' || rest[0] == 'D'), len(rest) > 0
}

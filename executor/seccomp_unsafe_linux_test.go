package executor_test

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refuseNames has the kernel refuse to name threads, from now on and in all threads of the process: prctl(PR_SET_NAME)
// fails with EPERM, as in containers that filter system calls.
func refuseNames() error {
	const (
		nr   = 0  // offset of the system call's number in struct seccomp_data
		arg0 = 16 // and of the low half of its first argument, little endian
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	unless := func(k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: skip, K: k}
	}
	filter := []unix.SockFilter{
		load(nr), unless(unix.SYS_PRCTL, 3),
		load(arg0), unless(unix.PR_SET_NAME, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	const allThreads = 1 // SECCOMP_FILTER_FLAG_TSYNC
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, allThreads,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

package executor_test

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refuseNames has the kernel refuse to name threads, from now on and in all threads of the process: prctl(PR_SET_NAME)
// fails with EPERM, as in containers that filter system calls.
func refuseNames() error {
	const arg0 = 16 // the offset of the low half of the first argument in struct seccomp_data, little endian
	return filter(load(0), unless(unix.SYS_PRCTL, 3), load(arg0), unless(unix.PR_SET_NAME, 1))
}

// refuse has the kernel refuse a system call, from now on and in all threads of the process, with EPERM.
func refuse(call uint32) error { return filter(load(0), unless(call, 1)) }

// load loads the word at an offset of struct seccomp_data. At 0 it is the number of the system call.
func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// unless skips instructions if the word loaded is not k.
func unless(k uint32, skip uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: skip, K: k}
}

// filter makes system calls fail with EPERM that reach the end of these instructions, and permits those that skip one
// instruction beyond the end.
func filter(filter ...unix.SockFilter) error {
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
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

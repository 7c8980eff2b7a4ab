//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// asGroup makes a command and all that it starts a process group. The end of the command's context ends the group: a
// signal to one process of it would leave the tests running. Not SIGINT: shells let background jobs ignore it.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// endGroup ends what is left of the command's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nothing is left, which is an error
	}
}

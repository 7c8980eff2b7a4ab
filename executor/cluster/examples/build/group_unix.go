//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// withChildren has a command killed with the processes that it has started.
func withChildren(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

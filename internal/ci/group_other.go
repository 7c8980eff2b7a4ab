//go:build !unix

package main

import (
	"os"
	"os/exec"
)

func asGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
}

func endGroup(*exec.Cmd) {}

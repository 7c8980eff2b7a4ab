package main

import "os/exec"

// withChildren does nothing here: of a command that is killed only the shell ends.
func withChildren(*exec.Cmd) {}

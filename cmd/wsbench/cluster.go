package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// clusterCommand is the command behind wsbench cluster. It is in a module of its own, since it brings a server.
const clusterCommand = "magpie-cluster"

// runCluster is wsbench cluster: it runs the command with the same arguments.
func (t *tool) runCluster(ctx context.Context, args []string) error {
	if len(args) == 0 || isHelp(args[0]) {
		return errHelp
	}
	command, remove, err := findCluster(ctx)
	if err != nil {
		return err
	}
	defer remove()
	c := exec.CommandContext(ctx, command, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // it has processes of its own to end
	c.Stdin, c.Stdout, c.Stderr = t.stdin, t.stdout, t.stderr
	err = c.Run()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() == exitBadInput {
		return input.Errorf("%s has refused its arguments", clusterCommand)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", clusterCommand, errors.Join(ctx.Err(), err))
	}
	return nil
}

// findCluster returns the path of the command, and a function to call after its use. In a checkout of Magpie the
// command is built, anywhere else it is looked for in PATH.
func findCluster(ctx context.Context) (command string, remove func(), err error) {
	if root := checkout(); root != "" {
		dir, err := os.MkdirTemp("", "wsbench")
		if err != nil {
			return "", nil, err
		}
		command = filepath.Join(dir, clusterCommand)
		build := exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/"+clusterCommand)
		build.Dir = filepath.Join(root, "executor", "cluster")
		if said, err := build.CombinedOutput(); err != nil {
			_ = os.RemoveAll(dir)
			return "", nil, fmt.Errorf("go build of %s: %w: %s", clusterCommand, err, bytes.TrimSpace(said))
		}
		return command, func() { _ = os.RemoveAll(dir) }, nil
	}
	if command, err = exec.LookPath(clusterCommand); err != nil {
		return "", nil, input.Errorf("there is no command %s in PATH: in a checkout of Magpie wsbench builds it, and "+
			"go -C executor/cluster install ./cmd/%s installs it", clusterCommand, clusterCommand)
	}
	return command, func() {}, nil
}

var isMagpie = regexp.MustCompile(`(?m)^module github\.com/magpie-go/magpie$`)

// checkout returns the root of the checkout of Magpie that the working directory is in, or "".
func checkout() string {
	dir, err := os.Getwd()
	for err == nil {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && isMagpie.Match(mod) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func clusterHelp(*tool) string {
	return `Usage: wsbench cluster COMMAND [flags]

Starts servers of NATS and workers as processes on this machine, runs graphs of registered
functions on them, ends processes in the middle if it is told to, and prints what happened. The
work is done by the command magpie-cluster of the module executor/cluster, which is built in a
checkout of Magpie, and is looked for in PATH anywhere else.

  wsbench cluster run             with four workers; -kill worker=2s,server=4s ends two processes
  wsbench cluster run -h          the flags
  wsbench cluster top             who serves a queue, what waits in it, and what runs where
  wsbench cluster dead            what a queue has given up and why; -remove removes it
`
}

//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// beMain, in the environment of the test binary, makes it the command itself.
const beMain = "WSBENCH_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestSignal interrupts the real process while a task sleeps, or while a program recurses and looks at nothing: the run is
// cancelled and the status says so.
func TestSignal(t *testing.T) {
	for what, sig := range map[string]os.Signal{
		"chain sleeper -n 600000":        os.Interrupt,
		"chain fib -n 57":                syscall.SIGTERM,
		"chain fib -n 57 -engine serial": os.Interrupt,
	} {
		exe, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(exe, strings.Fields("run "+what+" -reps 1 -workers 1 -format json")...)
		cmd.Env = append(os.Environ(), beMain+"=1")
		var errs strings.Builder
		cmd.Stderr = &errs
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// When chain has been reported, what takes minutes begins.
		line, err := bufio.NewReader(stdout).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, `"workload":"chain"`)
		require.NoError(t, cmd.Process.Signal(sig))
		_ = cmd.Wait() // an error, for the status is not 0
		require.Equal(t, 130, cmd.ProcessState.ExitCode(), errs.String())
		require.Equal(t, "wsbench: interrupted\n", errs.String())
	}
}

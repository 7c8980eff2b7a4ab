//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// beMain is an environment variable that makes the test binary run the command itself.
const beMain = "WSBENCH_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestSignal interrupts the real process while a task sleeps, while a program recurses without a check, or while
// threads visit a tree. The run is cancelled and the status says so.
func TestSignal(t *testing.T) {
	fib := "57"
	if strconv.IntSize == 32 {
		fib = "45" // the largest whose calls can be counted
	}
	for what, sig := range map[string]os.Signal{
		"run chain sleeper -workers 1 -n 600000":                      os.Interrupt,
		"run chain fib -workers 1 -n " + fib:                          syscall.SIGTERM,
		"run chain fib -workers 1 -n " + fib + " -engine serial":      os.Interrupt,
		"deque owner tree -n 1000 -deque abp -tree 2:20 -work 100000": syscall.SIGTERM,
	} {
		exe, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(exe, strings.Fields(what+" -reps 1 -format json")...)
		cmd.Env = append(os.Environ(), beMain+"=1")
		var errs strings.Builder
		cmd.Stderr = &errs
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// After the report of the first measurement, one that takes minutes begins.
		line, err := bufio.NewReader(stdout).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, strings.Fields(what)[1])
		require.NoError(t, cmd.Process.Signal(sig))
		_ = cmd.Wait() // an error, for the status is not 0
		require.Equal(t, 130, cmd.ProcessState.ExitCode(), errs.String())
		require.Equal(t, "wsbench: interrupted\n", errs.String())
	}
}

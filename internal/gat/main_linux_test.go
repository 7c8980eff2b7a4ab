package gat

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The environment of a process that a test starts. It has one job after the other, in the table at childPath.
const (
	childPath   = "MAGPIE_GAT_CHILD"  // turns the test binary into such a process
	childScript = "MAGPIE_GAT_SCRIPT" // what it does
	childStep   = "MAGPIE_GAT_STEP"   // before which of its steps it sends itself a signal; from 1
	childSignal = "MAGPIE_GAT_SIGNAL" // which one
)

const childProcessors = 8

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := child(path, os.Getenv(childScript)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// number returns a number from the environment, 0 if there is none.
func number(variable string) int {
	n, _ := strconv.Atoi(os.Getenv(variable))
	return n
}

func child(path, script string) error {
	steps := 0
	last, signal := number(childStep), unix.Signal(number(childSignal))
	failpoint = func() {
		if steps++; steps == last {
			_ = unix.Kill(os.Getpid(), signal)
		}
	}
	switch script {
	case "once": // all that a job does, once
		j, err := Join(path, childProcessors, testCycle, Terms{Name: "child"})
		if err != nil {
			return err
		}
		for _, desire := range []int{3, 8, 8, 2, 5} {
			if _, err := j.Update(desire, 1, 500); err != nil {
				return err
			}
		}
		for range updatesPerRebalance {
			if _, err := j.Update(5, 1, 500); err != nil {
				return err
			}
		}
		if err := j.Leave(); err != nil {
			return err
		}
		fmt.Println(steps)
		return nil
	case "steady": // desires all until it is killed
		j, err := Join(path, childProcessors, testCycle, Terms{Minimum: 2})
		for ; err == nil; time.Sleep(time.Millisecond) {
			_, err = j.Update(childProcessors, 1, 500)
		}
		return err
	case "restless": // joins, changes its desire and leaves until it is killed
		for {
			j, err := Join(path, childProcessors, testCycle, Terms{Minimum: rand.IntN(2)})
			if err != nil {
				return err
			}
			for range rand.IntN(100) {
				desire := rand.IntN(childProcessors + 1)
				a, err := j.Update(desire, 0, 0)
				if err != nil {
					return err
				}
				if b := j.Allotment(); a > desire || b > desire {
					return fmt.Errorf("allotments %d and %d, desire %d", a, b, desire)
				}
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			}
			if err := j.Leave(); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("no script %q", script)
}

// command returns a process that has jobs in the table at path. If step is not 0, it sends itself the signal before
// that step.
func command(path, script string, step int, signal unix.Signal) *exec.Cmd {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), childPath+"="+path, childScript+"="+script,
		childStep+"="+strconv.Itoa(step), childSignal+"="+strconv.Itoa(int(signal)))
	c.Stderr = os.Stderr
	return c
}

// start starts a process that is killed at the end of the test.
func start(t testing.TB, c *exec.Cmd) {
	t.Helper()
	require.NoError(t, c.Start())
	t.Cleanup(func() { end(c) })
}

// end kills a process and waits until it is gone.
func end(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}

// hasStopped waits until a process has stopped itself or ended, and reports whether it has stopped.
func hasStopped(t testing.TB, c *exec.Cmd) bool {
	t.Helper()
	var status unix.WaitStatus
	_, err := retry(func() (int, error) { return unix.Wait4(c.Process.Pid, &status, unix.WUNTRACED, nil) })
	require.NoError(t, err)
	require.True(t, status.Stopped() || status.Exited() && status.ExitStatus() == 0, "the process has failed: %v", status)
	return status.Stopped()
}

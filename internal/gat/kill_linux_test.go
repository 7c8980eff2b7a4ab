package gat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// stepsOf returns how many steps a process of the script "once" has. In other runs it may have a few less or more,
// because it does not store what a word has already.
func stepsOf(t *testing.T, path string) int {
	t.Helper()
	out, err := command(path, "once", 0, 0).Output()
	require.NoError(t, err)
	steps, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	require.Greater(t, steps, 30)
	return steps
}

// kills returns the steps before which processes die, spread over all of them. With MAGPIE_TESTS=all they are a
// thousand.
func kills(t *testing.T, steps int) (at []int) {
	n := testkit.Scale(200)
	if testkit.All() {
		n = 1000
	}
	if n >= steps {
		for i := range n {
			at = append(at, 1+i%steps)
		}
		return at
	}
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 1))
	return rng.Perm(steps + 1)[:n] // 0: does not die
}

// runAndKill runs a process of the script "once" that is killed before a step. It reports whether it came to that step.
func runAndKill(t *testing.T, path string, step int) bool {
	t.Helper()
	c := command(path, "once", step, unix.SIGKILL)
	err := c.Run()
	killed := c.ProcessState.Sys().(syscall.WaitStatus).Signaled()
	require.True(t, killed || err == nil, "step %d: %v", step, err)
	return killed
}

// TestKill: a process is killed before any of its steps. A job that lives on has all processors after two updates, and
// no slot is lost.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, childProcessors, Terms{Name: "a"})
	update(t, a, 8)
	at := kills(t, stepsOf(t, path))
	killed := 0
	for _, step := range at {
		if runAndKill(t, path, step) {
			killed++
		}
		update(t, a, 8)
		require.Equal(t, 8, update(t, a, 8), "step %d: the dead job's processors", step)
		require.Len(t, look(t, path).Jobs, 1, "step %d: the dead job's slot", step)
	}
	require.Greater(t, killed, len(at)*3/4)
	testkit.Proved(t, killed, "processes killed")
}

// TestKillFirst: a process is killed before any step of its making the table. The next job finds it in order.
func TestKillFirst(t *testing.T) {
	dir := t.TempDir()
	at := kills(t, stepsOf(t, filepath.Join(dir, "first")))
	killed := 0
	for i, step := range at {
		path := filepath.Join(dir, fmt.Sprint(i))
		if i%2 == 1 { // make a file of another version a table
			text := append(binary.NativeEndian.AppendUint64(nil, magic), strings.Repeat("another version's ", 2000)...)
			require.NoError(t, os.WriteFile(path, text, 0o600))
		}
		if runAndKill(t, path, step) {
			killed++
		}
		_, err := Read(path)
		require.True(t, err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrForeign), "%v", err)
		a, err := Join(path, 4, testCycle, Terms{}) // with another number of processors
		require.NoError(t, err, "step %d", step)
		require.Equal(t, 4, update(t, a, 8))
		require.Len(t, look(t, path).Jobs, 1, "step %d: the dead job's slot", step)
		require.NoError(t, a.Leave())
		require.Empty(t, look(t, path).Jobs)
		require.NoError(t, os.Remove(path))
	}
	require.Greater(t, killed, len(at)*3/4)
	testkit.Proved(t, killed, "processes killed")
}

// TestStop: a process stops before any of its steps, some of which hold byte 0, and is killed then. Meanwhile the other
// job goes on, and has a valid allotment.
func TestStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, childProcessors, Terms{Name: "a"})
	update(t, a, 8)
	steps, holds := stepsOf(t, path), 0
	stride := max(1, steps/max(20, testkit.Scale(60)))
	for step := 1; step < steps; step += stride {
		c := command(path, "once", step, unix.SIGSTOP)
		require.NoError(t, c.Start())
		if !hasStopped(t, c) {
			continue // it has fewer steps than the first
		}
		before := a.Allotment()
		require.LessOrEqual(t, update(t, a, 7), 7)
		held, err := a.at.Load().held(rebalancing)
		require.NoError(t, err)
		if held {
			holds++
			require.Equal(t, min(before, 7), a.Allotment(), "nothing changes while byte 0 is held")
		}
		sum := 0
		for _, j := range look(t, path).Jobs {
			sum += j.Allotment
		}
		require.LessOrEqual(t, sum, childProcessors)
		end(c)
		update(t, a, 8)
		require.Equal(t, 8, update(t, a, 8), "step %d: the dead job's processors", step)
		require.Len(t, look(t, path).Jobs, 1, "step %d: the dead job's slot", step)
	}
	require.NotZero(t, holds, "no process stopped while it held byte 0")
}

// TestStopHoldsJoin: while a stopped process holds byte 0, no job can join. The error says why. When the process goes
// on, others can.
func TestStopHoldsJoin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, childProcessors, Terms{Name: "a"})
	c := command(path, "once", 6, unix.SIGSTOP) // it joins
	start(t, c)
	require.True(t, hasStopped(t, c))
	held, err := a.at.Load().held(rebalancing)
	require.NoError(t, err)
	require.True(t, held, "the process is to stop where it holds byte 0")
	before := joinPatience
	joinPatience = time.Millisecond
	_, err = Join(path, childProcessors, testCycle, Terms{})
	joinPatience = before
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, strconv.Itoa(c.Process.Pid))
	require.NoError(t, c.Process.Signal(unix.SIGCONT))
	require.NoError(t, c.Wait())
	join(t, path, childProcessors, Terms{})
}

// TestStopped: a stopped job has its minimum after two seconds, keeps its slot, and has its place again when it goes
// on.
func TestStopped(t *testing.T) {
	path, system, ahead := filepath.Join(t.TempDir(), "table"), now, time.Duration(0)
	now = func() uint64 { return system() + uint64(ahead) }
	defer func() { now = system }()
	a := join(t, path, childProcessors, Terms{Name: "a"})
	c := command(path, "steady", 0, 0)
	start(t, c)
	testkit.Until(t, "the processors are shared", func() bool { return update(t, a, 8) == 4 })
	// A job that is stopped while it rebalances keeps the others from that: then it is stopped anew.
	testkit.Until(t, "the stopped job's processors are given back", func() bool {
		require.NoError(t, c.Process.Signal(unix.SIGSTOP))
		require.True(t, hasStopped(t, c))
		ahead = 3 * time.Second
		for range 2 * updatesPerRebalance {
			if update(t, a, 8) == 6 {
				return true
			}
		}
		ahead = 0
		require.NoError(t, c.Process.Signal(unix.SIGCONT))
		return false
	})
	s := look(t, path)
	require.Len(t, s.Jobs, 2)
	require.True(t, s.Jobs[1].Stopped)
	require.Greater(t, s.Jobs[1].Heartbeat, 2*time.Second)
	require.True(t, s.Jobs[1].Alive)
	require.Equal(t, 2, s.Jobs[1].Allotment)
	ahead = 0
	require.NoError(t, c.Process.Signal(unix.SIGCONT))
	testkit.Until(t, "the job has its place again", func() bool { return update(t, a, 8) == 4 })
	require.Equal(t, s.Jobs[1].PID, look(t, path).Jobs[1].PID)
}

// TestProcesses: processes join, update, leave, stop and are killed at random. At any time the sum of the allotments is
// no more than the processors.
func TestProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, childProcessors, Terms{Name: "a"})
	var all [4]*exec.Cmd
	renew := func(i int) {
		all[i] = command(path, "restless", 0, 0)
		require.NoError(t, all[i].Start())
	}
	for i := range all {
		renew(i)
		defer func() { end(all[i]) }()
	}
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 2))
	looks, dead := 0, 0
	for deadline := time.Now().Add(time.Duration(testkit.Scale(3000)) * time.Millisecond); time.Now().Before(deadline); {
		i := rng.IntN(len(all))
		switch rng.IntN(100) {
		case 0, 1, 2:
			end(all[i])
			renew(i)
			dead++
		case 3:
			require.NoError(t, all[i].Process.Signal(unix.SIGSTOP))
			update(t, a, rng.IntN(9))
			require.NoError(t, all[i].Process.Signal(unix.SIGCONT))
		case 4, 5, 6, 7:
			update(t, a, rng.IntN(9))
		default:
			s, sum := look(t, path), 0
			looks++
			for _, j := range s.Jobs {
				sum += j.Allotment
			}
			require.LessOrEqual(t, sum, childProcessors, "%+v", s)
		}
	}
	for _, c := range all {
		end(c)
		require.Equal(t, -1, c.ProcessState.ExitCode(), "a process has failed")
	}
	update(t, a, 8)
	require.Equal(t, 8, update(t, a, 8))
	require.Len(t, look(t, path).Jobs, 1)
	t.Logf("%d looks, %d kills", looks, dead)
}

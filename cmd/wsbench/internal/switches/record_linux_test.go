package switches

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// beProgram is an environment variable that makes the test binary a program with two threads on one CPU, which "yield"
// or "spin".
const beProgram = "SWITCHES_TEST_BE_PROGRAM"

func TestMain(m *testing.M) {
	if what := os.Getenv(beProgram); what != "" {
		program(what)
	}
	os.Exit(m.Run())
}

// program never returns: its parent kills it.
func program(what string) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		panic(err)
	}
	var first unix.CPUSet
	for cpu := 0; first.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			first.Set(cpu)
		}
	}
	runtime.GOMAXPROCS(4)
	var ready sync.WaitGroup
	for range 2 {
		ready.Add(1)
		go func() {
			runtime.LockOSThread()
			if err := unix.SchedSetaffinity(0, &first); err != nil {
				panic(err)
			}
			ready.Done()
			for {
				if what == "yield" {
					_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
				}
			}
		}()
	}
	ready.Wait()
	fmt.Println("ready")
	select {}
}

// start starts programs, and returns their process ids.
func start(t *testing.T, all ...string) (pids []int) {
	for _, what := range all {
		exe, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), beProgram+"="+what)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		pids = append(pids, cmd.Process.Pid)
	}
	return pids
}

func record(t *testing.T) *Recording {
	r, err := Record()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, r.Stop()) })
	return r
}

// ofThreads returns the texts of a file in /proc of each thread of a process.
func ofThreads(t *testing.T, pid int, name string) (texts []string) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, name))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	return texts
}

// runTime returns for how long the threads of a process have run.
func runTime(t *testing.T, pid int) (sum time.Duration) {
	for _, text := range ofThreads(t, pid, "schedstat") {
		ns, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
		require.NoError(t, err)
		sum += time.Duration(ns)
	}
	return sum
}

// kernelCount returns how often the threads of a process have been switched out.
func kernelCount(t *testing.T, pid int) (n int64) {
	for _, text := range ofThreads(t, pid, "status") {
		for line := range strings.Lines(text) {
			if name, value, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "voluntary_ctxt_switches") {
				x, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
				require.NoError(t, err)
				n += x
			}
		}
	}
	return n
}

// toSelf returns the switches from a process to the recording one, which do not count.
func toSelf(r *Recording, pid int) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.tally.pairs[pair{int32(pid), r.tally.self}]; n != nil {
		return n.total
	}
	return 0
}

// TestThieves: threads that yield to each other are thieves. All of their switches are counted, and none twice.
func TestThieves(t *testing.T) {
	pid := start(t, "yield")[0]
	before := kernelCount(t, pid)
	r := record(t)
	begun, at, run := kernelCount(t, pid), time.Now(), runTime(t, pid)
	testkit.Until(t, "switches are recorded", func() bool {
		c := r.Counts(pid)
		return c.Total > 1000 && c.ToThief > 10
	})
	run, wall := runTime(t, pid)-run, time.Since(at)
	ending := kernelCount(t, pid)
	c := r.Counts(pid)
	after := kernelCount(t, pid)
	// Beside another busy thread on their core they yield mostly to that one, which is no thief.
	if run > wall*9/10 {
		require.Greater(t, 10*c.ToThief, 4*c.Total, "%+v", c)
	}
	require.Zero(t, c.External)
	if c.Lost == 0 {
		require.GreaterOrEqual(t, c.Total+toSelf(r, pid), ending-begun)
	}
	require.LessOrEqual(t, c.Total, 2*(after-before)+100, "a switch is from the process, to it or both")

	require.NoError(t, r.Stop())
	end := r.Counts(pid)
	time.Sleep(2 * pollEvery)
	require.Equal(t, end, r.Counts(pid), "the recording went on after its end")
	require.NoError(t, r.Stop())
}

// TestPrograms: threads that compute are no thieves, and lose their core to each other's program.
func TestPrograms(t *testing.T) {
	pids := start(t, "spin", "spin")
	r := record(t)
	var a, b Counts
	testkit.Until(t, "switches are recorded", func() bool {
		a, b = r.Counts(pids[0], pids[1]), r.Counts(pids[1], pids[0])
		return a.External > 5 && b.External > 5 && a.Total > a.ToThief+20 && b.Total > b.ToThief+20
	})
	t.Logf("%+v, %+v", a, b)
	// The totals are read anew: b counts switches that have come after a.
	require.LessOrEqual(t, a.External+b.External, r.Counts(pids[0]).Total)
	require.LessOrEqual(t, a.External+b.External, r.Counts(pids[1]).Total)
}

// TestRefused: an error says what to do, and nothing stays open.
func TestRefused(t *testing.T) {
	defer func(was func(int, int) (*ring, string, error)) { system.open = was }(system.open)
	for _, c := range []struct {
		call string
		err  error
		want string
	}{
		{"perf_event_open", unix.EACCES, "kernel.perf_event_paranoid to 0 or less"},
		{"perf_event_open", unix.EPERM, "CAP_PERFMON"},
		{"perf_event_open", unix.ENOSYS, "CONFIG_PERF_EVENTS"},
		{"perf_event_open", unix.EINVAL, "Linux 4.3"},
		{"perf_event_open", unix.EMFILE, "ulimit -n"},
		{"mmap", unix.EPERM, "ulimit -l"},
		{"mmap", unix.ENOMEM, "no memory"},
		{"mmap", unix.EIO, "report it"},
	} {
		var sizes []int
		system.open = func(_, size int) (*ring, string, error) {
			sizes = append(sizes, size)
			return nil, c.call, c.err
		}
		_, err := Record()
		require.ErrorIs(t, err, c.err)
		require.ErrorContains(t, err, c.want)
		if c.call == "mmap" {
			require.Equal(t, ringBytes, sizes, "a smaller ring may be allowed")
		} else {
			require.Len(t, sizes, 1)
		}
	}
}

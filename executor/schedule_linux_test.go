package executor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// scheduled is how the kernel schedules a thread.
type scheduled struct {
	policy uint32
	nice   int32
	slice  time.Duration // 0 before Linux 6.12
	cpus   unix.CPUSet
}

func scheduleOf(t *testing.T, thread int64) scheduled {
	s, err := readSchedule(thread)
	require.NoError(t, err)
	return s
}

func readSchedule(thread int64) (s scheduled, err error) {
	a, err := unix.SchedGetAttr(int(thread), 0)
	if err != nil {
		return s, err
	}
	s.policy, s.nice, s.slice = a.Policy, a.Nice, time.Duration(a.Runtime)
	return s, unix.SchedGetaffinity(int(thread), &s.cpus)
}

func (s scheduled) on(cpus ...int) scheduled {
	s.cpus.Zero()
	for _, cpu := range cpus {
		s.cpus.Set(cpu)
	}
	return s
}

// own returns the schedule of the process, and the CPUs that it may run on.
func own(t *testing.T) (s scheduled, cpus []int) {
	s = scheduleOf(t, int64(os.Getpid()))
	for cpu := range 1024 {
		if s.cpus.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return s, cpus
}

// requireOthersAre checks that the threads of the process that are not workers' have schedule want. A thread that a
// task has left by Goexit may exist for a moment.
func requireOthersAre(t *testing.T, want scheduled, executors ...*executor.Executor) {
	t.Helper()
	var others map[int64]scheduled
	defer func() {
		if len(others) > 0 {
			t.Logf("these threads have another schedule than %v: %v", want, others)
		}
	}()
	testkit.Until(t, "all threads but the workers' have the schedule of the process", func() bool {
		others = othersThan(t, want, executors...)
		return len(others) == 0
	})
}

// othersThan returns the threads that are not workers' and have another schedule than want.
func othersThan(t *testing.T, want scheduled, executors ...*executor.Executor) map[int64]scheduled {
	workers := make(map[int64]bool)
	for _, ex := range executors {
		for _, id := range ex.Threads() {
			workers[id] = true
		}
	}
	others := make(map[int64]scheduled)
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, task := range tasks {
		id, err := strconv.ParseInt(task.Name(), 10, 64)
		require.NoError(t, err)
		if s, err := readSchedule(id); err != unix.ESRCH && s != want && !workers[id] {
			require.NoError(t, err)
			others[id] = s
		}
	}
	return others
}

// Workers' threads have the schedule that Config says: also those of spares, and those that take over after a Goexit.
// No other thread of the process has it, while the executor is open and afterwards.
func TestSchedule(t *testing.T) {
	guests.None(t)
	mine, cpus := own(t)
	require.Equal(t, uint32(unix.SCHED_NORMAL), mine.policy, "the test takes it that the process has the usual class")
	last := cpus[len(cpus)-1]
	with := func(change func(*scheduled)) scheduled { s := mine; change(&s); return s }
	nice := min(max(mine.nice, 0)+3, 19)
	for _, c := range []struct {
		cfg  executor.Config
		want scheduled
	}{
		{executor.Config{}, mine},
		{executor.Config{Threads: host.Threads{Class: host.ClassBatch}},
			with(func(s *scheduled) { s.policy = unix.SCHED_BATCH })},
		{executor.Config{
			Threads: host.Threads{Class: host.ClassIdle},
		}, with(func(s *scheduled) { s.policy = unix.SCHED_IDLE })},
		{executor.Config{Threads: host.Threads{Class: host.ClassBatch, Nice: int(nice)}},
			with(func(s *scheduled) { s.policy, s.nice = unix.SCHED_BATCH, nice })},
		{executor.Config{Threads: host.Threads{Class: host.ClassIdle, Nice: int(nice), CPUs: []int{last, last}}},
			with(func(s *scheduled) { s.policy, s.nice = unix.SCHED_IDLE, nice }).on(last)},
		{executor.Config{Threads: host.Threads{CPUs: cpus}}, mine},
	} {
		for range 3 {
			cfg := c.cfg
			cfg.Workers, cfg.Spares = 2, 1
			checkSchedule(t, cfg, mine, func(int) scheduled { return c.want })
		}
	}
}

// checkSchedule makes an executor with one spare and compares the schedules of its threads with want, by worker.
func checkSchedule(t *testing.T, cfg executor.Config, others scheduled, want func(worker int) scheduled) {
	ex, err := fixture.New(t, cfg)
	require.NoError(t, err)
	require.NoError(t, ex.Stats().Refused)
	require.NotContains(t, dump(ex), "refused")
	within(t, ex, func() {
		check := func(threads int) {
			t.Helper()
			require.Len(t, ex.Threads(), threads)
			for worker, thread := range ex.Threads() {
				end := time.Now().Add(testkit.Patience) // a worker that is woken has other CPUs for a moment
				for scheduleOf(t, thread) != want(worker) && time.Now().Before(end) {
					time.Sleep(time.Millisecond)
				}
				require.Equal(t, want(worker), scheduleOf(t, thread), "%+v", cfg)
			}
			requireOthersAre(t, others, ex)
		}
		check(cfg.Workers)
		for range cfg.Workers {
			require.ErrorIs(t, ex.Run(t.Context(), one(goexit)), executor.ErrGoexit)
		}
		meetAll(t, ex)
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			executor.Blocking(func() {
				eventually(func() bool { // the spare's thread is known before it has its schedule
					all := ex.Threads()
					return len(all) > cfg.Workers && all[cfg.Workers] != 0 &&
						scheduleOf(t, all[cfg.Workers]) == want(cfg.Workers)
				})
			})
			return nil
		})))
		check(cfg.Workers + 1)
	})
	require.NoError(t, ex.Close())
	var wg sync.WaitGroup // threads of the process that may be new
	for range 8 {
		wg.Go(func() { time.Sleep(time.Microsecond) })
	}
	wg.Wait()
	requireOthersAre(t, others)
}

// A process that a task starts has the schedule of the worker.
func TestScheduleOfAChildProcess(t *testing.T) {
	_, cpus := own(t)
	ex := newExecutor(t, executor.Config{Workers: 1, Threads: host.Threads{CPUs: cpus[:1]}})
	require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
		status, err := exec.CommandContext(ctx, "cat", "/proc/self/status").Output()
		want := fmt.Sprintf("Cpus_allowed_list:\t%d\n", cpus[0])
		if err == nil && !strings.Contains(string(status), want) {
			t.Errorf("no %q in %s", want, status)
		}
		return err
	})))
}

func TestSlice(t *testing.T) {
	guests.None(t)
	mine, _ := own(t)
	for _, class := range []host.Class{host.ClassNormal, host.ClassBatch} {
		for _, slice := range []time.Duration{100 * time.Microsecond, 7 * time.Millisecond, 100 * time.Millisecond} {
			cfg := executor.Config{Workers: 2, Spares: 1, Threads: host.Threads{Class: class, Slice: slice}}
			if mine.slice == 0 { // an old kernel
				_, err := fixture.New(t, cfg)
				require.ErrorContains(t, err, "it needs Linux 6.12")
				continue
			}
			want := mine
			want.slice = slice
			if class == host.ClassBatch {
				want.policy = unix.SCHED_BATCH
			}
			checkSchedule(t, cfg, mine, func(int) scheduled { return want })
		}
	}
}

// Each worker has one CPU, and the CPUs go round. A spare has all of them.
func TestPinOneEach(t *testing.T) {
	guests.None(t)
	mine, cpus := own(t)
	for _, set := range [][]int{nil, cpus, cpus[:1]} {
		among := set
		if set == nil {
			among = cpus
		}
		workers := 2*len(among) + 1
		order := osthread.CoresFirst(among)
		cfg := executor.Config{Workers: workers, Spares: 1, Threads: host.Threads{CPUs: set, Pin: true}}
		checkSchedule(t, cfg, mine, func(worker int) scheduled {
			if worker == workers {
				return mine.on(among...)
			}
			return mine.on(order[worker%len(order)])
		})
	}
}

// Without a number of workers there are at most as many as there are CPUs in the set.
func TestWorkersOfASet(t *testing.T) {
	_, cpus := own(t)
	require.Equal(t, 1, newExecutor(t, executor.Config{Threads: host.Threads{CPUs: cpus[:1]}}).Workers())
	require.Equal(t, 3, newExecutor(t, executor.Config{Threads: host.Threads{CPUs: cpus[:1]}, Workers: 3}).Workers())
}

// A CPU that does not exist is an error before any thread is started, unless the workers may do with the others.
func TestNoSuchCPU(t *testing.T) {
	_, cpus := own(t)
	_, err := executor.New(executor.Config{Threads: host.Threads{CPUs: []int{16000, cpus[0], 15000}, Nice: 99}})
	require.Len(t, faults(err), 2)
	require.ErrorContains(t, err,
		"Config.Threads.CPUs has [15000 16000]: there are no such CPUs, or they are offline, give some of")

	mine, _ := own(t)
	for _, c := range []struct {
		cpus []int
		says string
		want scheduled
	}{
		{[]int{15000, cpus[0], 15001}, "CPUs 15000-15001 are not in the process's cpuset", mine.on(cpus[0])},
		{[]int{15000}, "none of CPUs 15000 is in the process's cpuset", mine},
	} {
		ex := newExecutor(t, executor.Config{Workers: 1, Threads: host.Threads{CPUs: c.cpus, BestEffort: true}})
		require.ErrorContains(t, ex.Stats().Refused, "Config.Threads.CPUs: "+c.says)
		require.Contains(t, dump(ex), "refused by the system: Config.Threads.CPUs: "+c.says)
		require.Equal(t, c.want, scheduleOf(t, ex.Threads()[0]))
	}
}

// Where a filter refuses the system calls, New fails and leaves nothing behind, or the workers go without.
func TestScheduleRefused(t *testing.T) {
	guests.None(t)
	told, out := inChild(t, "refuse")
	if told == "" {
		require.Contains(t, out, "worked")
		return
	}
	mine, cpus := own(t)
	cfg := executor.Config{
		Workers: 2, Spares: 1, Name: "meek",
		Threads: host.Threads{
			Nice: int(min(max(mine.nice, 0)+1, 19)), Class: host.ClassBatch, Slice: time.Millisecond,
			CPUs: cpus[:1], Pin: true,
		},
	}
	granted, err := fixture.New(t, cfg)
	require.NoError(t, err)
	require.NoError(t, refuse(unix.SYS_SETPRIORITY))
	require.NoError(t, refuse(unix.SYS_SCHED_SETATTR))
	require.NoError(t, refuse(unix.SYS_SCHED_SETAFFINITY))

	ps := runtime.GOMAXPROCS(0)
	_, err = fixture.New(t, cfg)
	require.ErrorIs(t, err, os.ErrPermission)
	require.Equal(t, ps, runtime.GOMAXPROCS(0), "a refused executor must not keep Ps")
	for _, says := range []string{`executor "meek": the system refuses`, "Config.Threads.Nice: operation not permitted",
		"Config.Threads.Class: sched_setattr: operation not permitted",
		"Config.Threads.Slice: sched_setattr: operation not permitted",
		"Config.Threads.CPUs: sched_setaffinity: operation not permitted",
		"Config.Threads.Pin: sched_setaffinity: operation not permitted", "leave these fields zero", "set BestEffort"} {
		require.Equal(t, 1, strings.Count(err.Error(), says), "%q in %v", says, err)
	}
	requireOthersAre(t, mine, granted)

	cfg.Threads.BestEffort = true
	ex, err := fixture.New(t, cfg)
	require.NoError(t, err)
	for _, says := range []string{"Nice", "Class", "Slice", "CPUs", "Pin"} {
		require.ErrorContains(t, ex.Stats().Refused, "Config.Threads."+says)
		require.Contains(t, dump(ex), "Config.Threads."+says)
	}
	require.ErrorIs(t, ex.Stats().Refused, os.ErrPermission)
	require.Equal(t, ex.Stats().Refused, ex.Stats().Sub(executor.Stats{}).Refused)
	meetAll(t, ex)
	for _, thread := range ex.Threads() {
		require.Equal(t, mine, scheduleOf(t, thread))
	}
	require.NoError(t, ex.Close())

	// What is refused after New is noted, whatever BestEffort says, and the executor goes on.
	require.NoError(t, granted.Stats().Refused)
	require.ErrorIs(t, granted.Run(t.Context(), one(goexit)), executor.ErrGoexit)
	meetAll(t, granted)
	require.ErrorIs(t, granted.Stats().Refused, os.ErrPermission)
	require.NoError(t, granted.Close())
	fmt.Println("worked")
}

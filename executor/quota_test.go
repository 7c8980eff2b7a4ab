package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/cgroup"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/quota"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A fakeQuota is the quota of a process, in CPUs; 0 means none, and a negative one that it cannot be read.
type fakeQuota struct{ cpus atomic.Int64 } // in thousandths

func (q *fakeQuota) read() (cgroup.State, error) {
	switch milli := q.cpus.Load(); {
	case milli < 0:
		return cgroup.State{}, os.ErrPermission
	case milli == 0:
		return cgroup.State{CPUs: math.Inf(1)}, nil
	default:
		return cgroup.State{CPUs: float64(milli) / 1000, Period: 20 * time.Millisecond, Group: "/g"}, nil
	}
}

func newFakeQuota(milli int64) (*fakeQuota, *quota.Ledger) {
	q := &fakeQuota{}
	q.cpus.Store(milli)
	return q, quota.NewLedger(q.read)
}

func newQuotaExecutor(t *testing.T, cfg executor.Config, milli int64) (*executor.Executor, *fakeQuota) {
	q, ledger := newFakeQuota(milli)
	defer func(old *quota.Ledger) { quota.Process = old }(quota.Process)
	quota.Process = ledger
	return newExecutor(t, cfg), q
}

// A duty is how many workers were awake on average, and how many processors they used. On a busy machine a worker that
// is awake may wait for a processor, and a manager that waits for one lets workers be awake for too long.
type duty struct{ awake, used float64 }

// keepBusy runs forks for a time.
func keepBusy(t *testing.T, ex *executor.Executor, d time.Duration) duty {
	t.Helper()
	var began, ended time.Time
	var awake, used time.Duration
	within(t, ex, func() {
		began, awake, used = time.Now(), ex.Stats().Quota.Awake, workersCPU(t, ex)
		_, err := executor.Call(t.Context(), ex, func(s *executor.Scope, end time.Time) int {
			for time.Now().Before(end) {
				forkFib(s, 18)
			}
			return 0
		}, began.Add(d))
		require.NoError(t, err)
		awake, used, ended = ex.Stats().Quota.Awake-awake, workersCPU(t, ex)-used, time.Now()
	})
	lasted := float64(ended.Sub(began))
	return duty{float64(awake) / lasted, float64(used) / lasted}
}

// workersCPU is the processor time that workers have used or, where the system does not tell it, for how long they have
// been awake.
func workersCPU(t *testing.T, ex *executor.Executor) (sum time.Duration) {
	for _, id := range ex.Threads() {
		if id == 0 {
			continue // a spare's
		}
		used, err := osthread.CPU(id)
		if errors.Is(err, errors.ErrUnsupported) {
			return ex.Stats().Quota.Awake
		}
		require.NoError(t, err)
		sum += used
	}
	return sum
}

// busyTime is for how long a duty is measured.
func busyTime() time.Duration {
	if testkit.Quick() {
		return 100 * time.Millisecond
	}
	return 400 * time.Millisecond
}

// fits repeats the measurement of a duty until workers use no more than the given number of processors.
func fits(t *testing.T, most float64, measure func() duty) {
	t.Helper()
	testkit.Fits(t, func() (wrong string) {
		if l := measure(); l.used > most {
			wrong = fmt.Sprintf("workers use %.2f processors, awake are %.2f: want at most %.2f", l.used, l.awake, most)
		}
		return wrong
	})
}

// growsTo repeats the measurement of a duty until as many workers are awake.
func growsTo(t *testing.T, least float64, measure func() duty) {
	t.Helper()
	testkit.Fits(t, func() (wrong string) {
		if l := measure(); l.awake < least {
			wrong = fmt.Sprintf("awake are %.2f: want at least %.2f", l.awake, least)
		}
		return wrong
	})
}

// looked has an executor work until it has looked at the quota. On a busy machine its manager may come late.
func looked(t *testing.T, ex *executor.Executor, work func()) {
	t.Helper()
	testkit.Until(t, "the executor has looked at the quota", func() bool {
		work()
		return ex.Stats().Quota.Workers != 0
	})
}

// Workers are awake for their part of the quota on average, whatever the policy.
func TestHostShare(t *testing.T) {
	for _, p := range testkit.Some(t, usable()) {
		t.Run(p, func(t *testing.T) {
			for _, milli := range []int64{500, 2000} {
				ex, _ := newQuotaExecutor(t, executor.Config{
					Workers: 4, Experiment: experiment.Options{Policy: p}, Host: host.Options{Share: host.QuotaShare(0.5)},
				}, milli)
				looked(t, ex, func() { keepBusy(t, ex, 20*time.Millisecond) })
				fits(t, 1.5*float64(milli)/2000+0.2, func() duty { return keepBusy(t, ex, busyTime()) })
				s := ex.Stats().Quota
				require.NoError(t, s.Err)
				require.Equal(t, float64(milli)/1000, s.CPUs)
				require.Equal(t, s.CPUs/2, s.Workers)
			}
		})
	}
}

// Executors of one process use together what one alone may, with the largest QuotaShare of those that have work. One
// that has none, or is closed, holds nothing back.
func TestHostShareOfSeveral(t *testing.T) {
	process := quota.Process
	_, quota.Process = newFakeQuota(2000)
	var all []*executor.Executor
	for _, part := range []host.QuotaShare{0.25, 0.5} {
		all = append(all, newExecutor(t, executor.Config{Workers: 4, Host: host.Options{Share: part}}))
	}
	quota.Process = process
	alone := func() duty { return keepBusy(t, all[0], busyTime()) }
	together := func() duty {
		var each [2]duty
		var busy sync.WaitGroup
		for i, ex := range all {
			busy.Go(func() { each[i] = keepBusy(t, ex, busyTime()) })
		}
		busy.Wait()
		return duty{each[0].awake + each[1].awake, each[0].used + each[1].used}
	}
	workers := func(ex *executor.Executor) float64 { return ex.Stats().Quota.Workers }
	fits(t, 1.3, together) // with a part of their own it would be 2.5
	looked(t, all[1], func() { together() })
	require.Equal(t, 1.0, workers(all[1]))
	growsTo(t, 1.3, alone) // 1.5, as soon as the other has left
	testkit.Fits(t, func() (wrong string) {
		if n := workers(all[0]); n != 1.5 {
			alone()
			wrong = fmt.Sprintf("%v workers of a quota for 1.5", n)
		}
		return wrong
	})
	fits(t, 1.3, together)
	require.NoError(t, all[1].Close())
	growsTo(t, 1.3, alone)
}

// The quota is followed: it appears, changes, cannot be read for a while, and goes.
func TestHostShareFollows(t *testing.T) {
	ex, q := newQuotaExecutor(t, executor.Config{Workers: 4, Host: host.Options{Share: host.QuotaShare(0.25)}}, 0)
	within(t, ex, func() {
		keepBusy(t, ex, 20*time.Millisecond)
		none := ex.Stats().Quota
		require.Positive(t, none.Awake)
		require.Equal(t, host.QuotaStats{Awake: none.Awake}, none)
		until := func(wanted func(host.QuotaStats) bool) {
			for !wanted(ex.Stats().Quota) {
				keepBusy(t, ex, time.Millisecond)
				time.Sleep(5 * time.Millisecond)
			}
		}
		q.cpus.Store(1000)
		until(func(s host.QuotaStats) bool { return s.CPUs == 1 && s.Workers == 0.75 })
		q.cpus.Store(-1)
		until(func(s host.QuotaStats) bool { return errors.Is(s.Err, os.ErrPermission) && s.CPUs == 1 })
		q.cpus.Store(2000)
		until(func(s host.QuotaStats) bool { return s.Err == nil && s.CPUs == 2 })
		q.cpus.Store(0)
		until(func(s host.QuotaStats) bool { return s.CPUs == 0 })
	})
	require.Contains(t, dump(ex), "CPU quota: none\n")
}

// However little the workers may use, runs end: short ones from outside, forks, and tasks that wait for each other
// although they do not say so.
func TestHostShareProgress(t *testing.T) {
	for _, p := range testkit.Some(t, usable()) {
		t.Run(p, func(t *testing.T) {
			ex, _ := newQuotaExecutor(t, executor.Config{
				Workers: 3, Experiment: experiment.Options{Policy: p}, Host: host.Options{Share: host.QuotaShare(0.9)},
			}, 500)
			within(t, ex, func() {
				for range 20 {
					tiny := executor.NewJob("tiny", func(*executor.Scope) error { return nil })
					require.NoError(t, ex.Run(t.Context(), tiny))
				}
				n, err := executor.Call(t.Context(), ex, forkFib, 20)
				require.NoError(t, err)
				require.Equal(t, 6765, n)
				require.NoError(t, ex.Run(t.Context(), executor.NewJob("meet", func(s *executor.Scope) error {
					var met atomic.Int32
					for range 3 {
						s.Go(func(context.Context) error {
							for met.Add(1); met.Load() < 3; {
								time.Sleep(time.Millisecond)
							}
							return nil
						})
					}
					return s.Wait()
				})))
			})
		})
	}
}

// forkFib is fib(n) with forks.
func forkFib(s *executor.Scope, n int) int {
	if n < 2 {
		return n
	}
	f := executor.Fork(s, forkFib, n-1)
	y := forkFib(s, n-2)
	return f.Join(s) + y
}

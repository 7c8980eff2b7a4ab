package executor_test

import (
	"context"
	"errors"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/cgroup"
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
	ex := newExecutor(t, cfg)
	q, ledger := newFakeQuota(milli)
	ex.SetQuota(ledger)
	return ex, q
}

// keepBusy runs forks for a time, and returns how many workers were awake on average.
func keepBusy(t *testing.T, ex *executor.Executor, d time.Duration) float64 {
	began, before := time.Now(), ex.AwakeTime()
	_, err := executor.Call(t.Context(), ex, func(s *executor.Scope, end time.Time) int {
		for time.Now().Before(end) {
			forkFib(s, 18)
		}
		return 0
	}, began.Add(d))
	require.NoError(t, err)
	return float64(ex.AwakeTime()-before) / float64(time.Since(began))
}

// Workers are awake for their part of the quota on average, whatever the policy.
func TestHostShare(t *testing.T) {
	for _, p := range testkit.Some(t, usable()) {
		t.Run(p.String(), func(t *testing.T) {
			for _, milli := range []int64{500, 2000} {
				ex, _ := newQuotaExecutor(t, executor.Config{Workers: 4, Policy: p, HostShare: 0.5}, milli)
				within(t, ex, func() {
					keepBusy(t, ex, 20*time.Millisecond) // until the first look
					// On a busy machine the manager may come late.
					for keepBusy(t, ex, 400*time.Millisecond) > 1.5*float64(milli)/2000+0.2 {
					}
				})
				s := ex.Stats().Quota
				require.NoError(t, s.Err)
				require.Equal(t, float64(milli)/1000, s.CPUs)
				require.Equal(t, s.CPUs/2, s.Workers)
			}
		})
	}
}

// Executors of one process use together what one alone may, with the largest HostShare of those that have work. One
// that has none, or is closed, holds nothing back.
func TestHostShareOfSeveral(t *testing.T) {
	process := quota.Process
	_, quota.Process = newFakeQuota(2000)
	var all []*executor.Executor
	for _, host := range []float64{0.25, 0.5} {
		all = append(all, newExecutor(t, executor.Config{Workers: 4, HostShare: host}))
	}
	quota.Process = process
	within(t, all[0], func() {
		together := func() (sum float64) {
			var used [2]float64
			var busy sync.WaitGroup
			for i, ex := range all {
				busy.Go(func() { used[i] = keepBusy(t, ex, 400*time.Millisecond) })
			}
			busy.Wait()
			return used[0] + used[1]
		}
		for together() > 1.3 { // on a busy machine the manager may come late; with a part of their own it would be 2.5
		}
		require.Equal(t, 1.0, all[1].Stats().Quota.Workers)
		for keepBusy(t, all[0], 400*time.Millisecond) < 1.3 { // 1.5, as soon as the other has left
		}
		require.Equal(t, 1.5, all[0].Stats().Quota.Workers)
		for together() > 1.3 {
		}
		require.NoError(t, all[1].Close())
		for keepBusy(t, all[0], 400*time.Millisecond) < 1.3 {
		}
	})
}

// The quota is followed: it appears, changes, cannot be read for a while, and goes.
func TestHostShareFollows(t *testing.T) {
	ex, q := newQuotaExecutor(t, executor.Config{Workers: 4, HostShare: 0.25}, 0)
	within(t, ex, func() {
		keepBusy(t, ex, 20*time.Millisecond)
		require.Equal(t, executor.QuotaStats{}, ex.Stats().Quota)
		until := func(wanted func(executor.QuotaStats) bool) {
			for !wanted(ex.Stats().Quota) {
				keepBusy(t, ex, time.Millisecond)
			}
		}
		q.cpus.Store(1000)
		until(func(s executor.QuotaStats) bool { return s.CPUs == 1 && s.Workers == 0.75 })
		q.cpus.Store(-1)
		until(func(s executor.QuotaStats) bool { return errors.Is(s.Err, os.ErrPermission) && s.CPUs == 1 })
		q.cpus.Store(2000)
		until(func(s executor.QuotaStats) bool { return s.Err == nil && s.CPUs == 2 })
		q.cpus.Store(0)
		until(func(s executor.QuotaStats) bool { return s.CPUs == 0 })
	})
	require.Contains(t, dump(ex), "CPU quota: none\n")
}

// However little the workers may use, runs end: short ones from outside, forks, and tasks that wait for each other
// although they do not say so.
func TestHostShareProgress(t *testing.T) {
	for _, p := range testkit.Some(t, usable()) {
		t.Run(p.String(), func(t *testing.T) {
			ex, _ := newQuotaExecutor(t, executor.Config{Workers: 3, Policy: p, HostShare: 0.9}, 500)
			within(t, ex, func() {
				for range 20 {
					tiny := executor.Func("tiny", func(*executor.Scope) error { return nil })
					require.NoError(t, ex.Run(t.Context(), tiny))
				}
				n, err := executor.Call(t.Context(), ex, forkFib, 20)
				require.NoError(t, err)
				require.Equal(t, 6765, n)
				require.NoError(t, ex.Run(t.Context(), executor.Func("meet", func(s *executor.Scope) error {
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

package executor

import (
	"fmt"
	"time"

	"github.com/magpie-go/magpie/internal/cgroup"
	"github.com/magpie-go/magpie/internal/quota"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// quotas keeps the workers to their part of the CPU quota, with Config.HostShare. It is a part of sharing, whose mu
// guards it.
type quotas struct {
	budget quota.Budget
	read   func() (cgroup.State, error)
	state  cgroup.State
	looked int64 // when state was read
	told   int64 // up to when the budget knows what was used
	used   int64 // the time that workers had been awake at told

	// For Stats.
	err      xatomic.Pointer[error]
	cpus     xatomic.Tell64 // the quota in thousandths of a CPU; 0 if there is none
	rate     xatomic.Tell64 // the workers' part of it now, in thousandths of a CPU
	throttle xatomic.Tell64 // periods in which the process was throttled while a run was in progress
}

// slowCycle is how often an executor without a quota looks whether there is one.
const slowCycle = time.Second

func newQuotas(hostShare float64, cycle time.Duration) *quotas {
	if hostShare == 0 {
		return nil
	}
	return &quotas{read: cgroup.Read, budget: quota.Budget{Host: hostShare, Cycle: cycle}}
}

// limited reports whether there is a quota. q may be nil.
func (q *quotas) limited() bool { return q != nil && q.budget.Limited() }

// next returns how many of the workers may be awake in the next cycle. used is the time that workers have been awake so
// far, summed over all of them. q may be nil.
func (q *quotas) next(now, used int64, workers int) int {
	if q == nil {
		return workers
	}
	every := slowCycle
	if q.limited() {
		every = q.state.Period
	}
	if q.looked == 0 || now-q.looked >= int64(every) {
		q.look(now)
	}
	n := q.budget.Next(time.Duration(now-q.told), time.Duration(max(used-q.used, 0)), workers)
	q.told, q.used = now, used
	return n
}

// forget is called after a time without runs: what happened to the process meanwhile is not the workers' doing.
func (q *quotas) forget() {
	if q != nil {
		q.looked, q.state.Periods = 0, 0
	}
}

// look reads the state of the process's groups.
func (q *quotas) look(now int64) {
	s, err := q.read()
	q.looked = now
	if err != nil {
		q.err.Store(&err) // what was known before goes on
		return
	}
	q.err.Store(nil)
	q.budget.SetQuota(s.CPUs, s.Period)
	last := q.state
	q.state = s
	if !s.Limited() {
		q.cpus.Store(0)
		return
	}
	if s.Group == last.Group && last.Periods > 0 && s.Periods > last.Periods {
		throttled := s.Throttled - min(last.Throttled, s.Throttled)
		q.budget.Throttled(throttled > 0)
		q.throttle.Store(q.throttle.Load() + throttled)
	}
	q.cpus.Store(uint64(s.CPUs*1000 + 0.5))
	q.rate.Store(uint64(q.budget.Rate()*1000 + 0.5))
}

// QuotaStats is how an executor with a [Config.HostShare] keeps to its part of the CPU quota.
type QuotaStats struct {
	Err error // why the quota could not be read the last time, if it could not
	// CPUs is the smallest quota of the process's control group and those around it, in CPUs; 0 if there is none, or
	// before the first run.
	CPUs float64
	// Workers is the part of it that the workers may use now, in CPUs. It is less than 1 - HostShare of it after
	// periods in which the process was throttled all the same.
	Workers float64
	// Throttled is the number of periods so far in which the kernel has stopped the process, or another of its group,
	// because the quota was used up. It counts while a run is in progress.
	Throttled uint64
}

// String returns the main figures for people, "none" if there is no quota, or why none is known.
func (s QuotaStats) String() string {
	switch {
	case s.Err != nil:
		return fmt.Sprintf("unknown: %v", s.Err)
	case s.CPUs == 0:
		return "none"
	}
	return fmt.Sprintf("%.3g CPUs, of which workers may use %.3g, throttled in %d periods",
		s.CPUs, s.Workers, s.Throttled)
}

// quotaStats returns what Stats has. Any thread.
func (s *sharing) quotaStats() (out QuotaStats) {
	if s == nil || s.quotas == nil {
		return out
	}
	return s.quotas.stats()
}

func (q *quotas) stats() (s QuotaStats) {
	if err := q.err.Load(); err != nil {
		s.Err = *err
	}
	if s.CPUs = float64(q.cpus.Load()) / 1000; s.CPUs > 0 {
		s.Workers = float64(q.rate.Load()) / 1000
	}
	s.Throttled = q.throttle.Load()
	return s
}

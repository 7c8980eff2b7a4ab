package executor

import (
	"fmt"
	"time"

	"github.com/magpie-go/magpie/internal/quota"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// quotas keeps the workers to their part of the CPU quota, with Host.QuotaShare. It is a part of sharing, whose mu
// guards it.
type quotas struct {
	ledger *quota.Ledger // of all executors of the process
	member quota.Member
	used   int64 // the time that workers had been awake at the end of the last cycle

	// For Stats.
	err      xatomic.Pointer[error]
	cpus     xatomic.Tell64 // the quota in thousandths of a CPU; 0 if there is none
	rate     xatomic.Tell64 // what the workers of the ledger's executors may use of it now, in thousandths of a CPU
	throttle xatomic.Tell64 // periods in which the process was throttled while a run was in progress
}

// slowCycle is the cycle of an executor without a Share while there is no quota.
const slowCycle = time.Second

func newQuotas(hostShare float64, cycle time.Duration) *quotas {
	if hostShare == 0 {
		return nil
	}
	return &quotas{ledger: quota.Process, member: quota.Member{Part: quota.Part{Host: hostShare, Cycle: cycle}}}
}

// limited reports whether there is a quota. q may be nil.
func (q *quotas) limited() bool { return q != nil && q.cpus.Load() != 0 }

// next returns how many of the workers may be awake in the next cycle. used is the time that workers have been awake so
// far, summed over all of them. q may be nil.
func (q *quotas) next(now, used int64, workers int) int {
	if q == nil {
		return workers
	}
	n, s := q.ledger.Next(&q.member, time.Duration(now), time.Duration(used-q.used), workers)
	q.used = used
	if err := s.Err; err != nil {
		q.err.Store(&err)
	} else {
		q.err.Store(nil)
	}
	q.cpus.Store(uint64(s.CPUs*1000 + 0.5))
	q.rate.Store(uint64(s.Rate*1000 + 0.5))
	q.throttle.Store(q.throttle.Load() + s.Throttled)
	return n
}

// leave leaves the quota to other executors until the next call of next. q may be nil.
func (q *quotas) leave() {
	if q != nil {
		q.ledger.Leave(&q.member)
	}
}

// QuotaStats is how an executor with a [Host.QuotaShare] keeps to its part of the CPU quota.
type QuotaStats struct {
	Err error // why the quota could not be read the last time, if it could not
	// CPUs is the smallest quota of the process's control group and those around it, in CPUs; 0 if there is none, or
	// before the first run.
	CPUs float64
	// Workers is the part of it that the workers of all executors with a QuotaShare may use now together, in CPUs. It is
	// less than 1 - QuotaShare of it after periods in which the process was throttled all the same, and while another
	// executor with a larger QuotaShare has work.
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

package host

import (
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor/internal/hosting"
	"github.com/magpie-go/magpie/internal/quota"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A QuotaShare is the part of the process's CPU quota that an executor's workers leave to the rest of the process,
// above 0 and below 1. Under a quota, such as Kubernetes sets with limits.cpu, the kernel stops the whole process when
// its CPU time for a period is used up, handlers of requests too, whatever the priority of the workers that have used
// it. With a QuotaShare of 0.25, workers use at most three quarters of the quota: some of them rest, each from the end
// of a task, a Fork or a Join on, for a few milliseconds. If the process is stopped all the same, because the rest of
// it needs more than its share, workers use less for a while, down to a twentieth of theirs.
//
// Executors of one process use that part together: those with a QuotaShare that have work in progress have equal parts
// of it, and what one does not need the others use. The largest QuotaShare among them is left free.
//
// The quota is the smallest of the process's control group and of those around it that the process sees. It is read
// again in each of its periods, or once a second while there is none. It bounds tasks that take much longer than a
// period, usually 100 ms, only on average over a second. Without a quota workers do not rest, and without control
// groups, as on other systems than Linux, a QuotaShare has no effect. See [QuotaStats].
type QuotaShare float64

// Checked implements [Sharing].
func (q QuotaShare) Checked(_ int, bad func(format string, args ...any)) Sharing {
	if q == 0 {
		return nil
	}
	if !q.isPart() {
		bad("Share is QuotaShare(%v): give a part of the CPU quota above 0 and below 1, or nil for none", float64(q))
	}
	return q
}

// isPart reports whether q is a part of a quota, or 0.
func (q QuotaShare) isPart() bool { return q >= 0 && q < 1 }

func (QuotaShare) sealed() {}

// Begin implements [Sharing].
func (q QuotaShare) Begin(on hosting.Machine) hosting.Sharing[ShareStats, QuotaStats] {
	defaults := (&Share{}).withDefaults(on.Workers(), nil) // for its Cycle
	return newSharing(on, defaults, false, float64(q))
}

// quotas keeps the workers to their part of the CPU quota, with a QuotaShare. It is a part of sharing, whose mu guards
// it.
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

// slowCycle is the cycle of an executor without a table while there is no quota.
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

// QuotaStats is how an executor with a [QuotaShare] keeps to its part of the CPU quota.
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
	// Awake is for how long workers have been awake so far, summed over all of them, spares included.
	Awake time.Duration
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

// quotaStats returns the figures about the quota.
func (s *sharing) quotaStats() (out QuotaStats) {
	if s.quotas != nil {
		out = s.quotas.stats()
		out.Awake = time.Duration(s.awake(nanotime()))
	}
	return out
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

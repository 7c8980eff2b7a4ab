package metrics

import (
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
)

// A row is a metric. It has either total, or one of counter and gauge, which are for one worker.
type row struct {
	Description
	// total reads the metric of the whole executor.
	total func(s *executor.Stats) Value
	// counter reads a metric of a worker that is summed over all workers.
	counter func(w *executor.WorkerStats) uint64
	// gauge reads the same from the gauges, for worker i.
	gauge func(g *executor.Gauges, i int) int
}

// table has a row for each metric, ordered by name. The package documentation has a list of it.
var table = []row{
	shared("/magpie/futures:futures", "Futures of Async that have not ended.",
		func(s *executor.Stats) int { return s.Gauges.Futures }),
	intake("/magpie/intake/inside:runs", "Runs and futures in progress that were started from outside.",
		func(s *executor.Stats) int { return s.Gauges.Inside }),
	intake("/magpie/intake/maximum:runs", "Runs and futures from outside that there is room for, Config.MaxRuns.",
		func(s *executor.Stats) int { return s.Gauges.MaxRuns }),
	refusals("/magpie/intake/refused:calls", "Calls of TryStart and Group.TryGo that found no room.",
		func(s *executor.Stats) uint64 { return s.RunsRefused }),
	refusals("/magpie/intake/waited:calls", "Calls that have waited for room, or wait.",
		func(s *executor.Stats) uint64 { return s.RunsWaited }),
	intake("/magpie/intake/waiting:calls", "Calls that wait for room.",
		func(s *executor.Stats) int { return s.Gauges.Entering }),
	counter("/magpie/parks:events", "Times that a worker went to sleep, for lack of work or in a wait.",
		func(w *executor.WorkerStats) uint64 { return w.Parks }),
	counter("/magpie/pops:items", "Items that workers took from their own deques.",
		func(w *executor.WorkerStats) uint64 { return w.Pops }),
	{
		Description: Description{
			Name:        "/magpie/queue/deques:items",
			Description: "Items in the workers' deques, as far as other threads can see them.",
			PerWorker:   true,
		},
		gauge: func(g *executor.Gauges, i int) int { return g.Queued[i] },
	},
	shared("/magpie/queue/injected:items", "Items in the queue that all workers share, which no worker has taken yet.",
		func(s *executor.Stats) int { return s.Gauges.Injected }),
	quota("/magpie/quota/limit:cpus", "CPU quota of the process, in CPUs.",
		func(s *host.QuotaStats) float64 { return s.CPUs }),
	{
		Description: Description{
			Name:        "/magpie/quota/throttled:periods",
			Description: "Periods in which the kernel stopped the process because the CPU quota was used up.",
			Cumulative:  true,
		},
		total: func(s *executor.Stats) Value { return ifQuota(s, Value{KindUint64, s.Quota.Throttled, 0}) },
	},
	quota("/magpie/quota/workers:cpus", "Part of the CPU quota that workers may use by host.QuotaShare, in CPUs.",
		func(s *host.QuotaStats) float64 { return s.Workers }),
	shared("/magpie/runs:runs", "Runs in progress, nested ones included.",
		func(s *executor.Stats) int { return s.Gauges.Runs }),
	sharing("/magpie/share/allotment:processors", "Processors that the executor is allotted by host.Share.",
		func(s *host.ShareStats) Value { return integer(s.Allotment) }),
	sharing("/magpie/share/desire:processors", "Processors that the executor desires by host.Share.",
		func(s *host.ShareStats) Value { return integer(s.Desire) }),
	sharing("/magpie/share/efficiency:ratio", "1 less the part of steal attempts in the latest cycle of host.Share "+
		"whose victim was looking for work itself.",
		func(s *host.ShareStats) Value { return Value{KindFloat64, 0, s.Efficiency} }),
	{
		Description: Description{
			Name:        "/magpie/share/rests:events",
			Description: "Times that a worker went to rest because more were awake than allotted by host.Share.",
			Cumulative:  true,
		},
		total: func(s *executor.Stats) Value {
			rests := Value{KindUint64, s.Share.Rests, 0}
			if s.Share.Cycles > 0 { // the counter stays when the executor has no place in the table any more
				return rests
			}
			return ifJoined(s, rests)
		},
	},
	shared("/magpie/spares/serving:workers", "Spare workers in service.",
		func(s *executor.Stats) int { return s.Gauges.Spares }),
	shared("/magpie/spares/standby:workers", "Spare workers on standby, whose threads are kept.",
		func(s *executor.Stats) int { return s.Gauges.Standby }),
	counter("/magpie/steals/lost:steals", "Attempts to steal that were lost to another thread.",
		func(w *executor.WorkerStats) uint64 { return w.StealsLost }),
	counter("/magpie/steals/tried:steals", "Attempts to steal from other workers' deques.",
		func(w *executor.WorkerStats) uint64 { return w.StealsTried }),
	counter("/magpie/steals/won:steals", "Attempts to steal that brought an item, or several.",
		func(w *executor.WorkerStats) uint64 { return w.StealsWon }),
	{
		Description: Description{
			Name: "/magpie/tasks/silent:events", Cumulative: true,
			Description: "Times that a task was found to wait outside Blocking while items waited for a worker.",
		},
		total: func(s *executor.Stats) Value { return Value{KindUint64, s.SilentBlocks, 0} },
	},
	counter("/magpie/tasks/skipped:tasks", "Tasks that were not run because of a failure or cancellation.",
		func(w *executor.WorkerStats) uint64 { return w.Skipped }),
	counter("/magpie/tasks:tasks", "Tasks run, without those that were skipped.",
		func(w *executor.WorkerStats) uint64 { return w.Tasks }),
	counter("/magpie/wakeups:events", "Times that a worker was woken from sleep.",
		func(w *executor.WorkerStats) uint64 { return w.Wakeups }),
	shared("/magpie/workers/active:workers", "Workers that run tasks.",
		func(s *executor.Stats) int { return s.Gauges.Active }),
	shared("/magpie/workers/blocked:workers", "Workers whose task is in Blocking.",
		func(s *executor.Stats) int { return s.Gauges.Blocked }),
	shared("/magpie/workers/configured:workers", "Workers without spare ones, Config.Workers.",
		func(s *executor.Stats) int { return s.Gauges.Workers }),
	shared("/magpie/workers/parked:workers", "Workers that sleep, for lack of work or in a wait.",
		func(s *executor.Stats) int { return s.Gauges.Count(executor.WorkerParked) }),
	shared("/magpie/workers/resting:workers", "Workers that rest because of host.Share or host.QuotaShare.",
		func(s *executor.Stats) int { return s.Gauges.Count(executor.WorkerResting) }),
	shared("/magpie/workers/searching:workers", "Workers that look for work.",
		func(s *executor.Stats) int {
			return s.Gauges.Count(executor.WorkerSearching) + s.Gauges.Count(executor.WorkerPreparing)
		}),
	shared("/magpie/workers/silent:workers", "Workers whose task waits outside Blocking, and was found to.",
		func(s *executor.Stats) int { return len(s.Gauges.Silent) }),
	shared("/magpie/workers/waiting:workers", "Workers that sleep in a Wait or Join.",
		func(s *executor.Stats) int { return s.Gauges.Waiting }),
}

// counter returns the row of a counter that each worker has.
func counter(name, about string, of func(*executor.WorkerStats) uint64) row {
	return row{
		Description: Description{Name: name, Description: about, Cumulative: true, PerWorker: true},
		counter:     of,
	}
}

// shared returns the row of a gauge of the whole executor.
func shared(name, about string, of func(*executor.Stats) int) row {
	return row{
		Description: Description{Name: name, Description: about},
		total:       func(s *executor.Stats) Value { return integer(of(s)) },
	}
}

// sharing returns the row of a gauge of executors that share the machine.
func sharing(name, about string, of func(*host.ShareStats) Value) row {
	return row{
		Description: Description{Name: name, Description: about},
		total:       func(s *executor.Stats) Value { return ifJoined(s, of(&s.Share)) },
	}
}

// intake returns the row of a gauge of executors with a bounded intake.
func intake(name, about string, of func(*executor.Stats) int) row {
	return row{
		Description: Description{Name: name, Description: about},
		total:       func(s *executor.Stats) Value { return ifBounded(s, integer(of(s))) },
	}
}

// refusals returns the row of a counter of executors with a bounded intake.
func refusals(name, about string, of func(*executor.Stats) uint64) row {
	return row{
		Description: Description{Name: name, Description: about, Cumulative: true},
		total:       func(s *executor.Stats) Value { return ifBounded(s, Value{KindUint64, of(s), 0}) },
	}
}

// quota returns the row of a gauge of executors that keep to a part of a CPU quota.
func quota(name, about string, of func(*host.QuotaStats) float64) row {
	return row{
		Description: Description{Name: name, Description: about},
		total:       func(s *executor.Stats) Value { return ifQuota(s, Value{KindFloat64, 0, of(&s.Quota)}) },
	}
}

// ifBounded returns v, or no value if the intake is not bounded.
func ifBounded(s *executor.Stats, v Value) Value {
	if s.Gauges.MaxRuns == 0 {
		return Value{}
	}
	return v
}

// ifQuota returns v, or no value if the executor knows no quota.
func ifQuota(s *executor.Stats, v Value) Value {
	if s.Quota.CPUs == 0 {
		return Value{}
	}
	return v
}

// ifJoined returns v, or no value if the executor does not share the machine.
func ifJoined(s *executor.Stats, v Value) Value {
	if !s.Share.Joined {
		return Value{}
	}
	return v
}

// integer returns a gauge. A gauge that was read while it changed is never below 0.
func integer(n int) Value { return Value{KindUint64, uint64(max(n, 0)), 0} }

// rows finds a row by its name.
var rows = func() map[string]*row {
	m := make(map[string]*row, len(table))
	for i := range table {
		table[i].Kind = KindUint64
		if unit := table[i].Unit(); unit == "ratio" || unit == "cpus" {
			table[i].Kind = KindFloat64
		}
		m[table[i].Name] = &table[i]
	}
	return m
}()

// read reads the metric into sample.
func (r *row) read(s *executor.Stats, sample *Sample) {
	sample.Workers = sample.Workers[:0]
	if r.total != nil {
		sample.Value = r.total(s)
		return
	}
	sum := uint64(0)
	for i := range s.Workers {
		n := uint64(0)
		if r.counter != nil {
			n = r.counter(&s.Workers[i])
		} else {
			n = uint64(max(r.gauge(&s.Gauges, i), 0))
		}
		sample.Workers = append(sample.Workers, Value{KindUint64, n, 0})
		sum += n
	}
	sample.Value = Value{KindUint64, sum, 0}
}

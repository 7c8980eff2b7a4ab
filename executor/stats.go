package executor

import (
	"slices"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
)

// Stats holds counters since the executor was made, and gauges of the moment. A worker publishes its counters when it
// turns away from a run, and about every thousand items. A call of [Executor.Stats] asks the workers to do so within 64
// items, so counters that are read again and again lag by no more. When a run has ended, its tasks are counted in full;
// attempts to steal may still lag. A task is one item together with the calls of [Fork] that its worker runs itself, or
// a drainer of package pool. Skipped tasks are counted as observers are told of them, and so are futures of [Async]
// whose function is not called, once a worker comes to them. Counters never decrease, and keep their last values after
// Close. Gauges do not lag, but they are read one after the other, and so need not agree.
type Stats struct {
	Workers []WorkerStats   // by worker index; spare workers follow the others, as many as were needed so far
	Total   WorkerStats     // the sum of Workers
	Share   host.ShareStats // with a Share in Config.Host
	Quota   host.QuotaStats // with a QuotaShare there
	Gauges  Gauges
	// RunsWaited is the number of calls that have waited for room under Config.MaxRuns, or wait, and RunsRefused that of
	// calls of TryStart and Group.TryGo that have found none.
	RunsWaited, RunsRefused uint64
	// SilentBlocks is how often a task was found to wait outside [Blocking] while items waited for a worker.
	SilentBlocks uint64
	// Refused says which fields of Config the system has refused to threads of workers, as Threads.BestEffort permits, or
	// is nil. A refusal stays, even if the system grants the same to a later thread.
	Refused error
}

// WorkerStats holds the counters of one worker, or the sum of several.
type WorkerStats struct {
	Tasks   uint64 // tasks run
	Skipped uint64 // tasks that were not run because of a failure or cancellation; not in Tasks
	Pops    uint64 // items taken from the worker's own deque
	// StealsTried counts attempts to steal from other workers' deques. It leaves out deques that were seen to be empty
	// beforehand, unless the kind of deque hides items.
	StealsTried uint64
	StealsWon   uint64 // attempts to steal that brought an item, or several
	StealsLost  uint64 // attempts to steal that were lost to another thread
	Parks       uint64 // times that the worker went to sleep, for lack of work or in a wait
	Wakeups     uint64 // times that the worker was woken from such a sleep
	Peers       experiment.PeerStats
}

// Stats returns a snapshot, after Close too. It takes some microseconds, and a lock that each run takes when it starts
// and when it ends.
func (ex *Executor) Stats() Stats {
	ex.mustBeMade()
	return ex.stats()
}

func (ex *executor) stats() Stats {
	workers := ex.workers()
	s := Stats{Workers: make([]WorkerStats, len(workers))}
	for i, w := range workers {
		s.Workers[i] = w.seen.snapshot()
		s.Workers[i].Skipped = partsOf(w).skipped.Load()
		s.Workers[i].Peers = partsOf(w).peer.snapshot()
		s.Total.add(s.Workers[i], 1)
		if w.seen.asked.Load() == 0 {
			w.seen.asked.Store(1)
		}
	}
	s.Share, s.Quota = ex.sharing.stats()
	s.Refused = ex.schedule.err()
	s.Gauges = ex.gauges(workers)
	ex.intake.stats(&s)
	s.SilentBlocks = ex.silence.times.Load()
	return s
}

// Sub returns s with the difference to old, an earlier snapshot, in all fields but Gauges, Share, Quota and Refused.
func (s Stats) Sub(old Stats) Stats {
	d := s
	d.Workers = slices.Clone(s.Workers)
	d.RunsWaited -= old.RunsWaited
	d.RunsRefused -= old.RunsRefused
	d.SilentBlocks -= old.SilentBlocks
	for i := range old.Workers { // s may have more
		d.Workers[i].add(old.Workers[i], ^uint64(0))
	}
	d.Total.add(old.Total, ^uint64(0))
	return d
}

// add adds b, factor times.
func (a *WorkerStats) add(b WorkerStats, factor uint64) {
	a.Tasks += factor * b.Tasks
	a.Skipped += factor * b.Skipped
	a.Pops += factor * b.Pops
	a.StealsTried += factor * b.StealsTried
	a.StealsWon += factor * b.StealsWon
	a.StealsLost += factor * b.StealsLost
	a.Parks += factor * b.Parks
	a.Wakeups += factor * b.Wakeups
	addPeers(&a.Peers, b.Peers, factor)
}

func (p *seen) snapshot() WorkerStats {
	return WorkerStats{
		Tasks:       p.tasks.Load(),
		Pops:        p.pops.Load(),
		StealsTried: p.tried.Load(),
		StealsWon:   p.won.Load(),
		StealsLost:  p.lost.Load(),
		Parks:       p.parks.Load(),
		Wakeups:     p.wakeups.Load(),
	}
}

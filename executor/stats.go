package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// Stats has the counters of an executor since it was made. Each worker publishes its counters when it runs out of work,
// when it turns to another run, when it blocks, and about every thousand items. A snapshot that is taken while runs are
// in progress may lag by so much. When a run has ended, its tasks are counted in full; attempts to steal may still lag.
type Stats struct {
	Workers []WorkerStats // by worker ID; spare workers follow the others, as many as were needed so far
	Total   WorkerStats
	Share   ShareStats // with Config.Share
	// Active is the number of workers that run items at the moment: not of those that look for items, sleep or are
	// blocked. A worker that helps while it waits for a fork or a run counts, and so does one without a core.
	Active int
}

// WorkerStats has the counters of one worker, or the sum of several.
type WorkerStats struct {
	Tasks uint64 // tasks run; includes tasks that were skipped after a failure or cancellation
	Pops  uint64 // items taken from the worker's own deque
	// StealsTried counts attempts to steal from other workers' deques. It leaves out deques that were seen to be empty
	// beforehand, unless the kind of deque hides items.
	StealsTried uint64
	StealsWon   uint64 // attempts to steal that brought an item, or several
	StealsLost  uint64 // attempts to steal that were lost to another thread
	Parks       uint64 // times that the worker went to sleep
	Wakeups     uint64 // times that the worker was woken
	Peers       PeerStats
}

// Stats returns a snapshot.
func (ex *Executor) Stats() Stats {
	workers := ex.workers()
	s := Stats{Workers: make([]WorkerStats, len(workers))}
	for i, w := range workers {
		s.Workers[i] = w.seen.snapshot()
		s.Workers[i].Peers = w.peers.snapshot()
		s.Total.add(s.Workers[i], 1)
		if workerState(w.state.Load()) == running {
			s.Active++
		}
	}
	s.Share = ex.sharing.stats()
	return s
}

// Sub returns the difference between s and old, an earlier snapshot of the same executor. Share is that of s.
func (s Stats) Sub(old Stats) Stats {
	d := Stats{Workers: append([]WorkerStats(nil), s.Workers...), Total: s.Total, Active: s.Active - old.Active}
	d.Share = s.Share
	for i := range old.Workers { // s may have more
		d.Workers[i].add(old.Workers[i], ^uint64(0))
	}
	d.Total.add(old.Total, ^uint64(0))
	return d
}

// add adds b, factor times.
func (a *WorkerStats) add(b WorkerStats, factor uint64) {
	a.Tasks += factor * b.Tasks
	a.Pops += factor * b.Pops
	a.StealsTried += factor * b.StealsTried
	a.StealsWon += factor * b.StealsWon
	a.StealsLost += factor * b.StealsLost
	a.Parks += factor * b.Parks
	a.Wakeups += factor * b.Wakeups
	a.Peers.add(b.Peers, factor)
}

// counts are a worker's own counters.
type counts struct {
	items    uint64
	overhead uint64 // items that are not tasks
	tried    uint64
	won      uint64
	lost     uint64
	parks    uint64
	wakeups  uint64
}

// published is the copy of a worker's counts that other threads read.
type published struct {
	tasks, pops, tried, won, lost, parks, wakeups xatomic.Tell64
}

// publishCounts publishes the worker's counts. Owner only.
func (w *Worker) publishCounts() {
	p, c := &w.seen, &w.counts
	set := func(to *xatomic.Tell64, v uint64) {
		if to.Load() != v { // a load is cheap, a store is not
			to.Store(v)
		}
	}
	set(&p.tasks, c.items-c.overhead)
	set(&p.pops, w.lane.Popped)
	set(&p.tried, c.tried)
	set(&p.won, c.won)
	set(&p.lost, c.lost)
	set(&p.parks, c.parks)
	set(&p.wakeups, c.wakeups)
	w.peers.publish()
}

func (p *published) snapshot() WorkerStats {
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

package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// Stats is what an executor has counted since it was made. A worker counts in plain words of its own and publishes them
// when it runs out of work, when a run ends on it, when it blocks and every thousand items, so a snapshot taken while runs
// are in progress may lag by that much. After a run's end everything it did is in.
type Stats struct {
	Workers []WorkerStats // by worker; spare ones after the others, as many as were needed so far
	Total   WorkerStats
}

// WorkerStats is what one worker has counted, or the sum of several.
type WorkerStats struct {
	Tasks       uint64 // tasks run, those that were skipped after a failure or cancellation included
	Pops        uint64 // items taken from the worker's own deque
	StealsTried uint64 // attempts on other workers' deques that were not seen to be empty beforehand; every one if they hide items
	StealsWon   uint64 // of these, how many brought an item, or several
	StealsLost  uint64 // of these, how many were lost to another thread
	Parks       uint64 // times the worker went to sleep
	Wakeups     uint64 // times it was woken
}

// Stats returns a snapshot.
func (ex *Executor) Stats() Stats {
	workers := ex.workers()
	s := Stats{Workers: make([]WorkerStats, len(workers))}
	for i, w := range workers {
		s.Workers[i] = w.seen.snapshot()
		s.Total.add(s.Workers[i], 1)
	}
	return s
}

// Sub returns what was counted between old and s, two snapshots of one executor.
func (s Stats) Sub(old Stats) Stats {
	d := Stats{Workers: append([]WorkerStats(nil), s.Workers...), Total: s.Total}
	for i := range old.Workers { // later there may be more
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
}

// counts are a worker's own counters.
type counts struct {
	items    uint64
	overhead uint64 // of the items, those that are not tasks
	tried    uint64
	won      uint64
	lost     uint64
	parks    uint64
	wakeups  uint64
}

// published holds what others may see of a worker's counts.
type published struct {
	tasks, pops, tried, won, lost, parks, wakeups xatomic.Tell64
}

// publishCounts shows what the worker has counted. The worker itself only.
func (w *Worker) publishCounts() {
	p, c := &w.seen, &w.counts
	set := func(to *xatomic.Tell64, v uint64) {
		if to.Load() != v { // a load is free, a store is not
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

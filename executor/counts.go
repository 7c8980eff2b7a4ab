package executor

import "github.com/magpie-go/magpie/internal/xatomic"

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

// seen is what other threads see of a worker.
type seen struct {
	state xatomic.Tell32 // a WorkerState
	level xatomic.Int32  // the priority of the worker's body, for those that look for a more urgent run

	// A copy of the worker's counts, made by publishCounts.
	tasks, pops, tried, won, lost, parks, wakeups xatomic.Tell64

	asked xatomic.Tell32 // 1: Stats has been called since the worker's last checkpoint
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
	w.core.attached.published.make(w)
}

// publishCountsBefore publishes the counts of a worker without its next item, which it has counted. The item may turn
// out to be no task, see uncount, and counters never decrease.
func (w *Worker) publishCountsBefore() {
	w.counts.items--
	w.publishCounts()
	w.counts.items++
}

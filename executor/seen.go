package executor

import (
	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// WorkerState is what a worker does at the moment, as [Executor.Dump] and [Gauges] tell it. A state may be over when it
// is read. New states may be added.
type WorkerState uint8

// The states of a worker.
const (
	WorkerRunning    WorkerState = iota // it runs a task, or looks for work while its task waits
	WorkerSearching                     // it looks for work
	WorkerPreparing                     // it looks a last time before it sleeps
	WorkerParked                        // it sleeps: there is no work, or its task waits for other work
	WorkerBlocked                       // its task is in [Blocking]
	WorkerStandby                       // it is a spare that is not needed, and its thread is kept
	WorkerResting                       // it rests because of [Config.Share] or [Config.HostShare]
	WorkerThreadless                    // a spare that is not needed; any after Close
)

var workerStateNames = [...]string{
	"running", "searching", "preparing", "parked", "blocked", "standing by", "resting", "without a thread",
}

// WorkerStates lists every WorkerState.
func WorkerStates() []WorkerState { return enum.All(WorkerThreadless + 1) }

// String returns the state as [Executor.Dump] writes it: "running", "searching", "preparing", "parked", "blocked",
// "standing by", "resting" or "without a thread".
func (s WorkerState) String() string { return enum.Name(s, "WorkerState", workerStateNames[:]) }

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

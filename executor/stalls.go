package executor

import (
	"time"

	"github.com/magpie-go/magpie/executor/internal/stalls"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// silence is what an executor knows of its tasks that block without Blocking.
type silence struct {
	watch stalls.Watch
	times xatomic.Tell64 // how often a task was found to sleep outside Blocking
}

// A stallHost shows an executor to the watch for tasks that block without saying so. It implements stalls.Host.
//
// To the ledger of spares such a task is one in Blocking. The watch alone decides when it begins and ends: the worker
// does not know. A worker that calls Blocking or sleeps in a wait before the next look counts twice until then, and so
// there is a spare too many for a moment.
type stallHost struct{ ex *executor }

// init prepares no watch if there is no spare to call up, nor with Experiment.Verbatim.
func (s *silence) init(ex *executor) {
	if ex.inline == nil && ex.cfg.Spares > 0 && !ex.cfg.Threads.OnlyBlocking && !ex.cfg.chosen.Verbatim {
		s.watch.Init(stallHost{ex})
	}
}

func (s *silence) attachTo(on *attachments) {
	if s.watch.IsSet() { // not in a model, which has no kernel to ask
		on.running.add(func(*Worker) { s.watch.Wake() })
		on.submitted = append(on.submitted, s.watch.Submitted)
		on.sharesLanes = true // no thread could share a lane later, while its worker sleeps: see protocol/stalls.md
	}
}

// Workers implements stalls.Host.
func (h stallHost) Workers(list []stalls.Worker) []stalls.Worker {
	for _, w := range h.ex.workers() {
		if !osthread.TellsAsleep {
			w.seen.asked.Store(1) // so that Ended is told at the worker's next checkpoint
		}
		list = append(list, stalls.Worker{Thread: w.thread.inUse(), Doing: doing(w), Ended: w.seen.tasks.Load()})
	}
	return list
}

func doing(w *Worker) stalls.Doing {
	switch WorkerState(w.seen.state.Load()) {
	case WorkerRunning:
		return stalls.InTask
	case WorkerSearching, WorkerPreparing:
		return stalls.Looking
	case WorkerParked:
		if w.sleeper.waits.Load() == 0 {
			return stalls.Idle
		}
	}
	return stalls.Away
}

// Queued implements stalls.Host.
func (h stallHost) Queued() bool { return h.ex.anyItem() }

// Looked implements stalls.Host.
//
// A stint of a worker ends where a look finds nobody awake, as in Blocking.
func (h stallHost) Looked(now time.Time) { h.ex.reserve.look(h.ex, now) }

// Sleeps implements stalls.Host.
func (h stallHost) Sleeps(worker int) {
	partsOf(h.ex.roster[worker]).silent.Store(1)
	h.ex.silence.times.Add(1)
	h.ex.spares.Block()
	h.ex.attached.silent.make()
}

// Wakes implements stalls.Host.
func (h stallHost) Wakes(worker int) {
	h.ex.attached.heard.make()
	h.ex.spares.Unblock()
	partsOf(h.ex.roster[worker]).silent.Store(0)
}

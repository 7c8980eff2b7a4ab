package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/hosting"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// sharing is what bounds how many workers may be awake, with [host.Options].Share. The code behind it is in package
// host, and linked if the program names it.
type sharing struct {
	hosting.Sharing[host.ShareStats, host.QuotaStats] // nil without
}

// init begins the sharing of an executor that has no workers yet.
func (s *sharing) init(ex *executor) {
	if of := ex.cfg.Host.Share; of != nil {
		s.Sharing = of.Begin(sharedMachine{machine{&ex.core}})
	}
}

func (s *sharing) attachTo(on *attachments) {
	if s.Sharing == nil {
		return
	}
	on.asleep = append(on.asleep, func(w *Worker, able bool) { partsOf(w).share.CountAsleep(able) })
	on.awake.add(func(w *Worker) { partsOf(w).share.CountAwake() })
	on.silent = append(on.silent, func() { s.Control().CountAsleep(false) })
	on.heard = append(on.heard, func() { s.Control().CountAwake() })
	on.meets = append(on.meets, func(w, victim *Worker) bool { return partsOf(w).share.Meet(victim.id) })
	on.tried = append(on.tried, func(w, victim *Worker, o deque.Outcome) { partsOf(w).share.Tried(victim.id, o) })
	on.leaves = append(on.leaves, func(w *Worker) bool { return partsOf(w).share.Leave() })
	on.rested = append(on.rested, func(w *Worker) bool { return partsOf(w).share.StandBy() })
	on.wakeAll = append(on.wakeAll, s.Control().Recall)
	on.busy = append(on.busy, s.CountIn)
	on.idle = append(on.idle, s.CountOut)
	on.sleepsAlways = true // in a wait: the worker has given its processor up
}

// join begins to share.
func (s *sharing) join() {
	if s.Sharing != nil {
		s.Join()
	}
}

// end ends it, when no run is in progress.
func (s *sharing) end() {
	if s.Sharing != nil {
		s.Leave()
	}
}

// stats returns what Stats has. Any thread.
func (s *sharing) stats() (shared host.ShareStats, quota host.QuotaStats) {
	if s.Sharing != nil {
		shared, quota = s.Stats()
	}
	return shared, quota
}

// lines returns what Dump has.
func (s *sharing) lines() string {
	if s.Sharing == nil {
		return ""
	}
	return s.Dump()
}

// A sharer is a worker's part in sharing the machine. It is empty if the executor does not share.
type sharer struct {
	hosting.Sharer
	wanted *xatomic.Bool // the worker is to call Rest at its next boundary; nil if it never is
}

// init makes w one that shares, if its executor does.
func (s *sharer) init(w *Worker) {
	if of := executorOf(w.core).sharing.Sharing; of != nil {
		s.Sharer, s.wanted = of.NewSharer(w.id, sharedWorker{w}), of.Control().Word()
		w.inner = innerLoop{run: runShared}
	}
}

// isWanted reports whether the worker is to call Rest, because it is at a boundary.
func (s *sharer) isWanted() bool { return s.wanted != nil && s.wanted.Load() }

// A sharedMachine shows an executor to its sharing. It implements hosting.Machine.
type sharedMachine struct{ machine }

// Workers implements hosting.Machine.
func (m sharedMachine) Workers() int { return executorOf(m.ex).cfg.Workers }

// Name implements hosting.Machine.
func (m sharedMachine) Name() string { return executorOf(m.ex).cfg.Name }

// Submitted implements hosting.Machine.
func (m sharedMachine) Submitted() int { return m.ex.injector.len() }

// Signal implements hosting.Machine. Fork, Join and loops look at their lane's demand only.
func (m sharedMachine) Signal() {
	for _, w := range m.ex.workers() {
		w.lane.Want()
	}
}

// Aside implements hosting.Machine.
func (m sharedMachine) Aside(f func()) { aside(f) }

// A sharedWorker shows a worker to its sharer. It implements hosting.Worker.
type sharedWorker struct{ w *Worker }

// Running implements hosting.Worker.
func (s sharedWorker) Running() bool { return s.w.seen.state.Load() == uint32(WorkerRunning) }

// Looking implements hosting.Worker.
func (s sharedWorker) Looking() bool {
	state := WorkerState(s.w.seen.state.Load())
	return state == WorkerSearching || state == WorkerPreparing
}

// Items implements hosting.Worker.
func (s sharedWorker) Items() int { return s.w.lane.Len() }

// Blocks implements hosting.Worker.
func (s sharedWorker) Blocks() bool { return s.w.waits.blocking }

// BringForward implements hosting.Worker.
func (s sharedWorker) BringForward() { s.w.bringForward() }

// restSleep is of a worker that has given its processor up to others that share the machine.
var restSleep = sleepKind{state: WorkerResting, apart: true}

// Rest implements hosting.Worker.
func (s sharedWorker) Rest(park func()) { s.w.asleep(&restSleep, park) }

// Publish implements hosting.Worker.
func (s sharedWorker) Publish() { s.w.publishCounts() }

// runShared runs items on a worker that shares the machine. The worker may rest before each item. Otherwise it does as
// runPolled or runPlain does, whichever its lane is for.
func runShared(w *Worker, it *Item) {
	share := &partsOf(w).share
	returned := false
	defer w.endLoop(w.inner.current, &returned)
	w.inner.current = it
	polled, wanted := w.lane.IsPolled(), share.wanted
	for it != nil {
		if it.Body != w.body {
			if it = w.enterAdmitted(it); it == nil {
				break
			}
		}
		if wanted.Load() {
			share.Rest()
		}
		if polled && w.lane.Demand() {
			w.tell(w.lane.Poll())
		}
		if w.counts.items++; w.counts.items%pollInterval == 0 {
			if it = w.checkpoint(it); it == nil {
				break
			}
		}
		w.inner.current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}

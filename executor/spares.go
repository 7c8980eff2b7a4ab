package executor

import (
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/park"
)

// standby is where a spare sleeps while no worker blocks.
type standby struct {
	calledUp   park.Parker
	discharged bool // the spare's thread is to end; plain, written before calledUp.Unpark
}

// A spareHost shows an executor to the ledger of its spares. It implements spares.Host. Spare i is worker
// Config.Workers+i.
type spareHost struct{ ex *Executor }

func (h spareHost) worker(spare int) *Worker { return h.ex.roster[h.ex.cfg.Workers+spare] }

// Make implements spares.Host.
func (h spareHost) Make(spare int) {
	ex, i := h.ex, h.ex.cfg.Workers+spare
	ex.roster[i] = newWorker(ex, i)
	ex.made.Store(int32(i + 1)) // P1: before its thread starts, see workers
}

// Send implements spares.Host.
func (h spareHost) Send(spare int, hasThread bool) {
	w := h.worker(spare)
	switch {
	case hasThread:
		w.standby.calledUp.Unpark()
	case !osthread.ClaimSpare():
		w.spareFailed()
		osthread.AfterRefusal(h.ex.core, h.ex.spares.CallUp) // last: CallUp would take the spare for one that serves
	default:
		h.ex.alive.Add(1)
		w.standby.discharged = false
		w.start(osthread.Arrive)
	}
}

// Discharge implements spares.Host.
func (h spareHost) Discharge(spare int) {
	w := h.worker(spare)
	w.standby.discharged = true
	w.standby.calledUp.Unpark()
}

// WakeAll implements spares.Host.
func (h spareHost) WakeAll() {
	h.ex.policy.WakeAll()
	for _, call := range h.ex.attached.wakeAll {
		call()
	}
}

// spareNumber is the number of a spare in the ledger.
func (w *Worker) spareNumber() int { return w.id - w.core.cfg.Workers }

// spareFailed takes a spare for which no thread could be started out of service.
func (w *Worker) spareFailed() {
	w.setState(WorkerThreadless)
	w.core.spares.Failed(w.spareNumber())
}

// spareGone is called last by the thread of a spare that ends. The spare may then be given another thread.
func (w *Worker) spareGone() {
	w.core.spares.Gone(w.spareNumber())
}

// isSpare reports whether the worker stands in for workers that block. Any thread.
func (w *Worker) isSpare() bool { return w.id >= w.ex.cfg.Workers }

// isSurplus reports whether the worker is a spare and more spares are in service than are due.
func (w *Worker) isSurplus() bool { return w.isSpare() && w.core.spares.HasSurplus() }

// leaveService takes the worker, a thief, out of service if it is a surplus spare, or is to rest. It reports whether it
// did. The worker's lane is empty (I10).
func (w *Worker) leaveService() bool {
	return w.isSpare() && w.core.spares.Leave(w.spareNumber()) || w.core.attached.leaves.any(w)
}

// standBy rests, if the worker shares the machine and is to rest, or sleeps until the spare is called up or discharged.
// It returns false if its thread is to end.
func (w *Worker) standBy() bool {
	if w.core.attached.rested.any(w) {
		return true
	}
	w.asleep(&standbySleep, w.standby.calledUp.Park)
	return !w.standby.discharged
}

// handOver injects item it and all items of the worker's lane: a busy worker looks at the injector now and then, but
// never at another's lane. The worker is a surplus spare, and no task waits on its stack.
func (w *Worker) handOver(it *Item) {
	w.body.hooks.Flush(w)
	w.putBack(it)
	for it := w.popOwn(); it != nil; it = w.popOwn() {
		w.ex.inject(it)
	}
}

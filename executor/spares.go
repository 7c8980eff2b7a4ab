package executor

import (
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/park"
)

// A spare is where a spare worker sleeps while no worker blocks. Other workers do not use theirs.
type spare struct {
	w          *Worker // constant
	calledUp   park.Parker
	discharged bool // the spare's thread is to end; plain, written before calledUp.Unpark
}

// A spareHost shows an executor to the ledger of its spares. It implements spares.Host. Spare i is worker
// Config.Workers+i.
type spareHost struct{ ex *core }

func (h spareHost) worker(spare int) *Worker { return h.ex.roster[h.ex.configured+spare] }

// Make implements spares.Host.
func (h spareHost) Make(spare int) {
	ex, i := h.ex, h.ex.configured+spare
	ex.roster[i] = ex.attached.newWorker(i)
	ex.made.Store(int32(i + 1)) // P1: before its thread starts, see workers
}

// Send implements spares.Host.
func (h spareHost) Send(spare int, hasThread bool) {
	w := h.worker(spare)
	switch {
	case hasThread:
		w.spare.calledUp.Unpark()
	case !osthread.ClaimSpare():
		w.spare.failed()
		osthread.AfterRefusal(h.ex, h.ex.spares.CallUp) // last: CallUp would take the spare for one that serves
	default:
		h.ex.alive.Add(1)
		w.spare.discharged = false
		w.thread.start(osthread.Arrive)
	}
}

// Discharge implements spares.Host.
func (h spareHost) Discharge(spare int) {
	w := h.worker(spare)
	w.spare.discharged = true
	w.spare.calledUp.Unpark()
}

// WakeAll implements spares.Host.
func (h spareHost) WakeAll() {
	h.ex.policy.WakeAll()
	h.ex.attached.wakeAll.make()
}

// number is the number of a spare in the ledger.
func (s *spare) number() int { return s.w.id - s.w.core.configured }

// failed takes a spare for which no thread could be started out of service.
func (s *spare) failed() {
	s.w.setState(WorkerThreadless)
	s.w.core.spares.Failed(s.number())
}

// gone is called last by the thread of a spare that ends. The spare may then be given another thread.
func (s *spare) gone() { s.w.core.spares.Gone(s.number()) }

// isSpare reports whether the worker stands in for workers that block. Any thread.
func (w *Worker) isSpare() bool { return w.id >= w.core.configured }

// isSurplus reports whether the worker is a spare and more spares are in service than are due.
func (s *spare) isSurplus() bool { return s.w.isSpare() && s.w.core.spares.HasSurplus() }

// leave takes the worker, a thief, out of service if it is a surplus spare, or is to rest. It reports whether it did.
// The worker's lane is empty (I10).
func (s *spare) leave() bool {
	w := s.w
	return w.isSpare() && w.core.spares.Leave(s.number()) || w.core.attached.leaves.any(w)
}

// standBy rests, if the worker shares the machine and is to rest, or sleeps until the spare is called up or discharged.
// It returns false if its thread is to end.
func (s *spare) standBy() bool {
	w := s.w
	if w.core.attached.rested.any(w) {
		return true
	}
	w.asleep(&standbySleep, s.calledUp.Park)
	return !s.discharged
}

// handOver injects item it and all items of the worker's lane: a busy worker looks at the injector now and then, but
// never at another's lane. The worker is a surplus spare, and no task waits on its stack.
func (s *spare) handOver(it *Item) {
	w := s.w
	w.body.hooks.Flush(w)
	w.putBack(it)
	for it := w.popOwn(); it != nil; it = w.popOwn() {
		w.core.inject(it)
	}
}

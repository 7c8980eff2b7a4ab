package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/park"
)

// Blocking calls fn, which may wait for something outside the executor: I/O, a lock, a channel. Meanwhile a spare
// worker stands in for the calling worker, and one for each worker that sleeps in a Wait or Join, so that as many tasks
// as there are workers can go on. After fn has returned, the spare leaves when it finds no work, or after some dozens
// of tasks.
//
// There are at most [Config.Spares] spare workers. When all stand in for others, fn blocks its worker, as it would
// without Blocking. As long as one is left, tasks in Blocking may wait for each other and for any other work, but not
// in a circle. A spare gets a thread when it is needed, unless the limits of the system leave no room, as for [New].
// For a task that waits outside Blocking a spare stands in some milliseconds later, see [host.Threads].OnlyBlocking.
//
// fn runs on the calling goroutine. A panic or [runtime.Goexit] in it passes through. Blocking only calls fn inside
// another Blocking, on a goroutine that is no worker's, and in a task of an executor of [NewInline] unless a task of an
// executor with threads has started it. Blocking costs half a microsecond, and the waking of a thread if there is work
// for a spare: it does not pay for a lock held for less.
func Blocking(fn func()) {
	if fn == nil {
		panic("executor: Blocking of a nil function")
	}
	w := threadHere()
	if w == nil || w.body == nil {
		fn()
		return
	}
	w.shareLane()
	w.bringForward()
	if w.waits.blocking { // inside another Blocking, perhaps in a task that its fn waits for
		fn()
		return
	}
	w.asleep(&blockingSleep, func() {
		w.waits.blocking = true
		// Tasks that the worker runs inside fn may block, and wait for items that they have pushed.
		w.lane.KeepOpen(true)
		defer func() {
			w.lane.KeepOpen(false)
			w.waits.blocking = false
		}()
		fn()
	})
}

// shareLane is called before there may be a worker beside w.
func (w *Worker) shareLane() {
	if w.lane.IsAlone() && w.core.spares.Limit() > 0 {
		w.lane.Share(w.core.lanes.Enough())
	}
}

// staysAlone reports whether no other worker has items of b as long as this one has some. All of them are then in its
// lane: there is no spare yet from which it could have stolen them, and a worker that has injected any is never alone
// again. Thieves do not see them there, unless the lane is first in, first out.
func (w *Worker) staysAlone(b *Body) bool {
	return b.alone && b.hooks.(loner).Alone() && !w.lane.IsFIFO() && len(w.core.workers()) == w.core.configured
}

// bringForward makes all items that only this worker knows of visible to others, before the worker blocks or sleeps: a
// task that blocks, on this worker or another, might wait for one of them. Items that thieves see stay where they are.
func (w *Worker) bringForward() {
	w.core.attached.withheld.make(w)
	w.publishCounts()
	if w.body != nil { // else the worker is between two bodies, and holds nothing back
		w.body.hooks.Flush(w)
	}
	w.giveAway() // also items that Flush has pushed
}

// giveAway shows all items of the worker's lane to thieves or, if the lane cannot show them, injects them. The worker
// is about to sleep or block, and so cannot answer thieves that ask.
func (w *Worker) giveAway() {
	effect := w.lane.Expose()
	if effect != deque.Refused {
		w.tell(effect) // D1(overflow)
		return
	}
	for it := w.popOwn(); it != nil; it = w.popOwn() {
		w.core.inject(it)
	}
}

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
		w.setState(WorkerThreadless)
		h.ex.spares.Refused(spare)
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
		w.inject(it)
	}
}

package executor

import "github.com/magpie-go/magpie/deque"

// Blocking calls fn, which may wait for something outside the executor: I/O, a lock, a channel. Meanwhile a spare
// worker stands in for the calling worker, and one for each worker that sleeps in a Wait or Join, so that as many tasks
// of any run as there are workers can go on. After fn has returned there are more active workers than that for a while:
// a spare leaves when it finds no work, or after some dozens of tasks.
//
// There are at most [Config.Spares] spare workers. When all of them stand in for others, fn blocks its worker, as it
// would without Blocking. As long as one is left, tasks in Blocking may wait for each other and for any other work on
// the executor: they wait for ever only if they wait for each other in a circle. The thread of a spare worker is
// started when it is needed, and ends when no task has called Blocking for a while. It is not started if the limits of
// the system leave too little room for threads, as for [New].
//
// A task that waits outside Blocking is found out, and a spare stands in for it too, but only after some milliseconds:
// see [Config.OnlyBlocking].
//
// fn runs on the calling goroutine. A panic or [runtime.Goexit] in it passes through. Blocking only calls fn inside
// another Blocking, on a goroutine that is no worker's, and in a task of an executor of [NewInline] unless a task of an
// executor with threads has started it. Blocking costs half a microsecond, and the waking of a thread if there is work
// for a spare. It does not pay for a lock that is held for less. It panics if fn is nil.
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

// staysAlone reports whether no other worker has items of b as long as this one has some: all of them are in its lane,
// and there is no spare yet from which it could have stolen them.
func (w *Worker) staysAlone(b *Body) bool {
	return b.alone && b.hooks.(Loner).Alone() && len(w.core.workers()) == w.core.configured
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

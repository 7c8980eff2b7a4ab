package executor

import "github.com/magpie-go/magpie/deque"

// Blocking calls fn, which may wait for what the executor knows nothing of: I/O, a lock, a channel. Meanwhile a spare
// worker stands in for the one that calls, and one for each that sleeps in a Wait or Join, so that as many tasks as
// there are workers can go on, of whatever run. When fn has returned there are more workers than that, until spares
// have nothing to do or, if they are never without, have run some dozens of tasks more.
//
// There are at most [Config.Spares] spare workers: when all of them stand in for others, fn blocks its worker, as it
// would without Blocking. As long as there is one left, tasks may wait in Blocking for each other's steps, and for
// whatever else is run on the executor: they wait for ever only if they wait for each other in a circle. Spare workers
// are started when they are needed and used again, and not where the limits of the system leave too little room for
// threads, as for [New]; their threads end when nobody has called Blocking for a while.
//
// fn runs on the calling goroutine; a panic or runtime.Goexit in it passes through. Blocking inside another Blocking,
// on a goroutine that is no worker's, and in a task of an executor of [NewInline] that no other executor's task has
// started, only calls fn. It costs half a microsecond, and the waking of a thread if there is work for a spare: for a
// lock that is held for less it does not pay. It panics if fn is nil.
func Blocking(fn func()) {
	if fn == nil {
		panic("executor: Blocking of a nil function")
	}
	w := threadHere()
	if w == nil || w.body == nil {
		fn()
		return
	}
	if w.lane.IsAlone() && w.ex.spares.Limit() > 0 {
		w.lane.Share(w.ex.lanes.Enough()) // before there is another worker
	}
	w.bringForward()
	if w.blocking { // and runs a task that it waits for
		fn()
		return
	}
	state := w.state.Load()
	w.state.Store(uint32(blocked))
	w.blocking = true
	w.lane.KeepOpen(true) // what the worker runs while it blocks may wait for what it pushes
	w.ex.spares.Block()
	defer func() {
		w.ex.spares.Unblock()
		w.lane.KeepOpen(false)
		w.blocking = false
		w.state.Store(state)
	}()
	fn()
}

// bringForward lets others run what only this worker knows of, before it blocks or sleeps: a task that blocks, here or
// elsewhere, might wait for it. What others can see may stay where it is.
func (w *Worker) bringForward() {
	w.forks.expose()
	w.publishCounts()
	if w.body != nil { // else the worker has left it
		w.body.hooks.Flush(w)
	}
	w.giveAway() // also items that Flush has pushed
}

// giveAway lets others have what they cannot see of the worker's lane, for which it will not answer: it is going to sleep, or
// to block.
func (w *Worker) giveAway() {
	effect := w.lane.Expose()
	if effect != deque.Refused {
		w.tell(effect) // D1(overflow)
		return
	}
	for it := w.popOwn(); it != nil; it = w.popOwn() {
		w.ex.inject(it)
	}
}

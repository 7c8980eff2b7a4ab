package executor

// helpFromOutside has a caller that waits for the end of e run what nobody has begun. The caller is on no worker. It
// runs items of r or, if only is not nil, that item of r alone.
//
// As a rule the submission has notified a worker, whose thread needs some microseconds to get up. The caller takes that
// worker's place, and the thread sleeps on.
func (ex *Executor) helpFromOutside(e ending, r *Run, only *Item) {
	g := ex.guests
	if g == nil || ex.watch.relabels() || !ex.isNext(r) || !g.mayCome() {
		return
	}
	recalled := true
	id := ex.notifier.Recall(ex.cfg.Workers)
	if id < 0 {
		recalled = false
		if id = ex.notifier.Borrow(ex.cfg.Workers); id < 0 {
			return
		}
	}
	w := ex.roster[id]
	it := w.submittedFor(r, only)
	if recalled {
		g.host.PassOn() // the NotifyAll of a stop counts no thieves, but then their number matters no more
		w.passMailOn()
	}
	switch {
	case it == nil:
		ex.notifier.Return(id)
		w.missed()
	case only != nil:
		w.takeFuture(e, r, it)
	default:
		w.takePart(r, it, nil)
	}
}

// takeFuture runs item it, of the future e, for a guest, and no item that it pushes.
func (w *Worker) takeFuture(e ending, r *Run, it *Item) {
	returned := false
	defer w.ex.afterGuest(e, &returned)
	outer := w.sitDown(r, nil) // there is no observer that sets labels
	defer w.getUp(outer)
	w.runOne(it)
	returned = true
}

// submittedFor takes the oldest item of r's priority from the injector, for the guest of w, if it is one of r or, if
// only is not nil, that item. It tries only if it probably is, since one that is not goes to the end of the queue.
func (w *Worker) submittedFor(r *Run, only *Item) *Item {
	ex := w.ex
	if !ex.isNext(r) {
		return nil
	}
	it := w.nextSubmitted(r.settings.priority)
	if it == nil || it == only || only == nil && it.Body.owner() == r {
		return it
	}
	ex.inject(it)
	return nil
}

// isNext reports whether the item that was submitted first is probably one of r: there is no other, or r is the only
// run in progress, and no future is.
func (ex *Executor) isNext(r *Run) bool {
	if ex.injector.of(r.settings.priority).IsEmpty() {
		return false
	}
	if ex.injector.len() == 1 {
		return true
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.runs.Load() == r && r.next == nil && ex.asyncs.left.Load() == 0
}

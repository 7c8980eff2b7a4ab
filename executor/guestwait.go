package executor

// helpFromOutside has a caller that waits for the end of r run what nobody has begun. The caller is on no worker. If
// only is not nil, it is the item of a future, r is the run of all futures, and the caller runs no other item.
//
// As a rule the submission has notified a worker, whose thread needs some microseconds to get up. The caller takes that
// worker's place, and the thread sleeps on.
func (ex *executor) helpFromOutside(end ending, r *Run, only *Item) {
	g := ex.guests
	if g == nil || len(ex.attached.labelled) > 0 || !ex.isNext(r) || !g.mayCome() {
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
	it := guestOf(w).submittedFor(r, only)
	if recalled {
		g.host.PassOn() // the NotifyAll of a stop counts no thieves, but then their number matters no more
	}
	switch {
	case it == nil:
		ex.notifier.Return(id)
		ex.missed(w)
	case only != nil:
		g.letOthersRun(guestOf(w).takeOnly(end, r, it))
	default:
		g.letOthersRun(guestOf(w).takePart(r, it, nil, false))
	}
}

// takeOnly runs an item of r as a guest, and no item that it pushes. The caller waits for end.
func (g *guest) takeOnly(end ending, r *Run, it *Item) trial {
	w := g.w
	returned := false
	defer executorOf(w.core).afterGuest(end, &returned)
	g.sitDown(r, nil) // there is no observer that sets labels
	defer g.getUp()
	w.runOne(it)
	returned = true
	return g.trial
}

// submittedFor takes the oldest item of r's priority from the injector, for the guest of w, if it is one of r or, if
// only is not nil, that item. One that is not goes to the end of the queue: the caller has asked isNext.
func (g *guest) submittedFor(r *Run, only *Item) *Item {
	w := g.w
	it := w.search.nextSubmitted(r.priority)
	if it == nil || it == only || only == nil && it.Body.owner() == r {
		return it
	}
	w.core.inject(it)
	return nil
}

// isNext reports whether the item that was submitted first is probably one of r: there is no other, or r is the only
// run in progress, and no future is.
func (ex *executor) isNext(r *Run) bool {
	if ex.injector.of(r.priority).IsEmpty() {
		return false
	}
	if ex.injector.len() == 1 {
		return true
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.isOnly(r)
}

package executor

func (g *guests) attachTo(on *attachments) {
	if g != nil {
		on.withheld.add(func(w *Worker) { guestOf(w).speak() })
		on.quiet = append(on.quiet, func(w *Worker) bool { return guestOf(w).run != nil && guestOf(w).keepQuiet() })
		on.offered = append(on.offered, func(r *JobRun, first *Item) bool {
			return executorOf(r.core).runAsGuest(r, first)
		})
		on.awaited = append(on.awaited, func(end ending, r *Run, only *Item) {
			executorOf(r.core).helpFromOutside(end, r, only)
		})
	}
}

// runAsGuest lets the caller run the first items of r, and what follows from them, as the guest of a worker that
// sleeps. The caller is no worker of any executor. It reports whether it did.
func (ex *executor) runAsGuest(r *JobRun, first *Item) bool {
	seat := ex.seat()
	if seat == nil {
		return ex.waitForOthers(r, first)
	}
	others := r.others
	r.others = nil
	tempo := tempo{&first.Body.memo} // not of r: the run may end, and the body serve another
	t := seat.takePart(&r.Run, first, others, tempo.next())
	ex.guests.letOthersRun(t)
	if t.matters {
		ex.block(r)
		if !t.crowded {
			tempo.note(ex.guests.taken(t), t.quietly)
		}
	}
	return true
}

// waitForOthers makes the items of r available if callers stay, and waits until threads have run them: there is no
// place for the caller. It reports whether it did.
func (ex *executor) waitForOthers(r *JobRun, first *Item) bool {
	g := ex.guests
	if g == nil || !g.stays {
		return false
	}
	e, since := &g.returns, g.now()
	e.came(since)
	r.show(first, nil)
	e.waiting.Add(1)
	ex.block(r)
	now := g.now()
	if g.isLong(now - since) {
		e.left(now)
	}
	e.waiting.Add(-1)
	if e.word.Load() != 0 {
		e.clock.set() // after both: the crowd may be over
	}
	return true
}

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
		ex.missed(g.now())
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
	return g.stayed()
}

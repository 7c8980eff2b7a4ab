package executor

// precede makes e's future a dependent of f. open is false if f has ended. For pending see add.
func (f *future) precede(e *dependence) (pending []*future, open bool) {
	f.show()
	d := f.dependents.Load()
	if d == nil {
		d = new(dependents)
		if !f.dependents.CompareAndSwap(nil, d) {
			d = f.dependents.Load()
		}
	}
	// D1(precede): make dependents known, then look for the end. Pairs with D1(end).
	if f.hasEnded() {
		return nil, false
	}
	return d.add(e)
}

// add adds a place, unless d is closed. Now and then it returns futures of which some may have to be cancelled: nothing
// tells them of the end of their contexts.
func (d *dependents) add(e *dependence) (pending []*future, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, false
	}
	e.of, e.older, e.linked = d, d.newest, true
	if e.older != nil {
		e.older.newer = e
	}
	d.newest = e
	if d.n++; d.n < 2*d.swept+minSweep {
		return nil, true
	}
	for p := e.older; p != nil; p = p.older {
		pending = append(pending, p.future)
	}
	d.swept = d.n
	return pending, true
}

// leave takes back the place, if it is linked.
func (e *dependence) leave() {
	d := e.of
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !e.linked {
		return
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		d.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	}
	e.linked, e.older, e.newer = false, nil, nil
	d.n--
	d.swept = min(d.swept, d.n)
}

// leave takes back the places that the future still has.
func (a *comesAfter) leave() {
	for i := range a.places {
		a.places[i].leave()
	}
}

// close ends d and returns its places, the newest first. The caller clears their links.
func (d *dependents) close() *dependence {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for e := d.newest; e != nil; e = e.older {
		e.linked = false
	}
	e := d.newest
	d.newest = nil
	return e
}

package policy

// lastThief is the sentry of document 000 (section III), which is no role. The thief that is the last to cease to count
// does not sleep while a run is in progress, and goes on in a stealing loop. One that is the last because it has got an
// item wakes another, as in the document's Algorithm 5, line 6. So if no thief counts while a run is in progress, no
// worker sleeps, or one was woken, or has ceased to count for a moment only.
type lastThief struct{ t *mbwsThief }

func newMBWSLast(m Machine, o Options) Policy {
	p := newMBWS(m, o).(*mbws)
	p.newSentry = func(t *mbwsThief) sentry { return lastThief{t} }
	return p
}

func (r lastThief) volunteer()  {}
func (r lastThief) stays() bool { return false }

// isPosted implements sentry.
func (r lastThief) isPosted() bool { return r.t.p.thieves.Load() != 0 }

// cease implements sentry.
//
// D2(found): cease to count, then look for workers that sleep. Pairs with D2(stay).
func (r lastThief) cease(stolen bool) {
	if r.t.p.thieves.Add(-1) == 0 && (stolen || r.somethingToDo()) {
		r.t.p.wakeOne()
	}
}

// maySleep implements sentry.
func (r lastThief) maySleep() bool {
	// D2(stay): prepare, then cease to count. Pairs with D2(found).
	last := r.t.p.thieves.Add(-1) == 0
	if r.t.p.m.Stopping() {
		return false
	}
	// D3(rest): cease to count, then look for a run. Pairs with D3(run). D1(park): the same of items.
	return !last || !r.somethingToDo()
}

// somethingToDo reports whether the last thief may not sleep.
func (r lastThief) somethingToDo() bool { return r.t.p.m.Running() || r.t.p.m.AnyWork() }

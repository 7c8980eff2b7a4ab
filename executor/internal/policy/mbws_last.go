package policy

// mbwsLast is document 000's MBWS (section III): mbws whose watchdog is no role. The thief that is the last to cease to
// count does not sleep while a run is in progress, and goes on in a stealing loop. One that is the last because it has
// got an item wakes another, as in the document's Algorithm 5, line 6. So if no thief counts while a run is in
// progress, no worker sleeps, or one was woken, or has ceased to count for a moment only.
type mbwsLast struct{ *mbws }

func newMBWSLast(m Machine, o Options) Policy { return &mbwsLast{newMBWS(m, o).(*mbws)} }

// Attach implements Policy.
func (p *mbwsLast) Attach(h Host) Thief { return &lastThief{p.mbws.Attach(h).(*mbwsThief)} }

type lastThief struct{ *mbwsThief }

// Find implements Thief.
func (t *lastThief) Find() bool {
	m, h := t.m, t.h
	t.failed = 0
	t.tell(mbwsThieving)
	t.join()
	for {
		if h.Leave() {
			// D1(dismiss): as in policy adaptive. Another is the watchdog.
			if t.thieves.Add(-1) == 0 && t.somethingToDo() {
				t.wakeOne()
			}
			return false
		}
		if t.attempts() {
			if !t.busyWakes {
				t.wish(wishes)
			}
			// D2(found): cease to count, then look for workers that sleep. Pairs with D2(stay).
			if t.thieves.Add(-1) == 0 {
				t.wakeOne()
			}
			return true
		}
		h.Prepare()
		t.tell(mbwsSleeping)
		if t.maySleep() {
			h.Commit()
		} else {
			h.Cancel()
			h.Pause(breath)
		}
		if m.Stopping() {
			return false
		}
		t.tell(mbwsThieving)
		t.join()
	}
}

// attempts tries until it has an item, or has failed so often that the worker considers sleeping.
func (t *lastThief) attempts() bool {
	t.h.Searching()
	for !t.m.Stopping() {
		if stolen, enough := t.attempt(); stolen || enough {
			return stolen
		}
	}
	return false
}

// maySleep ceases to count the worker as a thief, and reports whether it may sleep. The worker has prepared.
func (t *lastThief) maySleep() bool {
	// D2(stay): prepare, then cease to count. Pairs with D2(found).
	last := t.thieves.Add(-1) == 0
	if t.m.Stopping() {
		return false
	}
	// D3(rest): cease to count, then look for a run. Pairs with D3(run). D1(park): the same of items.
	return !last || !t.somethingToDo()
}

// somethingToDo reports whether the last thief may not sleep.
func (t *lastThief) somethingToDo() bool { return t.m.Running() || t.m.AnyWork() }

// MaySleep implements Thief.
func (t *lastThief) MaySleep() bool { return t.mayRest(t.thieves.Load() != 0) }

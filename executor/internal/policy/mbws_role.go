package policy

// watchdogRole is the sentry of document 004: the watchdog is a role, and the word watchdog says which thief has it, as
// 1 plus its ID, or 0. A thief takes the role if it is free, when it begins to look for work and before each attempt. A
// thief that has prepared to sleep during a run, and finds the role free, does not sleep. The watchdog gives the role
// up when it has got an item, leaves service, or sleeps because there is no run: it clears the word first, and unless
// there is no run it then wakes others, which take the role. So if the role is free while a run is in progress, no
// worker sleeps, or one was woken.
type watchdogRole struct{ t *mbwsThief }

func (r watchdogRole) isWatchdog() bool { return r.t.p.watchdog.Load() == int32(r.t.id+1) }

// volunteer takes the role if no thief has it.
func (r watchdogRole) volunteer() {
	if r.t.p.watchdog.Load() == 0 {
		r.t.p.watchdog.CompareAndSwap(0, int32(r.t.id+1))
	}
}

// resign gives up the role of the watchdog, if the worker has it, and wakes up to n others, one of which takes the
// role. The document's watchdog appoints one of those that it wakes. If no worker has the role, the last watchdog may
// have gone to sleep before this run, and the worker wakes others too.
func (r watchdogRole) resign(n int) {
	switch r.t.p.watchdog.Load() {
	case int32(r.t.id + 1):
		// D4(resign): clear the word, then look for workers that sleep. Pairs with D4(watchdog).
		r.t.p.watchdog.Store(0)
	case 0:
	default:
		return
	}
	r.t.wish(-r.t.p.m.Notify(n))
}

// cease implements sentry.
func (r watchdogRole) cease(stolen bool) {
	n := 1
	if stolen {
		n = max(1, int(r.t.wishes.Load()))
	}
	r.resign(n)
	r.t.p.leave()
}

// stays implements sentry.
func (r watchdogRole) stays() bool { return r.isWatchdog() && r.t.p.m.Running() && !r.t.p.m.Stopping() }

// isPosted implements sentry.
func (r watchdogRole) isPosted() bool { return r.t.p.watchdog.Load() != 0 }

// maySleep ceases to count the worker as a thief and as the watchdog, and reports whether it may sleep. The worker has
// prepared.
func (r watchdogRole) maySleep() bool {
	// While the word says that a thief is the watchdog, that thief counts.
	if r.isWatchdog() {
		r.t.p.watchdog.Store(0)
	}
	r.t.p.thieves.Add(-1)
	if r.t.p.m.Stopping() {
		return false
	}
	// D4(watchdog): prepare, then look for a watchdog. Pairs with D4(resign).
	if r.t.p.watchdog.Load() != 0 {
		return true
	}
	// D3(rest): cease to count, then look for a run. Pairs with D3(run). D1(park): the same of items.
	return !r.t.p.m.Running() && !r.t.p.m.AnyWork()
}

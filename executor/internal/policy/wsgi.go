package policy

import (
	"cmp"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xsync"
)

// wsgi is the work stealing with global information that document 004 compares with (section 5.5). A lock guards the
// numbers of busy workers and of thieves, and there is to be one thief for every two busy workers. The document leaves
// the rest open. Here there is at least one thief while a run is in progress, and the lock does not guard sleeping and
// waking.
type wsgi struct {
	crowd     // thieves is written under mu
	threshold int

	mu   xsync.Mutex
	busy int // workers that run items; under mu
}

// busyPerThief is document 004's ratio.
const busyPerThief = 2

func newWSGI(m Machine, o Options) Policy {
	return &wsgi{crowd: crowd{m: m}, threshold: cmp.Or(o.SleepThreshold, sleepThreshold)}
}

// Shown implements Policy. While a run is in progress there is a thief, or a worker that was woken.
func (p *wsgi) Shown() {}

// Submitted implements Policy.
//
// D3(run): as in policy abp.
func (p *wsgi) Submitted(int) {
	if p.thieves.Load() == 0 {
		p.m.Notify(1)
	}
}

// WakeAll implements Policy.
func (p *wsgi) WakeAll() { p.wakeAll() }

// Attach implements Policy.
func (p *wsgi) Attach(h Host) Thief { return &wsgiThief{p: p, h: h} }

// count changes the numbers of busy workers and of thieves, and returns how many thieves are missing.
func (p *wsgi) count(busy, thieves int) (missing int) {
	p.mu.Lock()
	p.busy += busy
	busy = p.busy
	there := int(p.thieves.Add(int32(thieves)))
	p.mu.Unlock()
	// D3(rest): cease to count, then look for a run. Pairs with D3(run).
	if busy == 0 && p.m.Running() {
		return 1 - there
	}
	return (busy+busyPerThief-1)/busyPerThief - there
}

type wsgiThief struct {
	p *wsgi
	patient
	h Host
}

// Busy implements Thief.
func (t *wsgiThief) Busy(bool) { t.p.m.Notify(t.p.count(1, 0)) }

// Idle implements Thief.
func (t *wsgiThief) Idle() { t.p.count(-1, 0) }

// Lost implements Thief.
func (t *wsgiThief) Lost() { t.p.count(-1, 0) }

// Waits implements Thief: a worker that waits is not busy. Nor is it a thief that finds whatever there is.
func (t *wsgiThief) Waits() { t.p.m.Notify(t.p.count(-1, 0)) }

// Vain implements Thief.
func (t *wsgiThief) Vain(n int) bool { return n > t.p.threshold }

// Resumes implements Thief.
func (t *wsgiThief) Resumes(bool) { t.p.m.Notify(t.p.count(1, 0)) }

// Find implements Thief.
func (t *wsgiThief) Find() bool {
	m, h := t.p.m, t.h
	t.p.count(0, 1)
	for {
		if h.Leave() {
			t.cease()
			return false
		}
		if t.attempts() {
			t.cease()
			return true
		}
		h.Prepare()
		// The lock orders this with the same of others: a thief that takes this one for another thief, and finds an
		// item, finds out here that one is missing, or there that one has prepared.
		//
		// D1(park): the last thief ceases to count, then looks everywhere.
		if t.p.count(0, -1) <= 0 && !m.Stopping() && (t.p.thieves.Load() > 0 || !m.AnyWork()) {
			h.Commit()
		} else {
			h.Cancel()
			h.Pause(breath)
		}
		if m.Stopping() {
			return false
		}
		t.p.count(0, 1)
	}
}

// cease ceases to count the worker as a thief. It goes on to run an item, or out of service. Guard B, see crowd.leave.
func (t *wsgiThief) cease() {
	missing := t.p.count(0, -1)
	if missing <= 0 && t.p.thieves.Load() == 0 && t.p.m.AnyWork() {
		missing = 1 // no run is in progress, but an item of an ended future is left
	}
	if missing > 0 && t.p.m.Notify(missing) == 0 && t.p.m.AnyWork() {
		t.p.m.NotifyHelpers()
	}
}

// attempts tries until it has an item, or has failed so often that the worker considers sleeping.
func (t *wsgiThief) attempts() bool {
	t.h.Searching()
	for failed := 0; failed <= t.p.threshold && !t.p.m.Stopping(); failed++ {
		if t.h.Try(t.h.Random(t.p.m.Workers())) == deque.Stolen {
			return true
		}
	}
	return false
}

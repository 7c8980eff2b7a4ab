package policy

import "github.com/magpie-go/magpie/deque"

// abp is the policy of Arora, Blumofe and Plaxton, as documents 000 (section III) and 004 (section 2) compare with it:
// a thief offers its core before every attempt, and tries until it has an item. No worker sleeps while a run is in
// progress, not even in a wait inside a task. The documents do not say where workers are between two runs; here they
// sleep.
type abp struct {
	crowd
	yields Yields
}

func newABP(m Machine, o Options) Policy { return &abp{crowd: crowd{m: m}, yields: o.Yields} }

// Shown implements Policy. During a run no worker sleeps, or all were woken at its start.
func (p *abp) Shown() {}

// Submitted implements Policy.
//
// D3(run): the run was counted, and its item injected, before this look for workers that sleep. Pairs with D3(rest).
func (p *abp) Submitted(int) { p.wakeAll() }

// WakeAll implements Policy.
func (p *abp) WakeAll() { p.wakeAll() }

// Attach implements Policy.
func (p *abp) Attach(h Host) Thief { return &abpThief{p: p, h: h} }

type abpThief struct {
	p *abp
	deaf
	patient
	h      Host
	failed int // attempts in a row
}

// Find implements Thief.
func (t *abpThief) Find() bool {
	t.p.join()
	t.failed = 0
	for {
		if t.h.Leave() {
			// D1(dismiss): as in policy adaptive.
			t.p.leave()
			return false
		}
		switch {
		case t.attempts():
			t.p.leave()
			return true
		case t.p.m.Running() && !t.p.m.Stopping():
			t.h.Pause(breath)
			continue
		}
		t.h.Prepare()
		// D3(rest): prepare, then look for a run. Pairs with D3(run). D1(park): the same of items and of the stop.
		t.p.thieves.Add(-1)
		switch {
		case t.p.m.Stopping():
			t.h.Cancel()
			return false
		case t.p.m.Running() || t.p.m.AnyWork():
			t.h.Cancel()
		default:
			t.h.Commit()
		}
		t.p.join()
	}
}

// Vain implements Thief.
func (t *abpThief) Vain(n int) bool {
	if t.p.yields.due(n, t.p.m.Workers()) {
		t.h.Yield()
	}
	return n >= Looks
}

// MaySleep implements Thief.
func (t *abpThief) MaySleep() bool { return false }

// attempts tries once for each worker.
func (t *abpThief) attempts() bool {
	t.h.Searching()
	n := t.p.m.Workers()
	for range n {
		if t.p.yields.due(t.failed, n) {
			t.h.Yield()
		}
		if t.h.Try(t.h.Random(n)) == deque.Stolen {
			return true
		}
		if t.failed++; t.p.m.Stopping() {
			return false
		}
	}
	return false
}

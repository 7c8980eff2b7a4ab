package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// published is document 000, Algorithms 2 to 5, with line numbers in comments. Pushing an item wakes no worker.
// Instead, as long as any worker is active, one thief stays awake.
//
// The document has no spares and no workers that wait inside tasks. For spares there is Leave in Find, and for such
// workers NotifyHelpers in notify. executor/protocol/documents.md lists all differences.
type published struct {
	m       Machine
	_       pad.Line
	thieves xatomic.Int32
	_       pad.Line
	actives xatomic.Int32 // workers that run items
	_       pad.Line
}

func newPublished(m Machine, _ Options) Policy { return &published{m: m} }

func (p *published) Thieves() *xatomic.Int32 { return &p.thieves }
func (p *published) Refills() bool           { return false }
func (p *published) Actives() int            { return int(p.actives.Load()) }

// Shown implements Policy.
func (p *published) Shown() {}

// Submitted is Algorithm 1, line 6.
func (p *published) Submitted(int) { p.m.Notify(1) }

// WakeAll implements Policy. A woken worker counts itself as a thief.
func (p *published) WakeAll() { p.m.Notify(p.m.Workers()) }

// notify is the paper's notification, which does not look at the count of thieves.
func (p *published) notify() {
	if p.m.Notify(1) == 0 {
		p.m.NotifyHelpers()
	}
}

// Attach implements Policy.
func (p *published) Attach(h Host) Thief { return &publishedThief{p: p, h: h} }

type publishedThief struct {
	p *published
	patient
	h Host
}

// Busy begins Algorithm 3.
func (t *publishedThief) Busy(bool) {
	// D2(active): count as active, then look for thieves. Pairs with D2(last thief) in Find.
	if t.p.actives.Add(1) == 1 && t.p.thieves.Load() == 0 { // line 2: guard A
		t.p.notify()
	}
}

// Idle ends Algorithm 3.
func (t *publishedThief) Idle() { t.p.actives.Add(-1) } // line 13

// Lost implements Thief.
func (t *publishedThief) Lost() { t.p.actives.Add(-1) }

// Find is Algorithm 5. The paper's returns true without a task after a sleep, and is called again at once. Find loops
// instead.
func (t *publishedThief) Find() bool {
	m, h := t.p.m, t.h
	for {
		t.p.thieves.Add(1) // line 2
		for {
			if h.Leave() {
				// D1(dismiss): guards B and C, for items shown while this worker was a thief. It looks at AnyWork even
				// if there are other thieves: another may have looked at the injector already and be about to sleep,
				// while the notification of a later item has woken this worker.
				if t.p.thieves.Add(-1) == 0 && t.p.actives.Load() > 0 || m.AnyWork() {
					t.p.notify()
				}
				return false
			}
			if t.explore() { // line 4
				t.found()
				return true
			}
			h.Prepare() // line 10
			if !m.AnySubmitted() {
				break
			}
			h.Cancel()
			if h.Try(h.ID()) == deque.Stolen {
				t.found()
				return true
			}
			// Line 20 goes to explore, not to the top: this worker still counts as a thief.
		}
		if m.Stopping() { // line 23
			h.Cancel()
			m.NotifyAll()
			t.p.thieves.Add(-1)
			return false
		}
		// D2(last thief): cease to count as a thief, then look for active workers. This is guard C: without it, a
		// worker that has just become active may have seen this thief, which is about to sleep, and woken no other.
		if t.p.thieves.Add(-1) == 0 && t.p.actives.Load() > 0 { // line 29
			h.Cancel()
			continue
		}
		h.Commit() // line 33
	}
}

// found ceases to count the worker as a thief, because it has work.
func (t *publishedThief) found() {
	if t.p.thieves.Add(-1) == 0 { // guard B
		t.p.notify()
	}
}

// explore is Algorithm 4.
func (t *publishedThief) explore() bool {
	t.h.Searching()
	n := t.p.m.Workers()
	bound := stealBound * (n + 1) // the paper's STEAL_BOUND
	for failed, yields := 0, 0; !t.p.m.Stopping(); {
		if t.h.Try(t.h.Random(n)) == deque.Stolen {
			return true
		}
		if failed++; failed >= bound {
			t.h.Yield()
			if yields++; yields == yieldBound {
				return false
			}
		}
	}
	return false
}

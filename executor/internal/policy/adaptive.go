package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// adaptive keeps the promise of the published algorithm: no item waits while a worker sleeps, and the number of thieves
// follows the available work. In addition the last thief sleeps too when there is nothing to steal.
//
// A thief is a worker that looks for items, or one that was notified and has not got up yet. thieves counts them. A
// thread that makes an item available wakes a worker if there is no thief (Shown, Submitted). A worker that ceases to
// be a thief first ceases to count, then looks everywhere once more. Either it sees the item, or the thread that made
// the item available saw no thief. So no item waits in a lane while a worker sleeps. See the executor's PROTOCOL.md.
type adaptive struct {
	m       Machine
	_       pad.Line
	thieves xatomic.Int32
	_       pad.Line
}

func newAdaptive(m Machine, _ Options) Policy { return &adaptive{m: m} }

func (p *adaptive) Thieves() *xatomic.Int32 { return &p.thieves }
func (p *adaptive) Refills() bool           { return true }
func (p *adaptive) Actives() int            { return 0 }

// Shown implements Policy.
func (p *adaptive) Shown() {
	if p.m.AnyWaiter() {
		p.wakeOne()
	}
}

// Submitted implements Policy. The worker that is woken wakes another, if there are more items.
func (p *adaptive) Submitted(int) {
	if p.m.AnyWaiter() && p.noThiefSoon() {
		p.wakeOne()
	}
}

// noThiefSoon waits a bounded time for a thief, and reports whether there is none. If a caller submits run after run,
// the worker that has just finished the last run is about to become a thief. Waking another would cost ten times as
// much.
func (p *adaptive) noThiefSoon() bool {
	for range thiefPatience {
		if p.thieves.Load() != 0 {
			return false
		}
	}
	return true
}

// wakeOne wakes one worker if there is no thief. There is an item, or there was one.
func (p *adaptive) wakeOne() {
	// The waker counts the woken worker as a thief, so that threads that show items before it gets up wake no other.
	for p.thieves.CompareAndSwap(0, 1) {
		if p.m.Notify(1) > 0 {
			return
		}
		// No worker was woken, but for a moment the count included a thief that did not exist. Since Notify looked, a
		// worker may have gone to sleep, and then an item may have been shown without a wake-up. So look again.
		if p.thieves.Add(-1) != 0 || !p.m.AnyWork() {
			return
		}
		if !p.m.AnyWaiter() {
			p.m.NotifyHelpers()
			return
		}
	}
}

// PassOn implements Hosting: there is one thief less.
func (p *adaptive) PassOn() {
	if p.thieves.Add(-1) == 0 && p.m.AnyWork() {
		p.wakeOne()
	}
}

// WakeAll implements Policy. It does not use NotifyAll: a worker that commits to sleep after such a call notifies all
// others once more, and these would not be counted as thieves.
func (p *adaptive) WakeAll() {
	n := p.m.Workers()
	// As in wakeOne: the workers are counted before they are woken, so the count may include thieves that do not exist.
	p.thieves.Add(int32(n))
	woken := p.m.Notify(n)
	if p.thieves.Add(int32(woken-n)) == 0 && p.m.AnyWork() {
		p.wakeOne()
	}
}

// Attach implements Policy.
func (p *adaptive) Attach(h Host) Thief {
	return &adaptiveThief{p: p, h: h, victim: h.ID() + 1}
}

type adaptiveThief struct {
	p *adaptive
	patient
	h       Host
	victim  int    // where search begins: the last victim of a successful steal
	trivial int    // trivial steals in a row, see bounds.go
	begun   uint64 // Host.Items at Busy
	since   int64  // Host.Nanotime at Busy, if timed
	stolen  bool   // the argument of Busy
	timed   bool
}

// Find implements Thief.
func (t *adaptiveThief) Find() bool {
	t.p.thieves.Add(1)
	for {
		found := false
		leaves := t.h.Leave()
		if !leaves {
			found = t.search()
		}
		if leaves || found {
			// Guard B of document 000: an item may have been shown without a wake-up because this worker was a thief.
			// D1(dismiss): the same holds for a spare that leaves. The wake-up that it has received goes on to another.
			t.p.PassOn()
			return found
		}
		t.h.Prepare()
		// D1(park): cease to count, then look everywhere. Looking first would miss an item that is shown between the
		// two, without a wake-up because there still was a thief.
		t.p.thieves.Add(-1)
		if t.p.m.Stopping() {
			t.h.Cancel()
			return false
		}
		if t.p.m.AnyWork() {
			if !t.h.Cancel() {
				t.p.thieves.Add(1) // if Cancel returns true, the waker has counted this worker
			}
			continue
		}
		t.h.Commit()
		// The waker has counted this worker as a thief.
	}
}

// search looks at the injector and at every other worker, a bounded number of times.
func (t *adaptiveThief) search() bool {
	h := t.h
	h.Searching()
	// Pause returns when an item is submitted.
	if t.trivial > fewTrivial {
		h.Pause(trivialPause * min(t.trivial-fewTrivial, trivialPauses))
	}
	for round := 0; round < searchRounds; {
		outcome := h.Try(h.ID())
		if outcome == deque.Stolen {
			return true
		}
		lost := outcome == deque.Lost
		// All the way round from the last successful victim, so that no victim is left out.
		n := t.p.m.Workers()
		for i := range n {
			v := t.victim + i
			if v >= n {
				v -= n
			}
			if v == h.ID() || !h.Sees(v) {
				continue
			}
			switch h.Try(v) {
			case deque.Stolen:
				t.victim = v
				return true
			case deque.Lost:
				lost = true
			}
		}
		if lost {
			continue // a lost race is not a failed round: there was an item
		}
		if round++; round >= crowdRounds && t.p.thieves.Load() > 1 || t.p.m.Stopping() {
			return false
		}
		if round > politeRounds {
			h.Yield()
		}
		// Pause does not read the lanes: a read would take the cache line from the owner that writes it.
		h.Pause(searchPause)
	}
	return false
}

// Busy implements Thief.
func (t *adaptiveThief) Busy(stolen bool) {
	t.stolen = stolen
	if !stolen {
		return
	}
	t.begun, t.timed = t.h.Items(), t.trivial >= fewTrivial
	if t.timed {
		t.since = t.h.Nanotime()
	}
}

// Idle implements Thief. It finds out whether the steal was trivial, see bounds.go.
func (t *adaptiveThief) Idle() {
	switch {
	case !t.stolen:
	case t.h.Items()-t.begun > 1 || t.timed && t.h.Nanotime()-t.since >= trivialTime:
		t.trivial = 0
	default:
		t.trivial++
	}
}

// Lost implements Thief.
func (t *adaptiveThief) Lost() {}

// Vain implements Thief.
func (t *adaptiveThief) Vain(n int) bool {
	if n > Looks {
		t.h.Yield()
	}
	return n >= patientLooks
}

package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// adaptive keeps what the published algorithm promises, that no item waits while a worker sleeps and that the number of thieves
// follows the work there is. In addition the last thief sleeps too when there is nothing to steal.
//
// The rule: a thief is a worker that looks for items, or one that was notified and has not got up yet; thieves counts them.
// Whoever makes an item available wakes a worker if there is no thief (Shown, Submitted). A worker that ceases to be a thief
// looks once more, at everything, after it has ceased to count. Either it sees the item, or the maker of the item saw no
// thief. So no item waits in a deque while a worker sleeps. See PROTOCOL.md.
type adaptive struct {
	m       Machine
	_       pad.Line
	thieves xatomic.Int32
	_       pad.Line
}

func newAdaptive(m Machine) Policy { return &adaptive{m: m} }

func (p *adaptive) Thieves() *xatomic.Int32 { return &p.thieves }
func (p *adaptive) Refills() bool           { return true }
func (p *adaptive) Actives() int            { return 0 }

// Shown implements Policy.
func (p *adaptive) Shown() {
	if p.m.AnyWaiter() {
		p.wakeOne()
	}
}

// Submitted implements Policy.
func (p *adaptive) Submitted() {
	if p.m.AnyWaiter() && p.noThiefSoon() {
		p.wakeOne()
	}
}

// noThiefSoon reports whether there is no thief, after waiting for one. A caller that submits run after run finds the
// worker that has just finished the last on its way to look for more, and waking another would cost ten times as much.
func (p *adaptive) noThiefSoon() bool {
	for range thiefPatience {
		if p.thieves.Load() != 0 {
			return false
		}
	}
	return true
}

// wakeOne wakes one worker if there is no thief. The caller has made an item available, or knows of one.
func (p *adaptive) wakeOne() {
	// The waker counts the woken as a thief, so that others who push before it has got up wake nobody else.
	for p.thieves.CompareAndSwap(0, 1) {
		if p.m.Notify(1) > 0 {
			return
		}
		// Nobody to wake. But for a moment the count spoke of a thief that did not exist: a worker may have gone to
		// sleep since Notify looked, and an item may have been pushed after that trusting in the count. Look again.
		if p.thieves.Add(-1) != 0 || !p.m.AnyWork() {
			return
		}
		if !p.m.AnyWaiter() {
			p.m.NotifyHelpers()
			return
		}
	}
}

// WakeAll implements Policy. NotifyAll would not do: a waiter that it has just missed notifies others once more, and nobody
// would have counted those.
func (p *adaptive) WakeAll() {
	n := p.m.Workers()
	// As in wakeOne: they are counted beforehand, and then for a moment the count spoke of some that did not exist.
	p.thieves.Add(int32(n))
	woken := p.m.Notify(n)
	if p.thieves.Add(int32(woken-n)) == 0 && p.m.AnyWork() {
		p.wakeOne()
	}
}

// Attach implements Policy.
func (p *adaptive) Attach(h Host) Thief {
	return &adaptiveThief{adaptive: p, h: h, victim: h.ID() + 1}
}

type adaptiveThief struct {
	*adaptive
	h       Host
	victim  int    // the last that it has stolen from
	trivial int    // trivial steals in a row, see bounds.go
	begun   uint64 // items that the worker had run at Busy
	since   int64  // the time of Busy, if timed
	stolen  bool
	timed   bool
}

// Find implements Thief.
func (t *adaptiveThief) Find() bool {
	t.thieves.Add(1)
	for {
		found := false
		leaves := t.h.Leave()
		if !leaves {
			found = t.search()
		}
		if leaves || found {
			// Guard B of the paper: an item may have been pushed trusting in this thief, which now is none.
			// D1(dismiss): a spare that leaves is none either, and what has woken it goes on to another.
			if t.thieves.Add(-1) == 0 && t.m.AnyWork() {
				t.wakeOne()
			}
			return found
		}
		t.h.Prepare()
		// D1(park): cease to count, then look everywhere. Looking first would miss an item pushed between the two by
		// somebody who still saw a thief.
		t.thieves.Add(-1)
		if t.m.Stopping() {
			t.h.Cancel()
			return false
		}
		if t.m.AnyWork() {
			if !t.h.Cancel() {
				t.thieves.Add(1) // otherwise whoever notified has counted this worker
			}
			continue
		}
		t.h.Commit()
		// Whoever notified has counted this worker as a thief.
	}
}

// search looks at the injector and at every other worker, a bounded number of times.
func (t *adaptiveThief) search() bool {
	h := t.h
	h.Searching()
	// Not while something comes from outside, which others may wait for.
	if t.trivial > fewTrivial {
		h.Pause(trivialPause * min(t.trivial-fewTrivial, trivialPauses))
	}
	for round := 0; round < searchRounds; {
		outcome := h.Try(h.ID())
		if outcome == deque.Stolen {
			return true
		}
		lost := outcome == deque.Lost
		// From the last success on, all the way round: no victim is left out.
		n := t.m.Workers()
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
			continue // there is something; a lost race is not a failed round
		}
		if round++; round >= crowdRounds && t.thieves.Load() > 1 || t.m.Stopping() {
			return false
		}
		if round > politeRounds {
			h.Yield()
		}
		// Wait away from the deques: reading a word takes its cache line from the owner who writes it.
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

// Idle implements Thief. It finds out whether the steal was worth it.
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

package policy

import (
	"cmp"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// mbws is document 004's balanced work stealing (Algorithm 2) without its kernel support. A thief that has got an item
// wishes two wake-ups. Other thieves take the wishes over and wake the sleeping workers that they meet. A thief that
// has failed often and has no wishes sleeps. One thief, the watchdog, does not sleep while a run is in progress: all
// thieves might sleep otherwise while busy workers show items. Which one that is differs: see sentry.
type mbws struct {
	crowd
	watchdog xatomic.Int32 // see watchdogRole
	deputy   xatomic.Int32 // 1 plus the ID of the worker that stays awake in a wait; correctness does not depend on it
	silence
	threshold int
	busyWakes bool
	newSentry func(*mbwsThief) sentry
	standIn   *standIn     // nil if there is none: see bws.go
	peers     []*mbwsThief // by ID. P1: an entry is written before Machine.Workers counts it
}

func newMBWS(m Machine, o Options) Policy {
	return &mbws{
		crowd:     crowd{m: m},
		threshold: cmp.Or(o.SleepThreshold, sleepThreshold),
		busyWakes: o.BusyWakes,
		newSentry: func(t *mbwsThief) sentry { return watchdogRole{t} },
		peers:     make([]*mbwsThief, m.Limit()),
	}
}

// Thieves implements Policy.
func (p *mbws) Thieves() *xatomic.Int32 {
	if p.busyWakes {
		return &p.none
	}
	return &p.thieves
}

// Shown implements Policy. The watchdog finds the item, unless busy workers are to wake others.
func (p *mbws) Shown() {
	if p.busyWakes {
		p.m.Notify(wishes)
	}
}

// Submitted implements Policy.
//
// D3(run): as in policy abp. While there is a thief the watchdog is awake.
func (p *mbws) Submitted(int) {
	if p.thieves.Load() == 0 {
		p.m.Notify(1)
	}
}

// WakeAll implements Policy.
func (p *mbws) WakeAll() { p.wakeAll() }

// Attach implements Policy.
func (p *mbws) Attach(h Host) Thief {
	t := &mbwsThief{p: p, h: h, id: h.ID()}
	t.sentry = p.newSentry(t)
	if p.standIn != nil {
		t.threads = h.(PeerHost) // a row with a standIn has Needs
	}
	p.peers[t.id] = t
	return t
}

type mbwsThief struct {
	p *mbws
	deaf
	sentry  sentry
	h       Host
	threads PeerHost // h, under a policy with a standIn; else nil
	id      int
	failed  int // the steal counter, n in the document
	_       pad.Line
	wishes  xatomic.Int32  // the wake-up counter, c in the document
	status  xatomic.Uint32 // an mbwsStatus
	_       pad.Line
}

// A sentry decides, for one thief, whether that is the watchdog: the one that stays awake while a run is in progress.
type sentry interface {
	volunteer()        // the caller, which counts as a thief, is to try
	cease(stolen bool) // the caller ceases to count as a thief: it has got an item, or leaves service
	stays() bool       // the caller has failed often, and does not even prepare to sleep
	maySleep() bool    // the caller has prepared, and ceases to count as a thief: it may sleep
	isPosted() bool    // there is a watchdog
}

// An mbwsStatus is what a worker tells its peers. Correctness does not depend on it.
type mbwsStatus uint32

const (
	mbwsThieving mbwsStatus = iota
	mbwsBusy
	mbwsSleeping
)

func (t *mbwsThief) tell(s mbwsStatus) { t.status.Store(uint32(s)) }

// Busy implements Thief.
func (t *mbwsThief) Busy(bool) { t.tell(mbwsBusy) }

// Find implements Thief.
func (t *mbwsThief) Find() bool {
	m, h := t.p.m, t.h
	t.failed = 0
	t.tell(mbwsThieving)
	t.p.join()
	for {
		t.sentry.volunteer()
		if h.Leave() {
			// D1(dismiss): as in policy adaptive.
			t.sentry.cease(false)
			return false
		}
		if t.attempts() {
			if !t.p.busyWakes {
				t.wish(wishes)
			}
			t.sentry.cease(true)
			return true
		}
		if t.sentry.stays() {
			h.Pause(breath)
			continue
		}
		h.Prepare()
		t.tell(mbwsSleeping)
		if t.sentry.maySleep() {
			h.Commit()
		} else {
			h.Cancel()
			h.Pause(breath)
		}
		if m.Stopping() {
			return false
		}
		t.tell(mbwsThieving)
		t.p.join()
	}
}

// attempts tries until it has an item, or has failed so often that the worker considers sleeping.
func (t *mbwsThief) attempts() bool {
	t.h.Searching()
	for !t.p.m.Stopping() {
		t.sentry.volunteer()
		victim := t.h.Random(t.p.m.Workers())
		if t.h.Try(victim) == deque.Stolen {
			return true
		}
		if t.fails(victim) {
			return false
		}
	}
	return false
}

// fails is called after an attempt to steal from victim has failed. It reports whether the worker considers sleeping.
func (t *mbwsThief) fails(victim int) bool {
	if victim != t.id {
		t.manage(victim)
	}
	if t.failed++; t.failed <= t.p.threshold {
		return false
	}
	t.failed = 0
	if t.wishes.Load() == 0 {
		return true
	}
	if !t.p.m.Running() {
		t.wishes.Store(0) // a wish does not outlive its run: the thief would stay awake for it
		return true
	}
	t.wish(-1) // a sleep and a wake-up cancel each other out
	return false
}

// Waits implements Thief. A worker that waits is a thief to its peers, as in the document, but does not count as one,
// nor may it be the watchdog: it would leave most items to others. The executor looks where the items may be that it
// waits for; the victims that it meets otherwise are drawn, as those of other thieves.
func (t *mbwsThief) Waits() {
	t.failed = 0
	t.tell(mbwsThieving)
}

// Vain implements Thief.
func (t *mbwsThief) Vain(int) bool { return t.p.m.Stopping() || t.fails(t.h.Random(t.p.m.Workers())) }

// MaySleep implements Thief. If there is no watchdog, a worker that is to sleep in a wait stays awake as its deputy,
// unless there is a deputy. A worker that sleeps already does not become one.
func (t *mbwsThief) MaySleep() bool {
	if t.sentry.isPosted() || !t.p.m.Running() || t.p.m.Stopping() {
		t.standDown()
		return true
	}
	me := int32(t.id + 1)
	return t.p.deputy.Load() != me && !t.p.deputy.CompareAndSwap(0, me)
}

// standDown ends the worker's time as the watchdog's deputy, if it is that.
func (t *mbwsThief) standDown() {
	if t.p.deputy.Load() == int32(t.id+1) {
		t.p.deputy.Store(0)
	}
}

// Resumes implements Thief.
func (t *mbwsThief) Resumes(stolen bool) {
	t.standDown()
	t.tell(mbwsBusy)
	if stolen && !t.p.busyWakes {
		t.wish(wishes)
	}
}

// manage does what Algorithm 2 has in lines 17 to 31: the attempt to steal from victim has failed.
func (t *mbwsThief) manage(victim int) {
	peer := t.p.peers[victim]
	switch mbwsStatus(peer.status.Load()) {
	case mbwsBusy:
		if t.p.standIn != nil && t.p.standIn.giveCore(t, victim) {
			return
		}
		if n := peer.wishes.Load(); n > 0 && peer.wishes.CompareAndSwap(n, n-1) {
			t.wish(1)
		}
	case mbwsSleeping:
		// The worker that is woken need not be the victim: it is the one that went to sleep last.
		if t.wishes.Load() > 0 {
			t.wish(-t.p.m.Notify(1))
		}
	}
}

// wish adds n to the worker's wishes. Peers may take some over meanwhile. There are never fewer than none.
func (t *mbwsThief) wish(n int) {
	for n != 0 {
		old := t.wishes.Load()
		if t.wishes.CompareAndSwap(old, max(old+int32(n), 0)) {
			return
		}
	}
}

// Package spares keeps account of an executor's spare workers, which stand in for workers that block, or that sleep in
// waits while others block or tasks are held up.
//
// A spare is in service, on standby or without a thread. In service it works as any other worker does. On standby its
// thread sleeps apart from the others. A [Ledger] decides the state of each spare. It starts, wakes and ends no thread:
// its [Host] does.
package spares

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Ledger is the account of one executor's spares.
//
// While any worker blocks or any task is held up, as many spares are due as workers, spares included, block or sleep in
// a wait (I9). So as many workers as configured can run any item. A worker that sleeps in a wait cannot: it is woken
// only for what it waits for, which a blocked worker may have, or a task that nobody has begun. Otherwise no spare is
// due: another worker runs what the sleeping worker waits for, and goes on.
//
// When a Blocking or a sleep ends, more spares may be in service than are due. A surplus spare leaves service when it
// looks for an item. One that sleeps among the workers stays in service until it is woken, so that the next Blocking
// finds it there.
type Ledger struct {
	host  Host
	limit int           // the largest number of spares
	idle  time.Duration // how long, at least, the thread of an idle spare is kept

	blocked xatomic.Int32 // workers in Blocking; written under mu
	asleep  xatomic.Int32 // workers asleep in a wait that are not in Blocking; written by these workers
	serving xatomic.Int32 // spares in service; written under mu
	held    xatomic.Int32 // tasks that are held up; below 0 for a moment, when one goes on before it is counted

	mu       xsync.Mutex // guards what follows
	made     int         // the number of spares made so far
	standby  []int       // spares on standby; the last is called up first
	gone     []int       // spares without a thread
	used     bool        // since the last Look a worker has blocked or unblocked, or a spare was called up
	willLook bool        // another Look is scheduled
	stopLook func()      // cancels it
	refused  bool        // no thread can be started until CallUp
	closed   bool

	callers xsync.WaitGroup // of CallUp in progress
}

// A Host is an executor as its ledger sees it. Spares are numbered from 0.
type Host interface {
	// Make makes a spare, before its first use. Spares are made in order, one at a time.
	Make(spare int)
	// Send puts a spare to work: it wakes the spare's thread, or starts one. If no thread can be started, it calls
	// Failed, or Refused if the same would come of another.
	Send(spare int, hasThread bool)
	// Discharge ends the thread of a spare that is on standby or about to be.
	Discharge(spare int)
	// WakeAll wakes the workers that sleep because they have found no work, or rest without any, so that surplus spares
	// among them leave.
	WakeAll()
}

// Init makes l the ledger of a host with up to limit spares. The thread of an idle spare is kept for idle at least.
func (l *Ledger) Init(host Host, limit int, idle time.Duration) {
	l.host, l.limit, l.idle = host, limit, idle
}

// Limit returns the largest number of spares.
func (l *Ledger) Limit() int { return l.limit }

// Counts holds the numbers of a ledger that dumps show.
type Counts struct{ Blocked, Asleep, Serving, Standby int }

// Counts returns a snapshot.
func (l *Ledger) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{int(l.blocked.Load()), int(l.asleep.Load()), int(l.serving.Load()), len(l.standby)}
}

// Block counts the calling worker as blocked, and calls up the spares that are then due.
func (l *Ledger) Block() {
	l.mu.Lock()
	l.used = true
	// D1(block): count as blocked, then look at asleep. Pairs with D1(wait).
	l.blocked.Add(1)
	l.callUp()
	l.mu.Unlock()
}

// Unblock undoes Block.
func (l *Ledger) Unblock() {
	l.mu.Lock()
	l.blocked.Add(-1)
	l.used = true
	l.mu.Unlock()
}

// Sleep counts the calling worker as asleep in a wait. If any worker blocks or any task is held up, it calls up a spare
// in its place.
func (l *Ledger) Sleep() {
	// D1(wait): count as asleep, then look at blocked and held. Pairs with D1(block) and D1(hold): one of the two calls
	// up the spare.
	l.asleep.Add(1)
	if l.blocked.Load() > 0 || l.held.Load() > 0 {
		l.mu.Lock()
		l.callUp()
		l.mu.Unlock()
	}
}

// Hold counts a task as held up. If workers sleep in waits, it calls up spares in their places.
func (l *Ledger) Hold() {
	// D1(hold): count as held up, then look at asleep. Pairs with D1(wait).
	if l.held.Add(1) > 0 && l.asleep.Load() > 0 {
		l.CallUp()
	}
}

// Release undoes Hold.
func (l *Ledger) Release() { l.held.Add(-1) }

// Wake undoes Sleep.
func (l *Ledger) Wake() { l.asleep.Add(-1) }

// CallUp calls up the spares that are due and that Failed or were Refused before. Any thread.
func (l *Ledger) CallUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.refused = false
	l.callers.Add(1) // under mu, and so before Close: nothing else keeps Close from coming while callUp has released mu
	defer l.callers.Done()
	l.callUp()
}

// due returns how many spares should be in service.
func (l *Ledger) due() int32 {
	blocked := l.blocked.Load()
	if blocked == 0 && l.held.Load() <= 0 {
		return 0
	}
	return min(blocked+l.asleep.Load(), int32(l.limit))
}

// callUp puts spares into service until as many serve as are due. It tries at most as many as were missing at first.
// The caller holds mu, which callUp releases while the host wakes and starts threads.
func (l *Ledger) callUp() {
	for missing := l.due() - l.serving.Load(); missing > 0 && l.due() > l.serving.Load(); missing-- {
		spare, hasThread, ok := l.next()
		if !ok {
			return
		}
		l.mu.Unlock()
		l.host.Send(spare, hasThread)
		l.mu.Lock()
	}
}

// next puts a spare into service, for the caller to Send. ok is false if there is none: then no thread can be started,
// or the threads of the spares that neither serve nor stand by are about to end, and Gone calls up the spares that are
// due. The caller holds mu.
func (l *Ledger) next() (spare int, hasThread, ok bool) {
	if last := len(l.standby) - 1; last >= 0 {
		spare, l.standby = l.standby[last], l.standby[:last]
		hasThread = true
	} else if l.refused {
		return 0, false, false
	} else if last := len(l.gone) - 1; last >= 0 {
		spare, l.gone = l.gone[last], l.gone[:last]
	} else if l.made < l.limit {
		spare = l.made
		l.made++
		l.host.Make(spare)
	} else {
		return 0, false, false
	}
	l.serving.Add(1)
	l.used = true // else a spare that is called up again and again by sleeping workers would lose its thread each time
	if !hasThread {
		l.scheduleLook()
	}
	return spare, hasThread, true
}

// Failed takes a spare for which no thread could be started out of service. No other spare is called up in its place
// until the host calls CallUp.
func (l *Ledger) Failed(spare int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail(spare)
}

// Refused is Failed for a spare whose thread the system has no room for. No other thread is asked for until the host
// calls CallUp, which it has to.
func (l *Ledger) Refused(spare int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = true
	l.fail(spare)
}

// fail is Failed for a caller that holds mu.
func (l *Ledger) fail(spare int) {
	l.serving.Add(-1)
	l.gone = append(l.gone, spare)
}

// Gone is called when the thread of a spare ends. The spare may be given another, now if one is due.
func (l *Ledger) Gone(spare int) {
	l.mu.Lock()
	l.gone = append(l.gone, spare)
	l.callUp()
	l.mu.Unlock()
}

// HasSurplus reports whether more spares are in service than are due.
func (l *Ledger) HasSurplus() bool { return l.serving.Load() > l.due() }

// IsShort reports whether some worker that blocks or sleeps in a wait has no spare in its place.
func (l *Ledger) IsShort() bool { return l.serving.Load() < l.blocked.Load()+l.asleep.Load() }

// Leave takes the calling spare out of service if there is a surplus, and reports whether it did. The spare's lane is
// empty (I10). The spare is on standby afterwards, or discharged if spares have been idle for long.
func (l *Ledger) Leave(spare int) bool {
	if !l.HasSurplus() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.HasSurplus() || l.closed {
		return false
	}
	l.serving.Add(-1) // a worker that goes to sleep after HasSurplus calls up a spare, maybe this one, once mu is free
	if l.used {
		l.standby = append(l.standby, spare)
	} else {
		l.host.Discharge(spare)
	}
	return true
}

// scheduleLook schedules a Look, unless one is scheduled. The caller holds mu.
func (l *Ledger) scheduleLook() {
	if !l.willLook && !l.closed {
		l.willLook = true
		l.stopLook = after(l.idle, l.Look)
	}
}

// Look ends the threads of idle spares. If the ledger was not used since the last Look, it discharges the spares on
// standby, and wakes surplus spares that sleep among the workers, which then leave and are discharged. It schedules the
// next Look while any spare has a thread.
func (l *Ledger) Look() {
	l.mu.Lock()
	l.willLook = false
	if l.closed {
		l.mu.Unlock()
		return
	}
	var idle []int
	surplus := false
	if !l.used {
		idle, l.standby = l.standby, nil
		surplus = l.HasSurplus()
	}
	l.used = false
	if l.serving.Load() > 0 || len(l.standby) > 0 {
		l.scheduleLook()
	}
	l.mu.Unlock()
	for _, spare := range idle {
		l.host.Discharge(spare)
	}
	if surplus {
		l.host.WakeAll()
	}
}

// Close cancels the scheduled Look and ends the threads on standby. No worker blocks any more. Spares in service end as
// other workers do. No spare is called up afterwards.
func (l *Ledger) Close() {
	l.close()
	l.callers.Wait()
}

func (l *Ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.willLook {
		l.stopLook()
	}
	for _, spare := range l.standby {
		l.host.Discharge(spare)
	}
	l.standby = nil
}

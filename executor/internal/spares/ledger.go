// Package spares keeps account of an executor's spare workers: those that stand in for workers that block.
//
// A spare is in service, when it works as any other worker does, on standby, when its thread sleeps apart from the others, or
// without a thread. A [Ledger] says which spares are to be where. It starts, wakes and ends no thread: its [Host] does.
package spares

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Ledger has the account of one executor's spares.
//
// While some worker blocks, as many spares are due as workers block or sleep in a wait, spares among them: so as many
// workers as the configuration says can run whatever comes. A worker that sleeps in a wait cannot: it is woken only for
// what it waits for, and that may be in the hands of a worker that blocks. While nobody blocks no spare is due: what a
// sleeping worker waits for is then run by another worker, which goes on.
//
// A spare more than are due is surplus, when a Blocking or a sleep has ended. It leaves service when it looks for an item. A
// surplus spare that sleeps among the workers stays there until it is woken: the next Blocking then finds it in service.
type Ledger struct {
	host  Host
	limit int           // how many spares there may be
	idle  time.Duration // how long, at least, spares stay that nobody needs

	blocked xatomic.Int32 // workers in Blocking; written under mu
	asleep  xatomic.Int32 // workers asleep in a wait, other than within Blocking; written by those
	serving xatomic.Int32 // spares in service; written under mu

	mu       xsync.Mutex // guards what follows
	made     int         // spares made so far
	standby  []int       // the last is called up first
	gone     []int       // those without a thread
	used     bool        // somebody has blocked since the last look at idle spares
	watched  bool        // there will be another look
	stopLook func()      // cancels it
	closed   bool
}

// A Host is an executor as its ledger sees it. Spares are numbered from 0.
type Host interface {
	// Make makes a spare, the first time that it is needed. Spares are made in their order, one at a time.
	Make(spare int)
	// Send has a spare go to work: it wakes the spare's thread, or starts one. If it cannot, it calls Failed.
	Send(spare int, hasThread bool)
	// Discharge wakes the thread of a spare on standby, or about to be, and has it end.
	Discharge(spare int)
	// WakeAll wakes the workers that sleep because they have found nothing, for those to leave that are surplus.
	WakeAll()
}

// Init makes l the ledger of a host with up to limit spares, of which those that nobody needs stay for idle at least.
func (l *Ledger) Init(host Host, limit int, idle time.Duration) {
	l.host, l.limit, l.idle = host, limit, idle
}

// Limit is how many spares there may be.
func (l *Ledger) Limit() int { return l.limit }

// Counts is what a dump tells of spares.
type Counts struct{ Blocked, Asleep, Serving, Standby int }

// Counts returns a snapshot.
func (l *Ledger) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{int(l.blocked.Load()), int(l.asleep.Load()), int(l.serving.Load()), len(l.standby)}
}

// Block counts the calling worker as blocked and calls up the spares that are due then.
func (l *Ledger) Block() {
	l.mu.Lock()
	l.used = true
	// D1(block): blocked, then look who sleeps. Pairs with D1(wait).
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

// Sleep counts the calling worker as asleep in a wait. If a worker blocks, a spare takes the place of the one that sleeps.
func (l *Ledger) Sleep() {
	// D1(wait): asleep, then look whether anybody blocks. Pairs with D1(block): one of the two calls up the spare.
	l.asleep.Add(1)
	if l.blocked.Load() > 0 {
		l.mu.Lock()
		l.callUp()
		l.mu.Unlock()
	}
}

// Wake undoes Sleep.
func (l *Ledger) Wake() { l.asleep.Add(-1) }

// due is how many spares are to be in service, if there are so many.
func (l *Ledger) due() int32 {
	blocked := l.blocked.Load()
	if blocked == 0 {
		return 0
	}
	return min(blocked+l.asleep.Load(), int32(l.limit))
}

// callUp puts spares into service until as many are as are due, or as many as were missing have been tried. Under mu, which it
// gives up while the host wakes and starts them.
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

// next puts a spare into service; the host has to be told of it. If there is none to be had, the thread of one is about to end,
// and Gone calls up what is due then. Under mu.
func (l *Ledger) next() (spare int, hasThread, ok bool) {
	if last := len(l.standby) - 1; last >= 0 {
		spare, l.standby = l.standby[last], l.standby[:last]
		hasThread = true
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
	l.used = true // or a spare that sleeping workers call up again and again would get a thread each time
	if !hasThread {
		l.watch()
	}
	return spare, hasThread, true
}

// Failed takes a spare out of service that could not be given a thread. Those that block go on without it.
func (l *Ledger) Failed(spare int) {
	l.mu.Lock()
	l.serving.Add(-1)
	l.gone = append(l.gone, spare)
	l.mu.Unlock()
}

// Gone says that the thread of a spare ends. The spare may be given another.
func (l *Ledger) Gone(spare int) {
	l.mu.Lock()
	l.gone = append(l.gone, spare)
	l.callUp()
	l.mu.Unlock()
}

// HasSurplus reports whether there is a spare in service more than are due.
func (l *Ledger) HasSurplus() bool { return l.serving.Load() > l.due() }

// Leave takes a spare out of service if one is surplus, and reports whether it has. The spare has nothing in its lane. From
// then on it is on standby or, if spares were idle for long, discharged.
func (l *Ledger) Leave(spare int) bool {
	if !l.HasSurplus() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.HasSurplus() || l.closed {
		return false
	}
	l.serving.Add(-1) // a worker that has gone to sleep since calls up another, or this one, when it has got the lock
	if l.used {
		l.standby = append(l.standby, spare)
	} else {
		l.host.Discharge(spare)
	}
	return true
}

// watch sees to it that spares that nobody needs are looked for. Under mu.
func (l *Ledger) watch() {
	if !l.watched && !l.closed {
		l.watched = true
		l.stopLook = after(l.idle, l.Look)
	}
}

// Look ends the threads on standby if nobody has blocked since the last look, and wakes the surplus spares that sleep among
// the workers: those then leave, and so end. It goes on while any spare has a thread.
func (l *Ledger) Look() {
	l.mu.Lock()
	l.watched = false
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
		l.watch()
	}
	l.mu.Unlock()
	for _, spare := range idle {
		l.host.Discharge(spare)
	}
	if surplus {
		l.host.WakeAll()
	}
}

// Close ends what goes by time, and the threads on standby. No worker blocks any more; spares in service end as other
// workers do.
func (l *Ledger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.watched {
		l.stopLook()
	}
	for _, spare := range l.standby {
		l.host.Discharge(spare)
	}
	l.standby = nil
}

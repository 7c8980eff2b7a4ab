// Package stalls finds workers whose tasks sleep without saying so: their threads sleep in the kernel in the middle of
// a task, outside Blocking and outside the executor's own waits. A [Watch] tells its [Host], which lets a spare worker
// stand in. Where no thread can tell what another one does, the watch guesses.
//
// One clock serves all executors of the process. It ticks only while some worker of an executor is awake. An executor
// pays one load each time that a worker goes on after a sleep.
package stalls

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

const (
	// period is the time between two looks. A task that sleeps is found by the second look after it has begun to.
	period = 5 * time.Millisecond
	// longPeriod is the period while no item waits for a worker and tasks end. A look and its timer cost some 50 to
	// 200 µs of a core: with the long period a thousandth of it, with the short one a hundredth or more. So a task that
	// has computed for long cannot be found within 10 ms for a thousandth of a core. With a look every 10 ms the timer
	// of the runtime took 0.58 to 0.87 % of a core, and a thread of its own that slept in a system call 2.4 to 7.7 %,
	// since the runtime takes its P away and starts a thread that spins (2 cores of an AMD EPYC, shared, 2026-11-27).
	longPeriod = 25 * period
	// longestPeriod is the period while workers stay in the same tasks, as far as they have told. A task that has
	// computed for so long seldom begins to sleep.
	longestPeriod = 2 * longPeriod
	// busyPart is which part of the time since a task may have begun to sleep passes until the next look, while items
	// wait: between a period and a long one, or the longest. With the short period the timer alone would cost a
	// hundredth of a core for as long as they do. A task that begins to sleep is in doubt at the next look, or at the
	// one after that if it has slept for less than a quarter of the time by then, and is found two short periods later.
	busyPart = 20
	// calmLooks is after how many looks in a row at which no item waited the period is long.
	calmLooks = 10
	// naps is how long a task may run between two looks, or a quarter of the time, and still sleeps, if it sleeps at
	// the second. A task that wakes up every millisecond to look at something would else never be found.
	naps = period / 4
	// starved is after how many looks a sleeping thread counts as asleep in a task although goroutines wait for a P,
	// and any thread of which the kernel does not tell whether it sleeps. A thread sleeps, too, while its goroutine
	// waits for a P. No goroutine waits for so long if there are any to spare, and seldom a thread for a core.
	starved = 20
)

// A Doing is what a worker does.
type Doing uint8

const (
	// Away: the worker needs no stand-in. It has one, or rests, or has no thread.
	Away Doing = iota
	// Idle: the worker sleeps until there is an item.
	Idle
	// Looking: the worker looks for an item.
	Looking
	// InTask: the worker runs an item.
	InTask
)

// A Worker is what a host knows of a worker.
type Worker struct {
	Thread int64 // the kernel's ID
	Doing  Doing
	Ended  uint64 // items that have ended, as far as the worker has told
}

// A Host is an executor as its watch sees it. Its methods are called by one thread at a time.
type Host interface {
	// Workers appends all workers made so far to list, in the order of their numbers, and returns it.
	Workers(list []Worker) []Worker
	// Queued reports whether an item waits that any worker may take.
	Queued() bool
	// Looked is called at the end of each look, with its time.
	Looked(now time.Time)
	// Sleeps notes that the task of a worker sleeps, Wakes that it has gone on.
	Sleeps(worker int)
	Wakes(worker int)
}

// A Watch watches the workers of one executor. Init prepares the zero value, which watches nothing.
type Watch struct {
	host Host
	on   xatomic.Uint32 // 1: it is listed with the clock, or about to be
	slow xatomic.Uint32 // 1: no item has waited for a while, so the clock is to hurry when one does

	mu      xsync.Mutex // guards what follows
	closed  bool
	workers []Worker      // the last look
	seen    []seen        // by worker
	calm    int           // looks in a row at which no item waited for a worker
	at      time.Time     // of the last look
	doubt   time.Time     // of the last look at which a task may have begun to sleep while an item waited
	due     time.Duration // between the last look and the one after it
	paused  time.Time     // of the last look that found nobody awake
	guess   guess
}

// seen is what earlier looks have found out about a worker.
type seen struct {
	thread int64
	used   time.Duration // processor time, or what stands for it, see system
	ended  uint64        // items that have ended
	still  int           // looks in a row at which the thread had hardly run since the one before
	rested bool          // the thread had no core for a part of the time between the last two looks
	asleep bool          // the host was told so
}

// sleeps reports whether the thread sleeps. While the kernel does not tell, as in a process that may open no more
// files, it has to have stood still for so many looks, or to have ended no item if its clock cannot be read either. One
// that waited for a core all the time, or computed, counts as well: a spare too many does no harm.
func (s *seen) sleeps(looks int) bool {
	asleep, known := system.asleep(s.thread)
	return asleep || !known && s.still >= looks
}

// IsSet reports whether Init was called: whether anything is ever found.
func (w *Watch) IsSet() bool { return w.host != nil }

// Close ends the watch. No worker is noted as asleep afterwards.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.forget()
}

// wake lists w with the clock.
func (w *Watch) wake() {
	if w.host != nil && !InBubble() && w.on.CompareAndSwap(0, 1) {
		ticker.add(w)
	}
}

// InBubble reports whether the caller runs in a bubble of testing/synctest: only there the time has no monotonic part.
// A timer that is made or set there goes by the bubble's clock, and ends with it.
func InBubble() bool {
	now := time.Now()
	return now == now.Round(0)
}

// forget notes that no worker sleeps in a task. The caller holds mu.
func (w *Watch) forget() {
	for i := range w.seen {
		w.wakes(i)
	}
}

// wakes notes that worker i does not sleep in a task. The caller holds mu.
func (w *Watch) wakes(i int) {
	if s := &w.seen[i]; s.asleep {
		s.asleep = false
		w.host.Wakes(i)
	}
}

// look looks at all workers once. It reports whether the watch is to go on, and how long until the next look.
func (w *Watch) look() (on bool, next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		w.on.Store(0) // the clock forgets w, and with it the executor
		return false, longPeriod
	}
	if !w.anyAwake() {
		// Cease, then look again. A worker that goes on stores its state, and then looks whether the watch is on: one
		// of the two sees the other.
		w.on.Store(0)
		if !w.anyAwake() {
			w.pause()
			return false, longPeriod
		}
		w.on.Store(1) // the clock still has w
	}
	now := system.now()
	most := period
	if !w.at.IsZero() {
		most = now.Sub(w.at)
	}
	w.at = now
	nap := max(naps, most/4)
	looked, slowest := false, longestPeriod
	for i, now := range w.workers {
		if i == len(w.seen) {
			w.seen = append(w.seen, seen{})
		}
		looked = looked || now.Doing == Looking || now.Doing == Idle
		s := &w.seen[i]
		used, known := system.used(now)
		ran := used - s.used
		idle := ran == 0 || system.tells && ran <= nap
		if !known { // a caller's thread may have the Self of one that has ended, and be taken for that one
			ran, idle = 0, now.Thread > 0 && now.Ended == s.ended
		}
		still := now.Doing == InTask && now.Thread == s.thread && idle
		if still && s.asleep && ran != 0 {
			still = s.sleeps(starved) // whatever it did, it sleeps again
		}
		if !still {
			w.wakes(i)
			s.thread, s.still = now.Thread, -1
		}
		if now.Ended != s.ended {
			slowest = longPeriod
		}
		s.used, s.ended = used, now.Ended
		s.still++
		s.rested = ran < most-most/4
	}
	if w.doubt.IsZero() {
		w.doubt = now
	}
	queued := !looked && w.host.Queued()
	switch {
	case !queued:
		w.guess, w.doubt = guess{}, now
	case system.tells:
		if w.anyDoubt() {
			w.doubt = now
		}
		w.find()
	default:
		w.doubt = now
		w.guesses(now)
	}
	w.due = slowest
	if !w.calms(queued) {
		w.due = w.busyPeriod(now, slowest)
	}
	w.host.Looked(now)
	return true, w.due
}

// pause notes that nobody is awake. The caller holds mu.
func (w *Watch) pause() {
	w.forget()
	w.at, w.paused = time.Time{}, system.now() // the pause is no time of computing
	w.host.Looked(w.paused)
	queued := w.host.Queued()
	w.calms(queued)
	switch {
	case !queued:
		w.doubt = time.Time{}
	case w.doubt.IsZero():
		w.doubt = w.paused
	}
	w.due = w.busyPeriod(w.paused, longPeriod)
}

// busyPeriod returns the time until the next look while items wait, at most slowest.
func (w *Watch) busyPeriod(now time.Time, slowest time.Duration) time.Duration {
	return min(max(period, now.Sub(w.doubt)/busyPart), slowest)
}

// resume returns the time until the first look after a pause, unless the period may be long. If the pause was shorter
// than the time between two looks, and an item waited, the workers were in Blocking and go on as before. Otherwise a
// task may begin to sleep soon.
func (w *Watch) resume() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doubt.IsZero() || system.now().Sub(w.paused) > w.due {
		w.doubt, w.due = time.Time{}, period
	}
	return w.due
}

// calms counts a look, at which an item waited or none did. It reports whether none has for a while, so that the period
// may be long until one is submitted. The caller holds mu.
func (w *Watch) calms(queued bool) bool {
	if w.calm++; queued {
		w.calm = 0
	}
	if w.calm < calmLooks {
		w.slow.Store(0)
		return false
	}
	// Note that the period may be long, then look again. A submitter stores its item, and then looks whether it may be:
	// one of the two sees the other.
	w.slow.Store(1)
	if w.host.Queued() {
		w.slow.Store(0)
		return false
	}
	return true
}

// hurry makes the clock look soon, unless that would set its timer to a bubble's time.
func (w *Watch) hurry() {
	if !InBubble() && w.slow.CompareAndSwap(1, 0) {
		ticker.hurry()
	}
}

// anyAwake reads the states of the workers, and reports whether any is in a task or looks for one.
func (w *Watch) anyAwake() bool {
	w.workers = w.host.Workers(w.workers[:0])
	for _, now := range w.workers {
		if now.Doing >= Looking {
			return true
		}
	}
	return false
}

// anyDoubt reports whether a task may have begun to sleep since the look before: it sleeps, and is not known to. The
// caller holds mu.
func (w *Watch) anyDoubt() bool {
	for i, now := range w.workers {
		if s := &w.seen[i]; now.Doing == InTask && s.rested && !s.asleep && s.sleeps(0) {
			return true
		}
	}
	return false
}

// find tells the host of the workers whose threads have slept since the look before. The caller holds mu.
func (w *Watch) find() {
	for i := range w.workers {
		s := &w.seen[i]
		if s.still == 0 || s.asleep || s.still < starved && system.runnable() > 0 || !s.sleeps(starved) {
			continue
		}
		if used, _ := system.used(w.workers[i]); used == s.used { // else it may have ended its task
			s.asleep = true
			w.host.Sleeps(i)
		}
	}
}

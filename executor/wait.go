package executor

import "context"

// An awaited is what a worker waits for inside a task: a run, a fork or child, or a future. The waiting task may hold a
// lock that another item wants. So the worker runs only items that the awaited comes from, which find looks for, and
// others that it meets go to the injector. The waiting worker calls the methods. If the end may come from another item,
// a spare is due meanwhile: see spares.Ledger.Hold.
type awaited interface {
	isOver() bool

	// find looks for an item to run meanwhile.
	find(*Worker) found
	// run runs it. The worker is in the waiter's body afterwards, or in none.
	run(*Worker, found, waiter)

	// announce lets the worker be woken at the end, and when there may be such an item. withdraw undoes it.
	announce(*Worker)
	// findLast is find for a worker that goes to sleep if there is no item. It looks in the injector too.
	findLast(*Worker) found
	withdraw(*Worker)
}

// A found is an item for a wait, if there is one.
type found struct {
	it     *Item
	within *Run // if set, the run that the item is run for, in place of the awaited
	stolen bool // it was taken from another worker
}

// A waiter is the task that waits: its body, and the labels that its goroutine has.
type waiter struct {
	body   *Body
	labels context.Context
}

// wait waits until x is over. What the worker does while it finds nothing is its policy's to say.
func (w *Worker) wait(x awaited, task waiter) {
	v := vigil{w: w}
	defer func() { v.resume(false) }() // deferred: an item may call Goexit
	for !x.isOver() {
		next := x.find(w)
		if next.it == nil && v.noteVain() {
			next = w.sleepFor(x)
		}
		if next.it != nil {
			v.resume(next.stolen)
			x.run(w, next, task)
		}
	}
}

// sleepFor sleeps until x is over or there may be an item to run meanwhile. If its last look before the sleep finds an
// item, it returns the item. It may return earlier, because of a wake-up for an earlier wait.
func (w *Worker) sleepFor(x awaited) found {
	w.shareLane() // a spare may stand in for the worker
	w.bringForward()
	state := w.setState(WorkerPreparing)
	x.announce(w)
	// D1(await): announce, then look once more. Pairs with D1(push) for items. For the end it pairs with D1(finish) and
	// with the exchanges in forks.endTaken and future.publishEnd.
	next := x.findLast(w)
	if next.it == nil && !x.isOver() {
		w.sleepInWait()
	}
	x.withdraw(w)
	w.setState(state)
	return next
}

// An ending is what a caller on no worker waits for: the end of a run or future, or a state of a run.
type ending interface {
	isOver() bool
	await() // waits on a channel
}

// A vigil is what a worker keeps while it waits inside a task: the looks at other workers that have found no item for
// the wait. What the worker does meanwhile is its policy's to say.
type vigil struct {
	w    *Worker
	vain int  // looks in a row
	idle bool // the policy knows that the worker has nothing to do
}

// noteVain notes a look that has found nothing. It reports whether the worker is to sleep.
func (v *vigil) noteVain() bool {
	if !v.idle {
		v.idle = true
		v.w.search.thief.Waits()
	}
	v.vain++
	if !v.w.search.thief.Vain(v.vain) {
		return false
	}
	v.vain = 0
	return true
}

// resume notes that the worker has found an item, stolen or not, or that the wait is over.
func (v *vigil) resume(stolen bool) {
	v.vain = 0
	if v.idle {
		v.idle = false
		v.w.search.thief.Resumes(stolen)
	}
}

// rest rests until the worker's sleeper is woken. To all others the worker sleeps: they wake it, and a spare may stand
// in for it. If its policy does not let it sleep, it looks at one victim after the other. It takes nothing there: that
// there may be an item for the wait, it is told. A worker that shares the machine has given its processor up, and does
// sleep.
func (w *Worker) rest() {
	thief := w.search.thief
	for vain := 1; w.inline == nil && !w.core.attached.sleepsAlways && !thief.MaySleep(); vain++ {
		if w.sleeper.parker.TryPark() {
			return
		}
		if w.counts.tried++; vain%flushInterval == 0 {
			w.publishCounts()
		}
		w.core.roster[w.search.random(len(w.core.workers()))].lane.Len() // no Ask: the owner would show an item for nobody
		thief.Vain(vain)
		giveWay()
	}
	w.counts.parks++
	w.park(func() { w.sleeper.sleep(w) })
}

package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xsync"
)

// dependents are the futures that are to start after a future, and have not ended. One that ends before, because it is
// cancelled, leaves: a future that lives for ever keeps nothing alive that comes after it.
type dependents struct {
	mu     xsync.Mutex
	newest *dependence
	closed bool // the future has ended
	n      int
	swept  int // n after the last sweep
}

// A dependence is a place among the dependents of a future.
type dependence struct {
	future *future     // that is to start
	of     *dependents // written before it is linked

	// Guarded by of.mu.
	linked       bool
	older, newer *dependence
}

// A comesAfter holds the futures that a future comes after, and its places among their dependents.
type comesAfter struct {
	before []*future
	places []dependence
}

// start makes f, which has no places yet, a dependent of each future before it. It reports whether all have ended, and
// returns futures that the caller is to look at when f is submitted, see add.
func (a *comesAfter) start(f *future) (ready bool, pending []*future) {
	a.places = make([]dependence, len(a.before))
	f.joins.Arm(uint32(len(a.before)) + 1)
	for i, b := range a.before {
		a.places[i].future = f
		others, open := b.precede(&a.places[i])
		pending = append(pending, others...)
		if !open {
			f.joins.Done(1)
		} else if b.isPromise() {
			b.subscribePromise()
		}
	}
	// D1(place): publish the places, then look whether f was claimed. Pairs with D1(cancel).
	f.after.Store(a)
	if f.claimed.Load() != 0 { // a sweep has cancelled it
		a.leave()
		f.after.Store(nil)
	}
	return f.joins.Done(1), pending
}

// leave takes back the places that the future still has.
func (a *comesAfter) leave() {
	for i := range a.places {
		a.places[i].leave()
	}
}

// precede makes e's future a dependent of f. open is false if f has ended. For pending see add.
func (f *future) precede(e *dependence) (pending []*future, open bool) {
	d := f.dependents.Load()
	if d == nil {
		d = new(dependents)
		if !f.dependents.CompareAndSwap(nil, d) {
			d = f.dependents.Load()
		}
	}
	// D1(precede): make dependents known, then look for the end. Pairs with D1(end).
	if f.hasEnded() {
		return nil, false
	}
	return d.add(e)
}

// add adds a place, unless d is closed. Now and then it returns futures of which some may have to be cancelled: nothing
// tells them of the end of their contexts.
func (d *dependents) add(e *dependence) (pending []*future, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, false
	}
	e.of, e.older, e.linked = d, d.newest, true
	if e.older != nil {
		e.older.newer = e
	}
	d.newest = e
	if d.n++; d.n < 2*d.swept+minSweep {
		return nil, true
	}
	for p := e.older; p != nil; p = p.older {
		pending = append(pending, p.future)
	}
	d.swept = d.n
	return pending, true
}

// leave takes back the place, if it is linked.
func (e *dependence) leave() {
	d := e.of
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !e.linked {
		return
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		d.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	}
	e.linked, e.older, e.newer = false, nil, nil
	d.n--
	d.swept = min(d.swept, d.n)
}

// close ends d and returns its places, the newest first. The caller clears their links.
func (d *dependents) close() *dependence {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for e := d.newest; e != nil; e = e.older {
		e.linked = false
	}
	e := d.newest
	d.newest = nil
	return e
}

// An endOfRun is the caller of a future that ends when a run does.
type endOfRun struct{ run *Run }

func (endOfRun) make(*Worker, context.Context) error { return nil } // the future is claimed from the start
func (endOfRun) drop()                               {}

// awaitable returns the future that ends with the run's error after the run has ended.
func (r *Run) awaitable() *future {
	if r == nil || executorOf(r.core) == nil {
		return nil
	}
	r.mu.Lock()
	of := partsOfRun(r)
	f := of.endFuture
	if f != nil {
		r.mu.Unlock()
		return f
	}
	ex := r.of.(*Executor)
	f = &future{call: endOfRun{r}, ex: ex}
	f.Exec, f.Body = execFuture, &ex.asyncs.Body
	f.ctx.owner, f.ctx.parent = f, context.Background()
	f.claimed.Store(1)
	of.endFuture = f
	r.mu.Unlock()
	r.tell(func(err error) { f.settle(nil, err) })
	return f
}

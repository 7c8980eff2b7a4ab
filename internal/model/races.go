package model

import "unsafe"

// Thread T is preempted before its operation e, and other threads go on. If T comes to do e before another thread has
// done an operation that depends on e, then the preemption may as well come after e: the threads observe the same, and
// there are no more preemptions. (For exceptions see pin and arrive.) So two rules leave out preemptions:
//
// A preempted thread is held until another thread has done, or waits to do, an operation that depends on e. If only held
// threads can go on, the execution need not be explored further (sleep sets: Godefroid, Partial-order methods for the
// verification of concurrent systems, 1996). In general, sleep sets lose interleavings under a bound, because the other
// order may cost a preemption more. Preempting the same thread one operation later does not.
//
// The search first lets T go on. It tries the preemption before e only if e then was in a race: another thread has done
// an operation that depends on e, and nothing else orders the two (dynamic partial-order reduction: Flanagan and
// Godefroid, 2005; under a bound: Coons, Musuvathi and McKinley, Bounded partial-order reduction, 2013). Where the
// running thread cannot go on, the choice of the next one is free, and the search takes every option.
//
// Two operations depend on each other if they are on the same word, and one of them is no load. A load that waits for
// one of several words depends on every operation that is no load. So does a yield.
//
// So the search takes each order of the operations that depend on each other, but does not come to each state: if one
// thread changes one word, and another thread another word, there may be no execution in which a third thread, if it
// could look without an operation, would see only the second change. Config.States is for programs that look like that.

// An op is an operation that a thread has come to.
type op struct {
	kind   Kind
	p      unsafe.Pointer // nil for a yield, a join, and a load that waits for one of several words
	past   past           // of the thread before it
	choice int32          // the decision in which the thread may be preempted before it; -1 if there is none
}

// dependsOn reports whether o and an operation of that kind on the word at p depend on each other.
func (o *op) dependsOn(kind Kind, p unsafe.Pointer) bool {
	switch {
	case o.kind == Load && kind == Load:
		return false
	case o.kind == Yield || o.kind == Load && o.p == nil:
		return kind != Load
	case kind == Yield || kind == Load && p == nil:
		return o.kind != Load
	}
	return o.p == p && p != nil
}

// An access is an operation that a thread has done. The zero value stands for none.
type access struct {
	past   past
	at     uint32 // the thread's clock
	choice int32
}

// preempts reports whether the options, except for the first, preempt the running thread where it might as well be
// preempted later. Before a yield every option is taken.
func (x *execution) preempts() bool {
	return x.options[0] == x.current && x.current.next.kind != Yield
}

// mayHold reports whether t, which is preempted, is held.
func (d *depthFirst) mayHold(t *thread) bool {
	return d != nil && t.next.kind != Yield && !d.pinned[t.next.past]
}

// pin notes that other threads can notice what the current thread does between the operation that it has done and its
// next one: it starts a thread, ends, or begins a Calm. A preemption before the operation is then not like one after it.
// The search comes here before it preempts the thread before the operation.
func (x *execution) pin() {
	if x.search == nil || x.current == nil || x.covered {
		return
	}
	o := &x.current.next
	x.search.pinned[o.past] = true
	x.noteRace(access{past: o.past, choice: o.choice})
}

// arrive is called when the current thread has come to its next operation. Threads that are held before an operation
// that decides whether it can go on are no longer held. Earlier operations that decide it are noted as races here, for
// it may come to wait for ever.
func (x *execution) arrive() {
	t := x.current
	if x.search == nil || x.covered || t.enabled == nil {
		return
	}
	if t.next.kind == Yield || !t.enabled() {
		x.releaseFor(t.next.kind, t.next.p)
	}
	if p := t.next.p; p != nil {
		x.racesWith(t.next.kind, x.words.at(p))
	} else if t.next.kind == Load {
		x.racesWith(Load, nil)
	}
}

// did is called when the current thread has done an operation on w, the word at p.
func (x *execution) did(kind Kind, p unsafe.Pointer, w *word) {
	if x.search == nil {
		return
	}
	x.releaseFor(kind, p)
	x.racesWith(kind, w)
	t := x.current
	a := access{t.next.past, t.clock[t.id], t.next.choice}
	if kind == Load {
		w.lastLoad[t.id] = a
	} else {
		w.lastChange[t.id], t.changed = a, a
	}
	for _, u := range x.threads {
		if u != t && !u.done && u.enabled != nil && u.next.kind != Yield && u.next.dependsOn(kind, p) {
			x.noteRace(a) // u may have waited for this, or come to wait
		}
	}
}

// yielded is called when the current thread has done a yield.
func (x *execution) yielded() {
	if x.search == nil || x.covered {
		return
	}
	x.releaseFor(Yield, nil)
	x.racesWith(Yield, nil)
}

// releaseFor releases the threads that are held before an operation that depends on one of that kind on the word at p.
func (x *execution) releaseFor(kind Kind, p unsafe.Pointer) {
	for _, u := range x.threads {
		if u.held && u.next.dependsOn(kind, p) {
			u.held = false
		}
	}
}

// racesWith notes the races of other threads' last operations with one of the current thread, of that kind and on w, or
// on any word if w is nil. A race with an earlier operation shows in the execution in which the later one comes after
// the current thread's.
func (x *execution) racesWith(kind Kind, w *word) {
	if x.isCommon() {
		return
	}
	t := x.current
	for _, u := range x.threads {
		if u == t {
			continue
		}
		a := u.changed
		if w != nil {
			a = w.lastChange[u.id]
			if l := w.lastLoad[u.id]; kind != Load && l.at >= a.at {
				a = l
			}
		}
		if a.at > t.clock[u.id] {
			x.noteRace(a)
		}
	}
}

// isCommon reports whether the execution is still in the part that it has in common with the one before. The races in
// that part are noted already.
func (x *execution) isCommon() bool { return x.search.at < len(x.search.stack) }

// noteRace notes that a was in a race.
func (x *execution) noteRace(a access) {
	if x.isCommon() {
		return
	}
	if !x.search.raced[a.past] { // a look costs less than a write
		x.search.raced[a.past] = true
	}
	if a.choice >= 0 {
		x.search.stack[a.choice].all = true
	}
}

// recall notes the races of the operations on the stack with those that come after a state that is explored already.
// The search has found them when it explored the state: it came there by the same operations.
func (d *depthFirst) recall() {
	for i := range d.stack {
		if last := &d.stack[i]; !last.all && d.raced[last.past] {
			last.all = true
		}
	}
}

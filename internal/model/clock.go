package model

import (
	"fmt"
	"unsafe"
)

// maxThreads is how many threads a program may have. With more than a handful there are too many interleavings anyway.
const maxThreads = 8

// A clock is a vector clock: how far each thread had come, as far as the clock's holder knows.
type clock [maxThreads]uint32

func (c *clock) join(o *clock) {
	for i := range c {
		c[i] = max(c[i], o[i])
	}
}

// A word is the state of one word in memory.
type word struct {
	name int
	// For an atomic word:
	released clock  // the clock of the last store, which a load joins
	changed  past   // the past of the last operation that changed the word
	loads    uint64 // the sum of the pasts of the loads since then, which have no order
	// The last load of each thread, and its last operation of another kind.
	lastLoad, lastChange [maxThreads]access
	// For races: when each thread last accessed the word, and how.
	plain                         bool // there was a plain access
	read, written, loaded, stored clock
}

func (x *execution) wordName(p unsafe.Pointer) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("w%d", x.words.at(p).name)
}

// sync joins the clock of an atomic word into the current thread's, and the thread's into the word's.
func (x *execution) sync(kind Kind, p unsafe.Pointer) {
	t := x.current
	if kind != Load {
		x.writes++
		t.wrote++
	}
	if x.covered {
		return
	}
	w := x.words.at(p)
	x.did(kind, p, w)
	x.event(kind, w)
	if kind != Store {
		t.clock.join(&w.released)
	}
	if w.plain {
		x.after(&w.written, p, "written")
		if kind != Load {
			x.after(&w.read, p, "read")
		}
	}
	if kind == Load {
		w.loaded[t.id] = t.clock[t.id]
	} else {
		w.stored[t.id] = t.clock[t.id]
		w.released = t.clock
	}
	t.clock[t.id]++
}

// access checks a plain access. It is a race with an unordered access of another thread, plain or atomic, if one of the
// two writes.
func (x *execution) access(write bool, p unsafe.Pointer) {
	if x.covered {
		return
	}
	t, w := x.current, x.words.at(p)
	w.plain = true
	x.after(&w.written, p, "written")
	x.after(&w.stored, p, "stored to")
	if !write {
		w.read[t.id] = t.clock[t.id]
		return
	}
	x.after(&w.read, p, "read")
	x.after(&w.loaded, p, "loaded")
	w.written[t.id] = t.clock[t.id]
}

// after fails the execution unless the earlier accesses of other threads happen before the current thread's next one.
func (x *execution) after(before *clock, p unsafe.Pointer, did string) {
	t := x.current
	for id, at := range before {
		if id != t.id && at > t.clock[id] {
			x.race(p, id, did)
		}
	}
}

func (x *execution) race(p unsafe.Pointer, other int, did string) {
	if x.tracing {
		x.note(Load, p)
	}
	x.stop(fmt.Sprintf("data race: thread %d comes to word %s, which thread %d has %s, "+
		"plainly at least one of them, and nothing orders the two", x.current.id, x.wordName(p), other, did))
}

package model

import (
	"fmt"
	"unsafe"
)

// maxThreads is how many threads a program may have. Beyond a handful there are too many interleavings anyway.
const maxThreads = 8

// A clock is a vector clock: how far each thread had come, as far as its holder knows.
type clock [maxThreads]uint32

func (c *clock) join(o *clock) {
	for i := range c {
		c[i] = max(c[i], o[i])
	}
}

// A word is what is known of one word in memory.
type word struct {
	name int
	// of an atomic word: what a load learns, the clock of the store that it sees
	released clock
	changed  past   // that of the last operation which changed it
	loads    uint64 // the sum of those of the loads since: they have no order
	// for races: when each thread last came to the word, and how
	plain                         bool // somebody came plainly
	read, written, loaded, stored clock
}

func (x *execution) wordName(p unsafe.Pointer) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("w%d", x.words.at(p).name)
}

// sync lets the current thread learn from, and add to, what an atomic word carries.
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

// access checks a plain access. It may not meet another thread's of which one writes, plainly or not.
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

// after fails the execution unless what other threads did before happens before what the current one is about to do.
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
	x.stop(fmt.Sprintf("data race: thread %d comes to word %s, which thread %d has %s, plainly at least one of them, and nothing orders the two",
		x.current.id, x.wordName(p), other, did))
}

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

// knows reports whether what thread id did at time at happens before c.
func (c *clock) knows(id int, at uint32) bool { return at <= c[id] }

// A word is what is known of one word in memory.
type word struct {
	name int
	// of an atomic word: what a load learns, the clock of the store that it sees
	released clock
	// of a plain word
	writer  int // last, -1: none
	written uint32
	read    clock // last read of each thread
	// of an atomic word
	changed past   // that of the last operation which changed it
	loads   uint64 // the sum of those of the loads since: they have no order
}

func (x *execution) word(p unsafe.Pointer) *word {
	w := x.words[p]
	if w == nil {
		w = &word{name: len(x.words), writer: -1}
		x.words[p] = w
	}
	return w
}

func (x *execution) wordName(p unsafe.Pointer) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("w%d", x.word(p).name)
}

// sync lets the current thread learn from, and add to, what an atomic word carries.
func (x *execution) sync(kind Kind, p unsafe.Pointer) {
	t, w := x.current, x.word(p)
	x.event(kind, w)
	if kind != Store {
		t.clock.join(&w.released)
	}
	if kind != Load {
		w.released = t.clock
		x.writes++
		t.wrote++
	}
	t.clock[t.id]++
}

// plain checks an access to a plain word.
func (x *execution) plain(write bool, p unsafe.Pointer) {
	t, w := x.current, x.word(p)
	if w.writer >= 0 && w.writer != t.id && !t.clock.knows(w.writer, w.written) {
		x.race(p, w.writer, "written")
	}
	if !write {
		w.read[t.id] = t.clock[t.id]
		return
	}
	for id, at := range w.read {
		if id != t.id && at > 0 && !t.clock.knows(id, at) {
			x.race(p, id, "read")
		}
	}
	w.writer, w.written = t.id, t.clock[t.id]
}

func (x *execution) race(p unsafe.Pointer, other int, did string) {
	if x.tracing {
		x.note(Load, p)
	}
	x.fail(fmt.Sprintf("data race: thread %d comes to plain word %s, which thread %d has %s, and nothing orders the two",
		x.current.id, x.wordName(p), other, did))
	x.stop()
}

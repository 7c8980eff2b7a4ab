package model

import "unsafe"

// Interleavings that differ only in the order of independent operations lead to the same state, and from there to the
// same ends. The search leaves most of them out, in two ways that lose no end under a bound.
//
// It remembers, by a hash, the states in which it has taken decisions. It does not go on from a state that it reaches
// again with no more preemptions left than before (happens-before caching: Musuvathi and Qadeer, Partial-order
// reduction for context-bounded state exploration, 2007).
//
// A state is the past of each thread: its operations, and for each of them the operations of other threads on the same
// word that it came after. A deterministic program can depend on nothing else. The hashes have 64 bits: with ten
// million states the chance that two of them share one is 3 in a million.
//
// And it preempts a thread only where another thread can notice: see races.go.

// past is the hash of the operations before a point, in the order that operations on the same words have.
type past uint64

// and returns the past p followed by an event with the value v.
func (p past) and(v uint64) past {
	h := (uint64(p) ^ v) * 0x9E3779B97F4A7C15
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	h ^= h >> 29
	return past(h + 1)
}

// event adds an operation on w to the current thread's past. An operation that changes w comes after all earlier
// operations on w; a load comes after the last change of w.
func (x *execution) event(kind Kind, w *word) {
	t := x.current
	t.past = t.past.and(uint64(kind) + 1).and(uint64(w.changed))
	if kind == Load {
		w.loads += uint64(t.past)
		return
	}
	t.past = t.past.and(w.loads)
	w.changed, w.loads = t.past, 0
}

// eventAt is event for an operation that does not change the word at p.
func (x *execution) eventAt(kind Kind, p unsafe.Pointer) {
	if !x.covered {
		w := x.words.at(p)
		x.did(kind, p, w)
		x.event(kind, w)
	}
}

// state returns the hash of the execution's state.
func (x *execution) state() uint64 {
	h := past(0).and(uint64(x.current.id)).and(uint64(x.spurious))
	for _, t := range x.threads {
		h = h.and(uint64(t.past))
		if x.news(t) {
			h = h.and(1) // its next yield would go on
		}
	}
	return uint64(h)
}

// A cache holds the states from which the search has gone on, each with the preemptions used up there.
type cache map[uint64]int

// covers reports whether the continuations of x are explored already, or will be from a state on the stack. If not,
// they count as explored from now on. Continuations in which a thread that was held goes on count too: the search has
// taken them where it let the thread go on instead of preempting it.
func (c cache) covers(x *execution) bool {
	used := 0
	if x.cfg.Preemptions >= 0 {
		used = x.preemptions
	}
	state := x.state()
	if before, known := c[state]; known && before <= used {
		return true
	}
	c[state] = used
	return false
}

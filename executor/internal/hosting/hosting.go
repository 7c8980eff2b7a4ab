// Package hosting is what package executor and package host know of each other. An executor is a [Machine] to what
// bounds how many of its workers may be awake, which is a [Sharing] to the executor. A program whose Config bounds
// nothing links none of it.
package hosting

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/share"
)

// A Machine is an executor as its sharing sees it. Its methods may be called on any thread, with locks held.
type Machine interface {
	// Name returns the executor's name, Workers the number of its workers without spares, and Limit that with them.
	Name() string
	Workers() int
	Limit() int
	// AnyWork reports whether there was an item to take, AnySubmitted whether there was one that was submitted, and
	// Submitted returns how many.
	AnyWork() bool
	AnySubmitted() bool
	Submitted() int
	// Signal makes each worker that is awake look soon whether it is to rest.
	Signal()
	// Aside calls f on a goroutine of its own.
	Aside(f func())
}

// A Worker is a worker as its sharer sees it.
type Worker interface {
	// Running reports whether the worker runs an item, and Looking whether it looks for one. Any thread.
	Running() bool
	Looking() bool
	// Items returns about how many items the worker has to give. Any thread.
	Items() int
	// Blocks reports whether the worker is in Blocking. The methods from here on are the worker's only.
	Blocks() bool
	// BringForward shows all that the worker has to the others.
	BringForward()
	// Rest calls park, in which the worker is away.
	Rest(park func())
	// Publish publishes the worker's counts.
	Publish()
}

// A Sharing bounds how many workers of one executor may be awake. S and Q are the figures that it has for statistics:
// of the machine that is shared, and of the CPU quota.
type Sharing[S, Q any] interface {
	// Join begins: the executor is ready for runs. Leave ends: no run is in progress any more, and all workers that
	// rest are woken.
	Join()
	Leave()
	// Control returns what decides which workers rest.
	Control() *share.Control
	// NewSharer makes the part of worker i, which has no thread yet.
	NewSharer(i int, w Worker) Sharer
	// CountIn and CountOut tell that work of one kind has begun, and that the last of it has ended: the runs are one
	// kind, and so are the futures.
	CountIn()
	CountOut()
	// Stats returns the figures, and Dump lines for people. Any thread.
	Stats() (S, Q)
	Dump() string
}

// A Sharer is a worker's part in a [Sharing]. Its methods are the worker's only.
type Sharer interface {
	// CountAwake counts the worker as awake. CountAsleep undoes that; able says that the worker can be woken for any
	// item.
	CountAwake()
	CountAsleep(able bool)
	// Rest puts the worker to rest in the middle of its work, if workers have to: at the beginning of an item, or at a
	// Fork or Join. Others can take everything but what is on its stack.
	Rest()
	// Meet reports whether a victim rests with work. The thief is to wake it and to rest in its place, rather than to
	// steal from it (document 003, section 6.1).
	Meet(victim int) bool
	// Tried counts an attempt to steal.
	Tried(victim int, o deque.Outcome)
	// Leave tells a thief to rest: because it has met a worker that rests with work, or because workers have to. The
	// thief then ceases to be one, and stands by.
	Leave() bool
	// StandBy rests if Leave has said so, and reports whether it did.
	StandBy() bool
}

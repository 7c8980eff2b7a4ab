//go:build !modelcheck

package executor

import "time"

// How long and how often workers look before they do something else. Correctness does not depend on the values.
const (
	// politeLosses is after how many lost steals a worker offers its core. Arbitrary: many losses are rare, unless the
	// owner of the deque is not running.
	politeLosses = 16

	// pollInterval is how many items a busy worker runs between two looks at the injector, so that a run submitted
	// beside an endless one is not kept waiting. It does not look inside a wait, and makes up for that, see pollAgain.
	// Go's scheduler looks every 61; here a power of two makes the test a mask.
	pollInterval = 64
	// flushInterval is how many items a busy worker runs between two calls of publishCounts and Hooks.Flush.
	flushInterval = 1024

	// spareIdle is how long, at least, the thread of an idle spare is kept. Arbitrary: starting a thread costs a
	// fraction of a millisecond, so keeping one longer than a burst of blocking tasks saves little.
	spareIdle = 10 * time.Second

	// injectorCapacity is the size of the injector's first ring, which has an item for each run that has not begun.
	injectorCapacity = 64
)

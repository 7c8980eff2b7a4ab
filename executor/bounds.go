//go:build !modelcheck

package executor

import "time"

// How long and how often workers look before they do something else. None of it decides whether a program works.
const (
	// politeLosses is how many steals a worker loses to others before it offers its core. Arbitrary: losing many in turn
	// is rare, other than to an owner who is not running.
	politeLosses = 16

	// helpSpins is how often a helper looks round before it sleeps. Arbitrary, about 10 µs.
	helpSpins = 64

	// pollInterval is how many items a busy worker runs between two looks at the injector, so that a run submitted
	// beside an endless one gets its turn. Go's scheduler looks every 61; a power of two is a mask.
	pollInterval = 64
	// flushInterval is how many items a busy worker runs between two publications of what it counted.
	flushInterval = 1024

	// enoughPublic is how many forks for each worker are to be had before those of one frame stay private. Forks of a wide
	// tree are then as cheap as those of a narrow one; of coarse forks the thieves miss those beyond, once they have done so
	// many, until the next Fork or Join. Arbitrary; re-measure with wsbench run fat skynet.
	enoughPublic = 4

	// spareIdle is how long, at least, spares stay that nobody has needed. Arbitrary: starting a thread costs a fraction of a
	// millisecond, so keeping one longer than a burst of blocking tasks saves little.
	spareIdle = 10 * time.Second

	// injectorCapacity is the first ring of the injector, which holds one item for each run that nobody has begun.
	injectorCapacity = 64
)

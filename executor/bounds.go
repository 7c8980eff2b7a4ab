//go:build !modelcheck

package executor

import "time"

// How long and how often workers look before they do something else. None of it decides whether a program works.
const (
	// searchRounds and searchPause bound how long the last thief looks before it sleeps: about 20 µs, long enough for a
	// caller that submits run after run to find it awake, short against the 50 µs and more that waking a thread costs.
	// After politeRounds it offers its core, before each further round, to whoever else wants to run there: it may be
	// the very thread that is about to submit. With [deque.KindPDQS] a round is 3 µs longer: a worker that waits to be
	// dealt to waits so long.
	// Re-measure with wsbench run submit submit-idle.
	searchRounds = 48
	politeRounds = 16
	searchPause  = 100
	// crowdRounds is the same for a thief that is not the only one. The others will do.
	crowdRounds = 2

	// stealBound and yieldBound are those of document 000 (section III). The first is for each worker, and one more.
	stealBound = 2
	yieldBound = 100

	// thiefPatience is how often a submitter looks for a thief before it wakes a worker: a third of a microsecond.
	thiefPatience = 1024

	// politeLosses is how many steals a worker loses to others before it offers its core. Arbitrary: losing many in turn
	// is rare, other than to an owner who is not running.
	politeLosses = 16

	// A thief that has stolen fewCrumbs items in a row, of which none brought others, looks at the clock, and as long as they take
	// less than crumb it waits before it steals again, each time longer, up to crumbPauses times crumbPause looks at the injector,
	// 3 µs. Two workers that shared a thousand empty children one by one took 170 ns for each, one alone 39 (Xeon, November 2026).
	fewCrumbs   = 8
	crumb       = 500 * time.Nanosecond
	crumbPause  = 100
	crumbPauses = 64

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

	// dequeCapacity is a deque's first ring, 4 KiB: depth-first work seldom holds more.
	dequeCapacity = 512
	// queueCapacity is how many items a deque of another kind has room for, if it is bounded. Depth-first work seldom holds
	// more than a few hundred.
	queueCapacity = 1024
	// maxLoot is how many items a thief takes at once at most.
	maxLoot = 64
	// injectorCapacity is the same for the injector, which holds one item for each run that nobody has begun.
	injectorCapacity = 64
)

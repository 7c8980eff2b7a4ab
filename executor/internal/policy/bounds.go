//go:build !modelcheck

package policy

// How long and how often workers look before they do something else. None of it decides whether a program works.
const (
	// searchRounds and searchPause bound how long the last thief looks before it sleeps: about 20 µs, long enough for a
	// caller that submits run after run to find it awake, short against the 50 µs and more that waking a thread costs.
	// After politeRounds the thief offers its core before each further round: the thread that is about to submit may wait
	// for that very core. With PDQS a round is 3 µs longer, since a thief waits so long to be dealt to.
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

	// A thief that has made fewTrivial trivial steals in a row, each of one item that brought no others, looks at the clock. As
	// long as such an item takes less than trivialTime, in nanoseconds, the thief waits before it steals again, each time
	// longer, up to trivialPauses times trivialPause looks at the injector, 3 µs. Two workers that shared a thousand empty
	// children one by one took 170 ns for each, one alone 39 (Xeon, November 2026).
	fewTrivial    = 8
	trivialTime   = 500
	trivialPause  = 100
	trivialPauses = 64
)

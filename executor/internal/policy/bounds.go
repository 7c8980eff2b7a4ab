//go:build !modelcheck

package policy

// How long and how often workers look for work before they do something else. Correctness does not depend on the
// values.
const (
	// Looks is how often a worker that waits inside a task looks round before it sleeps, unless its policy says
	// otherwise. Arbitrary, about 10 µs.
	Looks = 64

	// patientLooks is the same under the policy adaptive, about as long as it takes to sleep and to be woken: some 50
	// µs. After the first Looks it offers its core before each further one. The halves of a loop of 1 ms end some ten
	// to forty microseconds apart, and with Looks alone the loop took 3 % longer, and 6 % longer from a handler (two
	// cores of an AMD EPYC (shared), 2026-11-27).
	patientLooks = 160

	// searchRounds and searchPause bound how long the last thief looks before it sleeps, about 20 µs. A caller that
	// submits run after run then finds it awake, and waking a thread would cost 50 µs or more. After politeRounds the
	// thief offers its core before each further round: the thread that is about to submit may wait for that very core.
	// With deque.KindPDQS a round is 3 µs longer, the time that a thief waits for an item to be dealt. Re-measure with
	// wsbench run submit submit-idle.
	searchRounds = 48
	politeRounds = 16
	searchPause  = 100
	// crowdRounds is the number of rounds of a thief that is not the only one.
	crowdRounds = 2

	// stealBound and yieldBound are those of document 000 (section III). stealBound is multiplied by the number of
	// workers plus 1.
	stealBound = 2
	yieldBound = 100

	// taskflowYields is the same of Taskflow 3.11 and later.
	taskflowYields = 150

	// sleepThreshold is the default of Options.SleepThreshold: that of document 004 (section 5.1).
	sleepThreshold = 64

	// wishes is the number of wake-ups that a thief with an item wishes under mbws (004, Algorithm 2, line 13).
	wishes = 2

	// clockInterval is at one of how many attempts a thief looks at a victim's clock, which takes microseconds.
	clockInterval = 8

	// breath is the argument of Host.Pause where the documents have no pause. A model program lets other threads go on.
	breath = 0

	// thiefPatience is how often a submitter looks for a thief before it wakes a worker: a third of a microsecond.
	thiefPatience = 1024

	// A steal is trivial if it brought one item, which took less than trivialTime, in nanoseconds, and pushed no
	// others. After fewTrivial steals in a row of one item each, the thief looks at the clock. As long as steals are
	// trivial, it pauses before the next, each time longer, up to trivialPauses times trivialPause looks at the
	// injector, 3 µs. Two workers that shared a thousand empty children one by one took 170 ns for each; one worker
	// alone took 39 (Xeon, November 2026).
	fewTrivial    = 8
	trivialTime   = 500
	trivialPause  = 100
	trivialPauses = 64
)

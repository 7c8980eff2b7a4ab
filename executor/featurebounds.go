//go:build !modelcheck

package executor

import "time"

// How features above the kernel bound what they do and keep. Correctness does not depend on the values.
const (
	// enoughPublic, times the number of workers, is how many items there must be to steal for further forks of one
	// function to stay private. Forks of a wide tree are then as cheap as those of a narrow one. If the forks are
	// coarse, thieves that have run all public ones find no more until the owner's next Fork or Join. Arbitrary;
	// re-measure with wsbench run fat skynet.
	enoughPublic = 4

	// defaultSpares is how many spares there may be if Config.Spares is 0. Runtimes whose blocking tasks get threads of
	// their own have limits of this kind: 256 for ForkJoinPool, 512 for tokio.
	defaultSpares = 256

	// maxBatch is how many functions from outside a worker takes from a group without a limit at a time. It is arbitrary:
	// the lock is then cheap, and a batch takes a kilobyte.
	maxBatch = 64

	// inboxPause is how many yields a worker waits for functions from outside, about a microsecond, in which a caller
	// gives some tens. After inboxLooks pauses without a full batch it takes what there is. Arbitrary.
	inboxPause = 4
	inboxLooks = 4

	// maxStoredBatches is how many empty batches an executor keeps: 330 kB, once some group had 16,384 functions from
	// outside that no worker had taken.
	maxStoredBatches = 256

	// patientTurns is how many functions of a group with a limit wait for their turn before Go of a task waits, too.
	// Arbitrary: to wait costs as much as some dozens of functions.
	patientTurns = 256

	// maxInGo is how many calls of Go there may be on a worker's stack that call the function that they were given. The
	// functions of deeper calls are queued. Arbitrary: deeper than directories are, and some MB of stack at most.
	maxInGo = 256

	// lookInterval is how soon a task that waits in Go notices that the spares have run out. After turnLooks of it in
	// which no function has had its turn the task goes on. Arbitrary.
	lookInterval = 10 * time.Millisecond
	turnLooks    = 100

	// maxUnneeded is how many ticks in a row are in vain before the clock of quiet guests stops. A tick takes some 0.1 ms
	// of a core, and to set the clock again costs the guest as much as to wake a thread. With 8, groups of ten functions
	// every 100 ms took 2.3 ms of a core each, with 1 they take 1.3 (2 cores of an AMD EPYC, shared, 2026-11-29).
	maxUnneeded = 1

	// siteRoom is how much a site withholds at a time: a burst of futures, or work of several callers. Arbitrary.
	siteRoom = 16

	// minSweep is the number of futures after one future from which these are now and then looked through for some to
	// cancel. It is arbitrary.
	minSweep = 64
)

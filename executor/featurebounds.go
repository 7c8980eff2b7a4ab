//go:build !modelcheck

package executor

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

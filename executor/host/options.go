// Package host has what an executor.Config says about the threads of an executor's workers and about the rest of the
// process and of the machine: how the system runs the threads, what is left of a CPU quota, and how executors share
// the processors.
//
//	ex, err := executor.New(executor.Config{
//		Threads: host.Threads{Nice: 5},
//		Host:    host.Options{Share: host.QuotaShare(0.25)},
//	})
//
// Document 003 is Sen, "Dynamic Processor Allocation for Adaptively Parallel Work-Stealing Jobs" (2004).
package host

import "github.com/magpie-go/magpie/executor/internal/hosting"

// Options are the part of an executor.Config that is about the rest of the process, and of the machine.
type Options struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// KeepGOMAXPROCS leaves GOMAXPROCS alone. By default an executor raises it until Close: by a third of its number of
	// workers, rounded up, and by that number besides once a worker has been awake for some 0.1 to 0.4 s on end, or
	// several callers at once have had runs in progress for a while, with workers awake. So busy workers leave
	// goroutines a P at least, and from then on all that they would have without the executor. The third is then for
	// the garbage collector, which takes a quarter of all Ps while it marks: so it takes none of the program's own Ps
	// on account of the workers. An executor without spare workers, and one with Threads.OnlyBlocking or
	// Experiment.Verbatim, takes all at once. While GOMAXPROCS is raised, the runtime does not update it by itself when
	// the CPU quota changes.
	//
	// With KeepGOMAXPROCS and as many workers as Ps, goroutines share the Ps with busy workers, and with callers that
	// take part: what they do in between may wait for 10 ms, as beside goroutines that compute for long. Loops of
	// milliseconds that do not allocate, from main, take 0.93 to 0.99 times as long as by default, as long as on
	// goroutines (2 cores of an Intel Xeon, 2026-11-30).
	// executor.Yield then offers the worker's P to goroutines, at most once in a millisecond, as each offer costs some
	// microseconds.
	KeepGOMAXPROCS bool
	// Share bounds how many of the workers may be awake: a *[Share], with which executors share the processors of the
	// machine, or a [QuotaShare], which leaves a part of a CPU quota to the rest of the process. nil means that the
	// executor uses as many processors as it has work for. A program that names neither links neither.
	Share Sharing
}

// A Sharing is a *[Share] or a [QuotaShare]. Its methods are for package executor.
type Sharing interface {
	// Checked returns a copy with the defaults for so many workers filled in. It reports every bad field to bad.
	Checked(workers int, bad func(format string, args ...any)) Sharing
	// Begin begins the sharing of an executor that has no workers yet. The receiver is one that Checked has returned.
	Begin(on hosting.Machine) hosting.Sharing[ShareStats, QuotaStats]

	sealed() // a method may be added
}

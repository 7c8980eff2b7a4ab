// Package policy decides how many of an executor's idle workers look for work, and when they sleep.
//
// A [Policy] is one executor's; a [Thief] is one worker's part of it. Both see the executor through [Machine] and [Host] only, and
// no items: the same code runs on a simulated machine.
//
// A policy is one file here and one row of [Table].
package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Policy controls the workers of one executor.
type Policy interface {
	// Thieves counts the workers that look for work, or were notified and will. While it is not 0, a worker that shows an
	// item need not call Shown: a thief that ceases to count looks everywhere once more.
	Thieves() *xatomic.Int32
	// Shown is called by a worker that has shown an item to thieves, when Thieves is 0 and some worker sleeps.
	Shown()
	// Submitted is called after an item was put where all workers look, the injector. Any thread.
	Submitted()
	// WakeAll wakes every worker that sleeps, for those to leave that are to. Any thread.
	WakeAll()
	// Refills reports whether a worker without items looks at the injector before it becomes a thief. It is constant.
	Refills() bool
	// Attach makes worker h's part.
	Attach(h Host) Thief
	// Actives is how many workers are active, for dumps; 0 if the policy does not count them. Any thread.
	Actives() int
}

// A Thief is a worker's part of a policy. Its worker only.
type Thief interface {
	// Find looks for work, and sleeps while there is none. It returns true when a Try has found some, and false when the
	// executor stops or the worker leaves.
	Find() bool
	// Busy says that the worker begins to run what it has found or, if it was not stolen, what it has.
	Busy(stolen bool)
	// Idle says that it has run that, and all that followed from it.
	Idle()
	// Lost says that the worker's thread has ended between Busy and Idle. Another thread goes on.
	Lost()
}

// A Machine is an executor as its policy sees it. Its methods may be called on any thread.
type Machine interface {
	// Workers is how many workers there are. Their IDs are below it. It may grow.
	Workers() int
	// AnyWork reports whether some item was to be taken, at the moment of the look at each place. Items that come to be while
	// it looks may be missed.
	AnyWork() bool
	// AnySubmitted reports whether there is an item in the injector.
	AnySubmitted() bool
	// Stopping reports whether the workers are to leave for good.
	Stopping() bool
	// AnyWaiter reports whether a worker has prepared to sleep, or sleeps. Workers that wait inside a task do not count.
	AnyWaiter() bool
	// Notify wakes up to n of these and returns how many it has woken.
	Notify(n int) int
	// NotifyAll wakes all of them.
	NotifyAll()
	// NotifyHelpers wakes the workers that sleep inside tasks and may help with any item.
	NotifyHelpers()
}

// A Host is a worker as its policy sees it. Its methods are for that worker's thread only.
type Host interface {
	// ID is the worker's index.
	ID() int
	// Random is a uniform index below n.
	Random(n int) int
	// Sees reports whether it may pay to Try a victim.
	Sees(victim int) bool
	// Try takes work from a worker or, if victim is the worker's own ID, from where no worker's queue is: the injector, or what
	// others deal out. The outcome is Stolen if it has found some.
	Try(victim int) deque.Outcome
	// Leave takes the worker out of service, if it is to go, and says so.
	Leave() bool
	// Prepare announces that the worker is about to sleep. Cancel or Commit comes next.
	Prepare()
	// Cancel takes that back. It returns true if somebody has notified the worker meanwhile.
	Cancel() bool
	// Commit sleeps until the worker is notified, which may have been since Prepare.
	Commit()
	// Searching says that the worker looks for work, for dumps.
	Searching()
	// Pause waits for about n looks at the injector, or until there is something.
	Pause(n int)
	// Yield offers the core to other threads.
	Yield()
	// Items is how many items the worker has run.
	Items() uint64
	// Nanotime is a clock's time, in nanoseconds.
	Nanotime() int64
}

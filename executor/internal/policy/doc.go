// Package policy implements the control policies of executors. A policy decides how many idle workers look for work,
// and when they sleep.
//
// A [Policy] belongs to one executor, a [Thief] to one of its workers. They see the executor through [Machine] and
// [Host] only, and see no items, so the same code runs on a simulated machine.
//
// A policy is one file of this package and one row of [Table].
package policy

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Policy controls the workers of one executor.
type Policy interface {
	// Thieves counts the thieves: the workers that look for work, or were notified and will. While it is not 0, a
	// worker that shows an item need not call Shown, because a worker that ceases to be a thief looks everywhere once
	// more. It is always 0 if the policy wants to hear of each item.
	Thieves() *xatomic.Int32
	// Shown is called by a worker that has shown an item to thieves, if Thieves is 0.
	Shown()
	// Submitted is called after n items were put into the injector, n > 0. Any thread.
	Submitted(n int)
	// WakeAll wakes every worker that sleeps, so that surplus spares leave service. Any thread.
	WakeAll()
	// Refills reports whether a worker without items looks at the injector before it becomes a thief. It is constant.
	Refills() bool
	// Attach returns the part of worker h. It is called once for each worker, before Machine.Workers counts it.
	Attach(h Host) Thief
	// Actives returns the number of active workers, for dumps; 0 if the policy does not count them. Any thread.
	Actives() int
}

// Hosting is what a Policy also implements whose Row says Guests.
type Hosting interface {
	// PassOn is called after a guest has taken the place of a worker that was notified, before the worker has got up.
	// If there is work, the policy wakes another. Any thread.
	PassOn()
}

// A Thief is a worker's part of a policy. Its methods are for that worker only.
type Thief interface {
	// Find looks for work, and sleeps while there is none. It returns true after a Try that has found work, and false
	// when the executor stops or the worker leaves service.
	Find() bool
	// Busy is called when the worker becomes active: it has stolen an item, or has found one otherwise.
	Busy(stolen bool)
	// Idle is called when the worker has run that item and everything that followed from it.
	Idle()
	// Lost is called when the worker's thread ends between Busy and Idle. Another thread goes on as the worker.
	Lost()

	// Waits is called when the worker, between Busy and Idle, waits inside a task and has nothing to do: it may run
	// only items that the wait is for, and has found none. Of such a worker nobody can expect that it finds an item.
	Waits()
	// Vain is called after Waits for each look at other workers that has found no such item, n of them in a row. It
	// reports whether the worker is to rest until the wait may be over, or there may be an item.
	Vain(n int) bool
	// MaySleep reports whether the worker, which rests, may sleep. Otherwise it is called again, after Vain, until the
	// rest ends.
	MaySleep() bool
	// Resumes is called after Waits when the worker has found an item, or the wait is over. stolen says that it has
	// stolen the item.
	Resumes(stolen bool)
}

// A Machine is an executor as its policy sees it. Its methods may be called on any thread.
type Machine interface {
	// Workers returns the number of workers. Their IDs are below it. It may grow.
	Workers() int
	// Limit returns the largest number of workers that there will be. It is constant.
	Limit() int
	// Running reports whether a run or a future is in progress. It is true from before its first item is submitted
	// until its last item is done. Without a run, only items of futures that have ended may be left.
	Running() bool
	// AnyWork reports whether there was an item to take, in the injector or a lane. It looks at one after the other: an
	// item that appears meanwhile may be missed.
	AnyWork() bool
	// AnySubmitted reports whether there is an item in the injector.
	AnySubmitted() bool
	// Stopping reports whether the executor stops: workers then leave for good.
	Stopping() bool
	// AnyWaiter reports whether a worker sleeps or has prepared to. Workers that wait inside a task do not count.
	AnyWaiter() bool
	// Notify wakes up to n of the workers that sleep or have prepared to, and returns how many it has woken.
	Notify(n int) int
	// NotifyAll wakes all workers that sleep or have prepared to.
	NotifyAll()
	// NotifyHelpers wakes the workers that sleep inside tasks, which may help with any item.
	NotifyHelpers()
}

// A Host is a worker as its policy sees it. Its methods are for that worker's thread only.
type Host interface {
	// ID returns the worker's index.
	ID() int
	// Random returns a uniform index below n.
	Random(n int) int
	// Sees reports whether it may pay to Try a victim.
	Sees(victim int) bool
	// Try steals from the lane of a victim. If victim is the worker's own ID, Try takes an item from the injector or
	// one that another worker deals out. The outcome is Stolen if it has found one.
	Try(victim int) deque.Outcome
	// Leave takes the worker out of service if it is a surplus spare, or is to rest, and reports whether it did.
	Leave() bool
	// Prepare announces that the worker is about to sleep. Cancel or Commit follows.
	Prepare()
	// Cancel undoes Prepare. It returns true if the worker was notified meanwhile.
	Cancel() bool
	// Commit sleeps until the worker is notified. A notification since Prepare counts.
	Commit()
	// Searching records, for dumps, that the worker looks for work.
	Searching()
	// Pause waits for about n looks at the injector, or until it has an item. On a simulated machine other threads may
	// go on.
	Pause(n int)
	// Yield offers the core to other threads.
	Yield()
	// Items returns a number that grows by one or more with each item that the worker runs.
	Items() uint64
	// Nanotime returns a clock's time, in nanoseconds.
	Nanotime() int64
}

// A PeerHost is a Host for the policies that ask about other workers' threads, see Row.Needs.
type PeerHost interface {
	Host
	// Preempted reports whether the thread of a victim that runs items seems to have no core, by the given sign.
	Preempted(victim int, sign Sign) bool
	// YieldTo offers the core to other threads, because a victim is preempted.
	YieldTo(victim int)
	// Pull moves the thread of a victim to the worker's CPU and gives that CPU up. It reports whether it did: the
	// system may refuse, and a thread is not moved often.
	Pull(victim int) bool
}

// A Sign is how a thief can tell that another worker's thread has no core.
type Sign uint8

const (
	SameCPU      Sign = iota // the thread was last on the CPU that the thief runs on
	StoppedClock             // the thread's processor time does not advance
)

// A Need is something of the system without which a policy does not work.
type Need uint8

const (
	NeedSameCPU Need = 1 << iota
	NeedStoppedClock
	NeedPull
)

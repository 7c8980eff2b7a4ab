package executor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/procs"
)

// MaxWorkers is the largest number of workers of one executor, spare ones included.
const MaxWorkers = 4096

// A Config describes an executor to [New]. The zero value is a good choice.
type Config struct {
	// Workers is the number of worker threads, at most [MaxWorkers]. 0 means the process's own GOMAXPROCS, not counting
	// what executors have added to it, or the number of CPUs if that is set and smaller.
	Workers int
	// Spares is the largest number of spare workers. Spare workers stand in for workers that wait in [Blocking] and,
	// while any does, or a task waits for a permit or for its end from outside, for workers that sleep in a Wait or
	// Join. If tasks wait for each other in Blocking, or for permits of each other's runs, Spares must be at least the
	// number of tasks that may wait at once, in Blocking or for work that they have started: otherwise they may wait
	// for ever. 0 means 256; a negative number means none. A spare that has never been needed costs some 350 bytes, and
	// 8 in each graph that has run. Workers and spares together are at most [MaxWorkers].
	Spares int
	// OnlyBlocking says that spare workers stand in only for tasks in [Blocking]. By default they also stand in for
	// tasks that wait outside Blocking: once such a task has slept for some milliseconds, but for short moments, while
	// items wait that nobody takes, its worker counts as one in Blocking until the task goes on. Processes with
	// executors that have work look at their workers for that every 5 ms, and a task is found by the second look after
	// it has begun to sleep. The longer no task has begun to sleep, the less often they look: after a twentieth of that
	// time, but every 125 ms at least. So the first task that sleeps after all have computed for long may wait some 135
	// ms for a stand-in, and one that does so soon afterwards does not. They also look every 125 ms while no item waits
	// for a worker. A look costs about a microsecond for each worker, and its timer some 50 to 200 µs of a core: one or
	// two thousandths of one while all tasks compute. With Verbatim spares stand in only for tasks in Blocking in any
	// case.
	//
	// On systems other than Linux no thread can tell what another one does. There all tasks of an executor count as
	// waiting once items wait, no worker has got on for 100 ms, and the process has used a quarter of a processor at
	// most meanwhile; and one more of them for each five seconds in which no worker gets on, whatever the process uses.
	// A worker is seen to get on after 64 tasks, or when it looks for work.
	//
	// A task that waits by looking again and again, with [runtime.Gosched] in between, computes, as far as the kernel can
	// tell. Nothing stands in for it.
	//
	// [Blocking] is better where tasks wait often: the spare comes at once. And nothing can be done from outside for
	// what only the sleeping worker knows of: private forks of [Fork], items in deques of a kind that hides them, and
	// with one worker the items of a graph, until a task of another kind has run. Where a task waits for one of these
	// other than by Join or Wait, it must do so in Blocking. Dump, and so a report of package watch, tells of workers
	// that sleep outside it. In a bubble of testing/synctest nothing is found out.
	OnlyBlocking bool
	// Name is the prefix of the threads' names. It also appears in profiler labels, dumps, and errors about the
	// threads. "" means "magpie". If the system refuses to name threads, they have no names, and Dump says why.
	Name string
	// Nice is the scheduling priority of the workers' threads, 0 (normal) to 19 (lowest). On systems other than Linux
	// anything but 0 is an error. It does not by itself make other goroutines of the process faster: their median
	// latency depends on the reserved Ps, see KeepGOMAXPROCS. With 5 their threads wait about half as long for busy
	// workers as with 0, and a worker keeps a quarter of a core beside a thread that never sleeps.
	//
	// More than 10 makes the tail of their latencies longer if tasks allocate. The garbage collector stops all
	// goroutines several times in a cycle, and each time waits for the kernel to run every worker that is in a task.
	// While a worker without a core has begun to sweep memory, the runtime's background sweeper computes until that
	// worker goes on, with normal priority. The less a worker weighs, the longer it then waits: up to 6 ms with 0, 9 ms
	// with 5, 23 ms with 10 and 180 ms with 19 were measured. [ClassIdle] does the same. A longer Slice helps little.
	//
	// The best for handlers beside the workers were 5 and tasks that call [Yield] every some ten microseconds. The 99th
	// percentile was then 0.6 times that without any work for arithmetic, and 1.1 to 1.4 times for tasks that allocate
	// a picture each.
	Nice int
	// Class is how Linux schedules the workers' threads beside others. The zero value is [ClassNormal]. On systems
	// other than Linux anything else is an error.
	//
	// Class, Nice, Slice, CPUs and Pin hold for the workers' threads only, which end with their workers. A process that
	// a task starts has them too.
	Class Class
	// Slice is for how long Linux lets a worker run before another ready thread of the same core has its turn, 100 µs
	// to 100 ms. A worker with a long slice interrupts others less and is interrupted less; with a short one it waits
	// less, in smaller turns. Its share of the core is the same. 0 means the kernel's choice, which is some
	// milliseconds. It goes with [ClassNormal] and [ClassBatch]. It needs Linux 6.12; on other systems, and with older
	// kernels, anything but 0 is an error.
	Slice time.Duration
	// CPUs are the CPUs on which the workers may run, by the system's numbers from 0, in any order. nil means those on
	// which the process may. An empty set, and a CPU that does not exist or is not in the process's cpuset, are errors.
	// On systems other than Linux anything but nil is an error.
	CPUs []int
	// Pin says on which of the CPUs each worker may run. The zero value is [PinNone]. On systems other than Linux
	// anything else is an error.
	Pin Pin
	// BestEffort lets New succeed if the system refuses Nice, Class, Slice, CPUs or Pin: because it is not Linux, its
	// kernel is too old, a filter of system calls forbids the change (EPERM), or CPUs do not exist or are not in the
	// process's cpuset. The workers then go without what is refused, and with what is not. [Stats].Refused and Dump say
	// what it is. Without BestEffort, New fails. What is refused later, to a thread that New has not started, is always
	// treated so.
	BestEffort bool
	// Policy controls how many idle workers look for work. The zero value is [Adaptive].
	Policy Policy
	// PolicyOptions change how some policies work. The zero value is what their documents have.
	PolicyOptions PolicyOptions
	// Deque is the kind of deque in which workers keep their items. The zero value is [deque.KindChaseLev], which grows
	// and hides no items. The documentation of package deque says, with figures, which kind suits which work.
	//
	// If a bounded deque has no room for an item, the item goes to a growable deque beside it, or with
	// [deque.KindBWoSFIFO] to the queue that all workers share. It is not lost, and the worker does not wait. Items
	// that a worker gives away, because it blocks or a caller leaves its place, go to the shared queue too: with
	// [deque.KindBWoSFIFO] they come behind younger ones there. With that kind a run of [Func] or [Call] fails with
	// [ErrFIFO]. With [deque.KindPDQS] a worker that waits in a Join, a Wait or a Run is dealt no items, and helps only
	// with items that did not fit into the deques of others.
	//
	// If the kind hides items, see [deque.Kind.Hides], a task must wait for items that it has pushed only by the means
	// of this module, or inside [Blocking]. While the task runs, other workers may not see these items.
	Deque deque.Kind
	// Forks says when calls of [Fork] are pushed to the deque. The zero value is [PrivateForks]. With [deque.KindBWoS]
	// and [deque.KindPDQS], which hide items and whose thieves cannot ask, forks are pushed at once, whatever Forks
	// says.
	Forks Forks
	// Callers says whether a goroutine that waits in [Executor.Run] takes part in its run. The zero value is
	// [AutoCallers]: if a worker sleeps, the goroutine runs the first tasks itself in that worker's place, for a tenth
	// of a millisecond or until the end of the task that it runs then. So a short run wakes no thread, see
	// [BriefCallers]. With CPUs, Pin, ThreadStart, ThreadEnd, Share, HostShare, Verbatim, and every Policy but
	// [Adaptive] and [Taskflow], all tasks run on the workers' own threads: the zero value is then [IdleCallers], and
	// [BriefCallers] and [BusyCallers] are errors. With Nice, Class or Slice the zero value is [IdleCallers] too, since
	// a caller runs tasks with its own thread's schedule: work that is to stand back would not. If callers wait for
	// runs that are short, set BriefCallers. With Nice 5 and two workers, ten tasks of a microsecond, a millisecond
	// after the last run, took 14 µs instead of 36 (p50; p99 44 instead of 139). Beside runs that kept the workers
	// busy for half of the time it made no difference (p50 134 instead of 146; AMD EPYC, 2026-11-25).
	Callers Callers
	// Capacity is about how many items a worker's deque has room for, or at first has room for if it grows. 0 means
	// 1024, or 512 for [deque.KindChaseLev].
	Capacity int
	// BlockSize is the number of items of a block, in a deque with blocks. 0 means about the square root of the
	// capacity. But without Verbatim and PushedForks it means at most 4 for [deque.KindBWoS] and
	// [deque.KindBWoSFIFO], of which thieves see nothing in the owner's block.
	BlockSize int
	// Steal is how much a thief takes at once: [deque.One], the zero value, or more if the kind of deque allows it, but
	// at most 64 items. The thief puts the items that it does not run at once into its own deque. More than one is for
	// many small items of graphs and other jobs: forks and children that a thief does not run at once go to the queue
	// that all workers share.
	Steal deque.Batch
	// MaxRuns is the largest number of runs and futures in progress that were started from outside. If there are so
	// many, [Executor.Run], [Executor.Start] and [Async] wait until one ends, in the order in which they were called,
	// and [Executor.TryStart] returns [ErrBusy]. What tasks start counts for nothing and never waits, since the task's
	// run may have to wait for it. A task must not wait for a goroutine that starts something from outside: that
	// goroutine may wait for the task's room. 0 means that there is no bound.
	MaxRuns int
	// KeepGOMAXPROCS leaves GOMAXPROCS alone. By default an executor raises it until Close by its number of workers and
	// a third of that, rounded up. So a busy worker never keeps a goroutine from running. The third is for the garbage
	// collector, which takes a quarter of all Ps while it marks: so it takes none of the program's own Ps on account of
	// the workers. While GOMAXPROCS is raised, the runtime does not update it by itself when the CPU quota changes.
	//
	// With KeepGOMAXPROCS and as many workers as Ps, a goroutine that waits for the workers shares the Ps with them,
	// even if nothing else runs: loops of two pieces of 1 to 20 ms, one after the other, took 1.4 to 1.7 times as long
	// as on goroutines (two cores, AMD EPYC, 2026-11-25). With a GOMAXPROCS that is larger by one they do not.
	KeepGOMAXPROCS bool
	// Share makes the executor share the machine's processors with others that have one. nil means that the executor
	// uses as many processors as it has work for, whatever the others do.
	Share *Share
	// HostShare is the part of the process's CPU quota that workers leave to the rest of the process, above 0 and below
	// 1; 0 means none. Under a quota, such as Kubernetes sets with limits.cpu, the kernel stops the whole process when
	// its CPU time for a period is used up, handlers of requests too, whatever the priority of the workers that have
	// used it. With a HostShare of 0.25, workers use at most three quarters of the quota: some of them rest, each from
	// the end of a task, a Fork or a Join on, for a few milliseconds. If the process is stopped all the same, because
	// the rest of it needs more than its share, workers use less for a while, down to a twentieth of theirs.
	//
	// Executors of one process use that part together: those with a HostShare that have work in progress have equal
	// parts of it, and what one does not need the others use. The largest HostShare among them is left free.
	//
	// The quota is the smallest of the process's control group and of those around it that the process sees. It is read
	// again in each of its periods, or once a second while there is none. It bounds tasks that take much longer than a
	// period, usually 100 ms, only on average over a second. Without a quota workers do not rest, and without control
	// groups, as on other systems than Linux, HostShare has no effect. See [QuotaStats].
	HostShare float64
	// ThreadStart is called on each worker's own thread with the worker's index, see [Executor.WorkerIndex], before the
	// first task on it. It is for what belongs to a thread, such as the initialization of a C library or a CPU affinity
	// of the caller's own. New returns when it has returned on all threads. It is also called on the threads of spare
	// workers, when they start, and on a thread that takes the place of one that a task has ended by [runtime.Goexit].
	// It may be called on several threads at the same time. nil means nothing.
	//
	// If it panics or calls Goexit, New fails, or the spare worker is left out as if it could not be given a thread. A
	// thread that takes the place of another cannot be left out: the process then ends with a panic. ThreadEnd is not
	// called on a thread on which ThreadStart has failed. [Executor.Dump] and [Executor.Close] tell the first failure.
	//
	// Neither function may start work on the executor or wait for it: Run, Start and Async panic there, and Close
	// returns [ErrInTask]. They may use a [PerWorker].
	ThreadStart func(worker int)
	// ThreadEnd is called on each worker's own thread with the worker's index, after the last task on it: in Close,
	// when the thread of an idle spare ends, and when a task has called Goexit. If it panics or calls Goexit, the
	// thread ends all the same.
	ThreadEnd func(worker int)
	// Observers are called when something happens on the executor, in this order. An executor without observers pays
	// nothing for them.
	Observers []*Observer
	// Verbatim leaves out what this executor adds to the work stealing of document 000 (Lin, Huang and Wong, "An
	// Efficient Work-Stealing Scheduler for Task Dependency Graph", 2020), to compare with the paper. It goes with
	// every Policy. The paper's own is [AdaptivePublished].
	//
	//   - Each task of a graph is an item of its own. The sources are submitted together, with one notification, or
	//     pushed one by one if a task starts the run. A task pushes all successors that it makes ready but the last,
	//     which it leaves to its worker. Without Verbatim many tasks may be one item, of which a thief takes half.
	//   - A busy worker does not look at the queue of submissions. So runs that keep all workers busy for ever starve
	//     all later runs.
	//   - A worker that has run out of items always becomes a thief, whatever the policy.
	//   - A thief that has lost a steal does not yield for that. With [Adaptive] it still does.
	//   - One worker alone has a deque as any other worker does.
	//   - The blocks of a deque are as large as their documents say.
	//
	// What the paper does not have stays as it is: among others nested runs, forks, [Blocking] and its spares. The
	// list of all differences is in protocol/documents.md.
	Verbatim bool
}

// withDefaults validates c, reporting every bad field at once, and fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("executor: "+format, args...)) }
	cpus := c.checkSchedule(bad)
	switch {
	case c.Workers < 0:
		bad("Config.Workers is %d: give the number of workers, or 0 for GOMAXPROCS", c.Workers)
	case c.Workers > MaxWorkers:
		bad("Config.Workers is %d: at most %d are possible, and more than there are CPUs seldom help",
			c.Workers, MaxWorkers)
	case c.Workers == 0:
		c.Workers = min(procs.Base(), MaxWorkers)
		if len(cpus) > 0 {
			c.Workers = min(c.Workers, len(cpus))
		}
	}
	workers := c.Workers
	if workers < 1 || workers > MaxWorkers {
		workers = 1 // leaves the most room for spares
	}
	switch room := MaxWorkers - workers; {
	case c.Spares < 0:
		c.Spares = 0
	case c.Spares == 0:
		c.Spares = min(defaultSpares, room)
	case c.Spares > room:
		bad("Config.Spares is %d: with %d workers at most %d are possible", c.Spares, workers, room)
	}
	c.CPUs = cpus
	if c.MaxRuns < 0 {
		bad("Config.MaxRuns is %d: give the number of runs and futures, or 0 for no bound", c.MaxRuns)
	}
	if int(c.Policy) >= len(policy.Table) {
		bad("Config.Policy is %d: use one of %v", uint8(c.Policy), Policies())
	} else {
		for _, err := range c.PolicyOptions.internal().Check(int(c.Policy)) {
			bad("Config.PolicyOptions.%w", err)
		}
		if err := c.Policy.Available(); err != nil {
			errs = append(errs, err)
		}
	}
	known := slices.Contains(deque.Kinds(), c.Deque)
	if !known {
		bad("Config.Deque is %d: use one of %v", uint8(c.Deque), deque.Kinds())
	}
	if c.Forks >= forksModes {
		bad("Config.Forks is %d: use one of %v", uint8(c.Forks), AllForks())
	}
	if c.Callers >= callersModes {
		bad("Config.Callers is %d: use one of %v", uint8(c.Callers), AllCallers())
	} else if err := c.resolveCallers(); err != nil {
		errs = append(errs, err)
	}
	checked := c
	if c.Steal > deque.Block {
		bad("Config.Steal is %d: use deque.One, deque.Half or deque.Block", uint8(c.Steal))
		checked.Steal = deque.One
	}
	if !known {
		checked.Deque = deque.KindBWoS // accepts every Capacity, BlockSize and Steal that any kind accepts
	}
	errs = append(errs, checked.checkLanes()...)
	if c.Name == "" {
		c.Name = "magpie"
	}
	if !(c.HostShare >= 0 && c.HostShare < 1) {
		bad("Config.HostShare is %v: give a part of the CPU quota above 0 and below 1, or 0 for none", c.HostShare)
	}
	for i, o := range c.Observers {
		if o == nil {
			bad("Config.Observers[%d] is nil", i)
		}
	}
	c.Observers = slices.Clone(c.Observers)
	c.Share = c.Share.withDefaults(c.Workers, bad)
	return c, errors.Join(errs...)
}

// reservedPs returns by how many Ps the executor raises GOMAXPROCS. The garbage collector takes a quarter of all Ps, a
// third of the others: without Ps for its part, there are too few for the goroutines just when workers keep their
// threads from the cores.
func (c *Config) reservedPs() int {
	if c.KeepGOMAXPROCS {
		return 0
	}
	return c.Workers + (c.Workers+2)/3
}

// lanes returns the options of the workers' lanes.
func (c *Config) lanes() lane.Options {
	return lane.Options{
		Kind:        c.Deque,
		Capacity:    c.Capacity,
		BlockSize:   c.BlockSize,
		Batch:       c.Steal,
		ForksPushed: c.Forks == PushedForks,
		Enough:      enoughPublic * c.Workers,
		SmallBlocks: !c.Verbatim && c.Forks != PushedForks,
	}
}

// checkLanes returns everything that is wrong with the options of a known kind of deque.
func (c *Config) checkLanes() (errs []error) {
	if err := c.lanes().Queue().Check(c.Deque); err != nil {
		said := strings.NewReplacer("deque: ", "", "\n", "; ").Replace(err.Error())
		errs = append(errs, fmt.Errorf("executor: Config with Deque %v: %s", c.Deque, said))
	}
	if c.Steal != deque.One && !c.Deque.Batches() {
		batching := slices.DeleteFunc(deque.Kinds(), func(k deque.Kind) bool { return !k.Batches() })
		errs = append(errs, fmt.Errorf("executor: Config.Steal is %v, but from %v thieves take one item at a time: "+
			"set Steal to %v, or Deque to one of %v", c.Steal, c.Deque, deque.One, batching))
	}
	return errs
}

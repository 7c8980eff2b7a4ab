package host

import "time"

// Threads is the part of an executor.Config that is about the workers' threads. Nice, Class, Slice, CPUs and Pin hold
// for these threads only, which end with their workers. A process that a task starts has them too.
type Threads struct {
	// Nice is the scheduling priority of the workers' threads, 0 (normal) to 19 (lowest). On systems other than Linux
	// anything but 0 is an error. It does not by itself make other goroutines of the process faster: their median
	// latency depends on the reserved Ps, see [Options].KeepGOMAXPROCS. With 5 their threads wait about half as long for
	// busy workers as with 0, and a worker keeps a quarter of a core beside a thread that never sleeps.
	//
	// More than 10 makes the tail of their latencies longer if tasks allocate. The garbage collector stops all
	// goroutines several times in a cycle, and each time waits for the kernel to run every worker that is in a task.
	// While a worker without a core has begun to sweep memory, the runtime's background sweeper computes until that
	// worker goes on, with normal priority. The less a worker weighs, the longer it then waits: up to 6 ms with 0, 9 ms
	// with 5, 23 ms with 10 and 180 ms with 19 were measured. [ClassIdle] does the same. A longer Slice helps little.
	//
	// The best for handlers beside the workers were 5 and tasks that call executor.Yield every some ten microseconds. The
	// 99th percentile was then 0.6 times that without any work for arithmetic, and 1.1 to 1.4 times for tasks that
	// allocate a picture each.
	Nice int
	// Class is how Linux schedules the workers' threads beside others. The zero value is [ClassNormal]. On systems
	// other than Linux anything else is an error.
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
	// Pin lets each worker run on one of the CPUs only. Workers have different cores as long as there are cores without
	// one, then the further CPUs of these cores, as simultaneous multithreading has them. Further workers begin again
	// with the first CPU. A spare worker may run on all of the CPUs, as it stands in for any worker. On systems other
	// than Linux it is an error.
	Pin bool
	// BestEffort lets New succeed if the system refuses Nice, Class, Slice, CPUs or Pin: because it is not Linux, its
	// kernel is too old, a filter of system calls forbids the change (EPERM), or CPUs do not exist or are not in the
	// process's cpuset. The workers then go without what is refused, and with what is not. Stats().Refused and Dump say
	// what it is. Without BestEffort, New fails. What is refused later, to a thread that New has not started, is always
	// treated so.
	BestEffort bool
	// Start is called on each worker's own thread with the worker's index, see Executor.WorkerIndex, before the
	// first task on it. It is for what belongs to a thread, such as the initialization of a C library or a CPU affinity
	// of the caller's own. New returns when it has returned on all threads. It is also called on the threads of spare
	// workers, when they start, and on a thread that takes the place of one that a task has ended by [runtime.Goexit].
	// It may be called on several threads at the same time. nil means nothing.
	//
	// If it panics or calls Goexit, New fails, or the spare worker is left out as if it could not be given a thread. A
	// thread that takes the place of another cannot be left out: the process then ends with a panic. End is not called
	// on a thread on which Start has failed. Executor.Dump and Executor.Close tell the first failure.
	//
	// Neither function may start work on the executor or wait for it: Run, Start and Async panic there, and Close
	// returns executor.ErrInTask. They may use a PerWorker.
	Start func(worker int)
	// End is called on each worker's own thread with the worker's index, after the last task on it: in Close,
	// when the thread of an idle spare ends, and when a task has called Goexit. If it panics or calls Goexit, the
	// thread ends all the same.
	End func(worker int)
	// OnlyBlocking says that spare workers stand in only for tasks in executor.Blocking. By default they also stand in for
	// tasks that wait outside Blocking: once such a task has slept for some milliseconds, but for short moments, while
	// items wait that nobody takes, its worker counts as one in Blocking until the task goes on. Processes with executors
	// that have work look at their workers for that every 5 ms, and a task is found by the second look after it has begun
	// to sleep. The longer no task has begun to sleep, the less often they look: after a twentieth of that time, but every
	// 125 ms at least, or every 250 ms while no worker has told that tasks end. So the first task that sleeps after all
	// have computed for long may wait some 135 or 260 ms for a stand-in, and one that does so soon afterwards does not.
	// They look as seldom while no item waits for a worker. A look costs about a microsecond for each worker, and its
	// timer some 50 to 200 µs of a core: a thousandth of one while all tasks compute. With Experiment.Verbatim spares
	// stand in only for tasks in Blocking in any case.
	//
	// On systems other than Linux no thread can tell what another one does. There all tasks of an executor count as
	// waiting once items wait, no worker has got on for 100 ms, and the process has used a quarter of a processor at
	// most meanwhile; and one more of them for each five seconds in which no worker gets on, whatever the process uses.
	// A worker is seen to get on after 64 tasks, or when it looks for work.
	//
	// A task that waits by looking again and again, with [runtime.Gosched] in between, computes, as far as the kernel can
	// tell. Nothing stands in for it.
	//
	// Blocking is better where tasks wait often: the spare comes at once. And nothing can be done from outside for
	// what only the sleeping worker knows of: private forks of executor.Fork, items in deques of a kind that hides them,
	// and with one worker the items of a graph, until a task of another kind has run. Where a task waits for one of these
	// other than by Join or Wait, it must do so in Blocking. Dump, and so a report of package watch, tells of workers that
	// sleep outside it. In a bubble of testing/synctest nothing is found out.
	OnlyBlocking bool
}

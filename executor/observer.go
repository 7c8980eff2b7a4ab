package executor

import (
	"context"
	"iter"
	"time"
)

// An Observer has functions that an executor calls when something happens, see [Config.Observers]. A function that is
// nil is not called. The fields are constant from [New] on.
//
// The functions are called where the event happens: those of tasks and workers on the worker's goroutine, and those of
// runs on the goroutine that starts or ends the run. Several are called at the same time by several workers. A function
// should return soon, because its worker does nothing else meanwhile. While a worker is in TaskBegin, TaskEnd, TaskSkip
// or Relabel, other workers go on. But a worker in Steal, Park or Unpark counts as one that looks for work, so that no
// other may be woken for new work: if the function blocks, runs may wait although other workers sleep. New waits for
// Attach, and Close for RunEnd and Detach, with no limit. [Executor.Dump] lists the functions that have not returned,
// but for Attach and for those of tasks, which [Executor.Stacks] shows. The error of [Executor.Shutdown] lists all.
//
// A function must not start or wait for work on the executor. A function that panics harms no task and no run: the
// panic is logged with package log, [Executor.Dump] tells it, and the Observer is not called again by that executor. A
// function must not call [runtime.Goexit].
//
// An executor without observers pays nothing for them, and one whose observers have neither TaskBegin nor TaskEnd nor
// TaskSkip pays nothing for its tasks. An Observer that keeps the executor keeps the garbage collector from closing it.
type Observer struct {
	// Attach is called once by New, before any other function, when the workers have started.
	Attach func(ex *Executor)
	// Detach is called once by Close, after all other functions have returned.
	Detach func()
	// RunBegin is called before the first item of the run is available. Runs that fail to begin are left out.
	RunBegin func(e *Event)
	// RunEnd is called when the run is over: its Wait returns at once. So a caller of Wait may go on before RunEnd has
	// returned, and the run around a nested one may end before. Err is the run's error.
	RunEnd func(e *Event)
	// TaskBegin is called just before the worker runs a task, and TaskEnd just after it, also if the task panicked.
	// Between the two, the worker may run other tasks while the task waits. TaskEnd is told the task's failure in Err. The
	// function of a task of a graph may return before the task ends, as that of an external task or a subflow does:
	// TaskEnd is called then, and is not told how the task ends.
	//
	// Tasks are those of a graph and of a pool, the stages of a pipeline for each token, the functions of [NewJob],
	// [Call], [Async] and a [Group], and children of a [Scope]. A call of [Fork] is a task only if it is run by another
	// worker than the one that has forked it: otherwise it is a call of a function. The run of an Async is nil.
	TaskBegin func(e *Event)
	TaskEnd   func(e *Event)
	// TaskSkip is called for a task that is not run, because its run was stopped or, under graph.KeepGoing, because
	// the task comes after a failure. Err says why. Neither TaskBegin nor TaskEnd is called for the task. Calls of
	// [Fork] and the functions of an [Async], a pool and a pipeline that are skipped are left out.
	TaskSkip func(e *Event)
	// Steal is called after Worker has taken Items items from worker Victim. That is -1 if the item was dealt to the
	// thief, as with [deque.KindPDQS].
	Steal func(e *Event)
	// Park is called before a worker sleeps because it has no work, also when its task waits for other work, and Unpark
	// after it has woken. Spare workers on standby, and workers that rest because of Config.Host.Share, are
	// left out.
	Park   func(e *Event)
	Unpark func(e *Event)
	// Relabel is called after the executor has given a worker's goroutine other profiler labels. In the middle of a
	// task it does so when a wait is over in which the worker has run other tasks. An observer that sets labels in
	// TaskBegin sets them again. On an executor of [NewInline], which leaves the labels alone, it is not called.
	Relabel func(e *Event)
}

// An Event is what an executor tells an [Observer]. It is valid during the call only, and is the same for all observers
// of the executor. A function must not change it, but for Context. Fields that an event does not have are zero. New
// fields may be added.
type Event struct {
	// Worker is the worker's index, see [Executor.WorkerIndex], and -1 with RunBegin and RunEnd.
	Worker int
	// Run is the run, and nil for a task of an [Async] and for events of workers alone.
	Run *Run
	// Task is the task, with TaskBegin, TaskEnd and TaskSkip.
	Task *TaskInfo
	// Err is why the task or the run has failed, or why the task is skipped; nil if all is well. The error of a task
	// that has panicked is a [*PanicError], and that of one that has called [runtime.Goexit] is [ErrGoexit].
	Err error
	// Cancelled says, with RunEnd, that Err tells a cancellation from outside and no failure.
	Cancelled bool
	// Context is the context of the task or the run. TaskBegin may replace it by one derived from it, such as one with a
	// value: the function of the task is given that. So are the observers that come after, and TaskEnd. It reaches the
	// functions that are given a context. That of the root of a [NewJob] reaches the contexts of its children too, and
	// [Scope.Context].
	Context context.Context
	// Victim and Items belong to Steal.
	Victim, Items int

	at    time.Time
	timed bool // at is set
}

// Time returns the time of the event. The clock is read at the first call for an event, so that all observers are told
// the same time.
func (e *Event) Time() time.Time {
	if e == nil {
		panic("executor: Time of a nil Event: an Observer is told one")
	}
	if !e.timed {
		e.at, e.timed = time.Now(), true
	}
	return e.at
}

// A TaskInfo describes a task to an [Observer]. It is constant, and the same in all runs of its TaskSet's job.
type TaskInfo struct {
	Set   *TaskSet
	Index int    // in Set.Tasks
	Name  string // "" if the task has none
}

// A TaskSet holds the tasks of a job. It is constant.
//
//   - A graph, and so each subflow, has all of its tasks, those of its modules too, which are named module/task.
//   - A pipeline has its stages, and a pool one task that stands for all.
//   - The functions of [NewJob] and [Call] have one TaskSet for each name, up to a thousand names in an executor. Its
//     tasks are "root", the function itself, "child" and "fork".
//   - All calls of [Async] have one TaskSet with one task, and so have the functions of every [Group].
type TaskSet struct {
	Job   string // the job's name
	Tasks []TaskInfo
	// Successors yields the indexes of the tasks that come after task i. It is nil if the set has no edges.
	Successors func(i int) iter.Seq[int]

	panics string // the job that a panic of a task is said to be in, see inJob; "" if the layer that wraps it says so
}

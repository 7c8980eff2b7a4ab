package executor

import (
	"context"
	"iter"
	"time"
)

// An Observer has functions that an executor calls when something happens, see [Config.Observers]. Functions may be
// nil. The fields are constant from New on.
//
// The functions are called where the event happens, by several workers at the same time: those of runs on the goroutine
// that starts or ends the run, and the others on the worker's. A function should return soon, because its worker does
// nothing else meanwhile. If one of Steal, Park or Unpark blocks, runs may wait although other workers sleep.
// [Executor.Dump] lists functions that have not returned, and [Executor.Stacks] shows those of tasks.
// protocol/observers.md says what waits for them.
//
// A function must not start or wait for work on the executor, and must not call [runtime.Goexit]. A panic harms no task
// and no run: package log and Dump tell it, and the executor does not call the Observer again. Without TaskBegin,
// TaskEnd and TaskSkip, observers cost tasks nothing. An Observer that keeps the executor keeps the garbage collector
// from closing it.
type Observer struct {
	// Attach is called once by New, before any other function, when the workers have started.
	Attach func(ex *Executor)
	// Detach is called once by Close, after all other functions have returned.
	Detach func()
	// RunBegin is called before the first item of the run is available. Runs that fail to begin are left out.
	RunBegin func(e *Event)
	// RunEnd is called when the run is over, with the run's error in Err. A caller of Wait may go on before RunEnd has
	// returned, and the run around a nested one may end before.
	RunEnd func(e *Event)
	// TaskBegin is called just before the worker runs a task, see [TaskSet], and TaskEnd just after it, also if the task
	// panicked, with its failure in Err. Between the two, the worker may run other tasks while the task waits. The
	// function of a task of a graph may return before the task ends, as that of an external task or a subflow does:
	// TaskEnd is called then, and is not told how the task ends.
	TaskBegin func(e *Event)
	TaskEnd   func(e *Event)
	// TaskSkip is called, and neither of these, for a task that is not run: its run was stopped or, under graph.KeepGoing,
	// it comes after a failure, or it is a child with [ErrTooDeep]. Err says why. Forks, and functions of an [Async], a
	// pool or a pipeline, are left out.
	TaskSkip func(e *Event)
	// Steal is called after Worker has taken Items items from Victim, or from -1 if they were dealt ([deque.KindPDQS]).
	Steal func(e *Event)
	// Park is called before a worker sleeps because it has no work, also when its task waits for other work, and Unpark
	// after it has woken. Spares on standby, and workers that rest because of Config.Host.Share, are left out.
	Park   func(e *Event)
	Unpark func(e *Event)
	// Relabel is called after the executor has given a worker's goroutine other profiler labels, also in a task after a
	// wait. An observer that sets labels in TaskBegin sets them again. An executor of [NewInline] leaves labels alone.
	Relabel func(e *Event)
}

// An Event is what an executor tells an [Observer]. It is valid during the call only, and a function must not change
// it, but for Context. Fields that an event does not have are zero. New fields may be added.
type Event struct {
	// Worker is the worker's index, see [Executor.WorkerIndex], and -1 with RunBegin and RunEnd.
	Worker int
	// Run is the run, and nil for a task of an [Async] and for events of workers alone.
	Run *Run
	// Task is the task, with TaskBegin, TaskEnd and TaskSkip.
	Task *TaskInfo
	// Err is why the task or the run has failed, or why the task is skipped; nil if all is well. It is a [*PanicError] if
	// the task has panicked, and [ErrGoexit] if it has called [runtime.Goexit].
	Err error
	// Cancelled says, with RunEnd, that Err tells a cancellation from outside and no failure.
	Cancelled bool
	// Context is the context of the task or the run. TaskBegin may replace it by one derived from it: the function of the
	// task is given that, and so are the observers that come after, and TaskEnd. That of the root of a [NewJob] reaches
	// the contexts of its children too, and [Scope.Context].
	Context context.Context
	// Victim and Items belong to Steal.
	Victim, Items int

	at    time.Time
	timed bool // at is set
}

// Time returns the time of the event, which is the same for all observers.
func (e *Event) Time() time.Time {
	if e == nil {
		panic("executor: Time of a nil Event: an Observer is told one")
	}
	if !e.timed {
		e.at, e.timed = time.Now(), true
	}
	return e.at
}

// A TaskInfo describes a task to an [Observer]. It is constant.
type TaskInfo struct {
	Set   *TaskSet
	Index int    // in Set.Tasks
	Name  string // "" if the task has none
}

// A TaskSet holds the tasks of a job. It is constant.
//
//   - A graph, and so each subflow, has all of its tasks, those of its modules too, which are named module/task.
//   - A pipeline has its stages, each a task for each token, and a pool one task that stands for all.
//   - The functions of [NewJob] and [Call] have one TaskSet for each name, up to a thousand names in an executor. Its
//     tasks are "root", the function itself, "child", and "fork", a stolen call of [Fork].
//   - All calls of [Async] have one TaskSet with one task, and so have the functions of every [Group].
type TaskSet struct {
	Job   string // the job's name
	Tasks []TaskInfo
	// Successors yields the indexes of the tasks that come after task i. It is nil if the set has no edges.
	Successors func(i int) iter.Seq[int]

	panics string // the job that a panic of a task is said to be in, see inJob; "" if the layer that wraps it says so
}

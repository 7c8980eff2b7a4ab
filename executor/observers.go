package executor

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// observers are those of one executor, and call them. An executor without any has none.
//
// No inner loop of the executor looks for observers. The items of observed tasks have an Exec of their own, which is
// chosen where items and frames are made.
type observers struct {
	all                []*attachedObserver
	taskBegin, taskEnd taskCalls

	calls observerCalls // in progress

	attaching xsync.WaitGroup // until Attach has returned: no worker looks for work before
	attached  bool            // plain, under attaching

	mu   xsync.Mutex
	sets map[string]*TaskSet // of functions, by the names of their jobs
}

// An attachedObserver is an Observer of one executor.
type attachedObserver struct {
	Observer
	executor string                  // the executor's name
	number   int                     // in Config.Observers
	failed   xatomic.Pointer[string] // what it has panicked with; then it is not called again
}

// taskCalls has the TaskBegin, or the TaskEnd, of each observer that has one.
type taskCalls []taskCall

type taskCall struct {
	call func(worker int, run *Run, task *Task)
	of   *attachedObserver
}

// tell makes the call, unless the observer has failed. It is a frame of its own in stacks, see taskCallFrames.
func (c *taskCall) tell(worker int, run *Run, task *Task) {
	if c.of.failed.Load() == nil {
		c.call(worker, run, task)
	}
}

// newObservers returns the observers of the Config, nil if there are none.
func newObservers(cfg *Config) *observers {
	if len(cfg.Observers) == 0 {
		return nil
	}
	o := &observers{sets: make(map[string]*TaskSet)}
	for i, observer := range cfg.Observers {
		of := &attachedObserver{Observer: *observer, executor: cfg.Name, number: i}
		o.all = append(o.all, of)
		o.taskBegin.add(of.TaskBegin, of)
		o.taskEnd.add(of.TaskEnd, of)
	}
	o.attaching.Add(1)
	return o
}

func (all *taskCalls) add(call func(int, *Run, *Task), of *attachedObserver) {
	if call != nil {
		*all = append(*all, taskCall{call, of})
	}
}

// tell makes the calls in order, and contains their panics.
func (all taskCalls) tell(worker int, run *Run, task *Task) {
	at := 0
	defer func() {
		if at < len(all) {
			all[at].of.fail(recover())
			all[at+1:].tell(worker, run, task)
		}
	}()
	for ; at < len(all); at++ {
		all[at].tell(worker, run, task)
	}
}

// tell calls call for each observer in order, and contains panics.
func (o *observers) tell(call func(*Observer)) { tellAll(o.all, call) }

func tellAll(all []*attachedObserver, call func(*Observer)) {
	at := 0
	defer func() {
		if at < len(all) {
			all[at].fail(recover())
			tellAll(all[at+1:], call)
		}
	}()
	for ; at < len(all); at++ {
		if all[at].failed.Load() == nil {
			call(&all[at].Observer)
		}
	}
}

// fail disables the observer, which has panicked with value, or has called Goexit if value is nil.
func (of *attachedObserver) fail(value any) {
	defer func() { _ = recover() }() // methods of value, and the handler of the log, are user code
	said := "called runtime.Goexit"
	if value != nil {
		said = (&PanicError{Value: value}).Error()
	}
	if of.failed.CompareAndSwap(nil, &said) { // of several workers one
		slog.Error("executor: an observer is not called again", "executor", of.executor, "observer", of.number,
			"failure", said, "stack", string(debug.Stack()))
	}
}

// attach calls Attach and then lets the workers begin. A nil ex says that the executor could not be started.
func (o *observers) attach(ex *Executor) {
	if o == nil {
		return
	}
	defer o.attaching.Done()
	if ex == nil {
		return
	}
	o.attached = true
	o.tell(func(of *Observer) {
		if of.Attach != nil {
			of.Attach(ex)
		}
	})
}

// awaitAttach is called by a worker's thread before it looks for work.
func (o *observers) awaitAttach() {
	if o != nil {
		o.attaching.Wait()
	}
}

// detach calls Detach. No worker's thread is left, and all ends of runs are told: see JobRun.conclude.
func (o *observers) detach() {
	if o == nil || !o.attached {
		return
	}
	o.tellCounted(&o.calls.detach, func(of *Observer) {
		if of.Detach != nil {
			of.Detach()
		}
	})
}

func (o *observers) runBegin(r *Run) {
	if o == nil {
		return
	}
	o.tellCounted(&o.calls.runBegin, func(of *Observer) {
		if of.RunBegin != nil {
			of.RunBegin(r)
		}
	})
}

func (o *observers) runEnd(r *Run) {
	if o == nil {
		return
	}
	o.tellCounted(&o.calls.runEnd, func(of *Observer) {
		if of.RunEnd != nil {
			of.RunEnd(r)
		}
	})
}

func (o *observers) steal(thief, victim, n int) {
	if o == nil {
		return
	}
	o.tellOn(thief, inSteal, func(of *Observer) {
		if of.Steal != nil {
			of.Steal(thief, victim, n)
		}
	})
}

func (o *observers) park(worker int) {
	if o == nil {
		return
	}
	o.tellOn(worker, inPark, func(of *Observer) {
		if of.Park != nil {
			of.Park(worker)
		}
	})
}

func (o *observers) unpark(worker int) {
	if o == nil {
		return
	}
	o.tellOn(worker, inUnpark, func(of *Observer) {
		if of.Unpark != nil {
			of.Unpark(worker)
		}
	})
}

// relabels reports whether an observer sets profiler labels.
func (o *observers) relabels() bool {
	return o != nil && slices.ContainsFunc(o.all, func(of *attachedObserver) bool { return of.Relabel != nil })
}

func (o *observers) relabel(worker int) {
	o.tellOn(worker, inRelabel, func(of *Observer) {
		if of.Relabel != nil {
			of.Relabel(worker)
		}
	})
}

// failures describes the observers that are not called again, one a line.
func (o *observers) failures() string {
	if o == nil {
		return ""
	}
	var b strings.Builder
	for _, of := range o.all {
		if said := of.failed.Load(); said != nil {
			fmt.Fprintf(&b, "observer %d is not called again: %s\n", of.number, *said)
		}
	}
	return b.String()
}

// tellsTasks reports whether an observer is told of tasks.
func (o *observers) tellsTasks() bool { return o != nil && len(o.taskBegin)+len(o.taskEnd) > 0 }

// Observed reports whether the executor has observers of tasks. The job must then call CallTask, or BeginTask and
// EndTask, for each task. It is constant, so a job can choose the Exec of its items by it and save the calls.
func (r *JobRun) Observed() bool { return r.ex.observers.tellsTasks() }

// CallTask is BeginTask, a call of fn with the run's context, and EndTask, at a lower price. It returns what fn
// returns. The run must be Observed.
func (r *JobRun) CallTask(w *Worker, task *Task, fn func(context.Context) error) (err error) {
	o := r.ex.observers
	at := 0 // the number of calls that have returned; fn comes between the two lists
	// One deferred call contains the panics of all observers.
	defer func() {
		switch begins, ends := o.taskBegin, o.taskEnd; {
		case at > len(begins)+len(ends):
		case at > len(begins):
			at -= len(begins) + 1
			ends[at].of.fail(recover())
			ends[at+1:].tell(w.id, &r.Run, task)
		case at == len(begins): // the failure is the task's
			r.EndTask(w, task)
		default:
			begins[at].of.fail(recover())
			begins[at+1:].tell(w.id, &r.Run, task)
			defer r.EndTask(w, task)
			err = fn(&r.ctx)
		}
	}()
	for i := range o.taskBegin {
		o.taskBegin[i].tell(w.id, &r.Run, task)
		at++
	}
	err = fn(&r.ctx)
	at++
	for i := range o.taskEnd {
		o.taskEnd[i].tell(w.id, &r.Run, task)
		at++
	}
	return err
}

// BeginTask tells the observers that w, the calling worker, is about to call the function of the task. EndTask must
// follow on the same worker, also if the function does not return, so it is best deferred. Neither fails the task.
func (r *JobRun) BeginTask(w *Worker, task *Task) {
	if o := r.ex.observers; o != nil {
		o.taskBegin.tell(w.id, &r.Run, task)
	}
}

// EndTask tells the observers that the function of the task has ended.
func (r *JobRun) EndTask(w *Worker, task *Task) {
	if o := r.ex.observers; o != nil {
		o.taskEnd.tell(w.id, &r.Run, task)
	}
}

// The tasks of a function.
const (
	rootTask = iota
	childTask
	forkTask
)

// maxSets is for how many names of functions an executor keeps the sets. Other functions have a set for each run.
const maxSets = 1000

// setOf returns the tasks of functions of that name.
func (o *observers) setOf(name string) *TaskSet {
	o.mu.Lock()
	defer o.mu.Unlock()
	set := o.sets[name]
	if set == nil {
		set = newTaskSet(name, "root", "child", "fork")
		if len(o.sets) < maxSets {
			o.sets[name] = set
		}
	}
	return set
}

func newTaskSet(job string, names ...string) *TaskSet {
	set := &TaskSet{Job: job, Tasks: make([]Task, len(names))}
	for i, name := range names {
		set.Tasks[i] = Task{set, i, name}
	}
	return set
}

// asyncTasks are those of every Async.
var asyncTasks = newTaskSet(asyncName, "")

// groupFunctions are those of every Group.
var groupFunctions = newTaskSet(groupName, "")

// execGroupTaskObserved is execGroupTask with observers.
func execGroupTaskObserved(w *Worker, it *Item) *Item {
	t := groupTaskOf(it)
	r := groupRunOf(it.Body)
	var err error
	if !r.skip(w, t) {
		err = r.callObserved(w, t)
	}
	return r.endTask(w, t, err)
}

func (r *groupRun) callObserved(w *Worker, t *groupTask) error {
	run, task := r.Run(), &groupFunctions.Tasks[0]
	run.BeginTask(w, task)
	defer run.EndTask(w, task)
	return r.call(t)
}

// observe makes the run of a function tell its tasks.
func (r *scopeRun) observe(run *JobRun) {
	r.tasks = run.ex.observers.setOf(run.job.Name()).Tasks
	root, fn := &r.tasks[rootTask], r.fn
	r.fn = func(s *Scope) error {
		run.BeginTask(s.w, root)
		defer run.EndTask(s.w, root)
		return fn(s)
	}
}

// execChildObserved is execChild with observers.
func execChildObserved(w *Worker, it *Item) *Item {
	c := childOf(it)
	f := &c.fork
	s := w.forks.beginTaken(f)
	r := s.run
	if r.Stopped() {
		c.err, c.skipped = context.Cause(r.ctx), true
	} else if err := c.callObserved(w, s); err != nil {
		c.err = err
		r.fail(f, err, s.skipped)
	}
	w.forks.endTaken(f)
	return nil
}

func (c *child) callObserved(w *Worker, s *Scope) error {
	if w.waits.nested > maxNested {
		return ErrTooDeep
	}
	r := s.run
	run, task := r.Run(), &r.tasks[childTask]
	run.BeginTask(w, task)
	defer run.EndTask(w, task)
	if c.fn != nil {
		return c.fn(r.ctx)
	}
	return c.sfn(s)
}

// execCallObserved is execCall with observers. For the worker that has forked the call it is no task.
func execCallObserved[A, R any](w *Worker, it *Item) *Item {
	if forkOf(it).owner != w {
		r := scopeRunOf(it.Body)
		run, task := r.Run(), &r.tasks[forkTask]
		run.BeginTask(w, task)
		defer run.EndTask(w, task)
	}
	return execCall[A, R](w, it)
}

// An observedCall is the Future of a future with observers.
type observedCall struct{ caller }

func (c observedCall) make(w *Worker) error {
	task := &asyncTasks.Tasks[0]
	o := w.core.observers
	o.taskBegin.tell(w.id, nil, task)
	defer o.taskEnd.tell(w.id, nil, task)
	return c.caller.make(w)
}

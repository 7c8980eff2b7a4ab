package executor

import (
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

// taskCalls holds the TaskBegin, or the TaskEnd, of each observer that has one.
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
func newObservers(cfg *settings) *observers {
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

func (o *observers) beginTask(worker int, run *Run, task *Task) { o.taskBegin.tell(worker, run, task) }

func (o *observers) endTask(worker int, run *Run, task *Task) { o.taskEnd.tell(worker, run, task) }

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

// attachTo has the kernel call the observers.
func (o *observers) attachTo(on *attachments) {
	if o == nil {
		return
	}
	on.begun.add(func(*Worker) { o.attaching.Wait() })
	on.parked.add(func(w *Worker) { o.park(w.id) })
	on.woken.add(func(w *Worker) { o.unpark(w.id) })
	on.stole = append(on.stole, func(thief, victim *Worker, n int) {
		from := -1
		if victim != nil {
			from = victim.id
		}
		o.steal(thief.id, from, n)
	})
	on.began = append(on.began, o.runBegin)
	on.over = append(on.over, o.runEnd)
	if o.relabels() {
		on.labelled.add(func(w *Worker) { o.relabel(w.id) })
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
	o.tellCounted(&o.calls.runBegin, func(of *Observer) {
		if of.RunBegin != nil {
			of.RunBegin(r)
		}
	})
}

func (o *observers) runEnd(r *Run) {
	o.tellCounted(&o.calls.runEnd, func(of *Observer) {
		if of.RunEnd != nil {
			of.RunEnd(r)
		}
	})
}

func (o *observers) steal(thief, victim, n int) {
	o.tellOn(thief, inSteal, func(of *Observer) {
		if of.Steal != nil {
			of.Steal(thief, victim, n)
		}
	})
}

func (o *observers) park(worker int) {
	o.tellOn(worker, inPark, func(of *Observer) {
		if of.Park != nil {
			of.Park(worker)
		}
	})
}

func (o *observers) unpark(worker int) {
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

// maxSets is for how many names of functions an executor keeps the sets. Other functions have a set for each run.
const maxSets = 1000

// setOf returns the set of the functions of that name, which has tasks of these names.
func (o *observers) setOf(name string, tasks ...string) *TaskSet {
	o.mu.Lock()
	defer o.mu.Unlock()
	set := o.sets[name]
	if set == nil {
		set = newTaskSet(name, tasks...)
		if len(o.sets) < maxSets {
			o.sets[name] = set
		}
	}
	return set
}

// newTaskSet returns the set of a job with tasks of these names.
func newTaskSet(job string, names ...string) *TaskSet {
	set := &TaskSet{Job: job, Tasks: make([]Task, len(names))}
	for i, name := range names {
		set.Tasks[i] = Task{set, i, name}
	}
	return set
}

package executor

import (
	"fmt"
	"log"
	"runtime/debug"
	"strings"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// observers are those of one executor, and call them. An executor without any has none.
//
// No inner loop of the executor looks for observers. The items of observed tasks have an Exec of their own, which is
// chosen where items and frames are made.
type observers struct {
	all []*attachedObserver
	of  [eventKinds]eventCalls

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

// An eventKind is a function of an Observer that gets an Event.
type eventKind uint8

const (
	onRunBegin eventKind = iota
	onRunEnd
	onTaskBegin
	onTaskEnd
	onTaskSkip
	onSteal
	onPark
	onUnpark
	onRelabel

	eventKinds // the number of values
)

// eventTable holds the name and the function of each eventKind.
var eventTable = [eventKinds]struct {
	name string
	of   func(*Observer) func(*Event)
}{
	onRunBegin:  {"RunBegin", func(o *Observer) func(*Event) { return o.RunBegin }},
	onRunEnd:    {"RunEnd", func(o *Observer) func(*Event) { return o.RunEnd }},
	onTaskBegin: {"TaskBegin", func(o *Observer) func(*Event) { return o.TaskBegin }},
	onTaskEnd:   {"TaskEnd", func(o *Observer) func(*Event) { return o.TaskEnd }},
	onTaskSkip:  {"TaskSkip", func(o *Observer) func(*Event) { return o.TaskSkip }},
	onSteal:     {"Steal", func(o *Observer) func(*Event) { return o.Steal }},
	onPark:      {"Park", func(o *Observer) func(*Event) { return o.Park }},
	onUnpark:    {"Unpark", func(o *Observer) func(*Event) { return o.Unpark }},
	onRelabel:   {"Relabel", func(o *Observer) func(*Event) { return o.Relabel }},
}

// eventCalls holds the functions of one kind, of each observer that has one, in the observers' order.
type eventCalls []eventCall

type eventCall struct {
	call func(*Event)
	by   *attachedObserver
}

// newObservers returns the observers of the Config, nil if there are none.
func newObservers(cfg *settings) *observers {
	if len(cfg.Observers) == 0 {
		return nil
	}
	o := &observers{sets: make(map[string]*TaskSet)}
	for i, observer := range cfg.Observers {
		by := &attachedObserver{Observer: *observer, executor: cfg.Name, number: i}
		o.all = append(o.all, by)
		for kind := range eventTable {
			if call := eventTable[kind].of(&by.Observer); call != nil {
				o.of[kind] = append(o.of[kind], eventCall{call, by})
			}
		}
	}
	o.attaching.Add(1)
	return o
}

// tell makes the calls in order, and contains their panics. An observer that has failed is left out.
func (all eventCalls) tell(e *Event) {
	at := 0
	defer func() {
		if at < len(all) {
			all[at].by.fail(recover())
			all[at+1:].tell(e)
		}
	}()
	for ; at < len(all); at++ {
		if c := &all[at]; c.by.failed.Load() == nil {
			c.call(e)
		}
	}
}

// tellAll calls call for each observer in order, and contains panics.
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
func (by *attachedObserver) fail(value any) {
	defer func() { _ = recover() }() // methods of value, and the writer of the log, are user code
	said := "called runtime.Goexit"
	if value != nil {
		said = (&PanicError{Value: value}).Error()
	}
	if by.failed.CompareAndSwap(nil, &said) { // of several workers one
		log.Printf("executor %q: observer %d is not called again: %s\n%s", by.executor, by.number, said, debug.Stack())
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
	tellAll(o.all, func(by *Observer) {
		if by.Attach != nil {
			by.Attach(ex)
		}
	})
}

// attachTo has the kernel call the observers.
func (o *observers) attachTo(on *attachments) {
	if o == nil {
		return
	}
	on.begun.add(func(*Worker) { o.attaching.Wait() })
	on.thrown = append(on.thrown, func(w *Worker, value any) error { return partsOf(w).observed.thrown.caught(value) })
	on.parked = append(on.parked, o.onWorker(onPark)...)
	on.woken = append(on.woken, o.onWorker(onUnpark)...)
	on.labelled = append(on.labelled, o.onWorker(onRelabel)...)
	if len(o.of[onSteal]) > 0 {
		on.stole = append(on.stole, func(thief, victim *Worker, n int) {
			from := -1
			if victim != nil {
				from = victim.id
			}
			o.tellOn(onSteal, Event{Worker: thief.id, Victim: from, Items: n})
		})
	}
	on.began = append(on.began, func(r *Run) { o.tellOf(onRunBegin, r) })
	on.over = append(on.over, func(r *Run) { o.tellOf(onRunEnd, r) })
}

// onWorker returns the calls of a kind that is told nothing but a worker: none, if no observer is.
func (o *observers) onWorker(kind eventKind) []func(*Worker) {
	if len(o.of[kind]) == 0 {
		return nil
	}
	return []func(*Worker){func(w *Worker) { o.tellOn(kind, Event{Worker: w.id}) }}
}

// detach calls Detach. No worker's thread is left, and all ends of runs are told: see JobRun.tellEnd.
func (o *observers) detach() {
	if o == nil || !o.attached {
		return
	}
	o.calls.detach.Add(1)
	defer o.calls.detach.Add(^uint32(0))
	tellAll(o.all, func(by *Observer) {
		if by.Detach != nil {
			by.Detach()
		}
	})
}

// failures describes the observers that are not called again, one a line.
func (o *observers) failures() string {
	if o == nil {
		return ""
	}
	var b strings.Builder
	for _, by := range o.all {
		if said := by.failed.Load(); said != nil {
			fmt.Fprintf(&b, "observer %d is not called again: %s\n", by.number, *said)
		}
	}
	return b.String()
}

// mayKeepRuns reports whether there are observers: they may refer to a run for longer than it is in progress.
func (o *observers) mayKeepRuns() bool { return o != nil }

// tellsTasks reports whether an observer is told of tasks.
func (o *observers) tellsTasks() bool {
	return o != nil && len(o.of[onTaskBegin])+len(o.of[onTaskEnd])+len(o.of[onTaskSkip]) > 0
}

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

// newTaskSet returns the set of a job with tasks of these names. Errors say that panics are in the job.
func newTaskSet(job string, names ...string) *TaskSet {
	set := &TaskSet{Job: job, panics: job, Tasks: make([]TaskInfo, len(names))}
	for i, name := range names {
		set.Tasks[i] = TaskInfo{set, i, name}
	}
	return set
}

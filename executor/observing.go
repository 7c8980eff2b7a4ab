package executor

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// observerCalls are the calls of observers in progress, so that a function that blocks can be found. Functions of tasks
// are left out: two stores before and after each task would cost more than the rest of the calls. The stacks show them,
// see executor.inTaskCalls.
type observerCalls struct {
	workers [MaxWorkers]xatomic.Tell32 // by worker ID: the eventKind and 1, or 0; written by the worker
	runs    [eventKinds]xatomic.Tell32 // how many of a kind for runs; they may be made on any goroutine
	detach  xatomic.Tell32
}

// tellOn tells an event of a worker on its goroutine, and notes meanwhile which.
func (o *observers) tellOn(kind eventKind, e Event) {
	at := &o.calls.workers[e.Worker]
	at.Store(uint32(kind) + 1)
	defer at.Store(0)
	o.of[kind].tell(&e)
}

// tellOf tells an event of a run, and counts it meanwhile among those in progress.
func (o *observers) tellOf(kind eventKind, r *Run) {
	ctx := r.Context() // tasks are told of by r, too
	if len(o.of[kind]) == 0 {
		return
	}
	o.calls.runs[kind].Add(1)
	defer o.calls.runs[kind].Add(^uint32(0))
	e := &Event{Worker: -1, Run: r, Context: ctx}
	if kind == onRunEnd {
		e.Err, e.Cancelled = r.err.Get(), r.wasCancelled()
	}
	o.of[kind].tell(e)
}

// unreturned lists the functions of observers that have not returned, but for those of tasks.
func (o *observers) unreturned() (all []string) {
	if o == nil {
		return nil
	}
	for worker := range o.calls.workers {
		if kind := o.calls.workers[worker].Load(); kind != 0 {
			all = append(all, fmt.Sprintf("%s on worker %d", eventTable[kind-1].name, worker))
		}
	}
	for kind := range o.calls.runs {
		if n := o.calls.runs[kind].Load(); n > 0 {
			all = append(all, fmt.Sprintf("%s (%d)", eventTable[kind].name, n))
		}
	}
	if n := o.calls.detach.Load(); n > 0 {
		all = append(all, fmt.Sprintf("Detach (%d)", n))
	}
	return all
}

// taskCallFrame is in the stacks of workers that are in a TaskBegin, TaskEnd or TaskSkip, and in no others.
const taskCallFrame = "/executor.(*observers).tellTask("

// inTaskCalls lists the workers that are in a function of an observer for tasks. It stops the process for a moment, as
// Stacks does.
func (ex *executor) inTaskCalls() (all []string) {
	if !ex.observers.tellsTasks() {
		return nil
	}
	for i, stack := range ex.stacks() {
		if strings.Contains(stack, taskCallFrame) {
			all = append(all, fmt.Sprintf("TaskBegin, TaskEnd or TaskSkip on worker %d", i))
		}
	}
	return all
}

// heldUp says what keeps the executor from closing: tasks or, as far as it can be seen, functions of observers.
func (ex *executor) heldUp(tasks string) string {
	calls := append(ex.inTaskCalls(), ex.observers.unreturned()...)
	if len(calls) == 0 {
		return tasks
	}
	return tasks + ", or functions of observers do not return: " + strings.Join(calls, ", ")
}

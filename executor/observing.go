package executor

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// observing is the function of an observer that a worker is in, so that a function that blocks can be found. Functions
// of tasks are left out: two stores before and after each task would cost more than the rest of the calls. The stacks
// show them, see executor.inTaskCalls.
type observing uint32

const (
	inSteal observing = 1 + iota
	inPark
	inUnpark
	inRelabel
)

func (o observing) String() string { return [...]string{"Steal", "Park", "Unpark", "Relabel"}[o-1] }

// observerCalls are the calls of observers in progress, but for those of tasks.
type observerCalls struct {
	workers                  [MaxWorkers]xatomic.Tell32 // by worker ID: an observing, or 0; written by the worker
	runBegin, runEnd, detach xatomic.Tell32             // how many; they may be made on any goroutine
}

// tellOn makes a call on the worker's goroutine, and notes meanwhile which.
func (o *observers) tellOn(worker int, in observing, call func(*Observer)) {
	at := &o.calls.workers[worker]
	at.Store(uint32(in))
	defer at.Store(0)
	o.tell(call)
}

// tellCounted makes a call, and counts it meanwhile among those in progress.
func (o *observers) tellCounted(calls *xatomic.Tell32, call func(*Observer)) {
	calls.Add(1)
	defer calls.Add(^uint32(0))
	o.tell(call)
}

// unreturned lists the functions of observers that have not returned, but for those of tasks.
func (o *observers) unreturned() (all []string) {
	if o == nil {
		return nil
	}
	for worker := range o.calls.workers {
		if in := observing(o.calls.workers[worker].Load()); in != 0 {
			all = append(all, fmt.Sprintf("%v on worker %d", in, worker))
		}
	}
	for _, c := range []struct {
		name string
		of   *xatomic.Tell32
	}{{"RunBegin", &o.calls.runBegin}, {"RunEnd", &o.calls.runEnd}, {"Detach", &o.calls.detach}} {
		if n := c.of.Load(); n > 0 {
			all = append(all, fmt.Sprintf("%s (%d)", c.name, n))
		}
	}
	return all
}

// taskCallFrames are in the stacks of workers that are in a TaskBegin or TaskEnd, and in no others.
var taskCallFrames = []string{"/executor.taskCalls.tell(", "/executor.(*taskCall).tell("}

// inTaskCalls lists the workers that are in a TaskBegin or TaskEnd. It stops the process for a moment, as Stacks does.
func (ex *executor) inTaskCalls() (all []string) {
	if !ex.observers.tellsTasks() {
		return nil
	}
	for i, stack := range ex.stacks() {
		for _, frame := range taskCallFrames {
			if strings.Contains(stack, frame) {
				all = append(all, fmt.Sprintf("TaskBegin or TaskEnd on worker %d", i))
				break
			}
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

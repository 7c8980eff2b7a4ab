package executor

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// observing is the function of an observer that a worker is in, so that a function that blocks can be found. Functions
// of tasks are left out: two stores before and after each task would cost more than the rest of the calls. The stacks
// show them, see Executor.inTaskCalls.
type observing uint32

const (
	inSteal observing = 1 + iota
	inPark
	inUnpark
	inRelabel
)

func (o observing) String() string { return [...]string{"Steal", "Park", "Unpark", "Relabel"}[o-1] }

// tellOn is tell on the worker's goroutine.
func (o *watch) tellOn(w *Worker, in observing, call func(*Observer)) {
	w.observing.Store(uint32(in))
	defer w.observing.Store(0)
	o.tell(call)
}

// otherCalls are the numbers of calls in progress that may be made on goroutines of the program.
type otherCalls struct{ runBegin, runEnd, detach xatomic.Tell32 }

// tellCounted is tell with a count of the calls in progress.
func (o *watch) tellCounted(calls *xatomic.Tell32, call func(*Observer)) {
	calls.Add(1)
	defer calls.Add(^uint32(0))
	o.tell(call)
}

// calls lists the functions of observers that have not returned, but for those of tasks.
func (ex *Executor) calls() (all []string) {
	if ex.watch == nil {
		return nil
	}
	for _, w := range ex.workers() {
		if in := observing(w.observing.Load()); in != 0 {
			all = append(all, fmt.Sprintf("%v on worker %d", in, w.id))
		}
	}
	others := &ex.watch.others
	for _, c := range []struct {
		name  string
		calls *xatomic.Tell32
	}{{"RunBegin", &others.runBegin}, {"RunEnd", &others.runEnd}, {"Detach", &others.detach}} {
		if n := c.calls.Load(); n > 0 {
			all = append(all, fmt.Sprintf("%s (%d)", c.name, n))
		}
	}
	return all
}

// taskCallFrames are in the stacks of workers that are in a TaskBegin or TaskEnd, and in no others.
var taskCallFrames = []string{"/executor.taskCalls.tell(", "/executor.(*taskCall).tell("}

// inTaskCalls lists the workers that are in a TaskBegin or TaskEnd. It stops the process for a moment, as Stacks does.
func (ex *Executor) inTaskCalls() (all []string) {
	if !ex.watch.tellsTasks() {
		return nil
	}
	for i, stack := range ex.Stacks() {
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
func (ex *Executor) heldUp(tasks string) string {
	calls := append(ex.inTaskCalls(), ex.calls()...)
	if len(calls) == 0 {
		return tasks
	}
	return tasks + ", or functions of observers do not return: " + strings.Join(calls, ", ")
}

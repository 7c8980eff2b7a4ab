package graph

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/internal/errfmt"
)

// A TaskError is the failure of one task. The failure of a task of a module or a subflow is wrapped in a TaskError of
// the module's or the subflow's own task.
type TaskError struct {
	// Run is the name of the run: Graph, or another by [executor.With]. In a job of [executor.Times] or
	// [executor.Until] it is Graph. It is "" in the failure of a task of a module or a subflow: the outermost TaskError
	// tells the run.
	Run string

	Graph string // the graph's name
	Task  string // as Task.Name returns it
	Err   error  // the error that the task returned, an *executor.PanicError, or executor.ErrGoexit
}

// mostTold is the largest number of levels of a failure, or of tasks of a cycle, that a message names. A longer message
// leaves out the middle.
const mostTold = 12

func (e *TaskError) Error() string { return e.say("%v") }

// Format implements [fmt.Formatter]: %+v adds the details of Err, such as the stack of a panic.
func (e *TaskError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }

// say formats nested failures, as those of subflows are, in one loop. With recursion the innermost text would be copied
// once for each level.
func (e *TaskError) say(verb string) string {
	levels := []*TaskError{e}
	for {
		inner, ok := e.Err.(*TaskError)
		if !ok {
			break
		}
		e = inner
		levels = append(levels, e)
	}
	var b strings.Builder
	for i := 0; i < len(levels); i++ {
		if more := len(levels) - mostTold; more > 0 && i == mostTold/2 {
			fmt.Fprintf(&b, "… %d more …: ", more)
			i += more
		}
		l := levels[i]
		if l.Run != l.Graph && l.Run != "" {
			fmt.Fprintf(&b, "run of %q: ", l.Run)
		}
		fmt.Fprintf(&b, "graph %q: task %s: ", l.Graph, l.Task)
	}
	fmt.Fprintf(&b, verb, e.Err)
	return b.String()
}

// newTaskError returns the failure of task i of the plan. For a task of a module's copy it is wrapped in a failure of
// the module's task, as if the module were run as a whole.
func (g *Graph) newTaskError(i uint32, err error) *TaskError {
	for {
		owner, own := g.origin(i)
		failed := &TaskError{Graph: owner.name, Task: owner.ownName(own), Err: err}
		if owner == g {
			return failed
		}
		i, err = g.moduleOf(i), failed
	}
}

// Unwrap returns Err.
func (e *TaskError) Unwrap() error { return e.Err }

// A CycleError says that a graph cannot run because some tasks would wait for each other.
type CycleError struct {
	Graph string   // the name given to New
	Path  []string // tasks of one cycle, each preceding the next and the last the first
}

func (g *Graph) newCycleError(path []uint32) *CycleError {
	e := &CycleError{Graph: g.name}
	for _, t := range path {
		e.Path = append(e.Path, g.taskName(t))
	}
	return e
}

func (e *CycleError) Error() string {
	if len(e.Path) == 0 { // not made by Validate
		return fmt.Sprintf("graph %q: cycle", e.Graph)
	}
	path := e.Path
	if more := len(path) - mostTold; more > 0 {
		path = append(append([]string{}, path[:mostTold/2]...), fmt.Sprintf("… %d more …", more))
		path = append(path, e.Path[len(e.Path)-mostTold/2:]...)
	}
	return fmt.Sprintf("graph %q: cycle: %s → %s: remove one of these edges",
		e.Graph, strings.Join(path, " → "), e.Path[0])
}

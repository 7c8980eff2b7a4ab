package graph

import (
	"fmt"
	"strings"
)

// A TaskError is the failure of one task.
type TaskError struct {
	Graph string // the graph's name
	Task  string // the task's name, or its number as in #3
	Err   error  // what the task returned, a *executor.PanicError, or executor.ErrGoexit
}

func (e *TaskError) Error() string {
	return fmt.Sprintf("graph %q: task %s: %v", e.Graph, e.Task, e.Err)
}

// Unwrap returns Err.
func (e *TaskError) Unwrap() error { return e.Err }

// A CycleError says that a graph cannot run because some tasks would wait for each other.
type CycleError struct {
	Graph string
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
	const most = 12 // a longer path is cut in the middle, in the message only
	path := e.Path
	if len(path) > most {
		path = append(append([]string{}, path[:most/2]...), fmt.Sprintf("… %d more …", len(path)-most))
		path = append(path, e.Path[len(e.Path)-most/2:]...)
	}
	return fmt.Sprintf("graph %q: cycle: %s → %s: remove one of these edges", e.Graph, strings.Join(path, " → "), e.Path[0])
}

package graph

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/plan"
)

// A Priority decides which of the ready tasks begin first. Set it with [Task.Priority].
type Priority = executor.Priority

const (
	Low    = executor.Low    // after all others
	Normal = executor.Normal // the default
	High   = executor.High   // before all others
)

// Priority sets the task's priority. A worker begins, of the ready tasks of a run with the highest priority, the one
// that became ready first, whichever worker made it ready. A task that has begun is not interrupted.
//
// No task waits for ever. Of any sixteen tasks in a row that a run begins, one is the oldest ready task of Normal, and
// one the oldest of Low, if there is one. So if k other tasks of its priority are ready when a task becomes ready, it
// is among the next 16·(k+1) tasks to begin. A task that does not get the permits of a [Semaphore] has used its turn
// and is no longer ready. Waiting tasks are offered permits in the order in which they came, and a task that is ready
// again is behind the others of its priority.
//
// The priority of a module's task applies to the beginning and the end of the module; the tasks of the module have
// their own. Tasks of different runs are not compared. Subflows, and modules with conditions or a limit, are runs of
// their own.
//
// A graph whose tasks all have the same priority pays nothing for it. With several priorities a task costs some tens of
// nanoseconds more, and workers share the lock of a queue. Priority panics if p is none of the three.
func (t Task) Priority(p Priority) Task {
	g := t.owner("Priority")
	if p < Low || p > High {
		panic(fmt.Sprintf("graph %q: %v of task %s: there are Low, Normal and High", g.name, p, g.taskName(t.index)))
	}
	g.change()
	if g.priorities == nil {
		g.priorities = make(map[uint32]Priority)
	}
	g.priorities[t.index] = p
	return t
}

// levelsOf returns the priorities of the plan's tasks, or nil if they are all the same.
func (l *layout) levelsOf(p *plan.Plan) []Priority {
	if len(l.priorities) == 0 {
		return nil
	}
	levels := make([]Priority, p.Len())
	for i, p := range l.priorities {
		levels[i] = p
	}
	first := slices.IndexFunc(p.Funcs, func(fn plan.Func) bool { return fn != nil })
	for i, level := range levels {
		if p.Funcs[i] != nil && level != levels[first] {
			return levels
		}
	}
	return nil
}

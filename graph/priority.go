package graph

import (
	"fmt"
	"slices"
)

// A Priority says which of the tasks that are ready begin first. Set it with [Task.Priority].
type Priority int8

const (
	Low    Priority = iota - 1 // what can wait: behind all others
	Normal                     // what tasks have that were given no other
	High                       // what others wait for: before all others
)

func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	case Normal:
		return "normal"
	case High:
		return "high"
	}
	return fmt.Sprintf("Priority(%d)", int8(p))
}

// Priority sets the task's priority. Of the tasks of a run that are ready a worker begins one of the highest priority, of those
// the one that became ready first, whichever worker made it so. A task that has begun is not interrupted.
//
// Nothing is put off for ever: of any sixteen tasks in a row that a run begins one is the oldest of Normal and one the oldest
// of Low, if any such is ready. A task that becomes ready when k others of its priority are is the 16·(k+1)th to begin after
// that, or an earlier one. A task that does not find the permits of a [Semaphore] has had its turn and is no longer ready;
// permits are offered to those that wait in the order in which they came, and who is asked again is behind the others of its
// priority.
//
// A module's task begins and ends the module by its priority, in between those of the module have their own. Tasks of other
// runs are not compared, also not of those within this one: subflows, and modules with conditions or a limit.
//
// A graph whose tasks all have the same priority, whichever, runs as if there were none. With several a task costs some tens
// of nanoseconds more, and workers share the lock of a queue. It panics if p is none of the three.
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
func (l *layout) levelsOf(tasks int) []Priority {
	if len(l.priorities) == 0 {
		return nil
	}
	levels := make([]Priority, tasks)
	for i, p := range l.priorities {
		levels[i] = p
	}
	if !slices.ContainsFunc(levels, func(p Priority) bool { return p != levels[0] }) {
		return nil
	}
	return levels
}

package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// Condition adds a task that chooses what comes next: fn returns the number of one of the tasks that this one precedes, from
// 0 in the order in which they were named, and that one runs at once, whatever else it comes after. A number that none has
// ends this way through the graph. So loops are made:
//
//	body, again := g.Task(…), g.Condition(func(context.Context) (int, error) { … })
//	begin.Precede(body)
//	body.Precede(again)
//	again.Precede(body, end) // 0: once more; 1: go on
//
// The run ends when nothing is left that could run. A task that a condition may choose may come after one other task besides,
// as the body of a loop does after what begins it; not after several, which it would not wait for.
//
// A task that comes after the branches of a condition would wait for all of them, though one is chosen. What is to
// follow whichever branch was taken is therefore chosen too, by a condition at the end of each:
//
//	which.Precede(yes, no)  // 0 or 1
//	yes.Precede(save)       // conditions, which return 0
//	no.Precede(save)
//
// In a graph with conditions tasks may end several times in a run. A task that comes after n others then runs each time
// that n ends of these have been counted. The count does not tell the others apart, nor rounds of a loop. So a join
// waits for all of its predecessors, and runs once a round, if each of them ends once between two rounds; for that the
// loop is closed behind the join: whatever a round begins has to end before the condition that begins the next, as in
// the example.
//
// If a task is chosen while it or what comes after it is still in progress, rounds overlap. What holds then: each
// choice of a task runs it once; it may run several times at once, and its function has to be made for that; everything
// that the counted ends of its predecessors did happens before a task runs; and no end is lost, so that over the run a
// task after n others runs once for each n ends. What does not hold: that a task which joins others runs after each of
// them, as one may have ended twice. One that takes a [Value] takes what was made last, which may be that of another
// round, or the zero value if nothing was made yet. Rounds that are to overlap without mixing are each a run of their
// own: a [Graph.Subflow], or a [Graph.Module] of a graph with conditions. A module without is copied, and the joins in
// it are as any others. It panics if fn is nil.
func (g *Graph) Condition(fn func(context.Context) (int, error)) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(oneOf(fn))
}

// MultiCondition is [Graph.Condition] for any number of tasks, which then run at the same time: fn returns their
// numbers. What is named twice is chosen once. A task after several of those chosen waits for all of its predecessors,
// chosen or not. A loop that chooses several goes on when all have come together in one task; with a condition behind
// each of them, rounds overlap.
func (g *Graph) MultiCondition(fn func(context.Context) ([]int, error)) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(someOf(fn))
}

// oneOf chooses one of the successors, someOf any number of them. They are run by execDynamic.
type (
	oneOf  func(context.Context) (int, error)
	someOf func(context.Context) ([]int, error)
)

func (oneOf) run(*executor.Worker, *runState, uint32) error { panic("graph: a choice in a static run") }
func (someOf) run(*executor.Worker, *runState, uint32) error {
	panic("graph: a choice in a static run")
}

func isChoice(s special) bool {
	switch s.(type) {
	case oneOf, someOf:
		return true
	}
	return false
}

// choosers says which of the plan's n tasks choose, or is nil if none does. Those of modules are not copied.
func (g *Graph) choosers(n int) []bool {
	if !g.chooses {
		return nil
	}
	all := make([]bool, n)
	for i, s := range g.special {
		all[i] = isChoice(s)
	}
	return all
}

// checkChoices reports what would run too early or never.
func (g *Graph) checkChoices() error {
	p := g.plan
	reached := make([]bool, p.Len())
	front := slices.Clone(p.Sources)
	for len(front) > 0 {
		i := front[len(front)-1]
		front = front[:len(front)-1]
		if !reached[i] {
			reached[i] = true
			front = append(front, p.Successors(i)...)
		}
	}
	if i := slices.Index(reached, false); i >= 0 {
		return fmt.Errorf("graph %q: task %s can never run: it is in a loop that nothing begins, put a task before it", g.name, g.taskName(uint32(i)))
	}
	for i := range uint32(p.Len()) {
		if !p.Chooses[i] {
			continue
		}
		for _, s := range p.Successors(i) {
			if p.Join[s] > 1 {
				return fmt.Errorf("graph %q: task %s comes after %d tasks and may be chosen by %s, which would not wait for them: "+
					"put a task between", g.name, g.taskName(s), p.Join[s], g.taskName(i))
			}
		}
	}
	return nil
}

package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// Condition adds a task that chooses the task to run next: fn returns the index of one of its successors, from 0 in the
// order in which they were added. The chosen successor becomes ready at once, whatever its other predecessors. With an
// index that no successor has, no successor runs. A loop:
//
//	body, again := g.Task(…), g.Condition(func(context.Context) (int, error) { … })
//	begin.Precede(body)
//	body.Precede(again)
//	again.Precede(body, end) // 0: once more; 1: go on
//
// The run ends when no task is left that could run. A task that a condition may choose cannot wait for other tasks. So
// it may have at most one other predecessor, as the body of a loop has the task that begins the loop.
//
// A task with the branches of a condition as predecessors would wait for all of them, though only one is chosen:
// [Graph.Validate] says so. A task that is to run after any branch is therefore chosen too, by a condition at the end
// of each branch:
//
//	which.Precede(yes, no)  // 0 or 1
//	yes.Precede(save)       // conditions, which return 0
//	no.Precede(save)
//
// In a graph with conditions a task may end several times in a run. A task with n predecessors runs each time that n
// ends of predecessors have been counted. The count distinguishes neither the predecessors nor the rounds of a loop. So
// a task with several predecessors runs once a round, after all of them, only if each of them ends once a round. To
// ensure that, all tasks of a round must end before the condition that begins the next round, as in the example.
//
// Rounds overlap if a task is chosen while it or one of its successors is still in progress. Then this holds:
//
//   - Each choice of a task runs it once. It may run several times at once, and its function must allow that.
//   - Everything that the counted ends of its predecessors did happens before a task runs.
//   - No end is lost: over the run a task with n predecessors runs once for each n ends.
//
// This does not hold:
//
//   - A task need not run after each of its predecessors: one of them may have ended twice.
//   - A task that takes a [Value] takes the one that was made last. It may be that of another round, or the zero value
//     if none was made yet.
//
// To overlap rounds without mixing them, make each round a run of its own: a [Graph.Subflow], or a [Graph.Module] of a
// graph with conditions. A module of a graph without conditions is copied into the graph, so its tasks mix too.
// Condition panics if fn is nil.
func (g *Graph) Condition(fn func(context.Context) (int, error)) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(oneOf(fn))
}

// MultiCondition is [Graph.Condition] for any number of tasks, which may run at the same time: fn returns their
// indices. A task whose index is returned twice is chosen once. A task after several chosen tasks waits for all of its
// predecessors, chosen or not. In a loop, join the chosen tasks in one task before the condition that begins the next
// round; with a condition after each of them, rounds overlap.
func (g *Graph) MultiCondition(fn func(context.Context) ([]int, error)) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(someOf(fn))
}

// oneOf chooses one of the successors, someOf any number of them. execDynamic runs both.
type (
	oneOf  func(context.Context) (int, error)
	someOf func(context.Context) ([]int, error)
)

func (oneOf) run(context.Context, *executor.Worker, *runState, uint32) error {
	panic("graph: a choice in a static run")
}
func (someOf) run(context.Context, *executor.Worker, *runState, uint32) error {
	panic("graph: a choice in a static run")
}

func isChoice(s special) bool {
	switch s.(type) {
	case oneOf, someOf:
		return true
	}
	return false
}

// choosers returns, for each of the plan's n tasks, whether it chooses, or nil if none does. A module whose tasks
// choose is not copied into the plan.
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

// checkChoices returns an error if a task could never run, or if a condition would start a task too early.
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
	for i, fn := range p.Funcs {
		reached[i] = reached[i] || fn == nil
	}
	if i := slices.Index(reached, false); i >= 0 {
		return fmt.Errorf("graph %q: task %s can never run: it is in a loop that nothing begins, put a task before it",
			g.name, g.taskName(uint32(i)))
	}
	for i := range uint32(p.Len()) {
		if !p.Chooses[i] {
			continue
		}
		for _, s := range p.Successors(i) {
			if p.Join[s] > 1 {
				return fmt.Errorf("graph %q: task %s comes after %d tasks and may be chosen by %s, "+
					"which would not wait for them: put a task between",
					g.name, g.taskName(s), p.Join[s], g.taskName(i))
			}
		}
	}
	return nil
}

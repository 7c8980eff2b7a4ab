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
// as the body of a loop does after what begins it; not after several, which it would not wait for. A task runs at most once
// at a time only if the program never chooses it while it runs. It panics if fn is nil.
func (g *Graph) Condition(fn func(context.Context) (int, error)) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(oneOf(fn))
}

// MultiCondition is [Graph.Condition] for any number of tasks, which then run at the same time: fn returns their numbers.
// What is named twice is chosen once.
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

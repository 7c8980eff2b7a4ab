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
	return g.addSpecial(choice(func(ctx context.Context) ([]int, error) {
		n, err := fn(ctx)
		return []int{n}, err
	}))
}

// MultiCondition is [Graph.Condition] for any number of tasks, which then run at the same time: fn returns their numbers.
// What is named twice is chosen once.
func (g *Graph) MultiCondition(fn func(context.Context) ([]int, error)) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(choice(fn))
}

// A choice chooses among successors.
type choice func(context.Context) ([]int, error)

// run is for a graph that is not dynamic, of which there is none with a choice.
func (choice) run(*executor.Worker, *runState, uint32) error {
	panic("graph: a choice in a static run")
}

// choosers says which tasks of the plan choose, or is nil if none does. Those of modules are not copied.
func (g *Graph) choosers() []bool {
	var all []bool
	for i, s := range g.special {
		if _, ok := s.(choice); ok {
			if all == nil {
				all = make([]bool, g.planned())
			}
			all[i] = true
		}
	}
	return all
}

// planned is how many tasks the plan is to have.
func (g *Graph) planned() int {
	n := len(g.funcs)
	for _, c := range g.copies {
		n += c.tasks
	}
	return n
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

// execDynamic runs a task of a graph with choices. What is left is then not known before: runState.left counts the tasks
// that are ready or run. A task that makes one other ready, and goes on with that, changes nothing; for more they are
// counted before others can run them.
func execDynamic(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	if join := r.plan.Join[i]; join > 1 {
		t.join.Arm(join) // see execJoin
	}
	l := &r.locals[w.ID()]
	if r.Stopped() {
		l.done++
		return nil
	}
	var chosen []int
	var err error
	switch s := r.special[i].(type) {
	case nil:
		err = t.fn(r.ctx.Get())
	case choice:
		chosen, err = s(r.ctx.Get())
	default:
		err = s.run(w, r, i)
	}
	if err != nil {
		r.fail(t, err)
		l.done++
		return nil
	}
	var next *record
	ready := func(s *record) {
		if next != nil {
			r.left.Add(1)
			w.Push(&next.Item)
		}
		next = s
	}
	succ := r.plan.Successors(i)
	if r.plan.Chooses[i] {
		var once []uint32 // an item is in one place at a time, however often its task is named
		for _, c := range chosen {
			if 0 <= c && c < len(succ) && !slices.Contains(once, succ[c]) {
				once = append(once, succ[c])
				ready(&r.records[succ[c]])
			}
		}
	} else {
		for _, j := range succ {
			if s := &r.records[j]; s.join.Last() || s.join.Done(1) {
				ready(s)
			}
		}
	}
	if next == nil {
		l.done++
		return nil
	}
	return &next.Item
}

// execDynamicRoot makes the sources ready.
func execDynamicRoot(w *executor.Worker, it *executor.Item) *executor.Item {
	w.Uncount()
	r := stateOf(it.Body)
	last := len(r.plan.Sources) - 1
	for _, i := range r.plan.Sources[:last] {
		r.left.Add(1)
		w.Push(&r.records[i].Item)
	}
	return &r.records[r.plan.Sources[last]].Item
}

// rearm makes the join counters what they were: a run with choices leaves some half counted.
func (r *runState) rearm() {
	for i, join := range r.plan.Join {
		if join > 1 {
			r.records[i].join.Arm(join)
		}
	}
}

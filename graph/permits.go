package graph

import (
	"fmt"
	"slices"
)

// A balance is what the tasks of a graph do with the permits of a semaphore.
type balance struct {
	*Semaphore
	acquired, released int    // by all tasks together
	acquires           uint32 // the last of the tasks that acquire permits
	releases           uint32 // the first of the tasks that release permits
}

// maxPermitSteps bounds the time that checkPermits takes for the paths through a graph: a step takes some nanoseconds.
// The number is arbitrary.
const maxPermitSteps = 1 << 26

// checkPermits returns an error if a task would release permits that no task acquires, or if it is certain that a task
// would wait for ever for permits that the run itself has.
func (g *Graph) checkPermits() error {
	all := g.balances()
	p := g.plan
	for _, b := range all {
		if b.released > 0 && b.acquired == 0 {
			return fmt.Errorf("graph %q: task %s releases a permit of a semaphore that no task acquires",
				g.name, g.taskName(b.releases))
		}
		if p.Chooses != nil {
			continue // it is not known how often a task runs
		}
		if b.released > b.acquired {
			return fmt.Errorf("graph %q: its tasks release %d permits of a semaphore and acquire only %d: "+
				"task %s is one of them", g.name, b.released, b.acquired, g.taskName(b.releases))
		}
	}
	if p.Chooses != nil || len(all)*(p.Len()+p.Edges()) > maxPermitSteps {
		return nil
	}
	var order []uint32
	for _, b := range all {
		if order == nil {
			order = g.order()
		}
		if err := g.checkPaths(b, order); err != nil {
			return err
		}
	}
	return nil
}

// balances returns the balances of the semaphores of which tasks acquire or release permits, by the first of the tasks.
func (g *Graph) balances() []*balance {
	across := false
	for _, limits := range g.layout.limits {
		across = across || isAcross(limits)
	}
	if !across {
		return nil
	}
	tasks := make([]uint32, 0, len(g.layout.limits))
	for i := range g.layout.limits {
		tasks = append(tasks, i)
	}
	slices.Sort(tasks)
	of := make(map[*Semaphore]*balance)
	var all []*balance
	for _, i := range tasks {
		for _, l := range g.layout.limits[i] {
			b := of[l.Semaphore]
			if b == nil {
				b = &balance{Semaphore: l.Semaphore}
				of[l.Semaphore] = b
				all = append(all, b)
			}
			if b.released == 0 && l.released() > 0 {
				b.releases = i
			}
			if l.acquired() > 0 {
				b.acquires = i
			}
			b.acquired += l.acquired()
			b.released += l.released()
		}
	}
	return slices.DeleteFunc(all, func(b *balance) bool { return b.acquired+b.released == 0 })
}

// order returns the tasks, each after its predecessors. There is no cycle, and no task chooses.
func (g *Graph) order() []uint32 {
	p := g.plan
	waits := slices.Clone(p.Join)
	order := append(make([]uint32, 0, p.Len()), p.Sources...)
	for next := 0; next < len(order); next++ {
		for _, s := range p.Successors(order[next]) {
			if waits[s]--; waits[s] == 0 {
				order = append(order, s)
			}
		}
	}
	return order
}

// checkPaths returns an error if there is a task that needs permits which are not free whenever it could begin. When it
// begins, the tasks on any path to it have acquired what they acquire. At most the tasks that do not come after it have
// released what they release, which is at most all but what the tasks on any path from it release.
func (g *Graph) checkPaths(b *balance, order []uint32) error {
	p := g.plan
	uses := func(i uint32) limit {
		for _, l := range g.layout.limits[i] {
			if l.Semaphore == b.Semaphore {
				return l
			}
		}
		return limit{}
	}
	before := make([]int, p.Len()) // the most permits acquired on a path to the task, its own not counted
	after := make([]int, p.Len())  // the most permits released on a path that begins with the task
	for _, i := range order {
		with := before[i] + uses(i).acquired()
		for _, s := range p.Successors(i) {
			before[s] = max(before[s], with)
		}
	}
	for _, i := range slices.Backward(order) {
		for _, s := range p.Successors(i) {
			after[i] = max(after[i], after[s])
		}
		after[i] += uses(i).released()
	}
	stuck := func(i uint32) bool {
		l := uses(i)
		return l.need > 0 && before[i]-(b.released-after[i])+l.need > b.permits
	}
	if at := slices.IndexFunc(order, stuck); at >= 0 {
		i := order[at]
		return fmt.Errorf("graph %q: task %s can never run: it needs %d permits of a semaphore that has %d, "+
			"and tasks before it keep %d: release some of them in a task before it", g.name, g.taskName(i),
			uses(i).need, b.permits, max(before[i]-(b.released-after[i]), 0))
	}
	if kept := b.acquired - b.released; kept > b.permits {
		return fmt.Errorf("graph %q: its tasks acquire %d permits more of a semaphore than they release, "+
			"and it has %d: one of them, such as %s, would wait for ever", g.name, kept, b.permits, g.taskName(b.acquires))
	}
	return nil
}

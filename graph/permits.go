package graph

import (
	"fmt"
	"slices"
)

// A balance is what the tasks of a graph do with the permits of a semaphore.
type balance struct {
	*Semaphore
	acquired, released int    // by all tasks together
	lent               int    // the most that a task takes for itself, and gives back at its own end
	acquires           uint32 // the last of the tasks that acquire permits
	releases           uint32 // the first of the tasks that release permits
	users              []user // in the order of the tasks' numbers
}

// A user is a task with a limit by the semaphore of a balance.
type user struct {
	task uint32
	limit
}

// suffices reports whether the semaphore has enough permits for all tasks of the graph, in whatever order they run.
func (b *balance) suffices() bool { return b.acquired+b.lent <= b.permits }

// maxPermitSteps bounds the time that checkPermits takes for the paths through a graph: a step, which is a task or an
// edge, takes some nanoseconds. The number is arbitrary; Validate says it.
const maxPermitSteps = 1 << 25

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
	all = slices.DeleteFunc(all, (*balance).suffices)
	if p.Chooses != nil || len(all) == 0 {
		return nil
	}
	paths := newPermitPaths(g)
	for _, b := range all {
		if err := paths.check(b); err != nil {
			return err
		}
		if paths.steps > maxPermitSteps {
			return nil
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
			b.lent = max(b.lent, min(l.need, l.back))
			b.users = append(b.users, user{i, l})
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

// permitPaths looks at the paths through a graph, for one semaphore after another.
type permitPaths struct {
	g     *Graph
	order []uint32 // the tasks, each after its predecessors
	place []uint32 // of each task in order
	steps int      // tasks and edges looked at so far

	// Of each task. All are 0 between two checks.
	uses   []limit // by the semaphore
	before []int   // the most permits acquired on a path to the task, its own not counted
	after  []int   // the most permits released on a path that begins with the task
}

func newPermitPaths(g *Graph) *permitPaths {
	n := g.plan.Len()
	p := &permitPaths{
		g: g, order: g.order(), place: make([]uint32, n),
		uses: make([]limit, n), before: make([]int, n), after: make([]int, n),
	}
	for at, i := range p.order {
		p.place[i] = uint32(at)
	}
	return p
}

// check returns an error if there is a task that needs permits which are not free whenever it could begin. When it
// begins, the tasks on any path to it have acquired what they acquire. At most the tasks that do not come after it have
// released what they release, which is at most all but what the tasks on any path from it release.
//
// Paths matter between the first and the last user of the semaphore only.
func (p *permitPaths) check(b *balance) error {
	first, last := p.place[b.users[0].task], uint32(0)
	for _, u := range b.users {
		first, last = min(first, p.place[u.task]), max(last, p.place[u.task])
		p.uses[u.task] = u.limit
	}
	part := p.order[first : last+1]
	defer p.clear(part)
	plan := p.g.plan
	for _, i := range part {
		with := p.before[i] + p.uses[i].acquired()
		successors := plan.Successors(i)
		for _, s := range successors {
			p.before[s] = max(p.before[s], with)
		}
		p.steps += 1 + len(successors)
	}
	for _, i := range slices.Backward(part) {
		for _, s := range plan.Successors(i) {
			p.after[i] = max(p.after[i], p.after[s]) // which is 0 behind the part
		}
		p.after[i] += p.uses[i].released()
	}
	g := p.g
	for _, i := range part {
		kept := p.before[i] - (b.released - p.after[i])
		if need := p.uses[i].need; need > 0 && kept+need > b.permits {
			return fmt.Errorf("graph %q: task %s can never run: it needs %d permits of a semaphore that has %d, "+
				"and tasks before it keep %d: release some of them in a task before it", g.name, g.taskName(i),
				need, b.permits, max(kept, 0))
		}
	}
	if kept := b.acquired - b.released; kept > b.permits {
		return fmt.Errorf("graph %q: its tasks acquire %d permits more of a semaphore than they release, "+
			"and it has %d: one of them, such as %s, would wait for ever", g.name, kept, b.permits, g.taskName(b.acquires))
	}
	return nil
}

// clear is the end of a check of part of the order.
func (p *permitPaths) clear(part []uint32) {
	for _, i := range part {
		p.uses[i], p.before[i], p.after[i] = limit{}, 0, 0
		for _, s := range p.g.plan.Successors(i) {
			p.before[s] = 0 // also behind the part
		}
	}
}

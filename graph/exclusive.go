package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/internal/plan"
)

// checkJoins returns an error if a task waits for tasks of which a condition chooses only one: it would never run, and
// nothing else would say so.
//
// It looks at tasks that end at most once in a run. Of a task that ends several times, because of a loop or because
// several conditions choose it, all branches may be taken in the end. Not every task that never runs is found: a task
// with several predecessors is taken to be in the branches of one of them only, so that the check takes O(n log n).
func (g *Graph) checkJoins() error {
	choosesOne := func(i uint32) bool {
		_, one := g.layout.special.of(i).(oneOf)
		return one
	}
	if !slices.ContainsFunc(g.layout.special, func(s special) bool { _, one := s.(oneOf); return one }) {
		return nil
	}
	b := newBranches(g.plan, choosesOne)
	for _, i := range b.order {
		if c, found := b.excluding(b.preds[i]); found {
			return fmt.Errorf("graph %q: task %s can never run: it comes after tasks of which condition %s "+
				"chooses only one: end each of them with a condition that chooses task %[2]s",
				g.name, g.taskName(i), g.taskName(c))
		}
	}
	return nil
}

// branches are those of the conditions that choose one task and end at most once. A branch is a choice of such a
// condition. The branches are a tree: a condition that is in a branch runs only if that branch was chosen.
type branches struct {
	order []uint32            // the tasks that end at most once, each after its predecessors
	preds map[uint32][]uint32 // of the tasks in order that have several
	in    []int32             // by task in order: the innermost branch that it is in
	all   []branch            // each after the branch that it is in; the first is no branch, but the tree's root
}

type branch struct {
	condition uint32
	in        int32 // the branch that the condition is in
	depth     int32
	jump      int32 // a branch further out, such that every depth is reached in O(log n) steps
	first     int32 // its place in the preorder of the tree
}

const root = 0

func newBranches(p *plan.Plan, choosesOne func(uint32) bool) *branches {
	n := p.Len()
	b := &branches{preds: make(map[uint32][]uint32), in: make([]int32, n), all: make([]branch, 1)}
	waits := make([]uint32, n)  // edges from tasks that are not in order yet
	chosen := make([]uint32, n) // conditions in order that may choose the task
	last := make([]uint32, n)   // 1 + the last of these
	for i := range uint32(n) {
		for _, s := range p.Successors(i) {
			waits[s]++
		}
	}
	b.order = slices.Clone(p.Sources)
	for next := 0; next < len(b.order); next++ {
		i := b.order[next]
		one := choosesOne(i)
		for _, s := range p.Successors(i) {
			waits[s]--
			again := last[s] == i+1 // a task that has several numbers is in one branch all the same
			in := b.in[i]
			if one && !again {
				in = b.add(i)
			}
			if b.all[in].depth > b.all[b.in[s]].depth {
				b.in[s] = in // the innermost excludes most
			}
			switch {
			case p.Chooses[i] && !again:
				chosen[s]++
				last[s] = i + 1
			case p.Join[s] > 1 && !p.Chooses[i]:
				b.preds[s] = append(b.preds[s], i)
			}
			if waits[s] == 0 && chosen[s]+min(p.Join[s], 1) == 1 {
				b.order = append(b.order, s)
			}
		}
	}
	b.number()
	return b
}

// add adds a branch of a condition.
func (b *branches) add(condition uint32) int32 {
	in := b.in[condition]
	around := &b.all[in]
	jump := in
	if further := around.jump; around.depth-b.all[further].depth == b.all[further].depth-b.all[b.all[further].jump].depth {
		jump = b.all[further].jump
	}
	b.all = append(b.all, branch{condition, in, around.depth + 1, jump, 0})
	return int32(len(b.all) - 1)
}

// number numbers the branches in preorder. Those of one condition follow each other in all.
func (b *branches) number() {
	size := slices.Repeat([]int32{1}, len(b.all))
	for i := len(b.all) - 1; i > root; i-- {
		size[b.all[i].in] += size[i]
	}
	free := make([]int32, len(b.all)) // by branch: the next place for a branch in it
	free[root] = 1
	for i := 1; i < len(b.all); i++ {
		at := &free[b.all[i].in]
		b.all[i].first = *at
		free[i] = *at + 1
		*at += size[i]
	}
}

// excluding returns the condition of which several tasks are in different branches, if there is one. It reorders them.
func (b *branches) excluding(tasks []uint32) (condition uint32, found bool) {
	// In preorder the tasks in branches of one condition are neighbours.
	slices.SortFunc(tasks, func(x, y uint32) int { return cmp.Compare(b.all[b.in[x]].first, b.all[b.in[y]].first) })
	for i := 1; i < len(tasks); i++ {
		x, y := b.fork(b.in[tasks[i-1]], b.in[tasks[i]])
		if x != y && b.all[x].condition == b.all[y].condition {
			return b.all[x].condition, true
		}
	}
	return 0, false
}

// fork returns the outermost branches around x and y that differ, or twice the same if one of x and y is in the other.
func (b *branches) fork(x, y int32) (int32, int32) {
	x, y = b.outTo(x, b.all[y].depth), b.outTo(y, b.all[x].depth)
	for x != y && b.all[x].in != b.all[y].in {
		if jx, jy := b.all[x].jump, b.all[y].jump; jx != jy {
			x, y = jx, jy
		} else {
			x, y = b.all[x].in, b.all[y].in
		}
	}
	return x, y
}

// outTo returns the branch around x, or x itself, that is at most so deep.
func (b *branches) outTo(x, depth int32) int32 {
	for b.all[x].depth > depth {
		if jump := b.all[x].jump; b.all[jump].depth >= depth {
			x = jump
		} else {
			x = b.all[x].in
		}
	}
	return x
}

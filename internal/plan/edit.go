package plan

import (
	"iter"
	"maps"
	"slices"

	"github.com/magpie-go/magpie/internal/hugepage"
)

// Edit returns the plan of a graph that has changed since p, equal to that of a [Freeze] of the graph. It copies what
// has not changed in long pieces, which takes a small part of the time of a Freeze.
//
// The rows are the successors of the tasks whose edges have changed. A task that has begun or ceased to choose, or to
// exist, has a row. The number of tasks does not decrease; a new task without a row has no successor. Edit keeps funcs
// and chooses, as Freeze does, and does not keep rows. p does not change.
func (p *Plan) Edit(funcs []Func, rows map[uint32][]uint32, chooses []bool) (*Plan, error) {
	n := len(funcs)
	edges := p.Edges()
	for i, row := range rows {
		edges += len(row) - len(p.row(i))
	}
	if err := checkSize(n, edges); err != nil {
		return nil, err
	}
	q := &Plan{Funcs: funcs, Off: hugepage.Make[uint32](n + 1), Join: hugepage.Make[uint32](n), Chooses: chooses}
	copy(q.Join, p.Join)
	changed := slices.Sorted(maps.Keys(rows))
	for _, i := range changed {
		if !p.choosesAt(i) {
			for _, s := range p.row(i) {
				q.Join[s]--
			}
		}
		if !q.choosesAt(i) {
			for _, s := range rows[i] {
				q.Join[s]++
			}
		}
	}
	var incoming, touched []uint32
	var sources int
	if p.Chooses == nil && chooses == nil {
		touched = p.touched(rows, n)
		sources = q.countTouched(p, touched)
	} else {
		incoming = p.incoming(rows, n)
		sources = q.countSources(incoming)
	}
	q.Succ = hugepage.MakeCap[uint32](edges + sources)
	at := uint32(0)
	for _, i := range changed {
		q.copyRows(p, at, i)
		q.Off[i] = uint32(len(q.Succ))
		q.Succ = append(q.Succ, rows[i]...)
		at = i + 1
	}
	q.copyRows(p, at, uint32(n))
	q.Off[n] = uint32(len(q.Succ))
	if incoming != nil {
		q.addSources(incoming)
	} else {
		q.addTouched(p, touched)
	}
	return q, nil
}

// touched returns, in ascending order, the tasks with a row, those with an edge from there, and those that are new.
func (p *Plan) touched(rows map[uint32][]uint32, n int) (all []uint32) {
	for i := range p.Touched(rows) {
		all = append(all, i)
	}
	for i := p.Len(); i < n; i++ {
		all = append(all, uint32(i))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Touched yields the tasks that an Edit with these rows may give another function, row or number of predecessors,
// besides new tasks. It may yield a task several times.
func (p *Plan) Touched(rows map[uint32][]uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, row := range rows {
			if !yield(i) {
				return
			}
			for _, s := range p.row(i) {
				if !yield(s) {
					return
				}
			}
			for _, s := range row {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// countTouched is countSources for a plan like p but for the touched tasks. In neither a task chooses.
func (q *Plan) countTouched(p *Plan, touched []uint32) (sources int) {
	sources, q.Free = len(p.Sources), p.Free
	for _, i := range touched {
		if int(i) < p.Len() && p.Join[i] == 0 {
			if _, found := slices.BinarySearch(p.Sources, i); found {
				sources--
			} else {
				q.Free--
			}
		}
		switch {
		case q.isSource(i):
			sources++
		case q.Funcs[i] == nil:
			q.Free++
		}
	}
	return sources
}

// addTouched is addSources for a plan like p but for the touched tasks.
func (q *Plan) addTouched(p *Plan, touched []uint32) {
	edges := len(q.Succ)
	left := p.Sources
	for _, i := range touched {
		at, found := slices.BinarySearch(left, i)
		q.Succ = append(q.Succ, left[:at]...)
		if left = left[at:]; found {
			left = left[1:]
		}
		if q.isSource(i) {
			q.Succ = append(q.Succ, i)
		}
	}
	q.Succ = append(q.Succ, left...)
	q.Sources = q.Succ[edges:]
}

func (q *Plan) isSource(i uint32) bool { return q.Join[i] == 0 && q.Funcs[i] != nil }

// incoming returns the number of edges to each of n tasks once the rows have changed, those of choices too.
func (p *Plan) incoming(rows map[uint32][]uint32, n int) []uint32 {
	all := make([]uint32, n)
	for _, s := range p.Succ[:p.Edges()] {
		all[s]++
	}
	for i, row := range rows {
		for _, s := range p.row(i) {
			all[s]--
		}
		for _, s := range row {
			all[s]++
		}
	}
	return all
}

// copyRows appends the successors in p of the tasks from lo to hi-1.
func (q *Plan) copyRows(p *Plan, lo, hi uint32) {
	if end := min(hi, uint32(p.Len())); lo < end {
		moved := uint32(len(q.Succ)) - p.Off[lo]
		q.Succ = append(q.Succ, p.Succ[p.Off[lo]:p.Off[end]]...)
		if moved == 0 {
			copy(q.Off[lo:end], p.Off[lo:end])
		} else {
			for i, off := range p.Off[lo:end] {
				q.Off[lo+uint32(i)] = off + moved
			}
		}
		lo = end
	}
	for ; lo < hi; lo++ {
		q.Off[lo] = uint32(len(q.Succ))
	}
}

// row returns the successors of i, which need not be a task of p.
func (p *Plan) row(i uint32) []uint32 {
	if int(i) >= p.Len() {
		return nil
	}
	return p.Successors(i)
}

func (p *Plan) choosesAt(i uint32) bool { return int(i) < len(p.Chooses) && p.Chooses[i] }

// Leads reports whether task to comes after task from, or is the same.
func (p *Plan) Leads(from, to uint32) bool {
	seen := make([]uint64, p.Len()/64+1)
	stack := []uint32{from}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if i == to {
			return true
		}
		for _, s := range p.Precedes(i) {
			if bit := uint64(1) << (s % 64); seen[s/64]&bit == 0 {
				seen[s/64] |= bit
				stack = append(stack, s)
			}
		}
	}
	return false
}

// Package dag draws task graphs on paper, for tests, and for a command that tests: they turn them into graphs. What is
// drawn depends on the generator of random numbers only.
package dag

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// An Edge says that task From comes before task To. From is the smaller one.
type Edge struct{ From, To int }

// A Form is a graph on paper. Its tasks are 0, 1, …: a topological order.
type Form struct {
	Shape string
	Tasks int
	Edges []Edge // as they were drawn, in no particular order; an edge may occur twice
}

// Draw draws a form of n tasks. All shapes are equally likely.
func Draw(rng *rand.Rand, n int) *Form { return Shapes[rng.IntN(len(Shapes))].Draw(rng, n) }

// Before returns the direct predecessors of each task.
func (f *Form) Before() [][]uint32 {
	sorted := slices.Clone(f.Edges)
	slices.SortStableFunc(sorted, func(a, b Edge) int { return cmp.Compare(a.To, b.To) })
	froms := make([]uint32, len(sorted))
	before := make([][]uint32, f.Tasks)
	for i, end := 0, 0; i < len(sorted); i = end {
		to := sorted[i].To
		for end = i; end < len(sorted) && sorted[end].To == to; end++ {
			froms[end] = uint32(sorted[end].From)
		}
		before[to] = froms[i:end:end]
	}
	return before
}

func (f *Form) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d tasks, edges", f.Shape, f.Tasks)
	for _, e := range f.Edges {
		fmt.Fprintf(&b, " %d→%d", e.From, e.To)
	}
	return b.String()
}

// Package split cuts a graph of tasks into partitions that can be run one by one: each waits for the results of others
// only before it begins, and gives its own only when it has ended. That is, the partitions and the edges between them
// are an acyclic graph too.
//
// First, tasks that must be together become one, with all tasks on paths between them. Then tasks are merged, as long
// as the sum of costs is at most the target, by steps of which none can close a cycle:
//
//   - A task and its only predecessor. A path from the predecessor to the task has no other way in, so none leads
//     through a third task. Edges of great weight come first.
//   - A task and its only successor, for the same reason.
//   - Tasks of one level, which is the largest number of tasks on a path to them. Every edge leads to a higher level,
//     also after tasks of each level were merged. Neighbours in a level have a predecessor in common, if they can.
//
// The steps are repeated while they merge enough. Each takes time and memory in proportion to what is left of the
// graph.
package split

import "math"

// A Graph is what is cut. Tasks are numbered from 0, and edges lead to higher numbers.
type Graph struct {
	Cost     []int64   // of each task, not negative
	Together [][]int32 // sets of tasks that must be in one partition

	from, to []int32
	weight   []int64
}

// Edge adds an edge. weight is what it costs to cut it, not negative. It panics if from is not below to.
func (g *Graph) Edge(from, to int32, weight int64) {
	if from < 0 || from >= to || int(to) >= len(g.Cost) || weight < 0 {
		panic("split: an edge leads from a task to one with a higher number")
	}
	g.from, g.to, g.weight = append(g.from, from), append(g.to, to), append(g.weight, weight)
}

// Parts are partitions. An edge between two leads from the lower to the higher.
type Parts struct {
	N  int
	Of []int32 // the partition of each task, from 0
}

// Split cuts g. A partition costs at most target, unless its tasks must be together. Equal graphs are cut equally,
// whatever the order of Together and of the edges.
func Split(g *Graph, target int64) Parts {
	q := newQuotient(g)
	const (
		enough = 0.98 // of the nodes are left: a further round does not pay
		rounds = 16   // bounds the time for graphs that nobody has tried
	)
	for range rounds {
		before := q.n
		q = q.merge(q.intoOnly(target, &q.in))
		q = q.merge(q.intoOnly(target, &q.out))
		q = q.merge(q.pack(target))
		if float64(q.n) > enough*float64(before) {
			break
		}
	}
	return q.parts()
}

// sum adds costs, to no more than the largest number.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

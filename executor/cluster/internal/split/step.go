package split

import (
	"cmp"
	"slices"
)

// intoOnly merges nodes with the only one in their list of in, as long as they cost no more than target together.
//
// All merges of one call are sound together: a set so far is a tree, in which only the root has neighbours of in
// outside of the set, and a node that is merged into another is the root of its set.
func (q *quotient) intoOnly(target int64, in *adjacency) *sets {
	type edge struct {
		node, only int32
		weight     int64
	}
	var edges []edge
	for i := range int32(q.n) {
		if list := in.of(i); len(list) == 1 {
			edges = append(edges, edge{i, list[0], in.weight[in.start[i]]})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.node, b.node))
	})
	s := newSets(q.n)
	cost := slices.Clone(q.cost)
	for _, e := range edges {
		a, b := s.find(e.node), s.find(e.only)
		if both := sum(cost[a], cost[b]); both <= target {
			cost[s.union(a, b)] = both
		}
	}
	return s
}

// pack merges nodes of one level that are neighbours in the order of nodes, as long as they cost no more than target
// together.
func (q *quotient) pack(target int64) *sets {
	s := newSets(q.n)
	level := make([]int32, q.n)
	for i := range int32(q.n) {
		for _, to := range q.out.of(i) {
			level[to] = max(level[to], level[i]+1)
		}
	}
	open, cost := int32(-1), int64(0) // the set that is being filled
	for i := range int32(q.n) {
		if open >= 0 && level[i] != level[open] {
			open = -1
		}
		switch {
		case q.cost[i] > target: // alone
		case open >= 0 && sum(cost, q.cost[i]) <= target:
			open, cost = s.union(open, i), sum(cost, q.cost[i])
		default:
			open, cost = i, q.cost[i]
		}
	}
	return s
}

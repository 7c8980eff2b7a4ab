package split

import (
	"cmp"
	"slices"
)

// A quotient is an acyclic graph of sets of tasks, the nodes.
type quotient struct {
	n       int
	ordered bool    // nodes are numbered by their levels, and in a level by the last of the nodes before them
	of      []int32 // the node of each task
	cost    []int64
	in      adjacency
	out     adjacency
}

// An adjacency is, for each node, a list of others.
type adjacency struct {
	start  []int32 // by node, and the end
	node   []int32
	weight []int64
}

func (a *adjacency) of(n int32) []int32 { return a.node[a.start[n]:a.start[n+1]] }

// newQuotient returns the graph with one node for each set of tasks that must be together, and one for each other task.
func newQuotient(g *Graph) *quotient {
	n := len(g.Cost)
	q := &quotient{n: n, of: make([]int32, n), cost: g.Cost, out: adjacencyOf(g)}
	for i := range q.of {
		q.of[i] = int32(i)
	}
	q.in = q.out.reversed(n)
	if len(g.Together) == 0 {
		return q
	}
	s := newSets(n)
	for _, together := range g.Together {
		for _, t := range together {
			s.union(together[0], t)
		}
	}
	q.unite(s)
	return q.merge(s)
}

// adjacencyOf returns the edges of g, from each task in ascending order.
func adjacencyOf(g *Graph) adjacency {
	type edge struct {
		to     int32
		weight int64
	}
	start := make([]int32, len(g.Cost)+1)
	for _, from := range g.from {
		start[from+1]++
	}
	for i := range g.Cost {
		start[i+1] += start[i]
	}
	edges := make([]edge, len(g.from))
	at := slices.Clone(start)
	for k, from := range g.from {
		edges[at[from]] = edge{g.to[k], g.weight[k]}
		at[from]++
	}
	a := adjacency{start: start, node: make([]int32, len(edges)), weight: make([]int64, len(edges))}
	for i := range g.Cost {
		slices.SortFunc(edges[start[i]:start[i+1]], func(a, b edge) int { return cmp.Compare(a.to, b.to) })
	}
	for k, e := range edges {
		a.node[k], a.weight[k] = e.to, e.weight
	}
	return a
}

// merge returns the quotient in which each set of nodes is one, with its nodes in order. It must be acyclic.
func (q *quotient) merge(s *sets) *quotient {
	if s.count == q.n && q.ordered {
		return q
	}
	members := s.members()
	order, number := q.order(s, &members)
	m := &quotient{n: len(order), ordered: true, of: make([]int32, len(q.of)), cost: make([]int64, len(order))}
	for t, n := range q.of {
		m.of[t] = number[n]
	}
	m.out = adjacency{start: make([]int32, m.n+1)}
	last := make([]int32, m.n) // where the edge to each node is in m.out, if that is behind the start of the list
	for i := range last {
		last[i] = -1
	}
	for i, root := range order {
		begin := int32(len(m.out.node))
		for _, member := range members.of(root) {
			m.cost[i] = sum(m.cost[i], q.cost[member])
			for k := q.out.start[member]; k < q.out.start[member+1]; k++ {
				switch to := number[q.out.node[k]]; {
				case to == int32(i):
				case last[to] >= begin:
					m.out.weight[last[to]] = sum(m.out.weight[last[to]], q.out.weight[k])
				default:
					last[to] = int32(len(m.out.node))
					m.out.node, m.out.weight = append(m.out.node, to), append(m.out.weight, q.out.weight[k])
				}
			}
		}
		m.out.start[i+1] = int32(len(m.out.node))
	}
	m.in = m.out.reversed(m.n)
	return m
}

// reversed returns, for each node, the nodes in whose lists it is, in ascending order.
func (a *adjacency) reversed(n int) adjacency {
	r := adjacency{start: make([]int32, n+1), node: make([]int32, len(a.node)), weight: make([]int64, len(a.node))}
	for _, to := range a.node {
		r.start[to+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	at := slices.Clone(r.start)
	for from := range int32(n) {
		for k := a.start[from]; k < a.start[from+1]; k++ {
			to := a.node[k]
			r.node[at[to]], r.weight[at[to]] = from, a.weight[k]
			at[to]++
		}
	}
	return r
}

// order returns the roots of the sets in an order of the edges, by levels, and the place in it of each node's set.
func (q *quotient) order(s *sets, members *adjacency) (order, number []int32) {
	number = make([]int32, q.n)
	for i := range number {
		number[i] = s.find(int32(i))
	}
	waits := make([]int32, q.n) // by root: edges from sets that are not in order yet
	for i := range int32(q.n) {
		for _, to := range q.out.of(i) {
			if number[to] != number[i] {
				waits[number[to]]++
			}
		}
	}
	order = make([]int32, 0, s.count)
	for i := range int32(q.n) {
		if number[i] == i && waits[i] == 0 {
			order = append(order, i)
		}
	}
	for done := 0; done < len(order); done++ {
		root := order[done]
		for _, member := range members.of(root) {
			for _, to := range q.out.of(member) {
				if next := number[to]; next != root {
					if waits[next]--; waits[next] == 0 {
						order = append(order, next)
					}
				}
			}
		}
	}
	if len(order) != s.count {
		panic("split: sets of tasks wait for each other")
	}
	place := waits // all zero
	for i, root := range order {
		place[root] = int32(i)
	}
	for i, root := range number {
		number[i] = place[root]
	}
	return order, number
}

func (q *quotient) parts() Parts { return Parts{N: q.n, Of: q.of} }

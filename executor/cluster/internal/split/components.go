package split

// unite unites sets of nodes that lie on a cycle of edges between sets, so that the sets become acyclic: those on a
// path from one set back to it. It is the algorithm of Tarjan, which does not recurse here.
func (q *quotient) unite(s *sets) {
	members := s.members()
	root := make([]int32, q.n)
	for i := range root {
		root[i] = s.find(int32(i))
	}
	type node struct {
		index, low int32 // 0: not seen yet
		onStack    bool
	}
	type step struct {
		root   int32
		member int // the place in the list of members of the next edge's node
		edge   int // its place there
	}
	nodes := make([]node, q.n)
	var stack []int32
	var path []step
	seen := int32(0)
	enter := func(v int32) {
		seen++
		nodes[v] = node{index: seen, low: seen, onStack: true}
		stack, path = append(stack, v), append(path, step{root: v})
	}
	// next returns the set to which the next edge of a step leads, or -1.
	next := func(p *step) int32 {
		for list := members.of(p.root); p.member < len(list); p.member, p.edge = p.member+1, 0 {
			if out := q.out.of(list[p.member]); p.edge < len(out) {
				p.edge++
				return root[out[p.edge-1]]
			}
		}
		return -1
	}
	for start := range int32(q.n) {
		if root[start] != start || nodes[start].index != 0 {
			continue
		}
		for enter(start); len(path) > 0; {
			top := &path[len(path)-1]
			v := &nodes[top.root]
			if to := next(top); to >= 0 {
				if nodes[to].index == 0 {
					enter(to)
				} else if nodes[to].onStack {
					v.low = min(v.low, nodes[to].index)
				}
				continue
			}
			own := top.root
			if path = path[:len(path)-1]; len(path) > 0 {
				before := &nodes[path[len(path)-1].root]
				before.low = min(before.low, v.low)
			}
			for last := int32(-1); v.low == v.index && last != own; {
				last = stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				nodes[last].onStack = false
				s.union(own, last)
			}
		}
	}
}

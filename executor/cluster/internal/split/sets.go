package split

import "slices"

// Sets are disjoint sets of numbers. The root of each is its smallest member, so that they do not depend on the order
// in which they were united.
type sets struct {
	parent []int32
	count  int
}

func newSets(n int) *sets {
	s := &sets{parent: make([]int32, n), count: n}
	for i := range s.parent {
		s.parent[i] = int32(i)
	}
	return s
}

func (s *sets) find(i int32) int32 {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// union unites the sets of a and b, and returns the root.
func (s *sets) union(a, b int32) int32 {
	a, b = s.find(a), s.find(b)
	if a == b {
		return a
	}
	if a > b {
		a, b = b, a
	}
	s.parent[b] = a
	s.count--
	return a
}

// members returns the members of each set, by its root, in ascending order.
func (s *sets) members() adjacency {
	m := adjacency{start: make([]int32, len(s.parent)+1), node: make([]int32, len(s.parent))}
	for i := range s.parent {
		m.start[s.find(int32(i))+1]++
	}
	for i := range s.parent {
		m.start[i+1] += m.start[i]
	}
	at := slices.Clone(m.start)
	for i := range s.parent {
		root := s.find(int32(i))
		m.node[at[root]] = int32(i)
		at[root]++
	}
	return m
}

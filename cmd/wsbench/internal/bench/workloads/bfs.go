package workloads

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
)

// bfs is breadth-first search, level by level: short tasks, few at the start and at the end, that read memory in random
// order and write what other tasks read.
var bfs = &Workload{
	Name:    "bfs",
	About:   "breadth-first search of a random graph, 8 edges a node, level by level; figures are per node",
	Size:    "nodes, at most 268435456",
	Default: 1 << 20,
	Most:    1 << 28, // the edges are counted in 32 bits
	Small:   1000,
	Shape: func(n int) Shape {
		const perNode = 4 * (bfsDegrees + 1) / 2 // edges
		return Shape{Tasks: float64(n), Width: executor.MaxWorkers, Data: (perNode + 6*4) * float64(n)}
	},
	Program: func(n int, seed uint64, _ Values) (Program, error) {
		b := newBFS(n, seed)
		b.Reset()
		b.Serial()
		b.want = slices.Clone(b.distance)
		return b, nil
	},
}

const (
	// bfsDegrees is the largest number of edges that leave a node. The least is 1.
	bfsDegrees = 15
	// bfsGrain is how many nodes of a level are a task. With a million nodes a task takes 5 to 10 µs (Xeon, November
	// 2026): document 004 says of its own that they are very small.
	bfsGrain = 16
	// bfsFound is how many nodes a task finds before it takes room for them in the next level.
	bfsFound = 128
)

// A bfsProgram searches from node 0 of a directed graph. Its nodes are numbers from 0 on.
type bfsProgram struct {
	first []uint32 // by node: where its edges begin in heads; one more than nodes
	heads []int32  // by edge: the node that it leads to

	distance []int32 // by node: the edges on a shortest path from node 0; -1: there is none
	parent   []int32 // by node: the node before it on such a path; -1: none has been found
	want     []int32 // the distances that a loop finds

	// Of the level in progress. Its nodes have the distance depth-1. Tasks claim nodes by their parent, write the
	// distances of those that they have claimed, and put them at the end of next.
	depth       int32
	level, next []int32 // both have room for all nodes
	found       atomic.Int64
}

// newBFS returns the search of a graph that the seed chooses.
func newBFS(n int, seed uint64) *bfsProgram {
	b := &bfsProgram{
		first:    make([]uint32, n+1),
		distance: make([]int32, n), parent: make([]int32, n), level: make([]int32, n), next: make([]int32, n),
	}
	rng := splitmix64(seed)
	for i := range n {
		b.first[i+1] = b.first[i] + 1 + uint32(rng.next()%bfsDegrees)
	}
	b.heads = make([]int32, b.first[n])
	for i := range b.heads {
		head, _ := bits.Mul64(rng.next(), uint64(n))
		b.heads[i] = int32(head)
	}
	return b
}

// edges returns the nodes that edges of a node lead to.
func (b *bfsProgram) edges(node int32) []int32 { return b.heads[b.first[node]:b.first[node+1]] }

// Reset implements Program.
func (b *bfsProgram) Reset() {
	for i := range b.distance {
		b.distance[i], b.parent[i] = -1, -1
	}
}

// Verify implements Program. It compares the distances, and looks whether the parents are the last nodes but one of
// shortest paths.
func (b *bfsProgram) Verify() error {
	for i, d := range b.distance {
		if d != b.want[i] {
			return fmt.Errorf("the distance of node %d is %d, not %d", i, d, b.want[i])
		}
		switch p := b.parent[i]; {
		case i == 0 && p == 0, d < 0 && p < 0:
		case i == 0 || d < 0 || p < 0:
			return fmt.Errorf("node %d with distance %d has the parent %d", i, d, p)
		case b.distance[p] != d-1:
			return fmt.Errorf("node %d has the distance %d, and its parent %d", i, d, b.distance[p])
		case !slices.Contains(b.edges(p), int32(i)):
			return fmt.Errorf("there is no edge to node %d from its parent %d", i, p)
		}
	}
	return nil
}

// Serial implements Program. It is a loop with a queue.
func (b *bfsProgram) Serial() {
	b.distance[0], b.parent[0] = 0, 0
	queue := append(b.level[:0], 0)
	for i := 0; i < len(queue); i++ {
		node := queue[i]
		for _, head := range b.edges(node) {
			if b.parent[head] < 0 {
				b.parent[head], b.distance[head] = node, b.distance[node]+1
				queue = append(queue, head)
			}
		}
	}
}

// search goes level by level.
func (b *bfsProgram) search(each loop) error {
	b.distance[0], b.parent[0], b.level[0] = 0, 0, 0
	b.depth = 1
	for n := 1; n > 0; b.depth++ {
		b.found.Store(0)
		if err := each(n, b.expand); err != nil {
			return err
		}
		n = int(b.found.Load())
		b.level, b.next = b.next, b.level
	}
	return nil
}

// expand claims the nodes that edges lead to from nodes lo, …, hi-1 of the level.
func (b *bfsProgram) expand(lo, hi int) {
	var found [bfsFound]int32
	n := 0
	for _, node := range b.level[lo:hi] {
		for _, head := range b.edges(node) {
			if atomic.LoadInt32(&b.parent[head]) >= 0 || !atomic.CompareAndSwapInt32(&b.parent[head], -1, node) {
				continue
			}
			b.distance[head] = b.depth
			found[n] = head
			if n++; n == len(found) {
				b.keep(found[:n])
				n = 0
			}
		}
	}
	b.keep(found[:n])
}

// keep puts nodes into the next level.
func (b *bfsProgram) keep(nodes []int32) {
	end := b.found.Add(int64(len(nodes)))
	copy(b.next[end-int64(len(nodes)):end], nodes)
}

// Magpie implements Program. A level is a run nested in one run for all.
func (b *bfsProgram) Magpie(ex *executor.Executor) error {
	return workerLoops(ex, "bfs", bfsGrain, b.search)
}

// Goroutines implements Program.
func (b *bfsProgram) Goroutines(workers int) { goroutineLoops(workers, bfsGrain, b.search) }

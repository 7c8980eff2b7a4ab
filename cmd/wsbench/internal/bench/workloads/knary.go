package workloads

import (
	"sync"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
)

// knary is the synthetic program of that name in document 003, by R. D. Blumofe. It makes a tree of any work and span.
// The levels of the tree are counted here, so knary with n=1 is one node; the document does not say.
var knary = &Workload{
	Name: "knary",
	About: "a tree of n levels, -branching children to a node, of which the first -serial ones come one after the " +
		"other; a node is 100 steps of work",
	Size:     "levels (the paper: 10 and 11)",
	Default:  10,
	Params:   []*Param{branchingParam, serialParam},
	Profiles: true,
	Shape:    func(n int) Shape { return knaryShape(n, knaryBranching) },
	ShapeOf:  func(n int, v Values) Shape { return knaryShape(n, value[int](v, branchingParam)) },
	Program: func(n int, _ uint64, v Values) (Program, error) {
		node := knaryNode{n, value[int](v, branchingParam), value[int](v, serialParam)}
		if node.serial > node.branching {
			return nil, input.Errorf("knary with -branching %d has no %d serial children: choose -serial 0 to %d",
				node.branching, node.serial, node.branching)
		}
		return &recursion[knaryNode]{
			arg: node, want: node.known(),
			serial: knarySerial, goroutines: knaryGoroutines, fork: knaryFork, on: knaryOn,
		}, nil
	},
}

const (
	knaryBranching = 6
	// knaryMost bounds the children of a node, whose forks are on the worker's stack. It is arbitrary.
	knaryMost = 16
	// knarySteps is the work of a node, as in the document.
	knarySteps = 100
)

var (
	branchingParam = IntParam("branching", "K", knaryBranching, 2, knaryMost, "children of a node of knary")
	serialParam    = IntParam("serial", "R", 1, 0, knaryMost,
		"children of a node of knary that come one by one, before the others")
)

func knaryShape(levels, branching int) Shape {
	nodes := TreeNodes(branching, levels-1)
	return Shape{Tasks: nodes, Width: nodes}
}

// A knaryNode is a node of the tree with the levels below it.
type knaryNode struct{ levels, branching, serial int }

// child returns any child of the node.
func (k knaryNode) child() knaryNode {
	k.levels--
	return k
}

func (k knaryNode) isLeaf() bool { return k.levels == 1 }

// work is the work of the node without its children.
func (k knaryNode) work() int64 { return int64(grind(uint64(k.levels), knarySteps)) }

// known returns the sum of the work of all nodes.
func (k knaryNode) known() (sum int64) {
	for nodes := int64(1); k.levels > 0; k.levels-- {
		sum += nodes * int64(ground(uint64(k.levels), knarySteps))
		nodes *= int64(k.branching)
	}
	return sum
}

func knarySerial(k knaryNode) int64 {
	sum := k.work()
	if k.isLeaf() {
		return sum
	}
	for range k.branching {
		sum += knarySerial(k.child())
	}
	return sum
}

func knaryGoroutines(g *spawner, k knaryNode) int64 {
	sum := k.work()
	if k.isLeaf() {
		return sum
	}
	for range k.serial {
		sum += knaryGoroutines(g, k.child())
	}
	var sums [knaryMost]int64
	var wg sync.WaitGroup
	last := k.branching - k.serial - 1
	for i := range max(0, last) {
		g.start(&wg, func() { sums[i] = knaryGoroutines(g, k.child()) })
	}
	if last >= 0 {
		sum += knaryGoroutines(g, k.child())
	}
	wg.Wait()
	for _, s := range sums {
		sum += s
	}
	return sum
}

func knaryFork(s *executor.Scope, k knaryNode) int64 {
	sum := k.work()
	if k.isLeaf() {
		return sum
	}
	for range k.serial {
		sum += knaryFork(s, k.child())
	}
	var forks [knaryMost]executor.Forked[knaryNode, int64]
	last := k.branching - k.serial - 1
	for i := range max(0, last) {
		forks[i] = executor.Fork(s, knaryFork, k.child())
	}
	if last >= 0 {
		sum += knaryFork(s, k.child())
	}
	for i := last - 1; i >= 0; i-- {
		sum += forks[i].Join(s)
	}
	return sum
}

// knaryOn counts nodes.
func knaryOn(t Team, k knaryNode) int64 {
	sum := k.work()
	t.Did(1)
	if k.isLeaf() {
		return sum
	}
	for range k.serial {
		sum += knaryOn(t, k.child())
	}
	if k.serial < k.branching {
		var sums [knaryMost]int64
		t.Each(k.branching-k.serial, func(t Team, i int) { sums[i] = knaryOn(t, k.child()) })
		for _, s := range sums {
			sum += s
		}
	}
	return sum
}

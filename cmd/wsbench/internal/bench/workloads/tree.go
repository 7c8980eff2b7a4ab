package workloads

import (
	"math"
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// fat has many forks in one function, and thin has one. The trees have about as many nodes each, which are counted.
var (
	fat = &Workload{
		Name:    "fat",
		About:   "a tree with 64 children to a node, which forks all but the last: many forks that are not joined yet",
		Size:    "depth",
		Default: 4,
		Shape:   func(n int) Shape { return treeShape(fatChildren, n) },
		Program: func(n int, _ uint64, _ Values) (Program, error) {
			return &recursion[int]{arg: n, want: int64(TreeNodes(fatChildren, n)),
				serial: fatSerial, goroutines: fatGoroutines, fork: fatFork}, nil
		},
	}
	thin = &Workload{
		Name:    "thin",
		About:   "a tree with 2 children to a node, which forks the first",
		Size:    "depth",
		Default: 22,
		Shape:   func(n int) Shape { return treeShape(2, n) },
		Program: func(n int, _ uint64, _ Values) (Program, error) {
			return &recursion[int]{arg: n, want: int64(TreeNodes(2, n)),
				serial: thinSerial, goroutines: thinGoroutines, fork: thinFork}, nil
		},
	}
)

const fatChildren = 64

// TreeNodes returns the number of nodes of a whole tree.
func TreeNodes(children, depth int) float64 {
	return (math.Pow(float64(children), float64(depth)+1) - 1) / float64(children-1)
}

func treeShape(children, depth int) Shape {
	n := TreeNodes(children, depth)
	return Shape{Tasks: n, Width: n}
}

func fatSerial(depth int) int64 {
	n := int64(1)
	if depth > 0 {
		for range fatChildren {
			n += fatSerial(depth - 1)
		}
	}
	return n
}

func fatGoroutines(g *spawner, depth int) int64 {
	if depth == 0 {
		return 1
	}
	var counts [fatChildren - 1]int64
	var wg sync.WaitGroup
	for i := range counts {
		g.start(&wg, func() { counts[i] = fatGoroutines(g, depth-1) })
	}
	n := 1 + fatGoroutines(g, depth-1)
	wg.Wait()
	for _, count := range counts {
		n += count
	}
	return n
}

func fatFork(s *executor.Scope, depth int) int64 {
	if depth == 0 {
		return 1
	}
	var forks [fatChildren - 1]executor.Forked[int, int64]
	for i := range forks {
		forks[i] = executor.Fork(s, fatFork, depth-1)
	}
	n := 1 + fatFork(s, depth-1)
	for i := len(forks) - 1; i >= 0; i-- {
		n += forks[i].Join(s)
	}
	return n
}

func thinSerial(depth int) int64 {
	if depth == 0 {
		return 1
	}
	n := thinSerial(depth - 1)
	return 1 + n + thinSerial(depth-1)
}

func thinGoroutines(g *spawner, depth int) int64 {
	if depth == 0 {
		return 1
	}
	var count int64
	var wg sync.WaitGroup
	g.start(&wg, func() { count = thinGoroutines(g, depth-1) })
	n := 1 + thinGoroutines(g, depth-1)
	wg.Wait()
	return n + count
}

func thinFork(s *executor.Scope, depth int) int64 {
	if depth == 0 {
		return 1
	}
	f := executor.Fork(s, thinFork, depth-1)
	n := 1 + thinFork(s, depth-1)
	return n + f.Join(s)
}

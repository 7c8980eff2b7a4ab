package workloads

import (
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// skynet is the program of that name by which languages compare their threads. Elsewhere a million goroutines send
// numbers through channels; here they are forked.
var skynet = &Workload{
	Name:    "skynet",
	About:   "sum of 0 to n-1, one task for each number and each ten of tasks: 10 children to a node",
	Size:    "numbers",
	Default: 1000000,
	Shape: func(n int) Shape {
		tasks := skynetTasks(n, make(map[int]float64))
		return Shape{Tasks: tasks, Width: tasks}
	},
	Program: func(n int, _ uint64, _ Values) (Program, error) {
		return &recursion[span]{arg: span{0, int64(n)}, want: sumBelow(int64(n)),
			serial: skynetSerial, goroutines: skynetGoroutines, fork: skynetFork}, nil
	},
}

const skynetChildren = 10

// sumBelow returns the sum of 0 to n-1. It wraps around where adding one by one does.
func sumBelow(n int64) int64 {
	if n%2 == 0 {
		return n / 2 * (n - 1)
	}
	return (n - 1) / 2 * n
}

// A span is the numbers first to first+size-1.
type span struct{ first, size int64 }

// child returns the ith tenth of the span, which may be empty. If the tenths are not equal, the first ones are longer
// by one.
func (p span) child(i int64) span {
	each, more := p.size/skynetChildren, p.size%skynetChildren
	c := span{p.first + i*each + min(i, more), each}
	if i < more {
		c.size++
	}
	return c
}

// skynetTasks counts tasks. The parts of one level have only two sizes, and known has the results by size.
func skynetTasks(size int, known map[int]float64) float64 {
	if size <= 1 {
		return float64(size)
	}
	if known[size] == 0 {
		each, more := size/skynetChildren, size%skynetChildren
		known[size] = 1 + float64(skynetChildren-more)*skynetTasks(each, known)
		if more > 0 {
			known[size] += float64(more) * skynetTasks(each+1, known)
		}
	}
	return known[size]
}

func skynetSerial(p span) (sum int64) {
	if p.size == 1 {
		return p.first
	}
	for i := range min(skynetChildren, p.size) {
		sum += skynetSerial(p.child(i))
	}
	return sum
}

func skynetGoroutines(g *spawner, p span) (sum int64) {
	if p.size == 1 {
		return p.first
	}
	var sums [skynetChildren - 1]int64
	var wg sync.WaitGroup
	last := min(skynetChildren, p.size) - 1
	for i := range last {
		g.start(&wg, func() { sums[i] = skynetGoroutines(g, p.child(i)) })
	}
	sum = skynetGoroutines(g, p.child(last))
	wg.Wait()
	for _, s := range sums {
		sum += s
	}
	return sum
}

func skynetFork(s *executor.Scope, p span) (sum int64) {
	if p.size == 1 {
		return p.first
	}
	var forks [skynetChildren - 1]executor.Forked[span, int64]
	last := min(skynetChildren, p.size) - 1
	for i := range last {
		forks[i] = executor.Fork(s, skynetFork, p.child(i))
	}
	sum = skynetFork(s, p.child(last))
	for i := last - 1; i >= 0; i-- {
		sum += forks[i].Join(s)
	}
	return sum
}

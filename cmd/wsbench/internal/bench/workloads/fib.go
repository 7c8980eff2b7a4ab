package workloads

import (
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// fib shows the cost of a fork and its join: it has no other work. Every inner node forks one call and makes the other.
var fib = &Workload{
	Name:     "fib",
	About:    "nth Fibonacci number by definition: one fork and one call each, down to the end; figures are per fork",
	Size:     "argument",
	Default:  35,
	Profiles: true,
	Shape: func(n int) Shape {
		forks := fibonacci[float64](min(n, fibMost)+1) - 1
		return Shape{Tasks: forks, Width: forks}
	},
	Program: func(n int, _ uint64, _ Values) (Program, error) {
		return &recursion[int]{
			arg: n, want: fibonacci[int64](n),
			serial: fibSerial, goroutines: fibGoroutines, fork: fibFork, on: fibOn,
		}, nil
	},
}

// fibMost is an argument with far too many forks.
const fibMost = 90

// fibonacci computes the number in a loop.
func fibonacci[N int64 | float64](n int) N {
	var a, b N = 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}

func fibSerial(n int) int64 {
	if n < 2 {
		return int64(n)
	}
	x := fibSerial(n - 1)
	return fibSerial(n-2) + x
}

func fibGoroutines(g *spawner, n int) int64 {
	if n < 2 {
		return int64(n)
	}
	var x int64
	var wg sync.WaitGroup
	g.start(&wg, func() { x = fibGoroutines(g, n-1) })
	y := fibGoroutines(g, n-2)
	wg.Wait()
	return x + y
}

func fibFork(s *executor.Scope, n int) int64 {
	if n < 2 {
		return int64(n)
	}
	f := executor.Fork(s, fibFork, n-1)
	y := fibFork(s, n-2)
	return f.Join(s) + y
}

// fibOn counts calls.
func fibOn(t Team, n int) int64 {
	t.Did(1)
	if n < 2 {
		return int64(n)
	}
	var x [2]int64
	t.Each(2, func(t Team, i int) { x[i] = fibOn(t, n-1-i) })
	return x[0] + x[1]
}

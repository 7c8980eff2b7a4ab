package workloads

import (
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// loopy is LOOPY of document 003: a loop spawns subcomputations one by one. Its parallelism is about n, but only the
// rest of the loop and the subcomputations begun are ready or running at any time, one more than there are workers.
//
// In Cilk a worker that spawns goes into the child, and leaves the rest of the loop to thieves. [executor.Fork] leaves
// the call to thieves and goes on. So the call that is forked is the rest of the loop, and the worker goes into the
// subcomputation. The engine goroutines has no such choice: it starts a goroutine for each subcomputation.
var loopy = &Workload{
	Name: "loopy",
	About: "a loop that spawns n equal computations one by one, each of -iterations steps: of much parallelism one " +
		"can see a little at a time",
	Size:     "computations (the paper: 16 to 64)",
	Default:  64,
	Most:     1 << 16, // the stack of a worker from which nobody steals is as deep
	Small:    2,
	Params:   []*Param{iterationsParam},
	Profiles: true,
	Shape:    func(n int) Shape { return Shape{Tasks: float64(n), Width: float64(n)} },
	Program: func(n int, _ uint64, v Values) (Program, error) {
		l := spawns{n: n, iterations: value[int](v, iterationsParam)}
		return &recursion[spawns]{
			arg: l, want: l.known(),
			serial: loopySerial, goroutines: loopyGoroutines, fork: loopyFork, on: loopyOn,
		}, nil
	},
}

var iterationsParam = IntParam("iterations", "I", 1_000_000, 1, MostTasks,
	"steps of each computation of loopy, about a nanosecond each")

// spawns is the loop of loopy from computation i on.
type spawns struct{ i, n, iterations int }

// compute makes computation i.
func (l spawns) compute() int64 { return int64(grind(uint64(l.i), l.iterations)) }

// rest returns the loop after computation i.
func (l spawns) rest() spawns {
	l.i++
	return l
}

func (l spawns) isLast() bool { return l.i == l.n-1 }

// known returns the sum of all computations.
func (l spawns) known() (sum int64) {
	for i := range l.n {
		sum += int64(ground(uint64(i), l.iterations))
	}
	return sum
}

func loopySerial(l spawns) (sum int64) {
	for ; l.i < l.n; l.i++ {
		sum += l.compute()
	}
	return sum
}

func loopyGoroutines(g *spawner, l spawns) (sum int64) {
	sums := make([]int64, l.n)
	var wg sync.WaitGroup
	for i := range sums {
		one := spawns{i, l.n, l.iterations}
		g.start(&wg, func() { sums[i] = one.compute() })
	}
	wg.Wait()
	for _, s := range sums {
		sum += s
	}
	return sum
}

func loopyFork(s *executor.Scope, l spawns) int64 {
	if l.isLast() {
		return l.compute()
	}
	rest := executor.Fork(s, loopyFork, l.rest())
	first := l.compute()
	return first + rest.Join(s)
}

// loopyOn counts a unit for each spawn and each iteration, as figure 4-2 of the document.
func loopyOn(t Team, l spawns) int64 {
	t.Did(1)
	compute := func(t Team) int64 {
		t.Did(l.iterations)
		return l.compute()
	}
	if l.isLast() {
		return compute(t)
	}
	var first, rest int64
	t.Each(2, func(t Team, i int) {
		if i == 0 {
			first = compute(t)
		} else {
			rest = loopyOn(t, l.rest())
		}
	})
	return first + rest
}

const (
	grindFactor = 6364136223846793005
	grindTerm   = 1442695040888963407
)

// grind is work of n equal steps, each of which needs the one before.
func grind(x uint64, n int) uint64 {
	for range n {
		x = x*grindFactor + grindTerm
	}
	return x
}

// ground returns what grind returns, in as many steps as n has bits. A step is a linear function, and so are two.
func ground(x uint64, n int) uint64 {
	for factor, term := uint64(grindFactor), uint64(grindTerm); n > 0; n >>= 1 {
		if n&1 != 0 {
			x = x*factor + term
		}
		factor, term = factor*factor, term*factor+term
	}
	return x
}

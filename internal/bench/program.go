package bench

import (
	"math"

	"github.com/magpie-go/magpie/executor"
)

// A Program is one instance of a workload whose tasks come into being while it runs: recursion, sorting, loops. It says
// itself how each engine does the work. Between a Reset and a Verify one of the three ways is taken, once.
type Program interface {
	// Serial does the work on the calling goroutine, without an executor: recursion, a loop, a function of the library.
	Serial()
	// Goroutines does it with goroutines, as somebody would who has no other library. So many of them can run at once.
	Goroutines(workers int)
	// Magpie does it on ex.
	Magpie(ex *executor.Executor) error
	// Reset makes the data what it was before the first run.
	Reset()
	// Verify says what a run has left wrong in the data.
	Verify() error
}

// programs lists the workloads that are programs.
func programs() []*Workload {
	return []*Workload{fib, fat, thin, nqueens, skynet, sorting, scan, mandelbrot}
}

// mostTasks is how many tasks a program may have. A hundred times as many would take days, and one function that forks
// itself twice gets there by a slip of the key.
const mostTasks = min(1<<40, math.MaxInt)

const (
	// callBytes is what a goroutine of a recursion takes: its stack and descriptor, what the caller keeps for it, and as
	// much again of what has not been collected yet. Trees with 2 and with 64 children took 3700 to 4300 bytes.
	callBytes = 6 << 10
	// callsAlive bounds how many there are at once, in [crew]. Programs of 15 million tasks come to some 400000.
	callsAlive = 1 << 19
	// callsStarted bounds how many there are one after the other. With more the bound above would be met all the time, and
	// what was measured be something else. And as long as hundreds of thousands are ready, the goroutine that learns of an
	// interrupt waits among them, often until the end of the run: that must be a matter of a minute.
	callsStarted = 1 << 25
)

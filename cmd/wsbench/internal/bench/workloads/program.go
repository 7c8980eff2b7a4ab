package workloads

import (
	"math"

	"github.com/magpie-go/magpie/executor"
)

// A Program is one instance of a workload whose tasks come into being while it runs: recursion, sorting, loops. It has
// the code for each engine. Between a Reset and a Verify exactly one of Serial, Goroutines and Magpie is called, once.
type Program interface {
	// Serial does the work on the calling goroutine, without an executor: recursion, a loop, a function of the library.
	Serial()
	// Goroutines does the work with goroutines, as in a program without another library. workers of them run at once.
	Goroutines(workers int)
	// Magpie does the work on ex.
	Magpie(ex *executor.Executor) error
	// Reset restores the data from before the first run.
	Reset()
	// Verify returns an error if a run has left wrong data.
	Verify() error
}

// A Keeper is a [Program] whose result may be kept.
type Keeper interface {
	// Keep writes the result of a verified run, if it is asked for.
	Keep() error
}

// A Propertied [Program] has figures that no run changes, as the number of gates of a circuit.
type Propertied interface {
	// Properties returns them, in the order of a table.
	Properties() []Property
}

// A Property is such a figure.
type Property struct {
	Name  string
	Value float64
}

// MostTasks bounds the tasks of a program. A hundred times as many would take days, and a function that forks itself
// twice gets there with a typing error.
const MostTasks = min(1<<40, math.MaxInt)

const (
	// CallBytes is the memory of a goroutine of a recursion: its stack and descriptor, the caller's data for it, and as
	// much again of garbage. Trees with 2 and with 64 children took 3700 to 4300 bytes.
	CallBytes = 6 << 10
	// CallsAlive bounds how many are alive at once. Programs of 15 million tasks reach some 400000.
	CallsAlive = 1 << 19
	// CallsStarted bounds how many are started one after the other. With more, CallsAlive would be reached all the
	// time, and something else would be measured. And while hundreds of thousands are ready, the goroutine that learns
	// of an interrupt waits among them, often until the end of the run: that must be a matter of a minute.
	CallsStarted = 1 << 25
)

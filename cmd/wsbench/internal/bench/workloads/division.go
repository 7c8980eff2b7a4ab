package workloads

import "time"

// A Division is one instance of a workload that is divided into a number of tasks before it runs: the interface
// benchmark.h of document 001. On engine magpie a package pool runs the tasks, from the queue of the setting.
type Division interface {
	// Inputs prepares the instance of size n: setInputs in the document.
	Inputs(n int, seed uint64, v Values)
	// Tasks divides the work into count tasks: getTasks in the document.
	Tasks(count int) []Part
	// Work does the work of a task: workerTask in the document. It reports whether it has found the result, if the
	// workload searches for one: then no other task need run.
	Work(p Part) (found bool)
	// Reset restores the data from before the first run.
	Reset()
	// Verify returns an error if a run has left wrong data.
	Verify() error
}

// A Part is what one task of a [Division] is to do. Of n units of work it has those from From to To-1.
type Part struct {
	Number   int // from 0
	From, To int
	Priority int // for the queue priority
}

// cut divides n units into count parts, as equal as possible.
func cut(n, count int) []Part {
	parts := make([]Part, count)
	for i := range parts {
		parts[i] = Part{Number: i, From: share(n, i, count), To: share(n, i+1, count)}
	}
	return parts
}

// share returns n*i/count without overflow.
func share(n, i, count int) int {
	return n/count*i + int(int64(n%count)*int64(i)/int64(count))
}

// A Bounded [Division] has a lower bound of the time in which any schedule can run its tasks.
type Bounded interface {
	// Bound returns it, for so many workers.
	Bound(parts []Part, workers int) time.Duration
}

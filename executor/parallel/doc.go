// Package parallel implements loops, reductions, scans, sorting and searching in parallel.
//
//	on := parallel.On{Executor: ex}
//	err := parallel.For(ctx, on, 0, len(pixels), func(i int) { pixels[i] = shade(i) })
//	sum, err := parallel.Reduce(ctx, on, weights, func(a, b int) int { return a + b })
//	err = parallel.Sort(ctx, on, keys)
//
// Every function waits until its work is done, and returns the same as a sequential function would. It may be called
// from anywhere, also from a task of the same executor, whose worker then takes part.
//
// Functions passed as arguments are called from several threads at the same time, each time for other elements.
//
// # Cancellation
//
// If ctx ends, work that has not begun is left out, and the error matches ctx's. A panic, which becomes a
// [*executor.PanicError], and the first error of [ForEach] have the same effect. Once the run knows of it, each worker
// begins no more than this:
//
//   - calls for the rest of 64 elements in all loops, reductions, scans and searches, whatever the Grain;
//   - [ForEach]: no call;
//   - [ForRange]: no call, but the ranges in progress are not cut short;
//   - [SortFunc] and [SortStable]: the comparisons for one piece of Grain elements, by default 2048, or for the choice
//     of a pivot out of 127; for one merge of 4096 elements in [SortStable], of Grain elements in [Merge].
//
// The run knows of the end of ctx as soon as a goroutine of package context has run. Destination slices are then
// written in part. Slices to be sorted are sorted in part, but keep all their elements, except with [SortStable] after
// a panic.
package parallel

import (
	"fmt"

	"github.com/magpie-go/magpie/executor"
)

// On selects the executor, and the size of the pieces.
type On struct {
	Executor *executor.Executor
	// Grain is the number of elements in a piece of work. 0 means that pieces are split on demand: every 64 elements a
	// worker checks whether another has nothing to do, and if so gives away half of the remaining elements. ForRange is
	// different, see there. For the sorts, Merge and ForEach, 0 stands for a number that suits short functions.
	//
	// With a Grain the pieces are the same for any number of workers, and so are the results of Reduce and of scans of
	// floating-point numbers.
	Grain int
}

// check panics if on is invalid.
func (on On) check() {
	if on.Executor == nil {
		panic("parallel: On without an Executor")
	}
	if on.Grain < 0 {
		panic(fmt.Sprintf("parallel: Grain %d is negative", on.Grain))
	}
}

// Package parallel has loops, reductions, scans, sorting and searching in parallel.
//
//	on := parallel.On{Executor: ex}
//	err := parallel.For(ctx, on, 0, len(pixels), func(i int) { pixels[i] = shade(i) })
//	sum, err := parallel.Reduce(ctx, on, weights, func(a, b int) int { return a + b })
//	err = parallel.Sort(ctx, on, keys)
//
// Every function waits until it is done and returns the same as the sequential one would. It may be called from anywhere,
// also from a task of the same executor, which takes part.
//
// What is called is called from several threads at once, each time for other elements.
//
// # Cancellation
//
// If ctx ends, what has not begun is left out, and the error is ctx's. After a panic, which becomes a
// [*executor.PanicError], or the first error of [ForEach], it is the same. Once the run knows of it, each worker begins
// no more than this:
//
//   - calls for the rest of 64 elements in all loops, reductions, scans and searches, however large the pieces are;
//   - [ForEach]: no call;
//   - [ForRange]: no call, but the ranges in progress are not cut short;
//   - [SortFunc] and [SortStable]: the comparisons for one piece of Grain elements, by default 2048, or for the choice of
//     a pivot out of 127; for one merge of 4096 elements in [SortStable], of Grain elements in [Merge].
//
// The run knows of the end of ctx as soon as a goroutine of package context's has run. Slices that were to be written
// are then left in between: sorted in part, but with all their elements (not so [SortStable] after a panic).
package parallel

import (
	"fmt"

	"github.com/magpie-go/magpie/executor"
)

// On says where to run, and in what pieces.
type On struct {
	Executor *executor.Executor
	// Grain is the number of elements that are worth a piece of their own. 0 means that it is found out while the work
	// goes on: a worker looks every 64 elements whether another has nothing to do, and then gives half of what is left
	// away. For ForRange see there; for the sorts, Merge and ForEach 0 stands for a number that is right for short
	// functions.
	//
	// With a Grain the pieces are always the same, whatever the number of workers, and so are the results of Reduce and of
	// scans of floating-point numbers.
	Grain int
}

// check panics if on makes no sense.
func (on On) check() {
	if on.Executor == nil {
		panic("parallel: On without an Executor")
	}
	if on.Grain < 0 {
		panic(fmt.Sprintf("parallel: Grain %d is negative", on.Grain))
	}
}

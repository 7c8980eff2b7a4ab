// Package parallel has loops, reductions, scans, sorting and searching in parallel.
//
//	on := parallel.On{Executor: ex}
//	err := parallel.For(ctx, on, 0, len(pixels), func(i int) { pixels[i] = shade(i) })
//	sum, err := parallel.Reduce(ctx, on, weights, 0, func(a, b int) int { return a + b })
//	err = parallel.Sort(ctx, on, keys)
//
// Every function waits until it is done and returns the same as the sequential one would. It may be called from anywhere,
// also from a task of the same executor, which takes part.
//
// What is called is called from several threads at once, each time for other elements. If ctx ends, what has not begun is
// left out, and the error is ctx's; so it is after a panic, which becomes a [*executor.PanicError]. Slices that were to be
// written are then left in between: sorted in part, but with all their elements (not so [SortStable] after a panic).
package parallel

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor"
)

// On says where to run, and in what pieces.
type On struct {
	Executor *executor.Executor
	// Grain is the number of elements that are worth a piece of their own. 0 means that it is found out while the work goes
	// on: pieces are split when a worker has nothing to do, and take about 20 µs before anybody looks whether one has.
	//
	// With a Grain the pieces are always the same, whatever the number of workers, and so are the results of Reduce and of
	// scans of floating-point numbers.
	Grain int
}

// check panics if on makes no sense for n elements.
func (on On) check(n int) {
	if on.Executor == nil {
		panic("parallel: On without an Executor")
	}
	if n < 0 || on.Grain < 0 {
		panic(fmt.Sprintf("parallel: %d elements, Grain %d: neither can be negative", n, on.Grain))
	}
}

// call runs fn on the executor; n is the number of elements.
func call[A, R any](ctx context.Context, on On, n int, fn func(*executor.Scope, A) R, arg A) (R, error) {
	on.check(n)
	return executor.Call(ctx, on.Executor, fn, arg)
}

package parallel

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor"
)

// Options select the executor, the size of the pieces, and how many workers take part. The zero value is a good choice.
// A call panics if Grain, Workers or MaxAhead is negative, or MaxAhead above 65536.
type Options struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Executor runs the work. nil stands for the executor of the context, see [executor.FromContext]: a task that
	// passes the context that it was given need not know its executor. If the context has none, nil stands for
	// [executor.Default].
	Executor *executor.Executor
	// Grain is the number of elements in a piece of work. 0 means that pieces are split on demand: every 64 elements a
	// worker checks whether another has nothing to do, and if so gives away half of the remaining elements. ForBlocks is
	// different, see there. For the sorts, Merge and ForEach, 0 stands for a number that suits short functions.
	//
	// With a Grain the pieces are the same for any number of workers, and so are the results of Reduce and of scans of
	// floating-point numbers.
	Grain int
	// Workers is the largest number of workers that call functions of the loop at a time. 0 means no limit. Runs that the
	// functions start count too: it is the Workers of [executor.RunOptions]. If a task calls the loop, its worker is one
	// of them while it takes part, and the limit of the task's own run holds besides.
	Workers int
	// MaxAhead is how many elements a loop over a sequence asks it for in advance: in ForEach elements that no worker has
	// taken, in MapSeq elements whose results the loop has not taken. Fewer than one for each worker count as so many. A
	// batch of ForEach has no more of them than one worker's part, whatever the Grain. MapSeq has room for all from the
	// start: some 70 bytes for each. 0 stands for four batches, or elements in MapSeq, for each worker. A smaller number
	// bounds the memory that large elements take. Two workers with elements of 8 MB took 222 MB in ForEach and 166 MB in
	// MapSeq without MaxAhead, and 70 MB and 53 MB with 2. Goroutines around a channel without a buffer took 54 MB (AMD
	// EPYC, Go 1.26, 2026-11-27).
	MaxAhead int
}

// mostAhead is the largest MaxAhead. MapSeq has room for all from the start.
const mostAhead = 1 << 16

// check returns o with an executor. It panics if ctx is nil, if o is invalid, or if the function of that name has a
// nil function among its arguments.
func (o Options) check(ctx context.Context, name string, hasNil bool) Options {
	switch {
	case hasNil:
		panic("parallel: " + name + " of a nil function")
	case ctx == nil:
		panic("parallel: " + name + " needs a context, got nil")
	case o.Grain < 0:
		panic(fmt.Sprintf("parallel: Grain %d is negative", o.Grain))
	case o.Workers < 0:
		panic(fmt.Sprintf("parallel: Workers %d is negative", o.Workers))
	case o.MaxAhead < 0:
		panic(fmt.Sprintf("parallel: MaxAhead %d is negative", o.MaxAhead))
	case o.MaxAhead > mostAhead:
		panic(fmt.Sprintf("parallel: MaxAhead %d: at most %d are possible", o.MaxAhead, mostAhead))
	}
	o.Executor = executor.Choose(ctx, o.Executor)
	return o
}

// workers returns how many workers may take part.
func (o Options) workers() int {
	n := o.Executor.Workers()
	if o.Workers > 0 {
		n = min(n, o.Workers)
	}
	return n
}

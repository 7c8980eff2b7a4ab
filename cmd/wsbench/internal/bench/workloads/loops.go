package workloads

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// A loop calls body for ranges that together are 0, …, n-1, and waits for all calls. Calls may be at the same time.
type loop func(n int, body func(lo, hi int)) error

// workerLoops runs fn as a task of ex. Its loops are parallel.ForBlocks with that grain, nested in the task's run.
func workerLoops(ex *executor.Executor, name string, grain int, fn func(loop) error) error {
	return ex.Run(context.Background(), executor.NewJob(name, func(s *executor.Scope) error {
		return fn(func(n int, body func(lo, hi int)) error {
			return parallel.ForBlocks(s.Context(), parallel.Options{Executor: ex, Grain: grain}, 0, n, body)
		})
	}))
}

// goroutineLoops runs fn. Its loops are on at most workers goroutines, which take ranges of at most grain indices from
// a counter, and return no error.
func goroutineLoops(workers, grain int, fn func(loop) error) {
	err := fn(func(n int, body func(lo, hi int)) error {
		var next atomic.Int64
		take := func() {
			for {
				lo := int(next.Add(int64(grain))) - grain
				if lo >= n {
					return
				}
				body(lo, min(n, lo+grain))
			}
		}
		var wg sync.WaitGroup
		for range min(workers-1, (n-1)/grain) {
			wg.Go(take)
		}
		take()
		wg.Wait()
		return nil
	})
	if err != nil {
		panic(err) // fn returned an error of its own
	}
}

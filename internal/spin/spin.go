// Package spin has plain threads that compute until they are told to end: LOOP of document 004, the program beside
// others that no scheduler of tasks runs.
package spin

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/procs"
)

// A Usage is what threads have used and done.
type Usage struct {
	Threads int
	Wall    time.Duration // from before the start of the first thread to the end of the last
	CPU     time.Duration // of the threads; where the system does not tell that, of the process
	Rounds  uint64        // of arithmetic, by all threads
}

// Run computes on so many threads until ctx ends. GOMAXPROCS is higher by their number meanwhile, so each thread has a P
// and the other goroutines keep theirs.
//
// The threads work in registers, and look at one shared word after each round. They do not compete for caches or memory
// with what runs beside them.
func Run(ctx context.Context, threads int) Usage {
	defer procs.Reserve(threads)()
	var end atomic.Bool
	defer context.AfterFunc(ctx, func() { end.Store(true) })()

	used := make([]Usage, threads)
	before, begin := osthread.ProcessCPU(), time.Now()
	var wg sync.WaitGroup
	for i := range used {
		wg.Go(func() { used[i] = spin(&end) })
	}
	wg.Wait()
	sum := Usage{Threads: threads, Wall: time.Since(begin)}
	for _, u := range used {
		sum.CPU += u.CPU
		sum.Rounds += u.Rounds
	}
	if _, err := osthread.CPU(osthread.ID()); err != nil {
		sum.CPU = osthread.ProcessCPU() - before
	}
	return sum
}

// roundLength is the number of multiplications in a round, which takes about a microsecond.
const roundLength = 1000

// spin computes on the thread of the calling goroutine.
func spin(end *atomic.Bool) (u Usage) {
	osthread.Lock()
	defer osthread.Unlock()
	id := osthread.ID()
	before, _ := osthread.CPU(id)
	x := uint64(id) | 1
	for ; !end.Load(); u.Rounds++ {
		for range roundLength {
			x *= 6364136223846793005
		}
		if x == 0 { // never, as x is odd, but the compiler must compute x
			break
		}
	}
	after, _ := osthread.CPU(id)
	u.CPU = after - before
	return u
}

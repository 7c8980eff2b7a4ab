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

// Run computes on so many threads until ctx ends. GOMAXPROCS is higher by their number meanwhile, so each thread has a
// P and the other goroutines keep theirs.
//
// The threads work in registers, and look at one shared word after each round. They do not compete for caches or memory
// with what runs beside them.
func Run(ctx context.Context, threads int) Usage {
	var end atomic.Bool
	defer context.AfterFunc(ctx, func() { end.Store(true) })()
	return run(threads, &end, func() {}, func() {})
}

// RunRounds computes on so many threads until the caller tells them to end, as LOOP's main thread does: it sleeps until
// all together have made that many rounds. Each thread makes some more until it hears of the end.
func RunRounds(threads int, rounds uint64) Usage {
	var end atomic.Bool
	var made atomic.Uint64
	var enough sync.WaitGroup
	enough.Add(1)
	return run(threads, &end, func() {
		if sum := made.Add(tellEvery); sum >= rounds && sum-tellEvery < rounds {
			enough.Done()
		}
	}, func() {
		enough.Wait()
		end.Store(true)
	})
}

// tellEvery is the number of rounds after which a thread tells the others, on a shared word.
const tellEvery = 64

// run computes on so many threads until end is true. Each calls made after every tellEvery rounds, and the caller calls
// notify once all have been started.
func run(threads int, end *atomic.Bool, made, notify func()) Usage {
	defer procs.Reserve(threads).Release()
	used := make([]Usage, threads)
	before, begin := osthread.ProcessCPU(), time.Now()
	var wg sync.WaitGroup
	for i := range used {
		wg.Go(func() { used[i] = spin(end, made) })
	}
	notify()
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
func spin(end *atomic.Bool, made func()) (u Usage) {
	osthread.Lock()
	defer osthread.Unlock()
	id := osthread.ID()
	before, _ := osthread.CPU(id)
	x := uint64(id) | 1
	for ; !end.Load(); u.Rounds++ {
		for range roundLength {
			x *= 6364136223846793005
		}
		if (u.Rounds+1)%tellEvery == 0 {
			made()
		}
		if x == 0 { // never, as x is odd, but the compiler must compute x
			break
		}
	}
	after, _ := osthread.CPU(id)
	u.CPU = after - before
	return u
}

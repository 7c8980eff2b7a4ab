package osthread

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
)

// TestYieldIsWhereTheWorldStops collects garbage while locked threads only look and yield. When Yield was inlined into
// such a loop, the runtime had no place to stop it, and one collection took more than a second.
func TestYieldIsWhereTheWorldStops(t *testing.T) {
	const spinners = 3
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spinners) // as an executor does: no goroutine waits for a P
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - spinners)
	var (
		stop atomic.Bool
		wg   sync.WaitGroup
	)
	for range spinners {
		wg.Go(func() {
			runtime.LockOSThread()
			for !stop.Load() {
				Yield()
			}
		})
	}
	testkit.Within(t, testkit.Patience, func() {
		for range testkit.Scale(500) {
			runtime.GC()
		}
	})
	stop.Store(true)
	wg.Wait()
}

package procs

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestAnyWaits: with one P, a goroutine that has been started waits until the calling one gives the P away.
func TestAnyWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// The runtime may have just preempted this goroutine, and run the other.
	testkit.Fits(t, func() string {
		var ran atomic.Bool
		go ran.Store(true)
		waits := AnyWaits()
		switch {
		case waits:
		case ran.Load():
			return "the goroutine has run already"
		default:
			require.True(t, ran.Load() || AnyWaits(), "it is ready, and has not run")
			return "the goroutine was about to run"
		}
		for !ran.Load() {
			runtime.Gosched()
		}
		return ""
	})
	for AnyWaits() { // others of the process have their turn now and then
		runtime.Gosched()
	}
}

func TestAnyWaitsAllocatesNothing(t *testing.T) {
	testkit.Fits(t, func() string {
		if testing.AllocsPerRun(100, func() { AnyWaits() }) > 0 {
			return "it allocates" // after a garbage collection, which empties the pool
		}
		return ""
	})
}

//go:build !modelcheck

package executor_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
)

// descend calls itself, with frames of different sizes, and notes each frame until its goroutine's stack has n of them.
// Then it waits.
func descend(n int, rng *rand.Rand, frames *[]uintptr, ready func()) {
	var frame struct{}
	*frames = append(*frames, executor.FrameOf(&frame))
	if n == 0 {
		ready()
		return
	}
	if rng.IntN(4) == 0 {
		var room [300]byte
		descend(n-1, rng, frames, ready)
		room[n%300] = 1
		return
	}
	descend(n-1, rng, frames, ready)
}

// The stacks of many goroutines lie side by side. No frame of one is beside a frame of another, and most frames are
// beside their callers'.
func TestFramesOfStacksApart(t *testing.T) {
	const goroutines = 500
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC() // waits for one that is in progress: it would move stacks that are large for their use
	frames := make([][]uintptr, goroutines)
	var done sync.WaitGroup
	var ready [2]sync.WaitGroup // by pass: a stack grows, and moves, in the first only
	var free [2]chan struct{}
	for pass := range free {
		ready[pass].Add(goroutines)
		free[pass] = make(chan struct{})
	}
	seed := testkit.Seed(t)
	for i := range goroutines {
		done.Go(func() {
			for pass := range free {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				frames[i] = frames[i][:0]
				descend(rng.IntN(60), rng, &frames[i], func() {
					ready[pass].Done()
					<-free[pass]
				})
			}
		})
	}
	ready[0].Wait()
	close(free[0])
	ready[1].Wait()
	defer done.Wait()
	defer close(free[1])

	type place struct {
		at        uintptr
		goroutine int
	}
	var all []place
	calls, beside := 0, 0
	for i, own := range frames {
		for j, at := range own {
			all = append(all, place{at, i})
			if j > 0 {
				calls++
				if executor.IsBeside(at, own[j-1]) {
					beside++
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	neighbours := 0
	for i, p := range all[1:] {
		if before := all[i]; before.goroutine != p.goroutine {
			require.False(t, executor.IsBeside(p.at, before.at), "frames %#x and %#x of two stacks", before.at, p.at)
			if p.at-before.at < 1<<12 {
				neighbours++
			}
		}
	}
	require.Positive(t, neighbours, "no two stacks are side by side: the test shows nothing")
	require.Greater(t, beside, calls*9/10)
}

// No address of noFrameBeside is beside a frame of another stack.
func TestNoFrameBesideOtherStacks(t *testing.T) {
	const lowest = 800         // of the addresses of frames, above the low end of a stack
	border := uintptr(1 << 30) // the low end of a stack, and the high end of another
	for above := border + lowest; above < border+4096; above += 8 {
		for below := border - 2048; below < border; below += 8 {
			require.False(t, executor.IsBeside(below, executor.NoFrameBeside(above)), "%#x %#x", below, above)
			require.False(t, executor.IsBeside(above, executor.NoFrameBeside(below)), "%#x %#x", below, above)
		}
	}
}

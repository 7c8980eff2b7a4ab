//go:build !modelcheck

package executor_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
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

// The stacks of many goroutines lie side by side. What a worker knows of its stack, from the frames on it, has no frame
// of another, and most frames are known when they are made.
func TestFramesOfStacksApart(t *testing.T) {
	goroutines := max(150, testkit.Scale(500))
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

	stacks := make([]executor.Stack, goroutines)
	calls, known := 0, 0
	for i, own := range frames {
		for _, at := range own {
			calls++
			if stacks[i].Has(at) {
				known++
				continue
			}
			require.False(t, stacks[i].Note(at), "taken for moved")
			require.True(t, stacks[i].Has(at))
		}
	}
	neighbours := 0
	for i := range stacks {
		for j, others := range frames {
			if i == j {
				continue
			}
			for _, at := range others {
				require.False(t, stacks[i].Has(at), "frame %#x of another stack", at)
				if stacks[i].Has(at-4096) || stacks[i].Has(at+4096) {
					neighbours++
				}
			}
		}
	}
	require.Positive(t, neighbours, "no two stacks are side by side: the test shows nothing")
	require.Greater(t, known, calls*8/10)
}

// A stack knows what lies between two places where the worker has been, unless they are far apart: then the runtime may
// have moved the stack in between.
func TestStackBetween(t *testing.T) {
	const block = 2048
	at := uintptr(100*block + 8)
	for _, test := range []struct {
		name     string
		further  uintptr
		moved    bool
		has, not []uintptr
	}{
		{"one block", at + 16, false, []uintptr{100 * block, 101*block - 8}, []uintptr{100*block - 8, 101 * block}},
		{"the next", at + block, false, []uintptr{100 * block, 102*block - 8}, []uintptr{100*block - 8, 102 * block}},
		{"one below", at - 3*block, false, []uintptr{97 * block, 98 * block, at}, []uintptr{97*block - 8, 101 * block}},
		{"far above", at + 40*block, true, []uintptr{140 * block}, []uintptr{at, 139 * block, 141 * block}},
		{"far below", at - 40*block, true, []uintptr{60 * block}, []uintptr{at, 59 * block, 61 * block}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s executor.Stack
			require.False(t, s.Has(at))
			require.False(t, s.Note(at))
			require.Equal(t, test.moved, s.Note(test.further))
			for _, here := range test.has {
				require.True(t, s.Has(here), "%d", here)
			}
			for _, here := range test.not {
				require.False(t, s.Has(here), "%d", here)
			}
		})
	}
}

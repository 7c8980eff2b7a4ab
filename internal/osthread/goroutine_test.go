package osthread

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbersOf calls number in n goroutines that live at a time, on threads of their own if they are locked, and says how
// many have each number. It is an error if one changes.
func numbersOf[N comparable](t *testing.T, n int, locked bool, number func() N) map[N]int {
	seen := make(map[N]int)
	var mu sync.Mutex
	var all, again sync.WaitGroup
	all.Add(n)
	for range n {
		again.Go(func() {
			if locked {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			first := number()
			mu.Lock()
			seen[first]++
			mu.Unlock()
			all.Done()
			all.Wait()
			for range 100 {
				runtime.Gosched()
				if number() != first {
					t.Error("another number in the same place")
				}
			}
		})
	}
	again.Wait()
	return seen
}

// TestGoroutine: each of the goroutines that live at a time has a number of its own, which stays on every thread, or
// all have 0.
func TestGoroutine(t *testing.T) {
	const n = 50
	seen := numbersOf(t, n, false, Goroutine)
	if Goroutine() == 0 {
		require.Equal(t, map[uint64]int{0: n}, seen)
		return
	}
	require.Len(t, seen, n)
	require.NotContains(t, seen, Goroutine())
}

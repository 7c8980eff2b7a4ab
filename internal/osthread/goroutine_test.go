package osthread

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoroutine: each of the goroutines that live at a time has a number of its own, which stays on every thread, or all
// have 0.
func TestGoroutine(t *testing.T) {
	const n = 50
	seen := make(map[uint64]int)
	var mu sync.Mutex
	var all, again sync.WaitGroup
	all.Add(n)
	for range n {
		again.Go(func() {
			number := Goroutine()
			mu.Lock()
			seen[number]++
			mu.Unlock()
			all.Done()
			all.Wait()
			for range 100 {
				runtime.Gosched()
				if Goroutine() != number {
					t.Error("another number in the same goroutine")
				}
			}
		})
	}
	again.Wait()
	if Goroutine() == 0 {
		require.Equal(t, map[uint64]int{0: n}, seen)
		return
	}
	require.Len(t, seen, n)
	require.NotContains(t, seen, Goroutine())
}

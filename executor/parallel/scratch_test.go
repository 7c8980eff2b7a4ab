package parallel_test

import (
	"cmp"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
)

// Sorts of large slices take over memory from each other, and none that another uses.
func TestSortsShareTheirScratch(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	seed := testkit.Seed(t)
	testkit.Within(t, testkit.Patience, func() {
		var wg sync.WaitGroup
		for i := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, i))
			wg.Go(func() {
				sortLarge(t, ex, rng, func(x int32) int64 { return int64(x) })
				sortLarge(t, ex, rng, func(x int32) float32 { return float32(x) })
				sortLarge(t, ex, rng, func(x int32) string { return strconv.Itoa(int(x)) })
			})
		}
		wg.Wait()
	})
}

func sortLarge[T cmp.Ordered](t *testing.T, ex *executor.Executor, rng *rand.Rand, from func(int32) T) {
	const n = 3 << 17
	random, room := make([]T, n), make([]T, n)
	for i := range random {
		random[i] = from(rng.Int32())
	}
	for range testkit.Scale(20) {
		first := rng.IntN(n / 3) // what is left is long enough for the scratch
		s := room[first:]
		copy(s, random[first:])
		err := parallel.Sort(t.Context(), parallel.Options{Executor: ex}, s)
		if err != nil || !slices.IsSorted(s) || sumOf(s) != sumOf(random[first:]) {
			t.Errorf("the slice is not sorted: %v", err)
		}
		if rng.IntN(8) == 0 {
			runtime.GC() // nothing else makes it run
		}
	}
}

var seedOfSums = maphash.MakeSeed()

// sumOf returns a sum that is the same in every order of the elements, and otherwise for other elements.
func sumOf[T comparable](s []T) (sum uint64) {
	for _, x := range s {
		sum += maphash.Comparable(seedOfSums, x)
	}
	return sum
}

// The garbage collector frees the memory that a sort has left for the next.
func TestScratchIsFreed(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	defer ex.Close()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const n = 4 << 20
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(rand.Uint64())
	}
	before := heap()
	require.NoError(t, parallel.Sort(t.Context(), parallel.Options{Executor: ex}, s))
	// A worker that loses its core behind the sort may have an old pointer on its stack, until it goes on.
	testkit.Until(t, "no part of the scratch, which has eight times as many bytes, is left", func() bool {
		return heap()-before < n
	})
	runtime.KeepAlive(s)
}

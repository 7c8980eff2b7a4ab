package parallel_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// drawBound draws an index, most often one near where arithmetic on int ends.
func drawBound(rng *rand.Rand) int {
	near := []int{math.MinInt, math.MinInt / 2, math.MinInt32, -1, 0, 1, math.MaxInt32, math.MaxInt / 2, math.MaxInt}
	if rng.IntN(8) == 0 {
		return int(rng.Uint64())
	}
	return near[rng.IntN(len(near))] + rng.IntN(40) - 20 // may wrap round: an index near the other end
}

// drawGrain draws a grain, most often one with which there are few pieces.
func drawGrain(rng *rand.Rand, length uint) int {
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return math.MaxInt - rng.IntN(3)
	case 2:
		return int(min(length/uint(1+rng.IntN(50))+1, math.MaxInt))
	}
	if length < 1000 {
		return 1 + rng.IntN(20)
	}
	return int(length/uint(500+rng.IntN(500))/2) + 1
}

func executorsForBounds(t *testing.T) []*executor.Executor {
	var all []*executor.Executor
	for _, workers := range []int{1, 2, 3} {
		// A worker that waits for the world to stop seems to block, and its stand-in would call the function as well.
		ex, err := executor.New(executor.Config{Workers: workers, Threads: host.Threads{OnlyBlocking: true}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, ex.Close()) })
		all = append(all, ex)
	}
	return all
}

// The blocks that ForBlocks makes make up lo, …, hi-1, wherever these are and however many.
func TestForBlocksNearTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	long := 0
	for i := range testkit.Scale(300) {
		lo, hi := drawBound(rng), drawBound(rng)
		if i == 0 {
			lo, hi = math.MinInt, math.MaxInt // few draws may have no range longer than MaxInt
		}
		length := uint(0)
		if lo < hi {
			length = uint(hi) - uint(lo)
		}
		o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: drawGrain(rng, length)}
		type piece struct{ lo, hi int }
		var mu sync.Mutex
		var pieces []piece
		testkit.Within(t, testkit.Patience, func() {
			require.NoError(t, parallel.ForBlocks(t.Context(), o, lo, hi, func(lo, hi int) {
				mu.Lock()
				defer mu.Unlock()
				pieces = append(pieces, piece{lo, hi})
			}))
		})
		slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.lo, b.lo) })
		at := min(lo, hi)
		for i, p := range pieces {
			require.Equal(t, at, p.lo, "ForBlocks(%d, %d), Grain %d: range %d of %v", lo, hi, o.Grain, i, pieces)
			require.Positive(t, p.hi-p.lo, "ForBlocks(%d, %d), Grain %d: range %d is empty, or its length overflows", lo,
				hi, o.Grain, i)
			if o.Grain > 0 {
				require.LessOrEqual(t, p.hi-p.lo, o.Grain)
			}
			at = p.hi
		}
		require.Equal(t, hi, max(at, hi))
		require.Equal(t, max(lo, hi) == hi && lo != hi, at == hi && len(pieces) > 0,
			"ForBlocks(%d, %d), Grain %d ends at %d", lo, hi, o.Grain, at)
		if length > math.MaxInt {
			long++
		}
	}
	require.Positive(t, long, "no range was longer than MaxInt")
}

// For runs, wherever its range lies and however long it is. It calls the body for no index outside it, and for each
// index once if there is time for that.
func TestForNearTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	for range testkit.Scale(300) {
		lo, hi := drawBound(rng), drawBound(rng)
		if lo > hi {
			lo, hi = hi, lo
		}
		length := uint(hi) - uint(lo)
		o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: drawGrain(rng, length)}
		var calls, outside atomic.Int64
		ctx, cancel := context.WithCancelCause(t.Context())
		seen := make([]atomic.Int32, min(length, 1000))
		testkit.Within(t, testkit.Patience, func() {
			err := parallel.For(ctx, o, lo, hi, func(i int) {
				if i < lo || i >= hi {
					outside.Add(1)
				}
				if at := uint(i) - uint(lo); at < uint(len(seen)) {
					seen[at].Add(1)
				}
				if calls.Add(1); length > 1000 {
					cancel(errTest)
				}
			})
			if length > 1000 {
				require.ErrorIs(t, err, errTest, "For(%d, %d), Grain %d", lo, hi, o.Grain)
			} else {
				require.NoError(t, err)
			}
		})
		cancel(nil)
		require.Zero(t, outside.Load(), "For(%d, %d), Grain %d", lo, hi, o.Grain)
		if length > 1000 {
			require.Positive(t, calls.Load(), "For(%d, %d), Grain %d calls nothing", lo, hi, o.Grain)
			continue
		}
		for i := range seen {
			require.EqualValues(t, 1, seen[i].Load(), "For(%d, %d), Grain %d: index %d", lo, hi, o.Grain, lo+i)
		}
	}
}

// The longest possible slices, whose elements take no memory: each function calls its argument, and ends when that
// cancels the context.
func TestLongestSlices(t *testing.T) {
	type none = struct{}
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	functions := map[string]func(ctx context.Context, o parallel.Options, s, half []none, call func()) error{
		"ForSlice": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			return parallel.ForSlice(ctx, o, s, func(int, *none) { call() })
		},
		"Map": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			return parallel.Map(ctx, o, s, s, func(none) none { call(); return none{} })
		},
		"Reduce": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			_, err := parallel.Reduce(ctx, o, s, func(none, none) none { call(); return none{} })
			return err
		},
		"MapReduce": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			_, err := parallel.MapReduce(ctx, o, s, func(none) int { call(); return 1 }, func(a, b int) int {
				return a + b
			})
			return err
		},
		"Fold": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			_, err := parallel.Fold(ctx, o, s, func() int { return 0 },
				func(n int, _ none) int { call(); return n + 1 }, func(a, b int) int { return a + b })
			return err
		},
		"Scan": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			return parallel.Scan(ctx, o, s, s, func(none, none) none { call(); return none{} })
		},
		"ExclusiveScan": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			return parallel.ExclusiveScan(ctx, o, s, s, none{}, func(none, none) none { call(); return none{} })
		},
		"SortFunc": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			return parallel.SortFunc(ctx, o, s, func(none, none) int { call(); return 0 })
		},
		"SortStableFunc": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			return parallel.SortStableFunc(ctx, o, s, func(none, none) int { call(); return 0 })
		},
		"Merge": func(ctx context.Context, o parallel.Options, s, half []none, call func()) error {
			return parallel.Merge(ctx, o, s, half, s[len(half):], func(none, none) int { call(); return 0 })
		},
		"IndexFunc": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			_, err := parallel.IndexFunc(ctx, o, s, func(none) bool { call(); return false })
			return err
		},
		"ContainsFunc": func(ctx context.Context, o parallel.Options, s, _ []none, call func()) error {
			_, err := parallel.ContainsFunc(ctx, o, s, func(none) bool { call(); return false })
			return err
		},
	}
	for name, f := range functions {
		for range testkit.Scale(30) {
			s := make([]none, math.MaxInt-rng.IntN(3))
			half := s[:len(s)/2+rng.IntN(9)-4]
			o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: drawGrain(rng, uint(len(s)))}
			switch name {
			case "SortFunc", "SortStableFunc", "Merge": // which go through a piece to its end
				o.Grain = rng.IntN(20)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			var calls atomic.Int64
			testkit.Within(t, testkit.Patience, func() {
				err := f(ctx, o, s, half, func() {
					if calls.Add(1) == 100 {
						cancel(errTest)
					}
				})
				require.ErrorIs(t, err, errTest, "%s of %d, Grain %d", name, len(s), o.Grain)
			})
			cancel(nil)
			require.GreaterOrEqual(t, calls.Load(), int64(100), "%s of %d, Grain %d", name, len(s), o.Grain)
		}
	}
}

// Two slices may have more elements than any third.
func TestMergeOfTooMany(t *testing.T) {
	ex := executorsForBounds(t)[1]
	s := make([]struct{}, math.MaxInt)
	order := func(struct{}, struct{}) int { panic(errors.New("called")) }
	for _, dst := range [][]struct{}{nil, s, s[:math.MaxInt-1]} {
		require.PanicsWithValue(t, "parallel: Merge of slices that differ in length", func() {
			_ = parallel.Merge(t.Context(), parallel.Options{Executor: ex}, dst, s, s, order)
		})
	}
}

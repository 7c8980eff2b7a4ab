package parallel_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestForStep(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, step := range []int{1, 2, 7, 1000, math.MaxInt, -1, -2, -7, -1000, math.MinInt} {
			for _, hi := range []int{0, 1, 2, 20, 1023} {
				lo, hi := -3, hi
				if step < 0 {
					lo, hi = hi, lo
				}
				var mu sync.Mutex
				var got, want []int
				for i := lo; (step > 0 && i < hi) || (step < 0 && i > hi); i += step {
					want = append(want, i)
					if i > 0 && step > math.MaxInt-i || i < 0 && step < math.MinInt-i {
						break
					}
				}
				require.NoError(t, parallel.ForStep(t.Context(), o, lo, hi, step, func(i int) {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, i)
				}))
				slices.Sort(got)
				slices.Sort(want)
				require.Equal(t, want, got, "from %d to %d by %d", lo, hi, step)
			}
		}
		require.NoError(t, parallel.ForStep(t.Context(), o, 2, 5, -1, func(int) { t.Error("called") }))
		require.NoError(t, parallel.ForStep(t.Context(), o, 5, 5, 1, func(int) { t.Error("called") }))
	})
}

// Wherever the indices lie, and however long the step is, ForStep calls its body for lo+k*step.
func TestForStepNearTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	for range testkit.Scale(300) {
		lo, hi := drawBound(rng), drawBound(rng)
		step := []int{1, 2, 3, math.MaxInt, math.MaxInt / 2, 1 << (rng.IntN(math.MaxInt32) % 30)}[rng.IntN(6)]
		if rng.IntN(2) == 0 {
			step = -step
		}
		var n uint // of indices
		if step > 0 && lo < hi {
			n = (uint(hi)-uint(lo)-1)/uint(step) + 1
		} else if step < 0 && lo > hi {
			n = (uint(lo)-uint(hi)-1)/uint(-step) + 1
		}
		o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: drawGrain(rng, n)}
		var calls, wrong atomic.Int64
		err := parallel.ForStepErr(t.Context(), o, lo, hi, step, func(_ context.Context, i int) error {
			k := (uint(i) - uint(lo)) / uint(step)
			if step < 0 {
				k = (uint(lo) - uint(i)) / uint(-step)
			}
			if lo+int(k)*step != i || k >= n {
				wrong.Add(1)
			}
			if calls.Add(1) == 1000 {
				return errTest
			}
			return nil
		})
		require.Zero(t, wrong.Load(), "from %d to %d by %d", lo, hi, step)
		if n >= 1000 {
			require.Equal(t, errTest, err, "from %d to %d by %d", lo, hi, step)
		} else {
			require.NoError(t, err)
			require.EqualValues(t, n, calls.Load(), "from %d to %d by %d", lo, hi, step)
		}
	}
}

// Every cell is in one tile, and no tile is larger than asked for.
func TestForTiles(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, size := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {1, 50}, {33, 1}, {31, 17}} {
			for _, tile := range [][2]int{{1, 1}, {2, 3}, {16, 16}, {math.MaxInt, 1}, {5, math.MaxInt}} {
				rows, cols := size[0], size[1]
				hits := make([]int32, rows*cols)
				grid := parallel.Tile{RowLo: -4, RowHi: rows - 4, ColLo: 9, ColHi: cols + 9}
				require.NoError(t, parallel.ForTiles(t.Context(), o, grid, tile[0], tile[1], func(x parallel.Tile) {
					if x.RowLo >= x.RowHi || x.ColLo >= x.ColHi || x.RowHi-x.RowLo > tile[0] ||
						x.ColHi-x.ColLo > tile[1] {
						t.Errorf("%v of %v", x, tile)
					}
					for r := x.RowLo; r < x.RowHi; r++ {
						for c := x.ColLo; c < x.ColHi; c++ {
							hits[(r+4)*cols+c-9]++
						}
					}
				}))
				for i, n := range hits {
					require.EqualValues(t, 1, n, "cell %d of %v in tiles of %v", i, size, tile)
				}
			}
		}
	})
	o := parallel.Options{Executor: executorsForBounds(t)[0]}
	body := func(x parallel.Tile) { t.Error("called") }
	everything := parallel.Tile{math.MinInt, math.MaxInt, math.MinInt, math.MaxInt}
	for _, size := range [][2]int{{0, 1}, {1, 0}, {-1, 5}, {1, math.MinInt}} {
		require.PanicsWithValue(t, "parallel: ForTiles with tiles of no size", func() {
			_ = parallel.ForTiles(t.Context(), o, parallel.Tile{}, size[0], size[1], body)
		})
	}
	require.PanicsWithValue(t, "parallel: ForTiles with more than MaxInt tiles", func() {
		_ = parallel.ForTiles(t.Context(), o, everything, 1, 1, body)
	})
	require.PanicsWithValue(t, "parallel: ForTiles with more than MaxInt tiles", func() {
		_ = parallel.ForTiles(t.Context(), o, everything, math.MaxInt, 1, body)
	})
	tiles := 0
	require.NoError(t, parallel.ForTiles(t.Context(), o, everything, math.MaxInt, math.MaxInt, func(x parallel.Tile) {
		require.Positive(t, x.RowHi-x.RowLo)
		require.Positive(t, x.ColHi-x.ColLo)
		tiles++
	}))
	require.Equal(t, 9, tiles)
	require.PanicsWithValue(t, "parallel: ForStep with step 0", func() {
		_ = parallel.ForStep(t.Context(), o, 0, 0, 0, func(int) {})
	})
}

func TestMap2(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range lengths {
			a, b := indices(n), indices(2 * n)[n:]
			require.NoError(t, parallel.Map2(t.Context(), o, a, a, b, func(x, y int) int { return y - 2*x }))
			for i, x := range a {
				require.Equal(t, n-i, x)
			}
		}
		for _, n := range [][3]int{{1, 2, 2}, {2, 1, 2}, {2, 2, 1}} {
			require.PanicsWithValue(t, "parallel: Map2 of slices that differ in length", func() {
				_ = parallel.Map2(t.Context(), o, make([]int, n[0]), make([]int, n[1]), make([]int, n[2]),
					func(x, y int) int { return 0 })
			})
		}
	})
}

func TestFilter(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for _, n := range lengths {
			for _, most := range []int{1, 3} {
				s := numbers(rng, n, most)
				before := slices.Clone(s)
				var kept, flat []int
				for _, x := range s {
					if x == 0 {
						kept = append(kept, x)
					}
					flat = append(flat, indices(x%4)...)
				}
				got, err := parallel.Filter(t.Context(), o, s, func(x int) bool { return x == 0 })
				require.NoError(t, err)
				require.True(t, slices.Equal(kept, got), "of %d", n)
				require.Equal(t, kept == nil, got == nil)
				require.True(t, slices.Equal(before, s))
				got, err = parallel.FlatMap(t.Context(), o, s, func(to []int, x int) []int {
					return append(to, indices(x%4)...)
				})
				require.NoError(t, err)
				require.True(t, slices.Equal(flat, got), "of %d", n)
				require.Equal(t, flat == nil, got == nil)
			}
		}
	})
}

func TestReduceFor(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range lengths {
			got, err := parallel.ReduceFor(t.Context(), o, -n, n, func(i int) span { return span{i, i + 1} },
				func(a, b span) span {
					if a.hi != b.lo {
						panic("not neighbours")
					}
					return span{a.lo, b.hi}
				})
			require.NoError(t, err)
			require.Equal(t, span{-n, n}, got)
		}
		got, err := parallel.ReduceFor(t.Context(), o, 5, 3, func(int) int { panic("called") }, neverAdd)
		require.NoError(t, err)
		require.Zero(t, got)
	})
}

func neverAdd(int, int) int { panic("called") }

// As in package slices, the first of equal elements counts, and a NaN comes before all.
func TestMinAndMax(t *testing.T) {
	type pair struct{ key, at int }
	order := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for _, n := range lengths {
			keys := numbers(rng, n, 1+n/4)
			pairs := make([]pair, n)
			floats := make([]float64, n)
			for i, key := range keys {
				pairs[i] = pair{key, i}
				floats[i] = float64(key)
				if n%2 == 1 && rng.IntN(n) < 2 {
					floats[i] = math.NaN()
				}
			}
			var least, greatest pair
			minAt, maxAt, minNaN, maxNaN := -1, -1, -1, -1
			if n > 0 {
				least, greatest = slices.MinFunc(pairs, order), slices.MaxFunc(pairs, order)
				minAt, maxAt = least.at, greatest.at
				minNaN, maxNaN = minAt, maxAt
				if i := slices.IndexFunc(floats, math.IsNaN); i >= 0 {
					minNaN, maxNaN = i, i
				}
			}
			check := func(want any) func(got any, err error) {
				return func(got any, err error) {
					t.Helper()
					require.NoError(t, err)
					require.Equal(t, want, got, "of %d", n)
				}
			}
			ctx := t.Context()
			got, err := parallel.MinFunc(ctx, o, pairs, order)
			check(least)(got, err)
			got, err = parallel.MaxFunc(ctx, o, pairs, order)
			check(greatest)(got, err)
			at, err := parallel.MinIndexFunc(ctx, o, pairs, order)
			check(minAt)(at, err)
			at, err = parallel.MaxIndexFunc(ctx, o, pairs, order)
			check(maxAt)(at, err)
			at, err = parallel.MinIndex(ctx, o, keys)
			check(minAt)(at, err)
			at, err = parallel.MaxIndex(ctx, o, keys)
			check(maxAt)(at, err)
			at, err = parallel.MinIndex(ctx, o, floats)
			check(minNaN)(at, err)
			at, err = parallel.MaxIndex(ctx, o, floats)
			check(maxNaN)(at, err)
		}
	})
}

// f is called once for each element, and op combines neighbours.
func TestMapScan(t *testing.T) {
	op := func(a, b span) span {
		if a.hi != b.lo {
			panic("not neighbours")
		}
		return span{a.lo, b.hi}
	}
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range lengths {
			calls := make([]int, n)
			f := func(i int) span { calls[i]++; return span{i, i + 1} }
			dst := make([]span, n)
			require.NoError(t, parallel.MapScan(t.Context(), o, dst, indices(n), f, op))
			require.True(t, slices.Equal(sums(n, true), dst))
			require.NoError(t, parallel.ExclusiveMapScan(t.Context(), o, dst, indices(n), span{-1, 0}, f, op))
			require.True(t, slices.Equal(sums(n, false), dst))
			require.True(t, slices.Equal(slices.Repeat([]int{2}, n), calls))
		}
		for _, n := range []int{1, 3} {
			require.PanicsWithValue(t, "parallel: MapScan of slices that differ in length", func() {
				_ = parallel.MapScan(t.Context(), o, make([]span, n), make([]int, 2), func(int) span {
					return span{}
				}, op)
			})
		}
	})
}

package parallel_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A crowd counts those that are in it.
type crowd struct{ now, most atomic.Int64 }

// visit is called by each that comes, and goes at once.
func (c *crowd) visit() {
	now := c.now.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	for range 20 {
		c.now.Load()
	}
	c.now.Add(-1)
}

// With Workers no more workers than that call functions of the loop at a time, from outside and from a task.
func TestLimit(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 4})
	require.NoError(t, err)
	defer ex.Close()
	const n = 3000
	for limit := 1; limit <= 3; limit++ {
		for _, grain := range []int{0, 1, 100} {
			on := parallel.On{Executor: ex, Grain: grain, Workers: limit}
			for name, f := range fails {
				var c crowd
				loop := func(ctx context.Context) error {
					got, err := f.call(ctx, on, n, func(context.Context, int) error { c.visit(); return nil })
					if err == nil {
						require.Equal(t, f.want(n), got, name)
					}
					return err
				}
				testkit.Within(t, testkit.Patience, func() {
					require.NoError(t, loop(t.Context()), name)
					require.NoError(t, ex.Run(t.Context(), executor.Func("task", func(s *executor.Scope) error {
						return loop(s.Context())
					})))
				})
				require.LessOrEqual(t, c.most.Load(), int64(limit), "%s, Grain %d", name, grain)
			}
			for name, sort := range map[string]func(order func(a, b int) int) error{
				"SortFunc": func(order func(a, b int) int) error {
					return parallel.SortFunc(t.Context(), on, indices(n), order)
				},
				"SortStableFunc": func(order func(a, b int) int) error {
					return parallel.SortStableFunc(t.Context(), on, indices(n), order)
				},
				"Merge": func(order func(a, b int) int) error {
					return parallel.Merge(t.Context(), on, make([]int, 2*n), indices(n), indices(n), order)
				},
			} {
				var c crowd
				require.NoError(t, sort(func(a, b int) int { c.visit(); return a - b }))
				require.LessOrEqual(t, c.most.Load(), int64(limit), "%s, Grain %d", name, grain)
			}
		}
	}
}

// As many workers as Workers says do take part, and loops inside the loop count against it.
func TestLimitIsReached(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 4})
	require.NoError(t, err)
	defer ex.Close()
	for limit := 1; limit <= 3; limit++ {
		var in atomic.Int32
		testkit.Within(t, testkit.Patience, func() {
			require.NoError(t, parallel.For(t.Context(), parallel.On{Executor: ex, Grain: 1, Workers: limit}, 0, limit,
				func(int) {
					in.Add(1)
					for int(in.Load()) < limit {
					}
				}))
		})
		var c crowd
		require.NoError(t, parallel.ForErr(t.Context(), parallel.On{Executor: ex, Workers: limit}, 0, 100,
			func(ctx context.Context, _ int) error {
				return parallel.For(ctx, parallel.On{Executor: ex}, 0, 100, func(int) { c.visit() })
			}))
		require.LessOrEqual(t, c.most.Load(), int64(limit))
	}
}

// A nil function panics at the call, even if there is no element, and so does an On that is not valid.
func TestBadArguments(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	defer ex.Close()
	type (
		any1 = func(ctx context.Context, x int) (int, error)
		any2 = func(ctx context.Context, a, b int) (int, error)
		is   = func(ctx context.Context, x int) (bool, error)
	)
	f1, f2 := func(x int) int { return x }, func(a, b int) int { return a }
	e1 := func(_ context.Context, x int) (int, error) { return x, nil }
	e2 := func(_ context.Context, a, b int) (int, error) { return a, nil }
	zero := func() int { return 0 }
	ctx, ints, none := t.Context(), []int(nil), slices.Values([]int{})
	on := parallel.On{Executor: ex}
	second := func(_ any, err error) error { return err }
	calls := map[string]func() error{
		"For":         func() error { return parallel.For(ctx, on, 0, 0, nil) },
		"ForErr":      func() error { return parallel.ForErr(ctx, on, 0, 0, nil) },
		"ForStep":     func() error { return parallel.ForStep(ctx, on, 0, 0, 1, nil) },
		"ForStepErr":  func() error { return parallel.ForStepErr(ctx, on, 0, 0, 1, nil) },
		"ForRange":    func() error { return parallel.ForRange(ctx, on, 0, 0, nil) },
		"ForRangeErr": func() error { return parallel.ForRangeErr(ctx, on, 0, 0, nil) },
		"ForTiles":    func() error { return parallel.ForTiles(ctx, on, parallel.Tile{}, 1, 1, nil) },
		"ForTilesErr": func() error { return parallel.ForTilesErr(ctx, on, parallel.Tile{}, 1, 1, nil) },
		"ForSlice":    func() error { return parallel.ForSlice(ctx, on, ints, nil) },
		"ForSliceErr": func() error { return parallel.ForSliceErr(ctx, on, ints, nil) },
		"ForEach":     func() error { return parallel.ForEach(ctx, on, none, nil) },
		"ForEachErr":  func() error { return parallel.ForEachErr(ctx, on, none, nil) },
		"Map":         func() error { return parallel.Map(ctx, on, ints, ints, (func(int) int)(nil)) },
		"MapErr":      func() error { return parallel.MapErr(ctx, on, ints, ints, any1(nil)) },
		"Map2": func() error {
			return parallel.Map2(ctx, on, ints, ints, ints, (func(int, int) int)(nil))
		},
		"Map2Err":   func() error { return parallel.Map2Err(ctx, on, ints, ints, ints, any2(nil)) },
		"Filter":    func() error { return second(parallel.Filter(ctx, on, ints, nil)) },
		"FilterErr": func() error { return second(parallel.FilterErr(ctx, on, ints, is(nil))) },
		"FlatMap": func() error {
			return second(parallel.FlatMap(ctx, on, ints, (func([]int, int) []int)(nil)))
		},
		"FlatMapErr": func() error {
			var f func(ctx context.Context, to []int, x int) ([]int, error)
			return second(parallel.FlatMapErr(ctx, on, ints, f))
		},
		"Reduce":    func() error { return second(parallel.Reduce(ctx, on, ints, nil)) },
		"ReduceErr": func() error { return second(parallel.ReduceErr(ctx, on, ints, nil)) },
		"MapReduce": func() error { return second(parallel.MapReduce(ctx, on, ints, f1, nil)) },
		"MapReduce of a nil f": func() error {
			return second(parallel.MapReduce(ctx, on, ints, nil, f2))
		},
		"MapReduceErr": func() error { return second(parallel.MapReduceErr(ctx, on, ints, e1, nil)) },
		"MapReduceErr of a nil f": func() error {
			return second(parallel.MapReduceErr(ctx, on, ints, nil, e2))
		},
		"ReduceFor": func() error { return second(parallel.ReduceFor(ctx, on, 0, 0, f1, nil)) },
		"ReduceFor of a nil f": func() error {
			return second(parallel.ReduceFor(ctx, on, 0, 0, nil, f2))
		},
		"ReduceForErr": func() error { return second(parallel.ReduceForErr(ctx, on, 0, 0, e1, nil)) },
		"ReduceForErr of a nil f": func() error {
			return second(parallel.ReduceForErr(ctx, on, 0, 0, nil, e2))
		},
		"Fold":                  func() error { return second(parallel.Fold(ctx, on, ints, zero, f2, nil)) },
		"Fold of a nil add":     func() error { return second(parallel.Fold(ctx, on, ints, zero, nil, f2)) },
		"Fold of a nil zero":    func() error { return second(parallel.Fold(ctx, on, ints, nil, f2, f2)) },
		"FoldErr":               func() error { return second(parallel.FoldErr(ctx, on, ints, zero, e2, nil)) },
		"FoldErr of a nil add":  func() error { return second(parallel.FoldErr(ctx, on, ints, zero, nil, e2)) },
		"FoldErr of a nil zero": func() error { return second(parallel.FoldErr(ctx, on, ints, nil, e2, e2)) },
		"MinFunc":               func() error { return second(parallel.MinFunc(ctx, on, ints, nil)) },
		"MaxFunc":               func() error { return second(parallel.MaxFunc(ctx, on, ints, nil)) },
		"MinIndexFunc":          func() error { return second(parallel.MinIndexFunc(ctx, on, ints, nil)) },
		"MaxIndexFunc":          func() error { return second(parallel.MaxIndexFunc(ctx, on, ints, nil)) },
		"Scan":                  func() error { return parallel.Scan(ctx, on, ints, ints, nil) },
		"ScanErr":               func() error { return parallel.ScanErr(ctx, on, ints, ints, nil) },
		"ExclusiveScan":         func() error { return parallel.ExclusiveScan(ctx, on, ints, ints, 0, nil) },
		"ExclusiveScanErr":      func() error { return parallel.ExclusiveScanErr(ctx, on, ints, ints, 0, nil) },
		"MapScan":               func() error { return parallel.MapScan(ctx, on, ints, ints, f1, nil) },
		"MapScan of a nil f":    func() error { return parallel.MapScan(ctx, on, ints, ints, nil, f2) },
		"MapScanErr":            func() error { return parallel.MapScanErr(ctx, on, ints, ints, e1, nil) },
		"MapScanErr of a nil f": func() error { return parallel.MapScanErr(ctx, on, ints, ints, nil, e2) },
		"ExclusiveMapScan": func() error {
			return parallel.ExclusiveMapScan(ctx, on, ints, ints, 0, f1, nil)
		},
		"ExclusiveMapScan of a nil f": func() error {
			return parallel.ExclusiveMapScan(ctx, on, ints, ints, 0, nil, f2)
		},
		"ExclusiveMapScanErr": func() error {
			return parallel.ExclusiveMapScanErr(ctx, on, ints, ints, 0, e1, nil)
		},
		"ExclusiveMapScanErr of a nil f": func() error {
			return parallel.ExclusiveMapScanErr(ctx, on, ints, ints, 0, nil, e2)
		},
		"IndexFunc":       func() error { return second(parallel.IndexFunc(ctx, on, ints, nil)) },
		"IndexFuncErr":    func() error { return second(parallel.IndexFuncErr(ctx, on, ints, nil)) },
		"ContainsFunc":    func() error { return second(parallel.ContainsFunc(ctx, on, ints, nil)) },
		"ContainsFuncErr": func() error { return second(parallel.ContainsFuncErr(ctx, on, ints, nil)) },
		"SortFunc":        func() error { return parallel.SortFunc(ctx, on, ints, nil) },
		"SortStableFunc":  func() error { return parallel.SortStableFunc(ctx, on, ints, nil) },
		"Merge":           func() error { return parallel.Merge(ctx, on, ints, ints, ints, nil) },
	}
	for name, call := range calls {
		var function string
		_, _ = fmt.Sscan(name, &function)
		require.PanicsWithValue(t, "parallel: "+function+" of a nil function", func() { _ = call() }, name)
	}
	require.PanicsWithValue(t, "parallel: ForEach of a nil sequence", func() {
		_ = parallel.ForEach(ctx, on, nil, func(int) {})
	})
	for want, on := range map[string]parallel.On{
		"parallel: Grain -1 is negative":   {Executor: ex, Grain: -1},
		"parallel: Workers -2 is negative": {Executor: ex, Workers: -2},
	} {
		for name, f := range fails {
			require.PanicsWithValue(t, want, func() { _, _ = f.call(ctx, on, 0, fine) }, name)
		}
		for name, f := range map[string]func() error{
			"Sort":     func() error { return parallel.Sort(ctx, on, ints) },
			"MinMax":   func() error { _, _, err := parallel.MinMax(ctx, on, ints); return err },
			"MinIndex": func() error { return second(parallel.MinIndex(ctx, on, ints)) },
			"MaxIndex": func() error { return second(parallel.MaxIndex(ctx, on, ints)) },
			"MinFunc":  func() error { return second(parallel.MinFunc(ctx, on, ints, f2)) },
			"Merge":    func() error { return parallel.Merge(ctx, on, ints, ints, ints, f2) },
		} {
			require.PanicsWithValue(t, want, func() { _ = f() }, name)
		}
	}
}

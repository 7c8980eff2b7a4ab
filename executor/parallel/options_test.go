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
	n := max(500, testkit.Scale(3000))
	for limit := 1; limit <= 3; limit++ {
		for _, grain := range []int{0, 1, 100} {
			o := parallel.Options{Executor: ex, Grain: grain, Workers: limit}
			for name, f := range fails {
				var c crowd
				loop := func(ctx context.Context) error {
					got, err := f.call(ctx, o, n, func(context.Context, int) error { c.visit(); return nil })
					if err == nil {
						require.Equal(t, f.want(n), got, name)
					}
					return err
				}
				testkit.Within(t, testkit.Patience, func() {
					require.NoError(t, loop(t.Context()), name)
					require.NoError(t, ex.Run(t.Context(), executor.NewJob("task", func(s *executor.Scope) error {
						return loop(s.Context())
					})))
				})
				require.LessOrEqual(t, c.most.Load(), int64(limit), "%s, Grain %d", name, grain)
			}
			for name, sort := range map[string]func(order func(a, b int) int) error{
				"SortFunc": func(order func(a, b int) int) error {
					return parallel.SortFunc(t.Context(), o, indices(n), order)
				},
				"SortStableFunc": func(order func(a, b int) int) error {
					return parallel.SortStableFunc(t.Context(), o, indices(n), order)
				},
				"Merge": func(order func(a, b int) int) error {
					return parallel.Merge(t.Context(), o, make([]int, 2*n), indices(n), indices(n), order)
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
			require.NoError(t, parallel.For(t.Context(), parallel.Options{Executor: ex, Grain: 1, Workers: limit}, 0, limit,
				func(int) {
					in.Add(1)
					for int(in.Load()) < limit {
					}
				}))
		})
		var c crowd
		require.NoError(t, parallel.ForErr(t.Context(), parallel.Options{Executor: ex, Workers: limit}, 0, 100,
			func(ctx context.Context, _ int) error {
				return parallel.For(ctx, parallel.Options{Executor: ex}, 0, 100, func(int) { c.visit() })
			}))
		require.LessOrEqual(t, c.most.Load(), int64(limit))
	}
}

// A nil function panics at the call, even if there is no element, and so do Options that are not valid.
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
	o := parallel.Options{Executor: ex}
	second := func(_ any, err error) error { return err }
	calls := map[string]func() error{
		"For":          func() error { return parallel.For(ctx, o, 0, 0, nil) },
		"ForErr":       func() error { return parallel.ForErr(ctx, o, 0, 0, nil) },
		"ForStep":      func() error { return parallel.ForStep(ctx, o, 0, 0, 1, nil) },
		"ForStepErr":   func() error { return parallel.ForStepErr(ctx, o, 0, 0, 1, nil) },
		"ForBlocks":    func() error { return parallel.ForBlocks(ctx, o, 0, 0, nil) },
		"ForBlocksErr": func() error { return parallel.ForBlocksErr(ctx, o, 0, 0, nil) },
		"ForTiles":     func() error { return parallel.ForTiles(ctx, o, parallel.Tile{}, 1, 1, nil) },
		"ForTilesErr":  func() error { return parallel.ForTilesErr(ctx, o, parallel.Tile{}, 1, 1, nil) },
		"ForSlice":     func() error { return parallel.ForSlice(ctx, o, ints, nil) },
		"ForSliceErr":  func() error { return parallel.ForSliceErr(ctx, o, ints, nil) },
		"ForEach":      func() error { return parallel.ForEach(ctx, o, none, nil) },
		"ForEachErr":   func() error { return parallel.ForEachErr(ctx, o, none, nil) },
		"MapSeq": func() error {
			parallel.MapSeq(ctx, o, none, (func(int) int)(nil))
			return nil
		},
		"MapSeqErr": func() error {
			parallel.MapSeqErr(ctx, o, none, any1(nil))
			return nil
		},
		"Map":    func() error { return parallel.Map(ctx, o, ints, ints, (func(int) int)(nil)) },
		"MapErr": func() error { return parallel.MapErr(ctx, o, ints, ints, any1(nil)) },
		"Map2": func() error {
			return parallel.Map2(ctx, o, ints, ints, ints, (func(int, int) int)(nil))
		},
		"Map2Err":   func() error { return parallel.Map2Err(ctx, o, ints, ints, ints, any2(nil)) },
		"Filter":    func() error { return second(parallel.Filter(ctx, o, ints, nil)) },
		"FilterErr": func() error { return second(parallel.FilterErr(ctx, o, ints, is(nil))) },
		"FlatMap": func() error {
			return second(parallel.FlatMap(ctx, o, ints, (func([]int, int) []int)(nil)))
		},
		"FlatMapErr": func() error {
			var f func(ctx context.Context, to []int, x int) ([]int, error)
			return second(parallel.FlatMapErr(ctx, o, ints, f))
		},
		"Reduce":    func() error { return second(parallel.Reduce(ctx, o, ints, nil)) },
		"ReduceErr": func() error { return second(parallel.ReduceErr(ctx, o, ints, nil)) },
		"MapReduce": func() error { return second(parallel.MapReduce(ctx, o, ints, f1, nil)) },
		"MapReduce of a nil f": func() error {
			return second(parallel.MapReduce(ctx, o, ints, nil, f2))
		},
		"MapReduceErr": func() error { return second(parallel.MapReduceErr(ctx, o, ints, e1, nil)) },
		"MapReduceErr of a nil f": func() error {
			return second(parallel.MapReduceErr(ctx, o, ints, nil, e2))
		},
		"ReduceFor": func() error { return second(parallel.ReduceFor(ctx, o, 0, 0, f1, nil)) },
		"ReduceFor of a nil f": func() error {
			return second(parallel.ReduceFor(ctx, o, 0, 0, nil, f2))
		},
		"ReduceForErr": func() error { return second(parallel.ReduceForErr(ctx, o, 0, 0, e1, nil)) },
		"ReduceForErr of a nil f": func() error {
			return second(parallel.ReduceForErr(ctx, o, 0, 0, nil, e2))
		},
		"Fold":                  func() error { return second(parallel.Fold(ctx, o, ints, zero, f2, nil)) },
		"Fold of a nil add":     func() error { return second(parallel.Fold(ctx, o, ints, zero, nil, f2)) },
		"Fold of a nil zero":    func() error { return second(parallel.Fold(ctx, o, ints, nil, f2, f2)) },
		"FoldErr":               func() error { return second(parallel.FoldErr(ctx, o, ints, zero, e2, nil)) },
		"FoldErr of a nil add":  func() error { return second(parallel.FoldErr(ctx, o, ints, zero, nil, e2)) },
		"FoldErr of a nil zero": func() error { return second(parallel.FoldErr(ctx, o, ints, nil, e2, e2)) },
		"MinFunc":               func() error { return second(parallel.MinFunc(ctx, o, ints, nil)) },
		"MaxFunc":               func() error { return second(parallel.MaxFunc(ctx, o, ints, nil)) },
		"MinIndexFunc":          func() error { return second(parallel.MinIndexFunc(ctx, o, ints, nil)) },
		"MaxIndexFunc":          func() error { return second(parallel.MaxIndexFunc(ctx, o, ints, nil)) },
		"Scan":                  func() error { return parallel.Scan(ctx, o, ints, ints, nil) },
		"ScanErr":               func() error { return parallel.ScanErr(ctx, o, ints, ints, nil) },
		"ExclusiveScan":         func() error { return parallel.ExclusiveScan(ctx, o, ints, ints, 0, nil) },
		"ExclusiveScanErr":      func() error { return parallel.ExclusiveScanErr(ctx, o, ints, ints, 0, nil) },
		"MapScan":               func() error { return parallel.MapScan(ctx, o, ints, ints, f1, nil) },
		"MapScan of a nil f":    func() error { return parallel.MapScan(ctx, o, ints, ints, nil, f2) },
		"MapScanErr":            func() error { return parallel.MapScanErr(ctx, o, ints, ints, e1, nil) },
		"MapScanErr of a nil f": func() error { return parallel.MapScanErr(ctx, o, ints, ints, nil, e2) },
		"ExclusiveMapScan": func() error {
			return parallel.ExclusiveMapScan(ctx, o, ints, ints, 0, f1, nil)
		},
		"ExclusiveMapScan of a nil f": func() error {
			return parallel.ExclusiveMapScan(ctx, o, ints, ints, 0, nil, f2)
		},
		"ExclusiveMapScanErr": func() error {
			return parallel.ExclusiveMapScanErr(ctx, o, ints, ints, 0, e1, nil)
		},
		"ExclusiveMapScanErr of a nil f": func() error {
			return parallel.ExclusiveMapScanErr(ctx, o, ints, ints, 0, nil, e2)
		},
		"IndexFunc":       func() error { return second(parallel.IndexFunc(ctx, o, ints, nil)) },
		"IndexFuncErr":    func() error { return second(parallel.IndexFuncErr(ctx, o, ints, nil)) },
		"ContainsFunc":    func() error { return second(parallel.ContainsFunc(ctx, o, ints, nil)) },
		"ContainsFuncErr": func() error { return second(parallel.ContainsFuncErr(ctx, o, ints, nil)) },
		"SortFunc":        func() error { return parallel.SortFunc(ctx, o, ints, nil) },
		"SortStableFunc":  func() error { return parallel.SortStableFunc(ctx, o, ints, nil) },
		"Merge":           func() error { return parallel.Merge(ctx, o, ints, ints, ints, nil) },
	}
	for name, call := range calls {
		var function string
		_, _ = fmt.Sscan(name, &function)
		require.PanicsWithValue(t, "parallel: "+function+" of a nil function", func() { _ = call() }, name)
	}
	require.PanicsWithValue(t, "parallel: ForEach of a nil sequence", func() {
		_ = parallel.ForEach(ctx, o, nil, func(int) {})
	})
	for want, o := range map[string]parallel.Options{
		"parallel: Grain -1 is negative":                       {Executor: ex, Grain: -1},
		"parallel: Workers -2 is negative":                     {Executor: ex, Workers: -2},
		"parallel: MaxAhead -3 is negative":                    {Executor: ex, MaxAhead: -3},
		"parallel: MaxAhead 65537: at most 65536 are possible": {Executor: ex, MaxAhead: 1<<16 + 1},
	} {
		for name, f := range fails {
			require.PanicsWithValue(t, want, func() { _, _ = f.call(ctx, o, 0, fine) }, name)
		}
		for name, f := range map[string]func() error{
			"Sort":     func() error { return parallel.Sort(ctx, o, ints) },
			"MinMax":   func() error { _, _, err := parallel.MinMax(ctx, o, ints); return err },
			"MinIndex": func() error { return second(parallel.MinIndex(ctx, o, ints)) },
			"MaxIndex": func() error { return second(parallel.MaxIndex(ctx, o, ints)) },
			"MinFunc":  func() error { return second(parallel.MinFunc(ctx, o, ints, f2)) },
			"Merge":    func() error { return parallel.Merge(ctx, o, ints, ints, ints, f2) },
		} {
			require.PanicsWithValue(t, want, func() { _ = f() }, name)
		}
	}
}

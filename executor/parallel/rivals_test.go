package parallel_test

import (
	"context"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/stretchr/testify/require"
)

// What the test suites and issues of other libraries try with loops whose functions may fail, and with other loops that
// were awkward to say.

// rayon, the example of try_reduce: squares are summed up in a small type. A square or a sum that is too large ends it.
func TestRivalsTryReduce(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		fit := func(_ context.Context, n int64) (int64, error) {
			if n > math.MaxInt32 {
				return 0, errTest
			}
			return n, nil
		}
		square := func(ctx context.Context, i int) (int64, error) { return fit(ctx, int64(i)*int64(i)) }
		add := func(ctx context.Context, a, b int64) (int64, error) { return fit(ctx, a+b) }
		for _, c := range []struct {
			lo, hi int
			sum    int64
			err    error
		}{{0, 0, 0, nil}, {0, 5, 30, nil}, {0, 10_000, 0, errTest}, {1_000_000, 1_000_001, 0, errTest}} {
			sum, err := parallel.ReduceForErr(t.Context(), o, c.lo, c.hi, square, add)
			require.Equal(t, c.err, err)
			require.Equal(t, c.sum, sum)
		}
	})
}

// rayon, check_results and try_fold, and conc, MapErr: texts are parsed, one of which is no number.
func TestRivalsResults(t *testing.T) {
	parse := func(_ context.Context, s string) (int, error) { return strconv.Atoi(s) }
	count := func(ctx context.Context, to int, s string) (int, error) {
		_, err := parse(ctx, s)
		return to + 1, err
	}
	add := func(_ context.Context, a, b int) (int, error) { return a + b, nil }
	over := func(ctx context.Context, s string) (bool, error) {
		n, err := parse(ctx, s)
		return n >= 1000, err
	}
	texts := strings.Fields(strings.Repeat("7 ", 1000))
	for name, c := range map[string]struct {
		want any
		call func(ctx context.Context, o parallel.Options, texts []string) (any, error)
	}{
		"collect": {7, func(ctx context.Context, o parallel.Options, texts []string) (any, error) {
			numbers := make([]int, len(texts))
			err := parallel.MapErr(ctx, o, numbers, texts, parse)
			return numbers[999], err
		}},
		"sum": {7000, func(ctx context.Context, o parallel.Options, texts []string) (any, error) {
			return parallel.MapReduceErr(ctx, o, texts, parse, add)
		}},
		"try_fold": {1000, func(ctx context.Context, o parallel.Options, texts []string) (any, error) {
			return parallel.FoldErr(ctx, o, texts, func() int { return 0 }, count, add)
		}},
		"filter": {[]string(nil), func(ctx context.Context, o parallel.Options, texts []string) (any, error) {
			return parallel.FilterErr(ctx, o, texts, over)
		}},
		"any": {false, func(ctx context.Context, o parallel.Options, texts []string) (any, error) {
			return parallel.ContainsFuncErr(ctx, o, texts, over)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, o parallel.Options) {
				got, err := c.call(t.Context(), o, texts)
				require.NoError(t, err)
				require.Equal(t, c.want, got)
				bad := append(texts[:999:999], "seven")
				_, err = c.call(t.Context(), o, bad)
				require.Equal(t, &strconv.NumError{Func: "Atoi", Num: "seven", Err: strconv.ErrSyntax}, err)
			})
		})
	}
}

// rayon, try_for_each, and conc#104 and conc#114: the first body that begins fails. Others that have begun wait for the
// end of their context, whose cause is the failure. No worker begins a second body.
func TestRivalsTryForEach(t *testing.T) {
	// If the body that fails loses its core before it has, a worker would stand in for each that waits outside Blocking.
	onEachWith(t, host.Threads{OnlyBlocking: true}, func(t *testing.T, o parallel.Options) {
		var begun atomic.Int64
		err := parallel.ForErr(t.Context(), o, 0, 1_000_000, func(ctx context.Context, i int) error {
			if begun.Add(1) == 1 {
				return errTest
			}
			<-ctx.Done()
			if cause := context.Cause(ctx); cause != errTest {
				t.Error(cause)
			}
			return ctx.Err()
		})
		require.Equal(t, errTest, err)
		require.LessOrEqual(t, begun.Load(), int64(o.Executor.Workers()))
	})
}

// conc#104: a loop whose caller gives up says so, and why.
func TestRivalsLoopIsCancelled(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := parallel.ForErr(ctx, o, 0, 1000, func(ctx context.Context, i int) error {
			cancel(errTest)
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errTest)
	})
}

// rayon, zip, position_min, step_by and chunks; oneTBB, blocked_range2d: what is neither a loop over one slice nor over
// neighbouring indices.
func TestRivalsOtherLoops(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		const n = 1000
		a := indices(n)
		sums := make([]int, n)
		require.NoError(t, parallel.Map2(t.Context(), o, sums, a, a, func(x, y int) int { return x + y }))
		last, err := parallel.MaxIndex(t.Context(), o, sums)
		require.NoError(t, err)
		require.Equal(t, []int{n - 1, 2*n - 2}, []int{last, sums[last]})

		require.NoError(t, parallel.ForStep(t.Context(), o, n-1, -1, -3, func(i int) { a[i] = 0 }))
		zero, err := parallel.MinIndexFunc(t.Context(), o, a[1:], func(x, y int) int { return min(x, 1) - min(y, 1) })
		require.NoError(t, err)
		require.Equal(t, 2, zero) // a[3] is the first of every third element behind a[0]

		var tiles, cells atomic.Int64
		grid := parallel.Tile{RowHi: 10, ColHi: 100}
		require.NoError(t, parallel.ForTiles(t.Context(), o, grid, 4, 40, func(t parallel.Tile) {
			tiles.Add(1)
			cells.Add(int64((t.RowHi - t.RowLo) * (t.ColHi - t.ColLo)))
		}))
		require.Equal(t, []int64{9, n}, []int64{tiles.Load(), cells.Load()})
	})
}

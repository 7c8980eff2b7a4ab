package parallel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/stretchr/testify/require"
)

func TestScan(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 500} {
			src := make([]string, n)
			for i := range src {
				src[i] = string(rune('a' + i%26))
			}
			op := func(a, b string) string { return a + b }
			dst := make([]string, n)
			require.NoError(t, parallel.Scan(t.Context(), o, dst, src, op))
			exclusive := slices.Clone(src)
			require.NoError(t, parallel.ExclusiveScan(t.Context(), o, exclusive, exclusive, ">", op))
			sum := ""
			for i := range src {
				require.Equal(t, ">"+sum, exclusive[i], "%d of %d", i, n)
				sum += src[i]
				require.Equal(t, sum, dst[i], "%d of %d", i, n)
			}
			huge := parallel.Options{Executor: o.Executor, Grain: math.MaxInt}
			require.NoError(t, parallel.Scan(t.Context(), huge, src, src, op))
			require.Equal(t, dst, src, "in place, with a grain that nothing fills")
		}
	})
}

// A destination that is not as long as the source panics at the call.
func TestLengths(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		ctx, long, short := t.Context(), make([]int, 2), make([]int, 1)
		add, same := func(a, b int) int { return a + b }, func(x int) int { return x }
		for name, call := range map[string]func(dst, src []int) error{
			"Map":              func(dst, src []int) error { return parallel.Map(ctx, o, dst, src, same) },
			"Map2":             func(dst, src []int) error { return parallel.Map2(ctx, o, dst, dst, src, add) },
			"Scan":             func(dst, src []int) error { return parallel.Scan(ctx, o, dst, src, add) },
			"ExclusiveScan":    func(dst, src []int) error { return parallel.ExclusiveScan(ctx, o, dst, src, 0, add) },
			"MapScan":          func(dst, src []int) error { return parallel.MapScan(ctx, o, dst, src, same, add) },
			"ExclusiveMapScan": func(dst, src []int) error { return parallel.ExclusiveMapScan(ctx, o, dst, src, 0, same, add) },
		} {
			says := "parallel: " + name + " of slices that differ in length"
			require.PanicsWithValue(t, says, func() { _ = call(long, short) })
			require.PanicsWithValue(t, says, func() { _ = call(short, long) })
		}
	})
}

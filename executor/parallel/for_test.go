package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Every index exactly once.
func TestFor(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range lengths {
			hits := make([]int32, n)
			require.NoError(t, parallel.For(t.Context(), o, -5, n-5, func(i int) { hits[i+5]++ }))
			require.NoError(t, parallel.ForBlocks(t.Context(), o, 0, n, func(lo, hi int) {
				require.Less(t, lo, hi)
				if o.Grain > 0 {
					require.LessOrEqual(t, hi-lo, o.Grain)
				}
				for i := lo; i < hi; i++ {
					hits[i]++
				}
			}))
			require.NoError(t, parallel.ForSlice(t.Context(), o, hits, func(i int, x *int32) { *x++ }))
			for i, h := range hits {
				require.EqualValues(t, 3, h, "index %d of %d", i, n)
			}
		}
		require.NoError(t, parallel.For(t.Context(), o, 5, 2, func(int) { t.Error("called") }))
	})
}

func TestMap(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range lengths {
			src := numbers(rand.New(rand.NewPCG(1, 1)), n, 100)
			dst := make([]string, n)
			require.NoError(t, parallel.Map(t.Context(), o, dst, src, func(x int) string { return fmt.Sprint(x) }))
			for i := range src {
				require.Equal(t, fmt.Sprint(src[i]), dst[i])
			}
		}
		require.Panics(t, func() {
			_ = parallel.Map(t.Context(), o, make([]int, 1), make([]int, 2), func(int) int { return 0 })
		})
	})
}

func TestForEach(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range []int{0, 1, 15, 16, 17, 10_000} {
			var sum atomic.Int64
			err := parallel.ForEach(t.Context(), o, slices.Values(numbers(rand.New(rand.NewPCG(1, 1)), n, 1000)),
				func(x int) { sum.Add(int64(x) + 1) })
			require.NoError(t, err)
			want := n
			for _, x := range numbers(rand.New(rand.NewPCG(1, 1)), n, 1000) {
				want += x
			}
			require.EqualValues(t, want, sum.Load())
		}
		// The first error ends it, also if the sequence does not.
		endless := func(yield func(int) bool) {
			for i := 0; yield(i); i++ {
			}
		}
		err := parallel.ForEachErr(t.Context(), o, endless, func(_ context.Context, x int) error {
			if x == 5000 {
				return errTest
			}
			return nil
		})
		require.ErrorIs(t, err, errTest)
	})
}

// A few long iterations are shared, however unequal: with as many workers all run at the same time.
func TestForIsShared(t *testing.T) {
	const workers = 4
	ex, err := executor.New(executor.Config{Workers: workers})
	require.NoError(t, err)
	defer ex.Close()
	testkit.Within(t, testkit.Patience, func() {
		for range testkit.Scale(50) {
			var met atomic.Int32
			require.NoError(t, parallel.For(t.Context(), parallel.Options{Executor: ex}, 0, workers, func(int) {
				met.Add(1)
				for met.Load() < workers {
					time.Sleep(10 * time.Microsecond)
				}
			}))
		}
	})
}

// From tasks, and inside each other.
func TestNested(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		var sum atomic.Int64
		require.NoError(t, parallel.For(t.Context(), o, 0, 20, func(i int) {
			s := make([]int, 50)
			err := parallel.For(t.Context(), o, 0, len(s), func(j int) { s[j] = j })
			n, err2 := parallel.Reduce(t.Context(), o, s, func(a, b int) int { return a + b })
			if err := errors.Join(err, err2); err != nil {
				panic(err)
			}
			sum.Add(int64(n))
		}))
		require.EqualValues(t, 20*49*25, sum.Load())
	})
}

func TestStops(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls, after atomic.Int64
		var over atomic.Bool
		err := parallel.For(ctx, o, 0, 1_000_000_000, func(i int) {
			if over.Load() && after.Add(1) > 10_000_000 {
				panic("does not stop")
			}
			if calls.Add(1) == 1000 {
				cancel(errTest)
				told() // on a busy machine the goroutine that tells the run gets a core late
				over.Store(true)
			}
		})
		require.ErrorIs(t, err, errTest)
		_, err = parallel.Reduce(ctx, o, []int{1}, func(a, b int) int { return a + b })
		require.ErrorIs(t, err, errTest)
		s := []int{3, 1, 2}
		require.ErrorIs(t, parallel.Sort(ctx, o, s), errTest)
		require.ElementsMatch(t, []int{1, 2, 3}, s)
		_, err = parallel.IndexFunc(ctx, o, s, func(int) bool { return true })
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, parallel.Scan(ctx, o, s, s, func(a, b int) int { return a + b }), errTest)

		var p *executor.PanicError
		err = parallel.For(t.Context(), o, 0, 1000, func(i int) {
			if i == 500 {
				panic(errTest)
			}
		})
		require.ErrorAs(t, err, &p)
		require.Equal(t, errTest, p.Value)
	})
	require.Panics(t, func() { _ = parallel.For(nil, parallel.Options{}, 0, 1, func(int) {}) }) //nolint
	require.Panics(t, func() {
		_ = parallel.ForEach(nil, parallel.Options{}, slices.Values([]int{1}), func(int) {})
	})
	require.Panics(t, func() {
		_ = parallel.Scan(nil, parallel.Options{}, []int{1}, []int{1}, func(a, b int) int { return a })
	})
}

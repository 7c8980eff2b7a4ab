package parallel_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// The operation is associative, and not commutative.
func TestReduce(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range []int{0, 1, 2, 100, 3000} {
			s := make([]string, n)
			want := ""
			for i := range s {
				s[i] = string(rune('a' + i%26))
				want += s[i]
			}
			got, err := parallel.Reduce(t.Context(), o, s, func(a, b string) string { return a + b })
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		sum, err := parallel.MapReduce(t.Context(), o, []string{"a", "bb", "ccc"},
			func(s string) int { return len(s) }, func(a, b int) int { return a + b })
		require.NoError(t, err)
		require.Equal(t, 6, sum)
	})
}

// op, add and join change their arguments as far as they may, as a program that counts words would.
func TestReduceMaps(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for _, n := range []int{0, 1, 3000} {
			s := numbers(rand.New(rand.NewPCG(1, 3)), n, 10)
			want := map[int]int{}
			for _, x := range s {
				want[x]++
			}
			add := func(counts map[int]int, x int) map[int]int { counts[x]++; return counts }
			join := func(a, b map[int]int) map[int]int {
				for x, n := range b {
					a[x] += n
				}
				clear(b)
				return a
			}
			got, err := parallel.MapReduce(t.Context(), o, s, func(x int) map[int]int {
				return map[int]int{x: 1}
			}, join)
			require.NoError(t, err)
			if n == 0 {
				require.Nil(t, got)
			} else {
				require.Equal(t, want, got)
			}
			got, err = parallel.Fold(t.Context(), o, s, func() map[int]int { return map[int]int{} }, add, join)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

// No value is given to two calls of op, or of add and join, unless the first has returned it. This holds after a
// cancellation too.
func TestReduceSharesNothing(t *testing.T) {
	type box struct{ elements, used int } // used by one call at a time: the race detector says otherwise
	onEach(t, func(t *testing.T, o parallel.Options) {
		made, left := atomic.Int64{}, atomic.Int64{}
		zero := func() *box { made.Add(1); return &box{} }
		join := func(a, b *box) *box {
			if a == b || a == nil || b == nil || a.used != 0 || b.used != 0 {
				panic(fmt.Sprintf("%p and %p are joined", a, b))
			}
			a.elements += b.elements
			b.used++
			left.Add(1)
			return a
		}
		s := make([]int, 5000)
		one := func(int) *box { b := zero(); b.elements = 1; return b }
		add := func(b *box, _ int) *box {
			if b.used != 0 {
				panic("added to after it was joined")
			}
			b.elements++
			return b
		}
		for name, f := range map[string]func(ctx context.Context, each func()) (*box, error){
			"MapReduce": func(ctx context.Context, each func()) (*box, error) {
				return parallel.MapReduce(ctx, o, s, func(x int) *box { each(); return one(x) }, join)
			},
			"Fold": func(ctx context.Context, each func()) (*box, error) {
				return parallel.Fold(ctx, o, s, zero, func(b *box, x int) *box { each(); return add(b, x) }, join)
			},
		} {
			made.Store(0)
			left.Store(0)
			b, err := f(t.Context(), func() {})
			require.NoError(t, err)
			require.Equal(t, box{elements: len(s)}, *b, name)
			require.Equal(t, made.Load(), left.Load()+1, name)
			for _, at := range []int64{1, 3000} {
				ctx, cancel := context.WithCancelCause(t.Context())
				var calls atomic.Int64
				_, err := f(ctx, func() {
					if calls.Add(1) == at {
						cancel(errTest)
						told()
					}
				})
				var p *executor.PanicError
				require.NotErrorAs(t, err, &p, "%s: a part that was left out is joined", name)
				require.ErrorIs(t, err, errTest)
			}
		}
	})
}

// An initial value of ExclusiveScan is counted once; Reduce has none to count.
func TestInitialValues(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		ones := slices.Repeat([]int{1}, 10_000)
		add := func(a, b int) int { return a + b }
		sum, err := parallel.Reduce(t.Context(), o, ones, add)
		require.NoError(t, err)
		require.Equal(t, len(ones), sum)
		sums := make([]int, len(ones))
		require.NoError(t, parallel.ExclusiveScan(t.Context(), o, sums, ones, 10, add))
		for i, sum := range sums {
			if sum != 10+i {
				t.Fatalf("sum %d is %d", i, sum)
			}
		}
	})
}

// With a grain, sums of floating-point numbers do not depend on the workers.
func TestReduceIsDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	s := make([]float64, 30_000)
	for i := range s {
		s[i] = math.Exp(rng.NormFloat64() * 20)
	}
	sums := map[float64]bool{}
	for _, workers := range []int{1, 2, 4, 7} {
		ex, err := executor.New(executor.Config{Workers: workers})
		require.NoError(t, err)
		for range testkit.Scale(20) {
			sum, err := parallel.Reduce(t.Context(), parallel.Options{Executor: ex, Grain: 100}, s,
				func(a, b float64) float64 { return a + b })
			require.NoError(t, err)
			sums[sum] = true
		}
		require.NoError(t, ex.Close())
	}
	require.Len(t, sums, 1)
}

func TestMinMax(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range lengths[1:] {
			s := numbers(rng, n, 1000)
			least, greatest, err := parallel.MinMax(t.Context(), o, s)
			require.NoError(t, err)
			require.Equal(t, slices.Min(s), least)
			require.Equal(t, slices.Max(s), greatest)
		}
		least, greatest, err := parallel.MinMax(t.Context(), o, []int{})
		require.NoError(t, err)
		require.Zero(t, least+greatest)
		f, g, err := parallel.MinMax(t.Context(), o, []float64{1, math.NaN(), 2})
		require.NoError(t, err)
		require.True(t, math.IsNaN(f) && math.IsNaN(g))
		for _, zeros := range [][]float64{{0, math.Copysign(0, -1)}, {math.Copysign(0, -1), 0}} {
			f, g, err = parallel.MinMax(t.Context(), o, zeros)
			require.NoError(t, err)
			require.True(t, math.Signbit(f) && !math.Signbit(g))
		}
	})
}

package parallel_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// shapes are inputs of sorts.
var shapes = map[string]func(rng *rand.Rand, n int) []int{
	"random":     func(rng *rand.Rand, n int) []int { return numbers(rng, n, 1<<30) },
	"few values": func(rng *rand.Rand, n int) []int { return numbers(rng, n, 4) },
	"equal":      func(rng *rand.Rand, n int) []int { return make([]int, n) },
	"sorted":     func(rng *rand.Rand, n int) []int { s := numbers(rng, n, 1<<30); slices.Sort(s); return s },
	"reversed": func(rng *rand.Rand, n int) []int {
		s := numbers(rng, n, 1<<30)
		slices.Sort(s)
		slices.Reverse(s)
		return s
	},
	"organ pipes": func(rng *rand.Rand, n int) []int {
		s := make([]int, n)
		for i := range s {
			s[i] = min(i, n-i)
		}
		return s
	},
	"saw": func(rng *rand.Rand, n int) []int {
		s := make([]int, n)
		for i := range s {
			s[i] = i % 127
		}
		return s
	},
}

func TestSort(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for name, shape := range shapes {
			for _, n := range lengths {
				s := shape(rng, n)
				want := slices.Sorted(slices.Values(s))
				got := slices.Clone(s)
				require.NoError(t, parallel.Sort(t.Context(), o, got))
				require.True(t, slices.Equal(want, got), "%s %d", name, n)
				got = slices.Clone(s)
				require.NoError(t, parallel.SortFunc(t.Context(), o, got, func(a, b int) int {
					return cmp.Compare(b, a)
				}))
				slices.Reverse(got)
				require.True(t, slices.Equal(want, got), "%s %d, by a function", name, n)
			}
		}
	})
}

// With a function that is no order, sorts lose no element.
func TestSortWithoutOrder(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for _, order := range []func(a, b int) int{
			func(a, b int) int { return 1 - 2*min(1, max(0, b-a+1)) }, // never equal
			func(int, int) int { return -1 }, func(int, int) int { return 1 }, func(int, int) int { return 0 },
			func(a, b int) int { return (a*31+b)%3 - 1 },
		} {
			s := numbers(rng, 5000, 1000)
			want := slices.Sorted(slices.Values(s))
			require.NoError(t, parallel.SortFunc(t.Context(), o, s, order))
			slices.Sort(s)
			require.True(t, slices.Equal(want, s))
		}
	})
}

func TestSortFloats(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for _, nans := range []int{1, 2, 10, 1000} {
			s := make([]float64, 10_000)
			for i := range s {
				s[i] = rng.NormFloat64()
				if rng.IntN(nans) == 0 {
					s[i] = math.NaN()
				}
			}
			want := slices.Sorted(slices.Values(s))
			require.NoError(t, parallel.Sort(t.Context(), o, s))
			require.Zero(t, slices.CompareFunc(want, s, cmp.Compare[float64]))
		}
	})
}

func TestSortStableFunc(t *testing.T) {
	type pair struct{ key, at int }
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for name, shape := range shapes {
			for _, n := range lengths {
				s := make([]pair, n)
				for i, key := range shape(rng, n) {
					s[i] = pair{key, i}
				}
				order := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
				want := slices.Clone(s)
				slices.SortStableFunc(want, order)
				require.NoError(t, parallel.SortStableFunc(t.Context(), o, s, order))
				require.True(t, slices.Equal(want, s), "%s %d", name, n)
			}
		}
	})
}

func TestMerge(t *testing.T) {
	type pair struct{ key, from int }
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		order := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		for _, n := range lengths {
			for _, m := range []int{0, 1, 50, testkit.Scale(20_000)} {
				both := make([][]pair, 2)
				for i, n := range []int{n, m} {
					for range n {
						both[i] = append(both[i], pair{rng.IntN(1 + n/3), i})
					}
					slices.SortFunc(both[i], order)
				}
				want := slices.Concat(both...)
				slices.SortStableFunc(want, order)
				got := make([]pair, n+m)
				require.NoError(t, parallel.Merge(t.Context(), o, got, both[0], both[1], order))
				require.True(t, slices.Equal(want, got), "%d and %d", n, m)
			}
		}
	})
}

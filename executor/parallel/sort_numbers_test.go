package parallel_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
)

type celsius float32

type userID uint16

// TestSortNumbers: Sort agrees with slices.Sort for every type of numbers and for inputs of all kinds.
func TestSortNumbers(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		sortNumbers[int](t, o, rng)
		sortNumbers[int8](t, o, rng)
		sortNumbers[int16](t, o, rng)
		sortNumbers[int32](t, o, rng)
		sortNumbers[int64](t, o, rng)
		sortNumbers[uint](t, o, rng)
		sortNumbers[uint8](t, o, rng)
		sortNumbers[userID](t, o, rng)
		sortNumbers[uint32](t, o, rng)
		sortNumbers[uint64](t, o, rng)
		sortNumbers[uintptr](t, o, rng)
		sortNumbers[celsius](t, o, rng)
		sortNumbers[float64](t, o, rng)
	})
}

type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func sortNumbers[T number](t *testing.T, o parallel.Options, rng *rand.Rand) {
	for range testkit.Scale(4) {
		n := 1 + rng.IntN(1<<(1+rng.IntN(12)))
		if rng.IntN(16) == 0 {
			n <<= 5
		}
		s := make([]T, n)
		kind := rng.IntN(8)
		for i := range s {
			s[i] = draw[T](rng, kind, i, n)
		}
		want := slices.Sorted(slices.Values(s))
		require.NoError(t, parallel.Sort(t.Context(), o, s))
		i := 0
		for i < n && (s[i] == want[i] || s[i] != s[i] && want[i] != want[i]) {
			i++
		}
		require.Equal(t, n, i, "%v, kind %d: differs from slices.Sort at index %d", reflect.TypeFor[T](), kind, i)
	}
}

// draw returns element i of n.
func draw[T number](rng *rand.Rand, kind, i, n int) T {
	isFloat := T(1)/2 != 0
	switch {
	case kind == 0: // ascending
		return T(i >> 3)
	case kind == 1: // descending
		return T((n - i) >> 3)
	case kind == 2: // few distinct
		return T(rng.IntN(5))
	case kind == 3: // most in a small range
		if rng.IntN(100) > 0 {
			return T(rng.IntN(1000))
		}
	case kind == 4: // of every magnitude
		x := rng.Uint64() >> rng.IntN(64)
		if isFloat {
			return T(math.Ldexp(rng.Float64()-0.5, rng.IntN(40)-20))
		}
		return T(x)
	case isFloat && kind == 5: // what is special about floats
		special := []float64{math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1),
			math.SmallestNonzeroFloat64, math.MaxFloat64, -1, 1}
		return T(special[rng.IntN(len(special))])
	case isFloat:
		return T(rng.NormFloat64())
	}
	return T(rng.Uint64())
}

// TestSortCounted: Sort agrees with slices.Sort where only the lowest bits of numbers differ, or those and some of the
// highest: such numbers are counted, and not moved.
func TestSortCounted(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Scale(400) {
		low, high := 1+rng.IntN(13), rng.IntN(3)
		draw := func(bits int) uint64 { // the highest bit is 0 or 1 as often
			return rng.Uint64()>>(64-high)<<(bits-high) | 1<<(bits-4) | rng.Uint64()>>(64-low)
		}
		grain := 1 << (11 + rng.IntN(3))
		sortCounted(t, ex, rng, grain, func() int64 { return int64(draw(64)) })
		sortCounted(t, ex, rng, grain, func() uint32 { return uint32(draw(32)) })
		sortCounted(t, ex, rng, grain, func() int16 { return int16(draw(16)) })
		sortCounted(t, ex, rng, grain, func() float32 { return math.Float32frombits(uint32(draw(32))) })
		sortCounted(t, ex, rng, grain, func() float64 { return math.Float64frombits(draw(64)) })
	}
}

func sortCounted[T number](t *testing.T, ex *executor.Executor, rng *rand.Rand, grain int, draw func() T) {
	s := make([]T, 1+rng.IntN(1<<15))
	for i := range s {
		s[i] = draw()
	}
	want := slices.Sorted(slices.Values(s))
	require.NoError(t, parallel.Sort(t.Context(), parallel.Options{Executor: ex, Grain: grain}, s))
	require.True(t, slices.Equal(want, s), "%v", reflect.TypeFor[T]())
}

// A Sort of numbers that is cancelled loses none of them.
func TestSortNumbersCancelled(t *testing.T) {
	sortCancelled(t, func(rng *rand.Rand, n int) []int { return numbers(rng, n, 1<<(8+rng.IntN(23))) })
}

// sortCancelled sorts the inputs that draw makes, by their lengths, while another goroutine cancels.
func sortCancelled[T cmp.Ordered](t *testing.T, draw func(rng *rand.Rand, n int) []T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		stopped := 0
		for range testkit.Scale(20) {
			s := draw(rng, 1<<(9+rng.IntN(6)))
			want := slices.Sorted(slices.Values(s))
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			err := parallel.Sort(ctx, o, s)
			if err == nil {
				require.True(t, slices.Equal(want, s))
			} else {
				require.ErrorIs(t, err, context.Canceled)
				slices.Sort(s)
				require.True(t, slices.Equal(want, s), "an element is lost")
				stopped++
			}
			cancel()
		}
		t.Logf("%d were cancelled before their end", stopped)
	})
}

// BenchmarkSortTypes sorts inputs that are easy or hard for a sort by radix, and beside it package slices does.
func BenchmarkSortTypes(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 1_000_000
	sortBench(b, "int32", n, func(int) int32 { return int32(rng.Uint32()) })
	sortBench(b, "float64", n, func(int) float64 { return rng.NormFloat64() })
	sortBench(b, "few", n, func(int) int { return rng.IntN(16) })
	sortBench(b, "few far apart", n, func(int) int64 { return 1 << (20 * rng.IntN(4)) })
	sortBench(b, "sorted", n, func(i int) int { return i })
	sortBench(b, "reversed", n, func(i int) int { return -i })
	sortBench(b, "exponents", n, func(int) uint64 { return rng.Uint64() >> rng.IntN(64) })
	sortBench(b, "string", n, func(int) string { return fmt.Sprint(rng.Uint64()) })
	sortBench(b, "string prefix", n, func(int) string { return fmt.Sprint(strings.Repeat("x", 100), rng.Uint64()) })
	sortBench(b, "string few", n, func(int) string { return fmt.Sprint(strings.Repeat("x", 100), rng.IntN(16)) })
	sortBench(b, "string sorted", n, func(i int) string { return fmt.Sprintf("%09d", i) })
	sortBench(b, "string lengths", n, func(int) string { return strings.Repeat("x", rng.IntN(100)) })
	for _, n := range []int{3000, 10_000, 100_000} {
		sortBench(b, fmt.Sprint("string/n=", n), n, func(int) string { return fmt.Sprint(rng.Uint64()) })
	}
	for _, n := range []int{300, 1000, 3000, 10_000, 100_000} {
		sortBench(b, fmt.Sprint("int/n=", n), n, func(int) int { return rng.Int() })
	}
}

func sortBench[T cmp.Ordered](b *testing.B, name string, n int, draw func(i int) T) {
	drawn, s := make([]T, n), make([]T, n)
	for i := range drawn {
		drawn[i] = draw(i)
	}
	bench := func(name string, sort func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(s, drawn)
				sort()
			}
			if !slices.IsSorted(s) {
				b.Fatal("not sorted")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
	bench(name+"/slices", func() { slices.Sort(s) })
	for _, workers := range []int{1, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		bench(fmt.Sprintf("%s/W=%d", name, workers), func() {
			if err := parallel.Sort(context.Background(), parallel.Options{Executor: ex}, s); err != nil {
				b.Fatal(err)
			}
		})
		ex.Close()
	}
}

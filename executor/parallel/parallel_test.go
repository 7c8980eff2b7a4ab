package parallel_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/neighbour"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("test")

// onEach runs a test on executors with several numbers of workers, deques, ways to fork and grains. With the default
// kind of deque all combinations are run; with each other kind one, and the seed chooses how it forks.
func onEach(t *testing.T, test func(t *testing.T, on parallel.On)) {
	turn := int(testkit.Seed(t) % 1024)
	for _, workers := range []int{1, 2, 4} {
		on := func(d deque.Kind, forks executor.Forks, grains ...int) {
			ex, err := executor.New(neighbour.Beside(t, executor.Config{Workers: workers, Deque: d, Forks: forks}))
			require.NoError(t, err)
			for _, grain := range grains {
				t.Run(fmt.Sprintf("W=%d/%v-%v/grain=%d", workers, d, forks, grain), func(t *testing.T) {
					testkit.Within(t, testkit.Patience, func() { test(t, parallel.On{Executor: ex, Grain: grain}) })
				})
			}
			require.NoError(t, ex.Close())
		}
		ways := executor.AllForks()
		for _, forks := range ways {
			on(deque.KindChaseLev, forks, 0, 1, 7, 100_000)
		}
		for i, d := range deque.Kinds() {
			if d != deque.KindChaseLev && !d.FIFO() && workers == 2 { // loops fork
				on(d, ways[(turn+i)%len(ways)], 0)
			}
		}
	}
}

var lengths = []int{0, 1, 2, 3, 7, 8, 100, 1000, 4099, testkit.Scale(20_000)}

func numbers(rng *rand.Rand, n, most int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = rng.IntN(most)
	}
	return s
}

// Every index exactly once.
func TestFor(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		for _, n := range lengths {
			hits := make([]int32, n)
			require.NoError(t, parallel.For(t.Context(), on, -5, n-5, func(i int) { hits[i+5]++ }))
			require.NoError(t, parallel.ForRange(t.Context(), on, 0, n, func(lo, hi int) {
				require.Less(t, lo, hi)
				if on.Grain > 0 {
					require.LessOrEqual(t, hi-lo, on.Grain)
				}
				for i := lo; i < hi; i++ {
					hits[i]++
				}
			}))
			require.NoError(t, parallel.ForSlice(t.Context(), on, hits, func(i int, x *int32) { *x++ }))
			for i, h := range hits {
				require.EqualValues(t, 3, h, "index %d of %d", i, n)
			}
		}
		require.NoError(t, parallel.For(t.Context(), on, 5, 2, func(int) { t.Error("called") }))
	})
}

func TestMap(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		for _, n := range lengths {
			src := numbers(rand.New(rand.NewPCG(1, 1)), n, 100)
			dst := make([]string, n)
			require.NoError(t, parallel.Map(t.Context(), on, dst, src, func(x int) string { return fmt.Sprint(x) }))
			for i := range src {
				require.Equal(t, fmt.Sprint(src[i]), dst[i])
			}
		}
		require.Panics(t, func() {
			_ = parallel.Map(t.Context(), on, make([]int, 1), make([]int, 2), func(int) int { return 0 })
		})
	})
}

// The operation is associative, and not commutative.
func TestReduce(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		for _, n := range []int{0, 1, 2, 100, 3000} {
			s := make([]string, n)
			want := ""
			for i := range s {
				s[i] = string(rune('a' + i%26))
				want += s[i]
			}
			got, err := parallel.Reduce(t.Context(), on, s, func(a, b string) string { return a + b })
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		sum, err := parallel.MapReduce(t.Context(), on, []string{"a", "bb", "ccc"},
			func(s string) int { return len(s) }, func(a, b int) int { return a + b })
		require.NoError(t, err)
		require.Equal(t, 6, sum)
	})
}

// op, add and join change their arguments as far as they may, as a program that counts words would.
func TestReduceMaps(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
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
			got, err := parallel.MapReduce(t.Context(), on, s, func(x int) map[int]int {
				return map[int]int{x: 1}
			}, join)
			require.NoError(t, err)
			if n == 0 {
				require.Nil(t, got)
			} else {
				require.Equal(t, want, got)
			}
			got, err = parallel.Fold(t.Context(), on, s, func() map[int]int { return map[int]int{} }, add, join)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

// No value is given to two calls of op, or of add and join, unless the first has returned it. This holds after a
// cancellation too.
func TestReduceSharesNothing(t *testing.T) {
	type box struct{ elements, used int } // used by one call at a time: the race detector says otherwise
	onEach(t, func(t *testing.T, on parallel.On) {
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
				return parallel.MapReduce(ctx, on, s, func(x int) *box { each(); return one(x) }, join)
			},
			"Fold": func(ctx context.Context, each func()) (*box, error) {
				return parallel.Fold(ctx, on, s, zero, func(b *box, x int) *box { each(); return add(b, x) }, join)
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
	onEach(t, func(t *testing.T, on parallel.On) {
		ones := slices.Repeat([]int{1}, 10_000)
		add := func(a, b int) int { return a + b }
		sum, err := parallel.Reduce(t.Context(), on, ones, add)
		require.NoError(t, err)
		require.Equal(t, len(ones), sum)
		sums := make([]int, len(ones))
		require.NoError(t, parallel.ExclusiveScan(t.Context(), on, sums, ones, 10, add))
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
			sum, err := parallel.Reduce(t.Context(), parallel.On{Executor: ex, Grain: 100}, s,
				func(a, b float64) float64 { return a + b })
			require.NoError(t, err)
			sums[sum] = true
		}
		require.NoError(t, ex.Close())
	}
	require.Len(t, sums, 1)
}

func TestMinMax(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range lengths[1:] {
			s := numbers(rng, n, 1000)
			least, greatest, err := parallel.MinMax(t.Context(), on, s)
			require.NoError(t, err)
			require.Equal(t, slices.Min(s), least)
			require.Equal(t, slices.Max(s), greatest)
		}
		least, greatest, err := parallel.MinMax(t.Context(), on, []int{})
		require.NoError(t, err)
		require.Zero(t, least+greatest)
		f, g, err := parallel.MinMax(t.Context(), on, []float64{1, math.NaN(), 2})
		require.NoError(t, err)
		require.True(t, math.IsNaN(f) && math.IsNaN(g))
	})
}

func TestScan(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 500} {
			src := make([]string, n)
			for i := range src {
				src[i] = string(rune('a' + i%26))
			}
			op := func(a, b string) string { return a + b }
			dst := make([]string, n)
			require.NoError(t, parallel.Scan(t.Context(), on, dst, src, op))
			exclusive := slices.Clone(src)
			require.NoError(t, parallel.ExclusiveScan(t.Context(), on, exclusive, exclusive, ">", op))
			sum := ""
			for i := range src {
				require.Equal(t, ">"+sum, exclusive[i], "%d of %d", i, n)
				sum += src[i]
				require.Equal(t, sum, dst[i], "%d of %d", i, n)
			}
			huge := parallel.On{Executor: on.Executor, Grain: math.MaxInt}
			require.NoError(t, parallel.Scan(t.Context(), huge, src, src, op))
			require.Equal(t, dst, src, "in place, with a grain that nothing fills")
		}
	})
}

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
	onEach(t, func(t *testing.T, on parallel.On) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for name, shape := range shapes {
			for _, n := range lengths {
				s := shape(rng, n)
				want := slices.Sorted(slices.Values(s))
				got := slices.Clone(s)
				require.NoError(t, parallel.Sort(t.Context(), on, got))
				require.True(t, slices.Equal(want, got), "%s %d", name, n)
				got = slices.Clone(s)
				require.NoError(t, parallel.SortFunc(t.Context(), on, got, func(a, b int) int {
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
	onEach(t, func(t *testing.T, on parallel.On) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for _, order := range []func(a, b int) int{
			func(a, b int) int { return 1 - 2*min(1, max(0, b-a+1)) }, // never equal
			func(int, int) int { return -1 }, func(int, int) int { return 1 }, func(int, int) int { return 0 },
			func(a, b int) int { return (a*31+b)%3 - 1 },
		} {
			s := numbers(rng, 5000, 1000)
			want := slices.Sorted(slices.Values(s))
			require.NoError(t, parallel.SortFunc(t.Context(), on, s, order))
			slices.Sort(s)
			require.True(t, slices.Equal(want, s))
		}
	})
}

func TestSortFloats(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
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
			require.NoError(t, parallel.Sort(t.Context(), on, s))
			require.Zero(t, slices.CompareFunc(want, s, cmp.Compare[float64]))
		}
	})
}

func TestSortStable(t *testing.T) {
	type pair struct{ key, at int }
	onEach(t, func(t *testing.T, on parallel.On) {
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
				require.NoError(t, parallel.SortStable(t.Context(), on, s, order))
				require.True(t, slices.Equal(want, s), "%s %d", name, n)
			}
		}
	})
}

func TestMerge(t *testing.T) {
	type pair struct{ key, from int }
	onEach(t, func(t *testing.T, on parallel.On) {
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
				require.NoError(t, parallel.Merge(t.Context(), on, got, both[0], both[1], order))
				require.True(t, slices.Equal(want, got), "%d and %d", n, m)
			}
		}
	})
}

func TestFind(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		for _, n := range lengths {
			for _, at := range []int{0, 1, n / 2, n - 1, n, n + 5} {
				s := make([]int, n)
				for i := at; i < n && i >= 0; i += 3 {
					s[i] = 1
				}
				want := slices.Index(s, 1)
				got, err := parallel.Find(t.Context(), on, s, func(x int) bool { return x == 1 })
				require.NoError(t, err)
				require.Equal(t, want, got)
				any, err := parallel.Any(t.Context(), on, s, func(x int) bool { return x == 1 })
				require.NoError(t, err)
				require.Equal(t, want >= 0, any)
			}
		}
	})
}

// After the first match no more elements are looked at.
func TestAnyStopsEarly(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	var looks atomic.Int64
	s := make([]int, 20_000_000)
	found, err := parallel.Any(t.Context(), parallel.On{Executor: ex}, s, func(int) bool {
		return looks.Add(1) >= 1000
	})
	require.NoError(t, err)
	require.True(t, found)
	require.Less(t, looks.Load(), int64(len(s)/10))
}

func TestForEach(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		for _, n := range []int{0, 1, 15, 16, 17, 10_000} {
			var sum atomic.Int64
			err := parallel.ForEach(t.Context(), on, slices.Values(numbers(rand.New(rand.NewPCG(1, 1)), n, 1000)),
				func(x int) error {
					sum.Add(int64(x) + 1)
					return nil
				})
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
		err := parallel.ForEach(t.Context(), on, endless, func(x int) error {
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
			require.NoError(t, parallel.For(t.Context(), parallel.On{Executor: ex}, 0, workers, func(int) {
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
	onEach(t, func(t *testing.T, on parallel.On) {
		var sum atomic.Int64
		require.NoError(t, parallel.For(t.Context(), on, 0, 20, func(i int) {
			s := make([]int, 50)
			err := parallel.For(t.Context(), on, 0, len(s), func(j int) { s[j] = j })
			n, err2 := parallel.Reduce(t.Context(), on, s, func(a, b int) int { return a + b })
			if err := errors.Join(err, err2); err != nil {
				panic(err)
			}
			sum.Add(int64(n))
		}))
		require.EqualValues(t, 20*49*25, sum.Load())
	})
}

func TestStops(t *testing.T) {
	onEach(t, func(t *testing.T, on parallel.On) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls atomic.Int64
		err := parallel.For(ctx, on, 0, 1_000_000_000, func(i int) {
			if calls.Add(1) == 1000 {
				cancel(errTest)
			}
			if on.Grain > 1000 && calls.Load() > 10_000_000 {
				panic("does not stop")
			}
		})
		require.ErrorIs(t, err, errTest)
		_, err = parallel.Reduce(ctx, on, []int{1}, func(a, b int) int { return a + b })
		require.ErrorIs(t, err, errTest)
		s := []int{3, 1, 2}
		require.ErrorIs(t, parallel.Sort(ctx, on, s), errTest)
		require.ElementsMatch(t, []int{1, 2, 3}, s)
		_, err = parallel.Find(ctx, on, s, func(int) bool { return true })
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, parallel.Scan(ctx, on, s, s, func(a, b int) int { return a + b }), errTest)

		var p *executor.PanicError
		err = parallel.For(t.Context(), on, 0, 1000, func(i int) {
			if i == 500 {
				panic(errTest)
			}
		})
		require.ErrorAs(t, err, &p)
		require.Equal(t, errTest, p.Value)
	})
	require.Panics(t, func() { _ = parallel.For(t.Context(), parallel.On{}, 0, 1, func(int) {}) })
	require.Panics(t, func() {
		_ = parallel.ForEach(t.Context(), parallel.On{}, slices.Values([]int{1}), func(int) error { return nil })
	})
	require.Panics(t, func() {
		_ = parallel.Scan(t.Context(), parallel.On{}, []int{1}, []int{1}, func(a, b int) int { return a })
	})
}

package parallel_test

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// told waits until no goroutine is about to tell a run that its context has ended: the goroutines on which package
// context calls those that asked for it are gone.
func told() {
	stacks := make([]byte, 1<<20)
	for strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "created by context.(*afterFuncCtx)") {
		runtime.Gosched()
	}
}

// endless is a number of elements that no worker reaches.
const endless = math.MaxInt / 2

// A function of the package that calls call for elements, of a slice of n or for n indices.
type caller func(ctx context.Context, on parallel.On, n int, call func()) error

var callers = map[string]caller{
	"For": func(ctx context.Context, on parallel.On, n int, call func()) error {
		return parallel.For(ctx, on, 0, n, func(int) { call() })
	},
	"ForSlice": func(ctx context.Context, on parallel.On, n int, call func()) error {
		return parallel.ForSlice(ctx, on, make([]struct{}, n), func(int, *struct{}) { call() })
	},
	"ForEach": func(ctx context.Context, on parallel.On, n int, call func()) error {
		return parallel.ForEach(ctx, on, count(n), func(int) error { call(); return nil })
	},
	"Map": func(ctx context.Context, on parallel.On, n int, call func()) error {
		s := make([]struct{}, n)
		return parallel.Map(ctx, on, s, s, func(struct{}) struct{} { call(); return struct{}{} })
	},
	"MapReduce": func(ctx context.Context, on parallel.On, n int, call func()) error {
		_, err := parallel.MapReduce(ctx, on, make([]struct{}, n), func(struct{}) int { call(); return 1 },
			func(a, b int) int { return a + b })
		return err
	},
	"Reduce": func(ctx context.Context, on parallel.On, n int, call func()) error {
		_, err := parallel.Reduce(ctx, on, make([]struct{}, n),
			func(_, _ struct{}) struct{} { call(); return struct{}{} })
		return err
	},
	"Fold": func(ctx context.Context, on parallel.On, n int, call func()) error {
		_, err := parallel.Fold(ctx, on, make([]struct{}, n), func() int { return 0 }, func(n int, _ struct{}) int {
			call()
			return n + 1
		},
			func(a, b int) int { return a + b })
		return err
	},
	"Scan": func(ctx context.Context, on parallel.On, n int, call func()) error {
		s := make([]struct{}, n)
		return parallel.Scan(ctx, on, s, s, func(_, _ struct{}) struct{} { call(); return struct{}{} })
	},
	"ExclusiveScan": func(ctx context.Context, on parallel.On, n int, call func()) error {
		s := make([]struct{}, n)
		return parallel.ExclusiveScan(ctx, on, s, s, struct{}{},
			func(_, _ struct{}) struct{} { call(); return struct{}{} })
	},
	"Find": func(ctx context.Context, on parallel.On, n int, call func()) error {
		_, err := parallel.Find(ctx, on, make([]struct{}, n), func(struct{}) bool { call(); return false })
		return err
	},
	"Any": func(ctx context.Context, on parallel.On, n int, call func()) error {
		_, err := parallel.Any(ctx, on, make([]struct{}, n), func(struct{}) bool { call(); return false })
		return err
	},
}

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// atMost is how many calls a worker begins after a cancellation: the package's documentation says so.
const atMost = 64

// Once a run knows that its context has ended, each worker calls the body for the rest of its stride and no more,
// however large the pieces are: with a Grain, and without one after many bodies that took no time.
func TestStopsWithinAStride(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	for name, f := range callers {
		for range testkit.Scale(10) {
			on := parallel.On{Executor: executors[rng.IntN(len(executors))]}
			if rng.IntN(2) == 0 && name != "ForEach" {
				on.Grain = []int{2, 100, 1 << 20, math.MaxInt}[rng.IntN(4)]
			} else if name == "ForEach" {
				on.Grain = rng.IntN(3) * 100
			}
			at := int64(1) + rng.Int64N(1<<uint(rng.IntN(16)))
			var calls, after atomic.Int64
			var over atomic.Bool
			ctx, cancel := context.WithCancelCause(t.Context())
			testkit.Within(t, testkit.Patience, func() {
				err := f(ctx, on, endless, func() {
					if over.Load() {
						after.Add(1)
					}
					if calls.Add(1) == at {
						cancel(errTest)
						told()
						over.Store(true)
					}
				})
				require.ErrorIs(t, err, errTest, "%s, Grain %d", name, on.Grain)
			})
			require.LessOrEqual(t, after.Load(), int64(atMost*on.Executor.Workers()),
				"calls begun by %d workers after the cancellation: %s, Grain %d, cancelled by call %d",
				on.Executor.Workers(), name, on.Grain, at)
		}
	}
}

// After its first error ForEach does not call the body again, whatever the Grain, and takes no more elements.
func TestForEachStopsAtTheFirstError(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		ex, err := executor.New(executor.Config{Workers: workers})
		require.NoError(t, err)
		for _, grain := range []int{0, 100, 10_000} {
			calls := 0
			err := parallel.ForEach(t.Context(), parallel.On{Executor: ex, Grain: grain}, count(10_000),
				func(int) error {
					if workers == 1 {
						calls++
					}
					return errTest
				})
			require.Equal(t, errTest, err)
			require.LessOrEqual(t, calls, 1)
		}
		require.NoError(t, ex.Close())
	}
}

// A panic ends the other parts too, although the part that panics is joined only when they are done.
func TestPanicStopsTheOthers(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	for _, grain := range []int{0, 2, 100} {
		for name, f := range callers {
			var first, elsewhere atomic.Int64
			testkit.Within(t, testkit.Patience, func() {
				err := f(t.Context(), parallel.On{Executor: ex, Grain: grain}, endless, func() {
					self := osthread.Self()
					if !first.CompareAndSwap(0, self) && first.Load() != self && elsewhere.CompareAndSwap(0, self) {
						panic(errTest)
					}
				})
				var p *executor.PanicError
				require.ErrorAs(t, err, &p, "%s, Grain %d", name, grain)
				require.Equal(t, errTest, p.Value)
			})
		}
	}
}

// Sorting and merging go on for no more than a piece, and lose no element.
func TestSortStopsWithinAPiece(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	const n = 1 << 15
	var want [n]int
	for i := range want {
		want[i] = i
	}
	for name, sort := range map[string]func(ctx context.Context, on parallel.On, s []int,
		order func(a, b int) int) error{
		"SortFunc":   parallel.SortFunc[int],
		"SortStable": parallel.SortStable[int],
		"Merge": func(ctx context.Context, on parallel.On, s []int, order func(a, b int) int) error {
			half := slices.Clone(s)
			return parallel.Merge(ctx, on, s, half[:n/2], half[n/2:], order)
		},
	} {
		for range testkit.Scale(20) {
			on := parallel.On{Executor: executors[rng.IntN(len(executors))], Grain: 1 + rng.IntN(64)}
			s := make([]int, n)
			for i, x := range rng.Perm(n / 2) {
				s[i], s[n/2+i] = 2*x, 2*x+1
			}
			if name == "Merge" {
				slices.Sort(s[:n/2])
				slices.Sort(s[n/2:])
			}
			at := 1 + rng.Int64N(n/8)
			var calls, after atomic.Int64
			var over atomic.Bool
			ctx, cancel := context.WithCancelCause(t.Context())
			err := sort(ctx, on, s, func(a, b int) int {
				if over.Load() {
					after.Add(1)
				}
				if calls.Add(1) == at {
					cancel(errTest)
					told()
					over.Store(true)
				}
				return cmp.Compare(a, b)
			})
			require.ErrorIs(t, err, errTest, "%s, Grain %d", name, on.Grain)
			slices.Sort(s)
			require.True(t, slices.Equal(want[:], s), "%s, Grain %d: an element is lost", name, on.Grain)
			// The longest are the choice of a pivot from 127 elements, and a merge of mergeGrain elements within
			// SortStable.
			require.LessOrEqual(t, after.Load(), int64(1<<12*on.Executor.Workers()),
				"%s, Grain %d, cancelled by call %d", name, on.Grain, at)
		}
	}
}

package parallel_test

import (
	"cmp"
	"context"
	"fmt"
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

// A caller is a function of the package that calls call for elements, of a slice of n or for n indices.
type caller func(ctx context.Context, o parallel.Options, n int, call func()) error

// A failingCaller is one whose functions may fail. The functions return what call returns.
type failingCaller func(ctx context.Context, o parallel.Options, n int, call called) error

type none = struct{}

// A called is what a failingCaller calls, and has functions to give to one of the package.
type called func(ctx context.Context) error

func (c called) one(ctx context.Context, _ none) (none, error)               { return none{}, c(ctx) }
func (c called) two(ctx context.Context, _, _ none) (none, error)            { return none{}, c(ctx) }
func (c called) number(ctx context.Context, _ none) (int, error)             { return 1, c(ctx) }
func (c called) no(ctx context.Context, _ none) (bool, error)                { return false, c(ctx) }
func (c called) count(ctx context.Context, n int, _ none) (int, error)       { return n + 1, c(ctx) }
func (c called) append(ctx context.Context, to []int, _ none) ([]int, error) { return to, c(ctx) }

// never is a called that does not fail.
var never called = func(context.Context) error { return nil }

var failingCallers = map[string]failingCaller{
	"ForErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		return parallel.ForErr(ctx, o, 0, n, func(ctx context.Context, _ int) error { return call(ctx) })
	},
	"ForStepErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		return parallel.ForStepErr(ctx, o, n, -n, -2, func(ctx context.Context, _ int) error { return call(ctx) })
	},
	"ForTilesErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		grid := parallel.Tile{RowHi: n / 8, ColHi: 64}
		return parallel.ForTilesErr(ctx, o, grid, 1, 10, func(ctx context.Context, _ parallel.Tile) error {
			return call(ctx)
		})
	},
	"ForSliceErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		return parallel.ForSliceErr(ctx, o, make([]none, n), func(ctx context.Context, _ int, _ *none) error {
			return call(ctx)
		})
	},
	"ForEachErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		return parallel.ForEachErr(ctx, o, count(n), func(ctx context.Context, _ int) error { return call(ctx) })
	},
	"MapErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		s := make([]none, n)
		return parallel.MapErr(ctx, o, s, s, call.one)
	},
	"Map2Err": func(ctx context.Context, o parallel.Options, n int, call called) error {
		s := make([]none, n)
		return parallel.Map2Err(ctx, o, s, s, s, call.two)
	},
	"FilterErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.FilterErr(ctx, o, make([]none, n), call.no)
		return err
	},
	"FlatMapErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.FlatMapErr(ctx, o, make([]none, n), call.append)
		return err
	},
	"ReduceErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.ReduceErr(ctx, o, make([]none, n), call.two)
		return err
	},
	"MapReduceErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.MapReduceErr(ctx, o, make([]none, n), call.number, sum)
		return err
	},
	"ReduceForErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.ReduceForErr(ctx, o, 0, n, func(ctx context.Context, _ int) (int, error) {
			return 1, call(ctx)
		}, sum)
		return err
	},
	"FoldErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.FoldErr(ctx, o, make([]none, n), func() int { return 0 }, call.count, sum)
		return err
	},
	"ScanErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		s := make([]none, n)
		return parallel.ScanErr(ctx, o, s, s, call.two)
	},
	"ExclusiveScanErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		s := make([]none, n)
		return parallel.ExclusiveScanErr(ctx, o, s, s, none{}, call.two)
	},
	"MapScanErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		s := make([]none, n)
		return parallel.MapScanErr(ctx, o, s, s, call.one, never.two)
	},
	"ExclusiveMapScanErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		s := make([]none, n)
		return parallel.ExclusiveMapScanErr(ctx, o, s, s, none{}, call.one, never.two)
	},
	"IndexFuncErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.IndexFuncErr(ctx, o, make([]none, n), call.no)
		return err
	},
	"ContainsFuncErr": func(ctx context.Context, o parallel.Options, n int, call called) error {
		_, err := parallel.ContainsFuncErr(ctx, o, make([]none, n), call.no)
		return err
	},
}

func sum(_ context.Context, a, b int) (int, error) { return a + b, nil }

var callers = map[string]caller{
	"For": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		return parallel.For(ctx, o, 0, n, func(int) { call() })
	},
	"ForSlice": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		return parallel.ForSlice(ctx, o, make([]struct{}, n), func(int, *struct{}) { call() })
	},
	"ForEach": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		return parallel.ForEach(ctx, o, count(n), func(int) { call() })
	},
	"Map": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		s := make([]struct{}, n)
		return parallel.Map(ctx, o, s, s, func(struct{}) struct{} { call(); return struct{}{} })
	},
	"MapReduce": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.MapReduce(ctx, o, make([]struct{}, n), func(struct{}) int { call(); return 1 },
			func(a, b int) int { return a + b })
		return err
	},
	"Reduce": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.Reduce(ctx, o, make([]struct{}, n),
			func(_, _ struct{}) struct{} { call(); return struct{}{} })
		return err
	},
	"Fold": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.Fold(ctx, o, make([]struct{}, n), func() int { return 0 }, func(n int, _ struct{}) int {
			call()
			return n + 1
		},
			func(a, b int) int { return a + b })
		return err
	},
	"Scan": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		s := make([]struct{}, n)
		return parallel.Scan(ctx, o, s, s, func(_, _ struct{}) struct{} { call(); return struct{}{} })
	},
	"ExclusiveScan": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		s := make([]struct{}, n)
		return parallel.ExclusiveScan(ctx, o, s, s, struct{}{},
			func(_, _ struct{}) struct{} { call(); return struct{}{} })
	},
	"IndexFunc": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.IndexFunc(ctx, o, make([]struct{}, n), func(struct{}) bool { call(); return false })
		return err
	},
	"ContainsFunc": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.ContainsFunc(ctx, o, make([]struct{}, n), func(struct{}) bool { call(); return false })
		return err
	},
	"ForStep": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		return parallel.ForStep(ctx, o, -n, n, 2, func(int) { call() })
	},
	"ForTiles": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		grid := parallel.Tile{RowHi: 64, ColHi: n / 8}
		return parallel.ForTiles(ctx, o, grid, 10, 1, func(parallel.Tile) { call() })
	},
	"Map2": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		s := make([]none, n)
		return parallel.Map2(ctx, o, s, s, s, func(_, _ none) none { call(); return none{} })
	},
	"Filter": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.Filter(ctx, o, make([]none, n), func(none) bool { call(); return false })
		return err
	},
	"FlatMap": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.FlatMap(ctx, o, make([]none, n), func(to []int, _ none) []int { call(); return to })
		return err
	},
	"ReduceFor": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.ReduceFor(ctx, o, 0, n, func(i int) int { call(); return i },
			func(a, b int) int { return a + b })
		return err
	},
	"MinFunc": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.MinFunc(ctx, o, make([]none, n), func(_, _ none) int { call(); return 0 })
		return err
	},
	"MaxFunc": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.MaxFunc(ctx, o, make([]none, n), func(_, _ none) int { call(); return 0 })
		return err
	},
	"MinIndexFunc": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.MinIndexFunc(ctx, o, make([]none, n), func(_, _ none) int { call(); return 0 })
		return err
	},
	"MaxIndexFunc": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		_, err := parallel.MaxIndexFunc(ctx, o, make([]none, n), func(_, _ none) int { call(); return 0 })
		return err
	},
	"MapScan": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		s := make([]none, n)
		return parallel.MapScan(ctx, o, s, s, func(none) none { call(); return none{} },
			func(_, _ none) none { return none{} })
	},
	"ExclusiveMapScan": func(ctx context.Context, o parallel.Options, n int, call func()) error {
		s := make([]none, n)
		return parallel.ExclusiveMapScan(ctx, o, s, s, none{}, func(none) none { call(); return none{} },
			func(_, _ none) none { return none{} })
	},
}

func init() {
	for name, f := range failingCallers {
		callers[name] = func(ctx context.Context, o parallel.Options, n int, call func()) error {
			return f(ctx, o, n, func(context.Context) error { call(); return nil })
		}
	}
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
			o := parallel.Options{Executor: executors[rng.IntN(len(executors))]}
			each := strings.HasPrefix(name, "ForEach")
			if rng.IntN(2) == 0 && !each {
				o.Grain = []int{2, 100, 1 << 20, math.MaxInt}[rng.IntN(4)]
			} else if each {
				o.Grain = rng.IntN(3) * 100
			}
			at := int64(1) + rng.Int64N(1<<uint(rng.IntN(16)))
			var calls, after atomic.Int64
			var over atomic.Bool
			ctx, cancel := context.WithCancelCause(t.Context())
			testkit.Within(t, testkit.Patience, func() {
				err := f(ctx, o, endless, func() {
					if over.Load() {
						after.Add(1)
					}
					if calls.Add(1) == at {
						cancel(errTest)
						told()
						over.Store(true)
					}
				})
				require.ErrorIs(t, err, errTest, "%s, Grain %d", name, o.Grain)
			}, func() string {
				var dump strings.Builder
				o.Executor.Dump(&dump)
				return fmt.Sprintf("%s, Grain %d, cancelled by call %d: %d calls, %d of them afterwards, over %v\n%s",
					name, o.Grain, at, calls.Load(), after.Load(), over.Load(), &dump)
			})
			require.LessOrEqual(t, after.Load(), int64(atMost*o.Executor.Workers()),
				"calls begun by %d workers after the cancellation: %s, Grain %d, cancelled by call %d",
				o.Executor.Workers(), name, o.Grain, at)
		}
	}
}

// After its first error ForEachErr does not call the body again, whatever the Grain.
func TestForEachErrStopsAtTheFirstError(t *testing.T) {
	for _, ex := range executorsForBounds(t) {
		for _, grain := range []int{0, 100, 10_000} {
			calls := 0
			err := parallel.ForEachErr(t.Context(), parallel.Options{Executor: ex, Grain: grain}, count(10_000),
				func(context.Context, int) error {
					if ex.Workers() == 1 {
						calls++
					}
					return errTest
				})
			require.Equal(t, errTest, err)
			require.LessOrEqual(t, calls, 1)
		}
	}
}

// After its first error ForEachErr does not ask seq for another element, which would be lost if it came from a queue.
// The only worker runs both.
func TestNoElementAfterAnError(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	defer ex.Close()
	for _, at := range []int{0, 3} {
		failed, after := false, 0
		seq := func(yield func(int) bool) {
			for i := range 10 {
				if failed {
					after++
				}
				if !yield(i) {
					return
				}
			}
		}
		o := parallel.Options{Executor: ex, Grain: 1, MaxAhead: 1}
		err = parallel.ForEachErr(t.Context(), o, seq, func(_ context.Context, i int) error {
			if i < at {
				return nil
			}
			failed = true
			return errTest
		})
		require.Equal(t, errTest, err)
		require.Zero(t, after)
	}
}

// After a call has failed MapSeqErr does not ask seq for another element, though an earlier call still runs.
func TestMapSeqAsksForNoneAfterAnError(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 3})
	require.NoError(t, err)
	defer ex.Close()
	begun, fails, earlier := make(chan context.Context, 1), make(chan struct{}), make(chan struct{})
	second := make(chan struct{})
	asked := 0
	seq := func(yield func(int) bool) {
		defer close(earlier)
		for i := range 3 {
			if !yield(i) {
				return
			}
			asked = i + 1
		}
	}
	o := parallel.Options{Executor: ex, MaxAhead: 3}
	var last error
	for v, err := range parallel.MapSeqErr(t.Context(), o, seq, func(ctx context.Context, i int) (int, error) {
		switch i {
		case 0:
			<-second
		case 1:
			<-earlier
		case 2:
			begun <- ctx
			close(second)
			<-fails
			return 0, errTest
		}
		return i, nil
	}) {
		if last = err; err == nil && v == 0 {
			ctx := <-begun
			close(fails)
			<-ctx.Done()
		}
	}
	require.Equal(t, errTest, last)
	require.Equal(t, 2, asked)
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
				err := f(t.Context(), parallel.Options{Executor: ex, Grain: grain}, endless, func() {
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
	for name, sort := range map[string]func(ctx context.Context, o parallel.Options, s []int,
		order func(a, b int) int) error{
		"SortFunc":       parallel.SortFunc[int],
		"SortStableFunc": parallel.SortStableFunc[int],
		"Merge": func(ctx context.Context, o parallel.Options, s []int, order func(a, b int) int) error {
			half := slices.Clone(s)
			return parallel.Merge(ctx, o, s, half[:n/2], half[n/2:], order)
		},
	} {
		for range testkit.Scale(20) {
			o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: 1 + rng.IntN(64)}
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
			err := sort(ctx, o, s, func(a, b int) int {
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
			require.ErrorIs(t, err, errTest, "%s, Grain %d", name, o.Grain)
			slices.Sort(s)
			require.True(t, slices.Equal(want[:], s), "%s, Grain %d: an element is lost", name, o.Grain)
			// The longest are the choice of a pivot from 127 elements, and a merge of mergeGrain elements within
			// SortStable.
			require.LessOrEqual(t, after.Load(), int64(1<<12*o.Executor.Workers()),
				"%s, Grain %d, cancelled by call %d", name, o.Grain, at)
		}
	}
}

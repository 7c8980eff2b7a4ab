package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A span is the sum of some elements: those with indices from lo to hi-1. Only neighbours can be added.
type span struct{ lo, hi int }

func spans(n int) []span {
	s := make([]span, n)
	for i := range s {
		s[i] = span{i, i + 1}
	}
	return s
}

// sums returns what a scan of spans(n) leaves, inclusive or exclusive.
func sums(n int, inclusive bool) []span {
	s := make([]span, n)
	for i := range s {
		s[i] = span{0, i + 1}
		if !inclusive {
			s[i] = span{-1, i}
		}
	}
	return s
}

// A check fails, or does not, for an index.
type check func(ctx context.Context, i int) error

// add returns a function that adds spans, and calls f with the index where they meet.
func (f check) add() func(ctx context.Context, a, b span) (span, error) {
	return func(ctx context.Context, a, b span) (span, error) {
		if a.hi != b.lo {
			panic(fmt.Sprintf("%v and %v are added", a, b))
		}
		if err := f(ctx, b.lo); err != nil {
			return span{}, err
		}
		return span{a.lo, b.hi}, nil
	}
}

// A failing is a function of the package whose functions may fail.
type failing struct {
	// call calls it for n elements, with functions that call f for the index of each, at least once. It returns a
	// result that depends on n alone.
	call func(ctx context.Context, o parallel.Options, n int, f check) (any, error)
	want func(n int) any
	// begin and end are how many elements at the beginning and at the end f is not called for.
	begin, end int
	alone      bool // with a Grain of 1, one worker calls f for all
}

func ones(n int) any { return slices.Repeat([]int{1}, n) }

func indices(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// hits calls loop with a function that counts its calls for each index, after it has called f.
func hits(n int, f check, loop func(hit check) error) (any, error) {
	s := make([]int, n)
	err := loop(func(ctx context.Context, i int) error {
		if err := f(ctx, i); err != nil {
			return err
		}
		s[i]++
		return nil
	})
	return s, err
}

// fails are all functions of the package with functions that may fail.
var fails = map[string]failing{
	"ForErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForErr(ctx, o, 0, n, hit)
		})
	}},
	"ForStepErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForStepErr(ctx, o, 5, 5-3*n, -3, func(ctx context.Context, i int) error {
				return hit(ctx, (5-i)/3)
			})
		})
	}},
	"ForBlocksErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForBlocksErr(ctx, o, 0, n, func(ctx context.Context, lo, hi int) error {
				for i := lo; i < hi; i++ {
					if err := hit(ctx, i); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}},
	"ForTilesErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			grid := parallel.Tile{RowLo: -3, RowHi: 0, ColLo: 7, ColHi: 7 + (n+2)/3}
			return parallel.ForTilesErr(ctx, o, grid, 2, 5, func(ctx context.Context, t parallel.Tile) error {
				for r := t.RowLo; r < t.RowHi; r++ {
					for c := t.ColLo; c < t.ColHi; c++ {
						if i := (r+3)*((n+2)/3) + c - 7; i < n {
							if err := hit(ctx, i); err != nil {
								return err
							}
						}
					}
				}
				return nil
			})
		})
	}},
	"ForSliceErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		s := make([]int, n)
		return s, parallel.ForSliceErr(ctx, o, s, func(ctx context.Context, i int, x *int) error {
			*x++
			return f(ctx, i)
		})
	}},
	"ForEachErr": {want: ones, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return hits(n, f, func(hit check) error {
			return parallel.ForEachErr(ctx, o, count(n), hit)
		})
	}},
	"MapSeqErr": {
		want: func(n int) any { return indices(n) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			all := []int{}
			for i, err := range parallel.MapSeqErr(ctx, o, count(n), func(ctx context.Context, i int) (int, error) {
				return i, f(ctx, i)
			}) {
				if err != nil {
					return all, err
				}
				all = append(all, i)
			}
			return all, nil
		},
	},
	"MapErr": {
		want: func(n int) any { return indices(n) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]int, n)
			return dst, parallel.MapErr(ctx, o, dst, spans(n), func(ctx context.Context, x span) (int, error) {
				return x.lo, f(ctx, x.lo)
			})
		},
	},
	"Map2Err": {
		want: func(n int) any { return spans(n) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]span, n)
			return dst, parallel.Map2Err(ctx, o, dst, indices(n), indices(n + 1)[1:],
				func(ctx context.Context, a, b int) (span, error) { return span{a, b}, f(ctx, a) })
		},
	},
	"FilterErr": {
		want: func(n int) any { return slices.DeleteFunc(indices(n), func(i int) bool { return i%3 == 0 }) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			s, err := parallel.FilterErr(ctx, o, indices(n), func(ctx context.Context, i int) (bool, error) {
				return i%3 != 0, f(ctx, i)
			})
			return append([]int{}, s...), err
		},
	},
	"FlatMapErr": {
		want: func(n int) any {
			s := []int{}
			for i := range n {
				s = append(s, slices.Repeat([]int{i}, i%3)...)
			}
			return s
		},
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			some := func(ctx context.Context, to []int, i int) ([]int, error) {
				for range i % 3 {
					to = append(to, i)
				}
				return to, f(ctx, i)
			}
			s, err := parallel.FlatMapErr(ctx, o, indices(n), some)
			return append([]int{}, s...), err
		},
	},
	"ReduceErr": {begin: 1, want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return parallel.ReduceErr(ctx, o, spans(n), f.add())
	}},
	"MapReduceErr": {want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return parallel.MapReduceErr(ctx, o, indices(n), func(ctx context.Context, i int) (span, error) {
			return span{i, i + 1}, f(ctx, i)
		}, f.add())
	}},
	"ReduceForErr": {want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		return parallel.ReduceForErr(ctx, o, 0, n, func(ctx context.Context, i int) (span, error) {
			return span{i, i + 1}, f(ctx, i)
		}, f.add())
	}},
	"FoldErr": {want: whole, call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
		add := f.add()
		return parallel.FoldErr(ctx, o, indices(n), func() span { return span{} },
			func(ctx context.Context, acc span, i int) (span, error) {
				if acc == (span{}) {
					return span{i, i + 1}, f(ctx, i)
				}
				return add(ctx, acc, span{i, i + 1})
			},
			func(ctx context.Context, left, right span) (span, error) {
				if right == (span{}) {
					return left, nil
				}
				return add(ctx, left, right)
			})
	}},
	"ScanErr": {
		begin: 1, alone: true,
		want: func(n int) any { return sums(n, true) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]span, n)
			return dst, parallel.ScanErr(ctx, o, dst, spans(n), f.add())
		},
	},
	"ExclusiveScanErr": {
		end: 1, alone: true,
		want: func(n int) any { return sums(n, false) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			s := spans(n) // in place
			return s, parallel.ExclusiveScanErr(ctx, o, s, s, span{-1, 0}, f.add())
		},
	},
	"MapScanErr": {
		want: func(n int) any { return sums(n, true) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			dst := make([]span, n)
			return dst, parallel.MapScanErr(ctx, o, dst, indices(n), func(ctx context.Context, i int) (span, error) {
				return span{i, i + 1}, f(ctx, i)
			}, f.add())
		},
	},
	"ExclusiveMapScanErr": {
		want: func(n int) any { return sums(n, false) },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			s := spans(n)
			return s, parallel.ExclusiveMapScanErr(ctx, o, s, s, span{-1, 0},
				func(ctx context.Context, x span) (span, error) { return x, f(ctx, x.lo) }, f.add())
		},
	},
	"IndexFuncErr": {
		want: func(int) any { return -1 },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			return parallel.IndexFuncErr(ctx, o, indices(n), func(ctx context.Context, i int) (bool, error) {
				return false, f(ctx, i)
			})
		},
	},
	"ContainsFuncErr": {
		want: func(int) any { return false },
		call: func(ctx context.Context, o parallel.Options, n int, f check) (any, error) {
			return parallel.ContainsFuncErr(ctx, o, indices(n), func(ctx context.Context, i int) (bool, error) {
				return false, f(ctx, i)
			})
		},
	},
}

func whole(n int) any { return span{0, n} }

func fine(context.Context, int) error { return nil }

// If no function fails, the result is that of a sequential function.
func TestErrWithoutFailure(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		for name, f := range fails {
			for _, n := range []int{0, 1, 2, 63, 64, 65, 129, 1000} {
				got, err := f.call(t.Context(), o, n, fine)
				require.NoError(t, err, "%s of %d", name, n)
				require.Equal(t, f.want(n), got, "%s of %d", name, n)
			}
		}
	})
}

// An indexError says for which index a function has failed.
type indexError struct{ i int }

func (e *indexError) Error() string { return fmt.Sprintf("index %d", e.i) }
func (e *indexError) Unwrap() error { return errTest }

// Functions fail for some indices. The error of the call is that of one of them, as the function returned it, and the
// cause for which the context of the others ends. One worker stops at the first.
func TestErrAtRandomPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	for name, f := range fails {
		for range testkit.Scale(60) {
			n := rng.IntN(1 << rng.IntN(13))
			o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: drawGrain(rng, uint(n)),
				Workers: rng.IntN(4)}
			bad := map[int]bool{}
			expected := false
			for range rng.IntN(4) {
				i := rng.IntN(n + 1)
				bad[i] = true
				expected = expected || i >= f.begin && i < n-f.end
			}
			var last atomic.Pointer[context.Context]
			var returned atomic.Int64
			testkit.Within(t, testkit.Patience, func() {
				got, err := f.call(t.Context(), o, n, func(ctx context.Context, i int) error {
					last.Store(&ctx)
					if bad[i] {
						returned.Add(1)
						return &indexError{i}
					}
					return nil
				})
				about := fmt.Sprintf("%s of %d, %v, on %d workers", name, n, o, o.Executor.Workers())
				if !expected {
					require.NoError(t, err, about)
					require.Equal(t, f.want(n), got, about)
					return
				}
				require.IsType(t, &indexError{}, err, about)
				require.True(t, bad[err.(*indexError).i], about)
				require.Equal(t, err, context.Cause(*last.Load()), about)
				if o.Executor.Workers() == 1 || o.Workers == 1 {
					require.EqualValues(t, 1, returned.Load(), about)
				}
			})
		}
	}
}

// Two functions meet. One fails, and the context of the other ends. Its error is left out, whatever it is, and a panic
// is not.
func TestErrOfTheFirst(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	for name, f := range fails {
		if f.alone {
			continue
		}
		for what, second := range map[string]func(ctx context.Context) error{
			"another error": func(context.Context) error { return errors.New("second") },
			"the context's": context.Context.Err,
			"its cause":     context.Cause,
			"wrapped":       func(ctx context.Context) error { return fmt.Errorf("second: %w", ctx.Err()) },
			"none":          func(context.Context) error { return nil },
			"a panic":       func(context.Context) error { panic("second") },
			"of a loop in it": func(ctx context.Context) error {
				return parallel.For(ctx, parallel.Options{Executor: ex}, 0, 10, func(int) {})
			},
		} {
			var came atomic.Int32
			testkit.Within(t, testkit.Patience, func() {
				_, err := f.call(t.Context(), parallel.Options{Executor: ex, Grain: 1}, 100,
					func(ctx context.Context, i int) error {
						switch came.Add(1) {
						case 1:
							<-ctx.Done()
							return second(ctx)
						case 2:
							return errTest
						}
						return nil
					})
				if what == "a panic" {
					var p *executor.PanicError
					require.ErrorIs(t, err, errTest, name)
					require.ErrorAs(t, err, &p, name)
					return
				}
				require.Equal(t, errTest, err, "%s: %s", name, what)
			})
		}
	}
}

// If the caller's context ends, errors that say so are left out, and others are part of the error.
func TestErrAndCancellation(t *testing.T) {
	executors := executorsForBounds(t)
	cause := errors.New("cause")
	for name, f := range fails {
		for what, end := range map[string]func(ctx context.Context) error{
			"the context's": context.Context.Err,
			"its cause":     context.Cause,
			"none":          func(context.Context) error { return nil },
			"another":       func(context.Context) error { return errTest },
		} {
			for _, ex := range executors {
				ctx, cancel := context.WithCancelCause(t.Context())
				var calls atomic.Int32
				_, err := f.call(ctx, parallel.Options{Executor: ex, Grain: 10}, 1000,
					func(ctx context.Context, i int) error {
						if calls.Add(1) == 100 {
							cancel(cause)
							<-ctx.Done()
							return end(ctx)
						}
						return nil
					})
				require.ErrorIs(t, err, cause, name)
				require.ErrorIs(t, err, context.Canceled, name)
				require.Equal(t, what == "another", errors.Is(err, errTest), name)
				require.Equal(t, what == "another", strings.Contains(err.Error(), "\n"), "%s: %v", name, err)
				require.Contains(t, err.Error(), `"parallel.`+name+`"`)
			}
		}
	}
}

// An executor without threads stops at the first error too.
func TestErrInline(t *testing.T) {
	for seed := range uint64(20) {
		ex := executor.NewInline(seed)
		for name, f := range fails {
			calls := 0
			_, err := f.call(t.Context(), parallel.Options{Executor: ex}, 500, func(context.Context, int) error {
				if calls++; calls == 100 {
					return errTest
				}
				return nil
			})
			require.Equal(t, errTest, err, name)
			require.Equal(t, 100, calls, name)
		}
		require.NoError(t, ex.Close())
	}
}

// After its error a worker begins no call, and each other at most the rest of its stride.
func TestErrStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	executors := executorsForBounds(t)
	for name, f := range failingCallers {
		for range testkit.Scale(10) {
			o := parallel.Options{Executor: executors[rng.IntN(len(executors))]}
			if rng.IntN(2) == 0 && name != "ForEachErr" {
				o.Grain = []int{1, 2, 100, 1 << 20}[rng.IntN(4)]
				if fails[name].alone {
					o.Grain = max(o.Grain, 2) // f is called for two elements, and blocks of one have no end
				}
			}
			at := int64(1) + rng.Int64N(1<<uint(rng.IntN(12)))
			var calls, after atomic.Int64
			testkit.Within(t, testkit.Patience, func() {
				err := f(t.Context(), o, endless, func(ctx context.Context) error {
					if ctx.Err() != nil {
						after.Add(1)
					}
					if calls.Add(1) == at {
						return errTest
					}
					return nil
				})
				require.Equal(t, errTest, err, "%s, Grain %d", name, o.Grain)
			})
			workers := int64(o.Executor.Workers())
			most := atMost * (workers - 1)
			if o.Grain == 1 {
				most = workers - 1 // those that were about to begin
			}
			require.LessOrEqual(t, after.Load(), most, "%s, Grain %d", name, o.Grain)
			if workers == 1 {
				require.Equal(t, at, calls.Load(), "%s, Grain %d", name, o.Grain)
			}
		}
	}
}

// Bodies that wait for the end of their context are woken.
func TestErrWakesWaiters(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 4})
	require.NoError(t, err)
	defer ex.Close()
	var waiting atomic.Int32
	testkit.Within(t, testkit.Patience, func() {
		err := parallel.ForErr(t.Context(), parallel.Options{Executor: ex, Grain: 1}, 0, 4,
			func(ctx context.Context, i int) error {
				if i != 3 {
					waiting.Add(1)
					<-ctx.Done()
					return ctx.Err()
				}
				for waiting.Load() < 3 {
					time.Sleep(10 * time.Microsecond)
				}
				return errTest
			})
		require.Equal(t, errTest, err)
	})
}

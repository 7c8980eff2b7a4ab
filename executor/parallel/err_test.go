package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

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
		for round := range testkit.Scale(60) {
			n := rng.IntN(1 << rng.IntN(13))
			o := parallel.Options{Executor: executors[rng.IntN(len(executors))], Grain: drawGrain(rng, uint(n)),
				Workers: rng.IntN(4)}
			bad := map[int]bool{}
			expected := false
			fail := func(i int) {
				bad[i] = true
				expected = expected || i >= f.begin && i < n-f.end
			}
			if round%3 == 0 {
				fail(max(0, n-1)) // alone: an exclusive scan does not call its function for the last element
			} else {
				for range rng.IntN(4) {
					fail(rng.IntN(n + 1))
				}
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

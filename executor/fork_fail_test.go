package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// recovered is what f panics with.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// incomparable is a value of a comparable type that cannot be compared.
type incomparable struct{ value any }

func panics(_ *executor.Scope, value any) int {
	_ = panicWith(value)
	return 0
}

// onEachWay runs a test on executors on which f can be forked in that way.
func onEachWay(t *testing.T, f func(t *testing.T, ex *executor.Executor,
	way func(*executor.Scope, any) executor.Forked[any, int])) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			on, workers := onEachDeque, someWorkers
			if name == "stolen" {
				on, workers = onOpenDeques, thieves
			}
			on(t, workers, func(t *testing.T, ex *executor.Executor) { f(t, ex, way) })
		})
	}
}

// Join panics with the value of the fork's panic. A function that recovers goes on unharmed.
func TestForkPanicIsRecovered(t *testing.T) {
	onEachWay(t, func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int]) {
		for _, value := range panicValues {
			var got any
			inScope(t, ex, func(s *executor.Scope) {
				f := way(s, value)
				got = recovered(func() { f.Join(s) })
				if s.Stopped() || s.Context().Err() != nil || fib(s, 10) != serialFib(10) {
					panic("the run does not go on")
				}
			})
			require.Equal(t, value, got)
		}
	})
}

// parts are the errors that err joins, or err.
func parts(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// A panic that is not recovered is the run's error, with the stack of the first panic, however many joins it has come
// through.
func TestForkPanicEndsTheRun(t *testing.T) {
	onEachWay(t, func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int]) {
		for _, value := range panicValues {
			after := false
			err := runScope(t.Context(), ex, func(s *executor.Scope) {
				outer := executor.Fork(s, func(s *executor.Scope, _ int) int {
					return executor.Fork(s, func(s *executor.Scope, _ int) int {
						return way(s, value).Join(s)
					}, 1).Join(s)
				}, 1)
				outer.Join(s)
				after = true
			})
			require.False(t, after)
			failures := parts(err)
			require.Len(t, failures, 1)
			p, ok := failures[0].(*executor.PanicError)
			require.True(t, ok, "%T: %v", failures[0], err)
			require.Equal(t, value, p.Value)
			require.Contains(t, string(p.Stack), "executor_test.panicWith")
		}
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
}

// A panic is not lost if the fork is not joined.
func TestForkPanicWithoutJoin(t *testing.T) {
	onEachWay(t, func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int]) {
		for _, value := range panicValues {
			err := runScope(t.Context(), ex, func(s *executor.Scope) { way(s, value) })
			var p *executor.PanicError
			require.ErrorAs(t, err, &p)
			require.Equal(t, value, p.Value)
			require.Contains(t, string(p.Stack), "executor_test.panicWith")
		}
	})
}

// thrower is another function that panics.
func thrower(value any) { panic(value) }

// A panic with a value that was recovered before, in another function, has the stack of its own.
func TestForkPanicsAgain(t *testing.T) {
	onOpenDeques(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		for range 10 { // so that it comes to the same worker
			inScope(t, ex, func(s *executor.Scope) {
				f := forkStolen(s, panics, any(errTest))
				if recovered(func() { f.Join(s) }) != error(errTest) {
					panic("another value")
				}
			})
			for name, run := range map[string]func() error{
				"scope": func() error { return runScope(t.Context(), ex, func(*executor.Scope) { thrower(errTest) }) },
				"graph": func() error {
					return ex.Run(t.Context(), one(func(context.Context) error { thrower(errTest); return nil }))
				},
			} {
				var p *executor.PanicError
				require.ErrorAs(t, run(), &p, name)
				require.Contains(t, string(p.Stack), "executor_test.thrower", name)
			}
		}
	})
}

// Older forks that are not joined when a newer one panics, or the function that made them, are run at most once, also
// if a function recovers. Its scope is unharmed.
func TestForkPanicLeavesForks(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(30) {
			for joined := range 3 {
				for _, recovers := range []bool{true, false} {
					var ran [4]atomic.Int32
					runs := func(_ *executor.Scope, i int) int { ran[i].Add(1); return i }
					leaves := func(s *executor.Scope, _ int) int {
						a, b := executor.Fork(s, runs, 0), executor.Fork(s, runs, 1)
						c := executor.Fork(s, panics, any(errTest))
						switch joined {
						case 1:
							b.Join(s)
						case 2:
							a.Join(s)
						}
						return c.Join(s)
					}
					err := runScope(t.Context(), ex, func(s *executor.Scope) {
						older := executor.Fork(s, runs, 2)
						f := executor.Fork(s, leaves, 1)
						if !recovers {
							f.Join(s)
						}
						if value := recovered(func() { f.Join(s) }); value != error(errTest) {
							panic(fmt.Sprint("recovered ", value))
						}
						newer := executor.Fork(s, runs, 3)
						if older.Join(s) != 2 || newer.Join(s) != 3 || fib(s, 8) != serialFib(8) {
							panic("a wrong result")
						}
					})
					for i := range ran {
						require.LessOrEqual(t, ran[i].Load(), int32(1), "fork %d", i)
					}
					if recovers {
						require.NoError(t, err)
						require.EqualValues(t, 1, ran[2].Load())
						require.EqualValues(t, 1, ran[3].Load())
					} else {
						require.ErrorIs(t, err, errTest)
					}
				}
			}
		}
	})
}

// Goexit in a fork fails its run, whichever thread it ends. Runs beside it are unharmed, and the executor too.
func TestForkGoexit(t *testing.T) {
	guests.None(t)
	exits := func(*executor.Scope, int) int { runtime.Goexit(); return 0 }
	for name, fork := range map[string]func(*executor.Scope) executor.Forked[int, int]{
		"forked": func(s *executor.Scope) executor.Forked[int, int] { return executor.Fork(s, exits, 0) },
		"stolen": func(s *executor.Scope) executor.Forked[int, int] { return forkStolen(s, exits, 0) },
	} {
		for _, joined := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/joined=%v", name, joined), func(t *testing.T) {
				on, workers := onEachDeque, someWorkers
				if name == "stolen" {
					on, workers = onOpenDeques, []int{4, 8} // besides, one for the run beside
				}
				on(t, workers, func(t *testing.T, ex *executor.Executor) {
					for range testkit.Scale(10) {
						beside := make(chan error, 1)
						go func() {
							r, err := executor.Call(t.Context(), ex, fib, 15)
							if err == nil && r != serialFib(15) {
								err = errors.New("a wrong result")
							}
							beside <- err
						}()
						after, deferred := false, false
						err := runScope(t.Context(), ex, func(s *executor.Scope) {
							defer func() { deferred = true }()
							older := executor.Fork(s, fib, 5)
							if name == "stolen" {
								older.Join(s)
							}
							f := fork(s)
							if joined {
								f.Join(s)
								after = true
							}
						})
						require.ErrorIs(t, err, executor.ErrGoexit)
						require.True(t, deferred)
						require.False(t, after)
						require.NoError(t, <-beside)
					}
					meetApart(t, ex)
					r, err := executor.Call(t.Context(), ex, fib, 12)
					require.NoError(t, err)
					require.Equal(t, serialFib(12), r)
				})
			})
		}
	}
}

// A fork that another worker ended with Goexit panics in Join, which may be recovered.
func TestForkGoexitIsRecovered(t *testing.T) {
	guests.None(t)
	onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			f := forkStolen(s, func(*executor.Scope, int) int { runtime.Goexit(); return 0 }, 0)
			if value := recovered(func() { f.Join(s) }); value != error(executor.ErrGoexit) {
				panic(fmt.Sprint("recovered ", value))
			}
			if fib(s, 8) != serialFib(8) {
				panic("a wrong result")
			}
		})
	})
}

// A forked call is made even if the run was cancelled: its joiner needs the result.
func TestForkInCancelledRun(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var stopped bool
		var results [2]int
		err := runScope(ctx, ex, func(s *executor.Scope) {
			before := executor.Fork(s, fib, 10)
			cancel(errTest)
			_ = s.Context().Err() // the run notices its cancellation at the first look
			stopped = s.Stopped()
			results = [2]int{fib(s, 11), before.Join(s)}
		})
		require.ErrorIs(t, err, errTest)
		require.True(t, stopped)
		require.Equal(t, [2]int{serialFib(11), serialFib(10)}, results)
	})
}

// A run that was cancelled before it began makes no call.
func TestCallOfCancelledRun(t *testing.T) {
	onEachDeque(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, err := executor.Call(ctx, ex, func(*executor.Scope, int) int { panic("called") }, 1)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, r)
	})
}

// A second Join is noticed as long as no other fork has the frame, in order and out of order, and whatever else was
// forked.
func TestJoinTwice(t *testing.T) {
	const want = "executor: a Forked is joined after its end: it was joined before, " +
		"or the function that forked it has ended"
	onEachDeque(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			one := func(*executor.Scope, int) int { return 1 }
			f := executor.Fork(s, one, 0)
			require.Equal(t, 1, f.Join(s))
			require.PanicsWithValue(t, want, func() { f.Join(s) })
			older, newer := executor.Fork(s, one, 0), executor.Fork(s, one, 0)
			require.Equal(t, 1, older.Join(s))
			require.PanicsWithValue(t, want, func() { older.Join(s) })
			require.Equal(t, 1, newer.Join(s))
			require.PanicsWithValue(t, want, func() { newer.Join(s) })

			other := executor.Fork(s, func(*executor.Scope, string) string { return "other" }, "")
			third := executor.Fork(s, func(*executor.Scope, bool) string { return "third" }, true)
			for _, joined := range []executor.Forked[int, int]{f, older, newer} {
				require.PanicsWithValue(t, want, func() { joined.Join(s) })
			}
			require.Equal(t, "other", other.Join(s))
			require.PanicsWithValue(t, want, func() { f.Join(s) })
			require.Equal(t, "third", third.Join(s))
		})
		require.Empty(t, ex.ForksLeft())
	})
}

// The failure of a call that another worker has begun is reported even if the function that has forked it fails first.
func TestForkAbandonedFails(t *testing.T) {
	onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
		own, other := errors.New("own"), errors.New("other")
		err := runScope(t.Context(), ex, func(s *executor.Scope) {
			forkStolen(s, func(*executor.Scope, int) int { time.Sleep(time.Millisecond); panic(other) }, 0)
			panic(own)
		})
		require.ErrorIs(t, err, own)
		require.ErrorIs(t, err, other)
	})
}

func throw(value any) error { panic(value) }

// A panic of Join is recognized as the fork's failure, with its stack, whatever has run on top meanwhile. A
// panic with the same value in a call on top is not taken for it.
func TestForkPanicKeepsItsStack(t *testing.T) {
	guests.None(t)
	onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
		var p *executor.PanicError
		err := runScope(t.Context(), ex, func(s *executor.Scope) {
			defer func() { s.Go(nothing); _ = s.Wait() }()
			forkStolen(s, func(*executor.Scope, int) error { return throw(errTest) }, 0).Join(s)
		})
		require.ErrorAs(t, err, &p)
		require.Contains(t, string(p.Stack), "executor_test.throw")

		err = runScope(t.Context(), ex, func(s *executor.Scope) {
			defer func() { s.Go(nothing); _ = s.Wait() }()
			forkStolen(s, func(*executor.Scope, int) error { runtime.Goexit(); return nil }, 0).Join(s)
		})
		require.ErrorIs(t, err, executor.ErrGoexit)
		require.NotErrorAs(t, err, &p)

		err = ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			f := forkStolen(s, func(*executor.Scope, int) int { panic("same") }, 0)
			recovered(func() { f.Join(s) })
			return ex.Run(t.Context(), one(func(context.Context) error { return throw("same") }))
		}))
		require.ErrorAs(t, err, &p)
		require.Contains(t, string(p.Stack), "executor_test.throw")
	})
}

// The Join of the zero Forked panics, with children or without.
func TestForkedZero(t *testing.T) {
	onOpenDeques(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			zero := func() {
				require.Panics(t, func() { executor.Forked[int, int]{}.Join(s) })
				require.Panics(t, func() { executor.Forked[[1000]int, int]{}.Join(s) })
			}
			zero()
			fib(s, 5)
			zero()
			s.Go(func(context.Context) error { return nil })
			zero()
			require.NoError(t, s.Wait())
			require.Equal(t, 5, fib(s, 5))
		})
		require.Empty(t, ex.ForksLeft())
	})
}

//go:build !race

// A use of a Scope on another thread reads words that the owner writes: the race detector may report it first.

package executor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

const (
	ended     = "a Forked is joined after its end"
	elsewhere = "a Forked is joined with a Scope other than the one that it was forked with"
)

// uses are all that can be done with a scope. Each is called where the scope is not to be used.
var uses = map[string]func(s *executor.Scope){
	"Fork":  func(s *executor.Scope) { executor.Fork(s, noFork, 0) },
	"Go":    func(s *executor.Scope) { s.Go(nothing) },
	"Spawn": func(s *executor.Scope) { s.Spawn(func(*executor.Scope) error { return nil }) },
	"Wait":  func(s *executor.Scope) { _ = s.Wait() },
}

// A use of a Scope by a function that it was not given to panics and says so, wherever that function
// runs, and whatever the function that it was given to does meanwhile.
func TestScopeUsedElsewhere(t *testing.T) {
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			onOpenDeques(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
				misuse := func(s *executor.Scope) error { return mustPanic(func() { use(s) }, outside) }
				err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
					s.Go(func(context.Context) error { return misuse(s) })
					s.Spawn(func(*executor.Scope) error { return misuse(s) })
					if err := s.Wait(); err != nil { // some run on top of it
						return err
					}
					require.Equal(t, serialFib(5), fib(s, 5)) // s is known to be used rightly
					if err := ex.Run(s.Context(), one(func(context.Context) error { return misuse(s) })); err != nil {
						return err
					}
					_, err := executor.Async(s.Context(), ex, func(context.Context) (int, error) {
						return 0, misuse(s)
					}).Wait()
					return err
				}))
				require.NoError(t, err)
				if ex.Workers() > 1 { // while the function goes on, and forks
					inScope(t, ex, func(s *executor.Scope) {
						f := forkStolen(s, func(*executor.Scope, int) error { return misuse(s) }, 0)
						require.Equal(t, serialFib(10), fib(s, 10))
						require.NoError(t, f.Join(s))
					})
				}
				inScope(t, ex, func(s *executor.Scope) {
					told := make(chan error)
					go func() { told <- misuse(s) }()
					require.NoError(t, <-told)
					require.Equal(t, serialFib(10), fib(s, 10))
				})
				require.Empty(t, ex.ForksLeft())
			})
		})
	}
}

// A Scope that was kept is of no use after the end of its function.
func TestScopeUsedLater(t *testing.T) {
	onEach(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		var kept *executor.Scope
		inScope(t, ex, func(s *executor.Scope) { kept = s; fib(s, 5) })
		for name, use := range uses {
			require.NoError(t, mustPanic(func() { use(kept) }, outside), name)
		}
		for range 10 { // on its worker, too
			for name, use := range uses {
				require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
					return mustPanic(func() { use(kept) }, outside)
				})), name)
			}
		}
		require.NoError(t, mustPanic(func() { kept.Context() }, outside))
		require.NoError(t, mustPanic(func() { kept.Stopped() }, outside))
	})
}

// A Forked is joined once, with the scope that it was forked with, by the function that has it.
func TestForkedMisused(t *testing.T) {
	onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			inScope(t, ex, func(s *executor.Scope) {
				var f executor.Forked[int, int]
				var forked atomic.Bool
				g := forkStolen(s, func(own *executor.Scope, _ int) error {
					eventually(forked.Load)
					h := executor.Fork(own, noFork, 0)
					defer h.Join(own)
					return errors.Join(
						mustPanic(func() { f.Join(own) }, elsewhere), // on another worker
						mustPanic(func() { f.Join(s) }, outside))
				}, 0)
				f = executor.Fork(s, fib, 5)
				forked.Store(true)
				require.NoError(t, g.Join(s))
				s.Spawn(func(own *executor.Scope) error { return mustPanic(func() { f.Join(own) }, elsewhere) })
				require.NoError(t, s.Wait())
				told := make(chan error)
				go func() { told <- mustPanic(func() { f.Join(s) }, outside) }()
				require.NoError(t, <-told)
				require.Equal(t, 5, f.Join(s))

				again := executor.Fork(s, fib, 6) // has the place that f had
				require.NoError(t, mustPanic(func() { f.Join(s) }, ended))
				require.Equal(t, 8, again.Join(s))
				require.NoError(t, mustPanic(func() { again.Join(s) }, ended))
			})
		}
		require.Empty(t, ex.ForksLeft())
	})
}

// A function on top of another joins what that one has forked last, with its own scope. Join says that it is the wrong
// one, and both functions go on.
func TestForkedOfBelow(t *testing.T) {
	onOpenDeques(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			f := executor.Fork(s, fib, 5)
			require.NoError(t, ex.Run(s.Context(), executor.NewJob("inner", func(own *executor.Scope) error {
				h := executor.Fork(own, fib, 3)
				h.Join(own)
				return mustPanic(func() { f.Join(own) }, elsewhere)
			})))
			require.Equal(t, serialFib(5), f.Join(s))
		})
		require.Empty(t, ex.ForksLeft())
	})
}

// A recursion in which some functions use the scope of the one around them, as happens with a closure that has one
// letter wrong. The result is right, or the run says what is wrong.
func TestRandomCaptures(t *testing.T) {
	seed, runs := testkit.Seed(t), testkit.Count(t, 300)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range runs {
		ex := newExecutor(t, oneOf(rng, forkStores).in(executor.Config{
			Workers: 1 + rng.IntN(4), Experiment: experiment.Options{Policy: oneOf(rng, usable())},
		}))
		n, often := 5+rng.IntN(10), int64(1+rng.IntN(50))
		var calls atomic.Int64
		var capturing func(outer *executor.Scope) func(s *executor.Scope, n int) int
		capturing = func(outer *executor.Scope) func(s *executor.Scope, n int) int {
			return func(s *executor.Scope, n int) int {
				if n < 2 {
					return n
				}
				used := s
				if calls.Add(1)%often == 0 {
					used = outer
				}
				f := executor.Fork(used, capturing(s), n-1)
				y := capturing(s)(s, n-2)
				return f.Join(used) + y
			}
		}
		within(t, ex, func() {
			r, err := executor.Call(t.Context(), ex, func(s *executor.Scope, n int) int {
				return capturing(s)(s, n)
			}, n)
			if err == nil {
				require.Equal(t, serialFib(n), r)
			} else {
				require.Contains(t, err.Error(), "executor: a ")
			}
			r, err = executor.Call(t.Context(), ex, fib, 12)
			require.NoError(t, err)
			require.Equal(t, serialFib(12), r)
		})
		require.Empty(t, ex.ForksLeft())
		require.NoError(t, ex.Close())
	}
	testkit.Proved(t, runs, "recursions with captured scopes")
}

// forkDeep forks on n frames, on more blocks of the stack than one.
func forkDeep(s *executor.Scope, n int) (sum int) {
	var room [512]byte
	if n > 0 {
		f := executor.Fork(s, noFork, 0)
		sum = forkDeep(s, n-1) + f.Join(s)
	}
	for _, b := range room {
		sum += int(b)
	}
	return sum
}

// goDeep uses as much of the stack as forkDeep, and no scope.
func goDeep(n int) (sum int) {
	var room [512]byte
	if n > 0 {
		sum = goDeep(n - 1)
	}
	for _, b := range room {
		sum += int(b)
	}
	return sum
}

// A worker's stack has moved, and goroutines have got the memory of the old one. A misuse by them is noticed.
func TestScopeUsedFromAnOldStack(t *testing.T) {
	misuse := func(s *executor.Scope) {
		told := make(chan error)
		for range 200 {
			go func() { told <- mustPanic(func() { _ = s.Wait() }, outside) }()
		}
		for range 200 {
			require.NoError(t, <-told)
		}
	}
	for range testkit.Scale(5) {
		ex := newExecutor(t, executor.Config{Workers: 1})
		inScope(t, ex, func(s *executor.Scope) {
			forkDeep(s, 16)
			forkDeep(s, 500)
			executor.Fork(s, noFork, 0).Join(s)
			misuse(s)
		})
		ex = newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers})
		inScope(t, ex, func(s *executor.Scope) { forkDeep(s, 16) })
		inScope(t, ex, func(s *executor.Scope) { // the first use of its scope is wrong
			goDeep(500)
			misuse(s)
		})
	}
}

// A child that runs on top of the function that waits for it does not join that function's fork, although its scope
// begins where that fork is the newest.
func TestForkedOfTheFunctionBelow(t *testing.T) {
	misuse := func(ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			var f executor.Forked[int, int]
			s.Spawn(func(own *executor.Scope) error {
				usesStack(own, 20) // so that it is known to be the worker's, and check need not be asked
				return mustPanic(func() { f.Join(own) }, elsewhere)
			})
			f = executor.Fork(s, fib, 5)
			require.NoError(t, s.Wait())
			require.Empty(t, s.CheckForks())
			require.Equal(t, 5, f.Join(s))

			older := executor.Fork(s, fib, 5)
			f = executor.Fork(s, fib, 6)
			s.Spawn(func(own *executor.Scope) error {
				usesStack(own, 20)
				return mustPanic(func() { f.Join(own) }, elsewhere)
			})
			require.NoError(t, s.Wait())
			require.Empty(t, s.CheckForks())
			require.Equal(t, []int{8, 5}, []int{f.Join(s), older.Join(s)})
		})
	}
	for seed := range uint64(5) {
		misuse(executor.NewInline(seed))
	}
	misuse(newExecutor(t, executor.Config{Workers: 1}))
	for _, k := range []deque.Kind{deque.KindChaseLev, deque.KindPadWS} {
		misuse(newExecutor(t, executor.Config{Workers: 1, Experiment: experiment.Options{Deque: k, Forks: "pushed"}}))
	}
}

// usesStack forks in some frames of the stack.
//
//go:noinline
func usesStack(s *executor.Scope, n int) int {
	var room [32]int
	if n > 0 {
		room[n] = usesStack(s, n-1)
	}
	return room[n] + fib(s, 2)
}

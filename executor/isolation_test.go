package executor_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A Join runs what the joined call has started, and nothing else: the joiner may hold a lock that another call wants.
// The tests of this file build situations in which leapfrogging meets other items. They deadlock if one of these is
// run.

func noFork(*executor.Scope, int) int { return 0 }

// slowFork forks a call that takes a while, and returns when another worker has begun it.
func slowFork(s *executor.Scope) executor.Forked[int, int] {
	return forkStolen(s, func(*executor.Scope, int) int { time.Sleep(5 * time.Millisecond); return 1 }, 0)
}

// The taker of the joined fork is itself in a Join, and still has a child in its deque that is older than what it has
// taken.
func TestJoinLeavesTheTakersChildren(t *testing.T) {
	onOpenDeques(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		var mu sync.Mutex
		for range testkit.Scale(3) {
			inScope(t, ex, func(s *executor.Scope) {
				f := forkStolen(s, func(s *executor.Scope, _ int) int {
					x := slowFork(s) // taken by the other worker, in its Join of f
					mu.Lock()
					defer mu.Unlock()
					return x.Join(s)
				}, 0)
				s.Go(func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					return nil
				})
				require.Equal(t, 1, f.Join(s))
			})
		}
	})
}

// The taker of the joined fork waits, below that fork on its stack, for another, in which there is something to steal.
func TestJoinLeavesTheTakersOwnJoin(t *testing.T) {
	onOpenDeques(t, []int{3}, func(t *testing.T, ex *executor.Executor) {
		var mu sync.Mutex
		for range testkit.Scale(3) {
			var outer, middle, left, right atomic.Bool
			var u executor.Forked[int, int]
			wants := func(*executor.Scope, int) int { // mu, and comes from left
				mu.Lock()
				defer mu.Unlock()
				return 0
			}
			leftFork := func(s *executor.Scope, _ int) int {
				left.Store(true)
				eventually(right.Load)
				q, d := executor.Fork(s, wants, 0), executor.Fork(s, noFork, 0)
				time.Sleep(10 * time.Millisecond)
				return d.Join(s) + q.Join(s)
			}
			rightFork := func(*executor.Scope, int) int {
				right.Store(true)
				time.Sleep(5 * time.Millisecond)
				return 0
			}
			middleFork := func(s *executor.Scope, _ int) int {
				middle.Store(true)
				u = executor.Fork(s, leftFork, 0)
				x := executor.Fork(s, rightFork, 0)
				eventually(left.Load)
				eventually(right.Load)
				mu.Lock()
				x.Join(s)
				mu.Unlock()
				return u.Join(s)
			}
			outerFork := func(s *executor.Scope, _ int) int {
				outer.Store(true)
				f, d := executor.Fork(s, middleFork, 0), executor.Fork(s, noFork, 0)
				eventually(middle.Load)
				return d.Join(s) + f.Join(s)
			}
			inScope(t, ex, func(s *executor.Scope) {
				f, d := executor.Fork(s, outerFork, 0), executor.Fork(s, noFork, 0)
				eventually(outer.Load)
				d.Join(s)
				eventually(left.Load)
				require.Zero(t, f.Join(s))
			})
		}
	})
}

// The taker of the joined fork has started a run and waits for it later, and helps the run that both are part of.
func TestJoinLeavesTheTakersRuns(t *testing.T) {
	onOpenDeques(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		var mu sync.Mutex
		wants := one(func(context.Context) error { // mu
			mu.Lock()
			defer mu.Unlock()
			return nil
		})
		for range testkit.Scale(3) {
			outer := executor.NewJob("outer", func(s *executor.Scope) error {
				var started atomic.Bool
				f := forkStolen(s, func(s *executor.Scope, _ int) int {
					eventually(started.Load)
					x := slowFork(s) // taken by the other worker, in its Join of f
					mu.Lock()
					defer mu.Unlock()
					return x.Join(s)
				}, 0)
				r := ex.Start(s.Context(), wants)
				started.Store(true)
				f.Join(s)
				return r.Wait()
			})
			require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error { return ex.Run(ctx, outer) })))
		}
	})
}

// What a call has forked and not joined is made when the call ends, also if its joiner makes the call itself: not in a
// later Join or Wait of the joiner.
func TestUnjoinedForksEndWithTheirCall(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			var made atomic.Int32
			leaves := func(s *executor.Scope, n int) int {
				for range n {
					executor.Fork(s, func(*executor.Scope, int) int { return int(made.Add(1)) }, 0)
				}
				return n
			}
			inScope(t, ex, func(s *executor.Scope) {
				f := executor.Fork(s, leaves, 3)
				g := executor.Fork(s, leaves, 2)
				require.Equal(t, 3, f.Join(s))
				require.GreaterOrEqual(t, made.Load(), int32(3))
				require.Equal(t, 2, g.Join(s))
				require.EqualValues(t, 5, made.Load())
			})
		}
	})
}

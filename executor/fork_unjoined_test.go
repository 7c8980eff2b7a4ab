package executor_test

import (
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A call that is not joined is made once: after the function that has forked it has returned, with its deferred calls,
// if no other worker is there to make it earlier, and before the Join or Run of that function returns. It makes no
// difference whether the function returns an error, or the run was cancelled.
func TestForkNotJoined(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		var made, returned atomic.Int32
		mark := func(*executor.Scope, int) int {
			if ex.Workers() == 1 && returned.Load() == 0 {
				t.Error("made before the deferred calls, by the only worker")
			}
			made.Add(1)
			return 0
		}
		leave := func(s *executor.Scope, n int) int {
			defer returned.Add(1)
			for range n {
				executor.Fork(s, mark, 0)
			}
			return n
		}
		inScope(t, ex, func(s *executor.Scope) {
			for _, other := range []bool{false, true} {
				returned.Store(0)
				made.Store(0)
				f := executor.Fork(s, leave, 20)
				if other {
					executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0).Join(s)
				}
				if n := f.Join(s); n != 20 || made.Load() != 20 {
					t.Errorf("after the Join %d calls have been made", made.Load())
				}
			}
		})
		for _, cancels := range []bool{false, true} {
			returned.Store(0)
			made.Store(0)
			var run atomic.Pointer[executor.Run]
			r := ex.Start(t.Context(), executor.NewJob("fails", func(s *executor.Scope) error {
				defer returned.Add(1)
				for range 20 {
					executor.Fork(s, mark, 0)
				}
				if cancels {
					eventually(func() bool { return run.Load() != nil })
					run.Load().Cancel(nil)
				}
				return errTest
			}))
			run.Store(r)
			require.ErrorIs(t, r.Wait(), errTest)
			require.EqualValues(t, 20, made.Load(), "cancelled: %v", cancels)
		}
	})
}

// Of a function that panics, calls that are not joined are made once or not at all.
func TestForkNotJoinedAfterAPanic(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for _, recovers := range []bool{false, true} {
			var made [10]atomic.Int32
			err := runScope(t.Context(), ex, func(s *executor.Scope) {
				f := executor.Fork(s, func(s *executor.Scope, _ int) int {
					for i := range made {
						executor.Fork(s, func(*executor.Scope, int) int { made[i].Add(1); return 0 }, i)
					}
					panic(errTest)
				}, 0)
				if recovers {
					defer func() { _ = recover() }()
				}
				f.Join(s)
			})
			require.Equal(t, recovers, err == nil)
			for i := range made {
				require.LessOrEqual(t, made[i].Load(), int32(1))
			}
		}
	})
}

package executor_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// keep returns its argument.
func keep[T any](_ *executor.Scope, x T) T { return x }

// forkOne forks and joins one call that only calls for this type are made for.
func forkOne[T comparable](t *testing.T, s *executor.Scope) {
	var x T
	require.Equal(t, x, executor.Fork(s, keep[T], x).Join(s))
}

// A call of another type costs no memory for the forks below it, and the calls of a recursion that ends are made once.
func TestForkTypesFarApart(t *testing.T) {
	// Other goroutines of the process may allocate meanwhile.
	testkit.Fits(t, func() (wrong string) {
		ex := newExecutor(t, executor.Config{Workers: 1}) // other workers allocate too
		inScope(t, ex, func(s *executor.Scope) { wrong = forkFarApart(t, s) })
		require.Empty(t, ex.ForksLeft())
		return wrong
	})
}

// forkFarApart forks and joins calls of several types at levels far apart. It says what has allocated too much; ""
// means nothing.
func forkFarApart(t *testing.T, s *executor.Scope) (wrong string) {
	const (
		depth = 30_000
		size  = 256 // more than a call of these types takes
	)
	forks := make([]executor.Forked[int, int], depth)
	deep := allocated(func() {
		for i := range forks {
			forks[i] = executor.Fork(s, keep[int], i)
		}
	})
	require.Greater(t, deep, uint64(depth)*64, "the test does not measure the calls")
	others := func() {
		forkOne[[1]int](t, s)
		forkOne[[2]int](t, s)
		forkOne[[3]int](t, s)
	}
	first := allocated(others)
	ending := allocated(func() {
		for i := len(forks) - 1; i >= 0; i-- {
			if forks[i].Join(s) != i {
				panic("the wrong result")
			}
			executor.Fork(s, keep[[1]int], [1]int{}).Join(s) // reaches lower and lower
		}
	})
	last := allocated(others)
	switch {
	case first >= 100*size:
		return fmt.Sprintf("a call makes those for the levels below: %d bytes", first)
	case ending >= 3*depth*size:
		return fmt.Sprintf("calls are made again: %d bytes", ending)
	case last >= 100*size:
		return fmt.Sprintf("a call allocates when all have been made: %d bytes", last)
	}
	return ""
}

// Types that are used at levels far apart, which come closer to each other.
func TestForkTypesMeet(t *testing.T) {
	onOpenDeques(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			for _, level := range []int{0, 300, 20, 200, 1, 90, 140, 15, 16, 17, 299, 160} {
				forks := make([]executor.Forked[int, int], level)
				for i := range forks {
					forks[i] = executor.Fork(s, keep[int], i)
				}
				others := make([]executor.Forked[[1]int, [1]int], level%40)
				for i := range others {
					others[i] = executor.Fork(s, keep[[1]int], [1]int{i})
				}
				forkOne[[2]int](t, s)
				require.Empty(t, s.CheckForks())
				for i := len(others) - 1; i >= 0; i-- {
					require.Equal(t, [1]int{i}, others[i].Join(s))
				}
				forkOne[[1]int](t, s)
				require.Empty(t, s.CheckForks())
				for i := len(forks) - 1; i >= 0; i-- {
					require.Equal(t, i, forks[i].Join(s))
					if i%7 == 0 {
						forkOne[[1]int](t, s)
					}
				}
			}
		})
		require.Empty(t, ex.ForksLeft())
	})
}

// After Joins of one type, a Fork of another takes a call of its own type, in which its argument has room.
func TestForkTypesAfterJoins(t *testing.T) {
	type large [100]int
	var x large
	for i := range x {
		x[i] = i
	}
	onOpenDeques(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			for n := range 20 { // older forks
				forks := make([]executor.Forked[int8, int8], n)
				for i := range forks {
					forks[i] = executor.Fork(s, keep[int8], int8(i))
				}
				require.Equal(t, x, executor.Fork(s, keep[large], x).Join(s))
				for i := n - 1; i >= n/2; i-- {
					require.EqualValues(t, i, forks[i].Join(s))
				}
				one, other := executor.Fork(s, keep[large], x), executor.Fork(s, keep[large], large{})
				require.Empty(t, s.CheckForks())
				require.Equal(t, large{}, other.Join(s))
				require.Empty(t, s.CheckForks())
				require.Equal(t, x, one.Join(s))
				for i := n/2 - 1; i >= 0; i-- {
					require.EqualValues(t, i, forks[i].Join(s))
				}
			}
		})
		require.Empty(t, ex.ForksLeft())
	})
}

// A pool that another has replaced lasts as long as a function has forks in it, or goes on where it had them.
func TestForkPoolReplaced(t *testing.T) {
	for _, workers := range testkit.Part(t, []int{1, 2}) {
		ex := newExecutor(t, executor.Config{Workers: workers})
		for _, kept := range []int{0, 1, 10} {
			inScope(t, ex, func(s *executor.Scope) {
				forks := make([]executor.Forked[[4]int, [4]int], 300)
				for i := range forks {
					forks[i] = executor.Fork(s, keep[[4]int], [4]int{i})
				}
				join := func(from, to int) {
					for i := to - 1; i >= from; i-- {
						require.Equal(t, [4]int{i}, forks[i].Join(s))
					}
				}
				join(kept, len(forks))
				clear(forks[kept:])
				_, err := executor.Call(s.Context(), ex, func(s *executor.Scope, x [4]int) [4]int {
					return executor.Fork(s, keep[[4]int], x).Join(s)
				}, [4]int{})
				require.NoError(t, err)
				var other [][]any // in place of what is freed, of any size that the first pools may have
				for range testkit.Scale(3) {
					runtime.GC()
					for i := range 1000 {
						one := make([]any, 64+i%200*8)
						for i := range one {
							one[i] = t
						}
						other = append(other, one)
					}
				}
				require.Equal(t, kept, s.Unjoined())
				require.Empty(t, s.CheckForks())
				forkOne[[4]int](t, s)
				forkOne[[1]int](t, s)
				join(0, kept)
				require.Zero(t, s.Unjoined())
				runtime.KeepAlive(other)
			})
			require.Empty(t, ex.ForksLeft())
		}
	}
}

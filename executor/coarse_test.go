package executor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A meeting is a barrier of n calls: they go on only if all of them run at the same time.
type meeting struct {
	n    int32
	here atomic.Int32
}

func (m *meeting) wait() {
	m.here.Add(1)
	for m.here.Load() < m.n {
		time.Sleep(50 * time.Microsecond)
	}
}

// TestCoarseForks: thieves get all forks of one function, however long each takes: with as many workers as forks,
// all run at the same time. Thieves may come late, when the worker that forked runs one of them.
func TestCoarseForks(t *testing.T) {
	const workers = 8
	for _, s := range testkit.Part(t, openStores) {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/late=%v", s, late), func(t *testing.T) {
				ex := newExecutor(t, s.in(executor.Config{Workers: workers}))
				within(t, ex, func() {
					for range testkit.Scale(30) {
						var begun atomic.Bool // the worker that forked is in the last of its forks
						if late {
							// The others are all busy until then.
							busy := &meeting{n: workers}
							for range workers - 1 {
								ex.Start(t.Context(), one(func(context.Context) error {
									busy.wait()
									for !begun.Load() {
										time.Sleep(50 * time.Microsecond)
									}
									return nil
								}))
							}
							fork(t, ex, workers, func() { busy.wait() }, &begun)
							continue
						}
						fork(t, ex, workers, func() {}, &begun)
					}
				})
			})
		}
	}
}

// fork has one function fork n times, and the forks meet.
func fork(t *testing.T, ex *executor.Executor, n int, before func(), begun *atomic.Bool) {
	met := &meeting{n: int32(n)}
	sum, err := executor.Call(t.Context(), ex, func(s *executor.Scope, _ int) (sum int) {
		before()
		forks := make([]executor.Forked[int, int], n)
		for i := range forks {
			forks[i] = executor.Fork(s, func(_ *executor.Scope, i int) int {
				begun.Store(true)
				met.wait()
				return i
			}, i)
		}
		for i := n - 1; i >= 0; i-- {
			sum += forks[i].Join(s)
		}
		return sum
	}, 0)
	require.NoError(t, err)
	require.Equal(t, n*(n-1)/2, sum)
}

// TestCoarseHalves: a worker that forks one half of its work and goes on with the other does not keep the first from
// a thief, however late the thief comes.
func TestCoarseHalves(t *testing.T) {
	for _, s := range testkit.Part(t, openStores) {
		t.Run(s.String(), func(t *testing.T) {
			ex := newExecutor(t, s.in(executor.Config{Workers: 2}))
			within(t, ex, func() {
				for i := range testkit.Scale(100) {
					met := &meeting{n: 2}
					half := func(*executor.Scope, int) int { met.wait(); return 1 }
					sum, err := executor.Call(t.Context(), ex, func(s *executor.Scope, _ int) int {
						time.Sleep(time.Duration(i%4) * 100 * time.Microsecond) // the thief may be asleep again
						f := executor.Fork(s, half, 0)
						sum := half(s, 0)
						return sum + f.Join(s)
					}, 0)
					require.NoError(t, err)
					require.Equal(t, 2, sum)
				}
			})
		})
	}
}

// TestCoarseStatements: thieves get two forks of one function that are two statements, of different types or of one.
func TestCoarseStatements(t *testing.T) {
	for _, s := range testkit.Part(t, openStores) {
		t.Run(s.String(), func(t *testing.T) {
			ex := newExecutor(t, s.in(executor.Config{Workers: 3}))
			within(t, ex, func() {
				for range testkit.Scale(100) {
					one, other := &meeting{n: 3}, &meeting{n: 3}
					wait := func(_ *executor.Scope, m *meeting) int { m.wait(); return 1 }
					sum, err := executor.Call(t.Context(), ex, func(s *executor.Scope, n int) int {
						f := executor.Fork(s, wait, one)
						g := executor.Fork(s, wait, one)
						sum := n + wait(s, one)
						sum += g.Join(s) + f.Join(s)
						h := executor.Fork(s, wait, other)
						k := executor.Fork(s, func(_ *executor.Scope, word string) int {
							other.wait()
							return len(word)
						}, "word")
						sum += wait(s, other)
						return sum + k.Join(s) + h.Join(s)
					}, 0)
					require.NoError(t, err)
					require.Equal(t, 9, sum)
				}
			})
		})
	}
}

// TestCoarseChildren: the same for children.
func TestCoarseChildren(t *testing.T) {
	const workers = 8
	ex := newExecutor(t, executor.Config{Workers: workers})
	within(t, ex, func() {
		for range testkit.Scale(30) {
			met := &meeting{n: workers}
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("coarse", func(s *executor.Scope) error {
				for range workers {
					s.Go(func(context.Context) error { met.wait(); return nil })
				}
				return s.Wait()
			})))
		}
	})
}

package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// What the test suites and issues of other libraries try, which was awkward to say before there were groups.

// Taskflow, task groups: a chain of dependent functions, made by a task that then runs it.
func TestRivalsGroupChain(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			g := executor.NewGroup(ex)
			n := 0
			last := g.GoAfter(func(context.Context) error { n++; return nil })
			for range 999 {
				last = g.GoAfter(func(context.Context) error { n++; return nil }, last)
			}
			err := g.Wait()
			require.Equal(t, 1000, n)
			return err
		})))
	})
}

// Taskflow, task groups: functions that come after some were cancelled are not called.
func TestRivalsGroupCancel(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		var arrived sync.WaitGroup
		for range ex.Workers() {
			arrived.Add(1)
			g.GoContext(func(ctx context.Context) error { arrived.Done(); <-ctx.Done(); return ctx.Err() })
		}
		arrived.Wait()
		for range 100 {
			g.GoContext(func(context.Context) error { t.Error("called"); return nil })
		}
		g.Cancel(errTest)
		require.ErrorIs(t, g.Wait(), errTest)
	})
}

// Taskflow, task groups: each level of a recursion has a group, and one worker is enough.
func TestRivalsGroupFibonacci(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var fib func(n int) int
		fib = func(n int) int {
			if n < 2 {
				return n
			}
			g, first := executor.NewGroup(ex), 0
			g.Go(func() error { first = fib(n - 1); return nil })
			second := fib(n - 2)
			if err := g.Wait(); err != nil {
				panic(err)
			}
			return first + second
		}
		require.Equal(t, 377, fib(14))
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			require.Equal(t, 377, fib(14))
			return nil
		})))
	})
}

// Taskflow, dependent asyncs: each number comes after the two before.
func TestRivalsFuturesFibonacci(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		one := func(context.Context) (int64, error) { return 1, nil }
		a, b := executor.Async(t.Context(), ex, one), executor.Async(t.Context(), ex, one)
		for range 70 {
			x, y := a, b
			a, b = b, executor.Async(t.Context(), ex, func(context.Context) (int64, error) {
				m, err1 := x.Wait()
				n, err2 := y.Wait()
				return m + n, errors.Join(err1, err2)
			}, x, y)
		}
		n, err := b.Wait()
		require.NoError(t, err)
		require.Equal(t, int64(498454011879264), n)
	})
}

// Taskflow, cancellation: a run that never ends is cancelled by a task of another run.
func TestRivalsCancelFromAnother(t *testing.T) {
	onEach(t, []int{2, 3}, func(t *testing.T, ex *executor.Executor) {
		endless := ex.Start(t.Context(), executor.NewJob("endless", func(s *executor.Scope) error {
			for !s.Stopped() {
				runtime.Gosched()
			}
			return nil
		}))
		_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
			endless.Cancel(errTest)
			return 0, nil
		}).Wait()
		require.NoError(t, err)
		require.ErrorIs(t, endless.Wait(), errTest)
	})
}

// conc: functions that panic do not keep others from being called, and use up no part of the limit.
func TestRivalsPanicsDoNotExhaustTheLimit(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		g.SetLimit(1)
		var ran atomic.Int64
		for i := range 100 {
			g.Go(func() error {
				if i%2 == 0 {
					panic(i)
				}
				ran.Add(1)
				return nil
			})
		}
		var p *executor.PanicError
		require.ErrorAs(t, g.Wait(), &p)
		require.Zero(t, p.Value.(int)%2)
		require.EqualValues(t, 50, ran.Load())
	})
}

// errgroup's example of a pipeline: one function finds, some digest, and one collects. The functions wait for channels,
// and there are fewer workers than functions.
func TestRivalsGroupPipeline(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers, Spares: 6})
		g, ctx := executor.GroupWithContext(t.Context(), ex)
		names, digests := make(chan string), make(chan string)
		g.Go(func() error {
			defer close(names)
			for i := range 100 {
				executor.Blocking(func() {
					select {
					case names <- fmt.Sprint("name ", i):
					case <-ctx.Done():
					}
				})
			}
			return ctx.Err()
		})
		var digesters []*executor.GroupTask
		for range 4 {
			digesters = append(digesters, g.GoAfter(func(context.Context) error {
				executor.Blocking(func() {
					for name := range names {
						digests <- strings.ToUpper(name)
					}
				})
				return nil
			}))
		}
		g.GoAfter(func(context.Context) error { close(digests); return nil }, digesters...)
		seen := map[string]bool{}
		for d := range digests {
			seen[d] = true
		}
		require.NoError(t, g.Wait())
		require.Len(t, seen, 100)
	}
}

// ants: callers that find a pool full give up after a time.
func TestRivalsSubmitGivesUp(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, MaxRuns: 1})
	gate := make(chan struct{})
	held := ex.Start(t.Context(), one(func(context.Context) error { <-gate; return nil }))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			soon, stop := context.WithTimeout(t.Context(), time.Millisecond)
			defer stop()
			err := ex.Run(soon, one(nothing))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(gate)
	require.NoError(t, held.Wait())
	require.NoError(t, ex.Run(t.Context(), one(nothing)))
}

// rayon: two pools each run work of the other in their tasks, several times over, with a worker each. A worker that
// waits for the other pool is in Blocking, so there must be a spare for each such wait.
func TestRivalsMutualInstall(t *testing.T) {
	a := newExecutor(t, executor.Config{Workers: 1, Spares: 4})
	b := newExecutor(t, executor.Config{Workers: 1, Spares: 4})
	var bounce func(from, to *executor.Executor, times int) error
	bounce = func(from, to *executor.Executor, times int) error {
		if times == 0 {
			return errTest
		}
		return from.Run(t.Context(), one(func(context.Context) error { return bounce(to, from, times-1) }))
	}
	for times := range 8 {
		require.ErrorIs(t, bounce(a, b, times), errTest)
	}
}

// rayon: a tree is changed in place by scopes, one for each node.
func TestRivalsUpdateTree(t *testing.T) {
	type tree struct {
		value    int
		children []*tree
	}
	size := 0
	var random func(depth int) *tree
	random = func(depth int) *tree {
		size++
		r := &tree{value: 1}
		for range rand.IntN(4) * min(depth, 1) {
			r.children = append(r.children, random(depth-1))
		}
		return r
	}
	root := random(9)
	var update func(s *executor.Scope, t *tree) error
	update = func(s *executor.Scope, t *tree) error {
		for _, c := range t.children {
			s.Spawn(func(s *executor.Scope) error { return update(s, c) })
		}
		t.value *= 2
		return nil
	}
	var sum func(t *tree) int
	sum = func(t *tree) (n int) {
		for _, c := range t.children {
			n += sum(c)
		}
		return n + t.value
	}
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		before := sum(root)
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("update", func(s *executor.Scope) error {
			return update(s, root)
		})))
		require.Equal(t, 2*before, sum(root))
		require.Zero(t, before%size)
	})
}

// oneTBB, isolation: a task that holds a lock and waits for a loop does not find, on its stack, another task that wants
// the same lock.
func TestRivalsIsolation(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var mu sync.Mutex
		g := executor.NewGroup(ex)
		for range 50 {
			g.Go(func() error {
				mu.Lock()
				defer mu.Unlock()
				inner := executor.NewGroup(ex)
				for range 10 {
					inner.Go(func() error { return nil })
				}
				return inner.Wait()
			})
		}
		require.NoError(t, g.Wait())
	})
}

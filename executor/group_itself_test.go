package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// queuedTurns is how many functions of a group wait for their turn before Go does more than to add another.
const queuedTurns = 256

// noteMost raises most to n, if n is more.
func noteMost(most *atomic.Int64, n int64) {
	for {
		if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
			return
		}
	}
}

// A walk of a tree of directories, each of which gives its subdirectories to the walk's own group: every directory is
// visited once, few wait at a time, and no more are read at a time than the limit. An errgroup hangs here.
func TestGroupWalksTree(t *testing.T) {
	type tree struct{ fan, depth, dirs int }
	type size struct{ workers, limit int }
	sizes := []size{{1, 1}, {2, 1}, {4, 1}, {1, 2}, {2, 2}, {4, 2}, {1, 4}, {2, 4}, {4, 4}}
	for _, tree := range []tree{{3, 7, 3280}, {2000, 1, 2001}, {1, 1000, 1001}, {30, 2, 931}} {
		for _, size := range testkit.Part(t, sizes) {
			t.Run(fmt.Sprintf("%+v/%+v", tree, size), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: size.workers})
				g := executor.NewGroup(ex)
				g.SetLimit(size.limit)
				var given, visited, reading, most atomic.Int64
				var walk func(depth int) func() error
				walk = func(depth int) func() error {
					return func() error {
						visited.Add(1)
						if n := reading.Add(1); n > int64(size.limit) {
							t.Errorf("%d directories are read, the limit is %d", n, size.limit)
						}
						runtime.Gosched()
						reading.Add(-1)
						for range min(depth, 1) * tree.fan {
							noteMost(&most, given.Add(1)-visited.Load())
							g.Go(walk(depth - 1))
						}
						return nil
					}
				}
				given.Add(1)
				within(t, ex, func() {
					g.Go(walk(tree.depth))
					require.NoError(t, g.Wait())
				})
				require.EqualValues(t, tree.dirs, visited.Load())
				// Some more may be added on a machine so busy that no function begins for a second.
				require.Less(t, most.Load(), int64(queuedTurns+64))
			})
		}
	}
}

// A tree that is deeper than calls may be nested, and has several children at each level, is bounded where it is not.
func TestGroupWalksDeepTree(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := executor.NewGroup(ex)
	g.SetLimit(1)
	var visited atomic.Int64
	var walk func(depth int) func() error
	walk = func(depth int) func() error {
		return func() error {
			visited.Add(1)
			if depth > 0 {
				g.Go(walk(depth - 1))
				g.Go(func() error { visited.Add(1); return nil })
			}
			return nil
		}
	}
	const depth = 5000
	within(t, ex, func() {
		g.Go(walk(depth))
		require.NoError(t, g.Wait())
	})
	require.EqualValues(t, 2*depth+1, visited.Load())
}

// fillTurns gives g, which has the limit 1, so many functions that the next Go of the caller, a function of g, calls
// its function itself.
func fillTurns(g *executor.Group, ran *atomic.Int64) {
	for range queuedTurns {
		g.Go(func() error { ran.Add(1); return nil })
	}
}

// How a function ends that Go calls itself is the group's affair. Only Goexit ends the caller, too, as in a Wait.
func TestGroupGoCallsItself(t *testing.T) {
	guests.None(t) // Goexit would end the caller of Wait
	for name, c := range map[string]struct {
		fn      func() error
		check   func(t *testing.T, err error)
		goesOn  bool
		skipped bool // functions of GoContext
	}{
		"nil": {func() error { return nil }, func(t *testing.T, err error) { require.NoError(t, err) }, true, false},
		"error": {func() error { return errTest }, func(t *testing.T, err error) { require.Equal(t, errTest, err) }, true,
			true},
		"panic": {func() error { panic(errTest) }, func(t *testing.T, err error) {
			var p *executor.PanicError
			require.ErrorAs(t, err, &p)
			require.ErrorIs(t, err, errTest)
		}, true, true},
		"Goexit": {func() error { runtime.Goexit(); return nil }, func(t *testing.T, err error) {
			require.ErrorIs(t, err, executor.ErrGoexit)
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
				g := executor.NewGroup(ex)
				g.SetLimit(1)
				var ran atomic.Int64
				var inside, goesOn, unwound, called bool
				g.Go(func() error {
					defer func() { unwound = true; require.Nil(t, recover()) }()
					fillTurns(g, &ran)
					caller := ex.WorkerIndex()
					g.Go(func() error {
						inside = ex.WorkerIndex() == caller && ran.Load() == 0
						return c.fn()
					})
					goesOn = true
					g.GoContext(func(context.Context) error { called = true; return nil })
					return nil
				})
				c.check(t, g.Wait())
				require.True(t, inside, "the queue is full")
				require.True(t, unwound)
				require.Equal(t, c.goesOn, goesOn)
				require.Equal(t, c.goesOn && !c.skipped, called)
				require.EqualValues(t, queuedTurns, ran.Load())
				g.SetLimit(2) // no turn is left, and none is missing
				require.True(t, g.TryGo(func() error { return nil }))
				c.check(t, g.Wait())
			})
		})
	}
}

// A function that Go calls itself may wait, as any task may: nothing of another run is run on its stack, or on that of
// the function that has called Go.
func TestGroupGoCallsItselfIsolated(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g, other := executor.NewGroup(ex), executor.NewGroup(ex)
		g.SetLimit(1)
		var ran, foreign, nested atomic.Int64
		g.Go(func() error {
			fillTurns(g, &ran)
			caller, before := ex.WorkerIndex(), foreign.Load()
			for range 10 {
				other.Go(func() error {
					if ex.WorkerIndex() == caller {
						foreign.Add(1)
					}
					return nil
				})
			}
			g.Go(func() error {
				count := func(context.Context) error { nested.Add(1); return nil }
				if err := ex.Run(t.Context(), fan(20, count)); err != nil {
					return err
				}
				inner, _ := executor.GroupWithContext(t.Context(), ex)
				inner.Go(func() error { nested.Add(1); return nil })
				_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }).Wait()
				return errors.Join(err, inner.Wait())
			})
			if n := foreign.Load() - before; n != 0 {
				t.Errorf("%d functions of another group were run on the stack of a function that waits", n)
			}
			return nil
		})
		require.NoError(t, errors.Join(g.Wait(), other.Wait()))
		require.EqualValues(t, 21, nested.Load())
	})
}

// A function of the group that gives it others, one after the other, waits for their turns, and calls none itself: one
// may wait for what the giver does next. So it ends as with an errgroup.
func TestGroupProducerOfItself(t *testing.T) {
	const each = 2000
	for _, workers := range []int{1, 2} {
		for _, limit := range []int{2, 3} {
			ex := newExecutor(t, executor.Config{Workers: workers})
			g := executor.NewGroup(ex)
			g.SetLimit(limit)
			var begun, most atomic.Int64
			within(t, ex, func() {
				g.Go(func() error {
					for i := range each {
						g.Go(func() error { begun.Add(1); return nil })
						noteMost(&most, int64(i+1)-begun.Load())
					}
					c := make(chan int)
					g.Go(func() error { executor.Blocking(func() { <-c }); return nil })
					executor.Blocking(func() { c <- 1 })
					return nil
				})
				require.NoError(t, g.Wait())
			})
			require.EqualValues(t, each, begun.Load())
			require.Less(t, most.Load(), int64(2*queuedTurns))
		}
	}
}

// A function that holds, in Go, a lock that the others take waits in vain, but not for ever, where that of an errgroup
// does.
func TestGroupGoUnderLock(t *testing.T) {
	t.Parallel() // it waits most of the time
	const children = queuedTurns + 16
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := executor.NewGroup(ex)
	g.SetLimit(2)
	var mu sync.Mutex
	ran := 0
	within(t, ex, func() {
		g.Go(func() error {
			mu.Lock()
			defer mu.Unlock()
			for range children {
				g.Go(func() error {
					mu.Lock()
					defer mu.Unlock()
					ran++
					return nil
				})
			}
			return nil
		})
		require.NoError(t, g.Wait())
	})
	require.Equal(t, children, ran)
}

// A function that Go calls itself does not wait in the Go of another group: it is on top of one that waits. So no spare
// is called up.
func TestGroupGoCallsItselfBesideAnother(t *testing.T) {
	ex := newExecutor(t, executor.Config{
		Workers: 2, Threads: host.Threads{OnlyBlocking: true}, Callers: executor.IdleCallers,
	})
	first, other := executor.NewGroup(ex), executor.NewGroup(ex)
	first.SetLimit(1)
	other.SetLimit(1)
	var ran atomic.Int64
	var full, release atomic.Bool
	var spares int
	within(t, ex, func() {
		other.Go(func() error {
			fillTurns(other, &ran)
			full.Store(true)
			for !release.Load() {
				runtime.Gosched()
			}
			return nil
		})
		first.Go(func() error {
			for !full.Load() {
				runtime.Gosched()
			}
			fillTurns(first, &ran)
			first.Go(func() error {
				other.Go(func() error { ran.Add(1); return nil })
				return nil
			})
			g := ex.Stats().Gauges
			spares = g.Spares + g.Standby
			release.Store(true)
			return nil
		})
		require.NoError(t, first.Wait())
		require.NoError(t, other.Wait())
	})
	require.Zero(t, spares, "Go has waited")
	require.EqualValues(t, 2*queuedTurns+1, ran.Load())
}

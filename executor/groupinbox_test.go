package executor_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// hold occupies the only worker of ex until the function that hold returns is called.
func hold(g *executor.Group) (let func()) {
	begun, gate := make(chan struct{}), make(chan struct{})
	g.Go(func() error {
		close(begun)
		<-gate
		return nil
	})
	<-begun
	return func() { close(gate) }
}

// A function from outside comes after all that the functions before it have given to the group, as if a worker took one
// at a time.
func TestGroupDepthFirst(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: -1})
	g := executor.NewGroup(ex)
	let := hold(g)
	const n = 200
	var order []int // of the only worker
	for i := range n {
		g.Go(func() error {
			order = append(order, 2*i)
			g.Go(func() error { order = append(order, 2*i+1); return nil })
			return nil
		})
	}
	let()
	require.NoError(t, g.Wait())
	require.Len(t, order, 2*n)
	for i := range n {
		at := 0
		for order[at] != 2*i {
			at++
		}
		require.Equal(t, 2*i+1, order[at+1], "after function %d", i)
	}
}

// A function from outside that has ended is not kept alive by others that were given with it.
func TestGroupForgetsFunctions(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: -1})
	g := executor.NewGroup(ex)
	let := hold(g)
	var freed atomic.Int32
	const n = 10
	for range n {
		big := new([1 << 16]byte)
		runtime.AddCleanup(big, func(int) { freed.Add(1) }, 0)
		g.Go(func() error { big[0]++; return nil })
	}
	ended, gate := make(chan struct{}), make(chan struct{})
	g.Go(func() error {
		close(ended)
		<-gate
		return nil
	})
	let()
	<-ended
	eventually(func() bool { runtime.GC(); return freed.Load() == n })
	close(gate)
	require.NoError(t, g.Wait())
}

// After Wait an executor keeps neither a group, nor its context, nor its functions alive, also if another worker has
// called the rest of a batch, or if a worker has turned to other work with an empty batch.
func TestGroupIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		spares int
		give   func(t *testing.T, ex *executor.Executor, g *executor.Group, load func() *burden)
	}{
		"another worker calls the rest": {spares: 1,
			give: func(_ *testing.T, _ *executor.Executor, g *executor.Group, load func() *burden) {
				var called sync.WaitGroup
				const n = 10
				called.Add(n)
				g.Go(func() error { executor.Blocking(called.Wait); return nil })
				for range n {
					b := load()
					g.Go(func() error { b[0]++; called.Done(); return nil })
				}
			}},
		"the worker turns to other work": {spares: -1,
			give: func(t *testing.T, ex *executor.Executor, g *executor.Group, load func() *burden) {
				b := load()
				g.Go(func() error { b[0]++; return nil })
				g.Go(func() error {
					ex.Start(t.Context(), one(func(context.Context) error { return nil }))
					return nil
				})
			}},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: c.spares})
			var made, freed atomic.Int32
			load := func() *burden {
				b := new(burden)
				made.Add(1)
				runtime.AddCleanup(b, func(int) { freed.Add(1) }, 0)
				return b
			}
			func() {
				g, _ := executor.GroupWithContext(context.WithValue(context.Background(), callKey{}, load()), ex)
				let := hold(g)
				c.give(t, ex, g, load)
				let()
				require.NoError(t, g.Wait())
			}()
			testkit.Until(t, "the group is free", func() bool { runtime.GC(); return freed.Load() == made.Load() })
		})
	}
}

// Of many batches that have waited for a worker, an executor keeps a few.
func TestGroupKeepsFewBatches(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: -1})
	g := executor.NewGroup(ex)
	let := hold(g)
	calls := 0 // of the only worker
	const n = (executor.MaxStoredBatches + 2) * executor.MaxBatch
	for range n {
		g.Go(func() error { calls++; return nil })
	}
	let()
	require.NoError(t, g.Wait())
	require.Equal(t, n, calls)
	require.Equal(t, executor.MaxStoredBatches, ex.StoredBatches())
}

// Workers sleep while a group, for which nobody waits, has no function.
func TestGroupRests(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers, Callers: executor.IdleCallers, Spares: -1})
		g := executor.NewGroup(ex)
		let := hold(g)
		var called sync.WaitGroup
		const n = 10
		called.Add(n)
		for range n {
			g.Go(func() error { called.Done(); return nil })
		}
		let()
		called.Wait()
		within(t, ex, func() { comesToRest(t, ex) })
		require.NoError(t, g.Wait())
	}
}

// A function that comes from outside after Close is not called, also if others still wait for a worker.
func TestGroupClosedWhileFunctionsWait(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: -1})
	g := executor.NewGroup(ex)
	let := hold(g)
	called := false
	g.Go(func() error { called = true; return nil })
	var closing sync.WaitGroup
	closing.Go(func() { _ = ex.Close() })
	testkit.Until(t, "the executor is closed", func() bool { return ex.Stats().Gauges.Closed })
	g.Go(func() error { t.Error("called"); return nil })
	let()
	require.Equal(t, executor.ErrClosed, g.Wait())
	closing.Wait()
	require.True(t, called)
}

// Functions that wait for a worker take little memory.
func TestGroupQueueIsSmall(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: -1})
	g := executor.NewGroup(ex)
	let := hold(g)
	const n = 1_000_000
	fn := func() error { return nil }
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range n {
		g.Go(fn)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	let()
	require.NoError(t, g.Wait())
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(24*n))
}

// Several goroutines outside give functions one after the other, some of which fail to return. Each is called once, and
// tasks and failures are counted.
func TestGroupGives(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		const callers = 3
		n := testkit.Scale(5000)
		g := executor.NewGroup(ex)
		g.KeepGoing()
		var calls atomic.Int64
		var all sync.WaitGroup
		before := ex.Stats().Total.Tasks
		for range callers {
			all.Go(func() {
				for i := range n {
					g.Go(func() error {
						calls.Add(1)
						if i%500 == 100 {
							panic("a function fails")
						}
						return nil
					})
				}
			})
		}
		all.Wait()
		err := g.Wait()
		require.EqualValues(t, callers*n, calls.Load())
		require.EqualValues(t, callers*n, ex.Stats().Total.Tasks-before)
		require.Error(t, err)
		joined, ok := err.(interface{ Unwrap() []error })
		require.True(t, ok)
		require.Len(t, joined.Unwrap(), callers*((n+399)/500))
	})
}

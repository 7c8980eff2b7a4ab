package executor_test

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A sum by worker is the sum, also with spares and with several PerWorkers. Reset begins anew.
func TestPerWorkerSum(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var made atomic.Int64
		sums := executor.NewPerWorker(ex, func() int { made.Add(1); return 1000 })
		tasks := executor.NewPerWorker[int](ex, nil)
		for range 3 {
			made.Store(0)
			const n = 10_000
			err := parallel.ForBlocks(t.Context(), parallel.Options{Executor: ex}, 0, n, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					*sums.Local() += i
				}
				*tasks.Local()++
			})
			require.NoError(t, err)
			require.NoError(t, ex.Run(t.Context(), fan(20, func(context.Context) error {
				executor.Blocking(osthread.Yield)
				*sums.Local()++
				return nil
			})))
			add := func(a, b int) int { return a + b }
			require.Equal(t, n*(n-1)/2+20+1000*int(made.Load()), sums.Combine(add))
			require.Positive(t, tasks.Combine(add))
			last, values := -1, 0
			for i, v := range sums.All() {
				require.Greater(t, i, last)
				require.Less(t, i, ex.WorkersAndSpares())
				require.GreaterOrEqual(t, *v, 1000)
				last = i
				values++
			}
			require.EqualValues(t, made.Load(), values)
			for range sums.All() {
				break
			}
			sums.Reset()
			require.Equal(t, 1000, sums.Combine(add), "the result of init")
			for range sums.All() {
				t.Fatal("a value after Reset")
			}
		}
	})
}

// Local, In and Of are the same value, that of WorkerIndex.
func TestPerWorkerForms(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		p := executor.NewPerWorker(ex, ex.WorkerIndex)
		var of *int
		l := newLayer("of", func(w *executor.Worker, _ *executor.Item) *executor.Item {
			of = p.Of(w)
			require.Same(t, of, p.Local())
			return nil
		})
		require.NoError(t, ex.Run(t.Context(), l))
		require.NotNil(t, of)
		inScope(t, ex, func(s *executor.Scope) {
			for range 10 {
				f := executor.Fork(s, func(s *executor.Scope, _ int) bool {
					return p.Local() == p.In(s) && *p.In(s) == s.WorkerIndex()
				}, 0)
				require.True(t, f.Join(s))
			}
		})
		for i, v := range p.All() {
			require.Equal(t, i, *v)
		}
	})
}

// Outside, Do has one value under a lock, and Local panics. A goroutine that a task starts is outside.
func TestPerWorkerOutside(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "crow"})
	p := executor.NewPerWorker[int](ex, nil)
	require.NoError(t, mustPanic(func() { p.Local() }, `Local outside the tasks of executor "crow"`))
	add := func() { p.Do(func(v *int) { *v++ }) }
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 100 {
				add()
			}
		})
	}
	require.NoError(t, ex.Run(t.Context(), fan(100, func(context.Context) error {
		done := make(chan struct{})
		go func() {
			defer close(done)
			add()
		}()
		<-done
		add()
		return nil
	})))
	all.Wait()
	indices, sum := []int{}, 0
	for i, v := range p.All() {
		indices, sum = append(indices, i), sum+*v
		if i == -1 {
			require.Equal(t, 1100, *v)
		}
	}
	require.Equal(t, 1200, sum)
	require.Equal(t, -1, indices[len(indices)-1])
	require.Equal(t, 1200, p.Combine(func(a, b int) int { return a + b }))
	p.Reset()
	require.Zero(t, p.Combine(func(a, b int) int { return a + b }))
}

// The worker that waits in a task runs others with the same value, and pointers stay valid.
func TestPerWorkerDuringAWait(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	p := executor.NewPerWorker[int](ex, nil)
	require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
		mine := p.Local()
		*mine = 1
		if err := ex.Run(ctx, one(func(context.Context) error { *p.Local()++; return nil })); err != nil {
			return err
		}
		require.Equal(t, 2, *mine)
		require.Same(t, mine, p.Local())
		return nil
	})))
}

// An init that waits for a task which uses the value itself: both have the same value.
func TestPerWorkerInitWaits(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	var p *executor.PerWorker[int]
	deep := 0
	p = executor.NewPerWorker(ex, func() int {
		if deep++; deep > 1 {
			return 7
		}
		var inner *int
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error { inner = p.Local(); return nil })))
		*inner++
		return 3
	})
	require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
		require.Equal(t, 8, *p.Local())
		return nil
	})))
}

func TestPerWorkerInline(t *testing.T) {
	ex := executor.NewInline(testkit.Seed(t))
	p := executor.NewPerWorker[int](ex, nil)
	require.NoError(t, ex.Run(t.Context(), fan(10, func(context.Context) error { *p.Local()++; return nil })))
	require.Equal(t, 10, p.Combine(nil))
	require.NoError(t, mustPanic(func() { p.Local() }, "Local outside"))
}

// Values are apart, and a panic of init leaves none.
func TestPerWorkerApart(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	p := executor.NewPerWorker[byte](ex, nil)
	meet(t, ex, func(f func(context.Context) error) {
		require.NoError(t, ex.Run(t.Context(), fan(4, func(ctx context.Context) error { p.Local(); return f(ctx) })))
	})
	var at []uintptr
	for _, v := range p.All() {
		at = append(at, reflect.ValueOf(v).Pointer())
	}
	require.Len(t, at, 4)
	slices.Sort(at)
	for i := range 3 {
		require.GreaterOrEqual(t, at[i+1]-at[i], uintptr(128))
	}
	bad := executor.NewPerWorker(ex, func() int { panic("init") })
	err := ex.Run(t.Context(), one(func(context.Context) error { bad.Local(); return nil }))
	require.ErrorContains(t, err, "init")
	for range bad.All() {
		t.Fatal("a value")
	}
}

func TestPerWorkerMisuse(t *testing.T) {
	a := newExecutor(t, executor.Config{Workers: 1, Name: "a"})
	b := newExecutor(t, executor.Config{Workers: 1, Name: "b"})
	p := executor.NewPerWorker[int](a, nil)
	inScope(t, b, func(s *executor.Scope) {
		require.NoError(t, mustPanic(func() { p.In(s) }, `of executor "a" is used by a task of executor "b"`))
		require.NoError(t, mustPanic(func() { p.Local() }, `Local outside the tasks of executor "a"`))
	})
	inScope(t, newExecutor(t, executor.Config{Workers: 1, Name: "a"}), func(s *executor.Scope) {
		require.NoError(t, mustPanic(func() { p.In(s) },
			`of executor "a" is used by a task of another executor named "a"`))
	})
	require.NoError(t, mustPanic(func() { executor.NewPerWorker[int](nil, nil) }, "NewPerWorker of a nil executor"))
}

// A PerWorker does not keep its executor, and a forgotten PerWorker not its values.
func TestPerWorkerKeepsNothing(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	freed := make(chan struct{})
	func() {
		p := executor.NewPerWorker(ex, func() *[64]byte { return new([64]byte) })
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			runtime.AddCleanup(*p.Local(), func(c chan struct{}) { close(c) }, freed)
			return nil
		})))
	}()
	eventually(func() bool {
		collect()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	})
}

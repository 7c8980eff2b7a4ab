// Package defaults has the tests of what uses the default executor, in a process of their own: once made, that executor
// stays.
package defaults

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func fib(s *executor.Scope, n int) int {
	if n < 2 {
		return n
	}
	f := executor.Fork(s, fib, n-1)
	y := fib(s, n-2)
	return f.Join(s) + y
}

// first is set by the first run of TestDefault.
var first atomic.Bool

// TestDefault makes the default executor, uses it in all ways, and closes it. What comes before and after is in here,
// too: there is one for all tests of the process.
func TestDefault(t *testing.T) {
	if !first.CompareAndSwap(false, true) {
		t.Skip("with -count: the process has had its default executor")
	}
	before := runtime.GOMAXPROCS(0)
	ctx := t.Context()

	// Nobody has used it: there is none, and a task uses the executor that runs it.
	own, err := executor.New(executor.Config{Workers: 1, Name: "own", Host: host.Options{KeepGOMAXPROCS: true}})
	require.NoError(t, err)
	defer own.Close()
	require.NoError(t, own.Run(ctx, executor.NewJob("uses its own", func(s *executor.Scope) error {
		n, err := executor.Call(s.Context(), nil, fib, 10)
		require.Equal(t, 55, n)
		if ex, _ := executor.FromContext(s.Context()); ex != own {
			return errors.New("another executor")
		}
		return err
	})))
	require.Equal(t, before, runtime.GOMAXPROCS(0), "nothing has asked for the default executor")

	// The first use may come from many goroutines at once, of a zero group too.
	var zero executor.Group
	var called atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { zero.Go(func() error { called.Add(1); return nil }) })
	}
	wg.Wait()
	require.NoError(t, zero.Wait())
	require.EqualValues(t, 8, called.Load())
	ex := executor.Default()
	require.Equal(t, "default", ex.Name())
	require.Same(t, ex, executor.Default())
	require.Same(t, ex, executor.Choose(ctx, nil))
	require.Greater(t, runtime.GOMAXPROCS(0), before)

	t.Run("group", func(t *testing.T) {
		boom := errors.New("boom")
		var g executor.Group
		require.NoError(t, g.Wait(), "without a function")
		g.SetLimit(1)
		running, most := atomic.Int32{}, atomic.Int32{}
		for range 20 {
			g.Go(func() error {
				most.Store(max(most.Load(), running.Add(1)))
				running.Add(-1)
				return nil
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 1, most.Load())
		hold := make(chan struct{})
		require.True(t, g.TryGo(func() error { <-hold; return boom }))
		require.False(t, g.TryGo(func() error { return nil }), "the limit is 1")
		close(hold)
		require.Same(t, boom, g.Wait())

		other, gctx := executor.GroupWithContext(ctx, nil)
		other.Go(func() error { return boom })
		require.Same(t, boom, other.Wait())
		require.Error(t, gctx.Err())
		require.NoError(t, executor.NewGroup(nil).Wait())
	})
	t.Run("calls", func(t *testing.T) {
		n, err := executor.Call(ctx, nil, fib, 12)
		require.NoError(t, err)
		require.Equal(t, 144, n)
		v, err := executor.Async(ctx, nil, func(ctx context.Context) (*executor.Executor, error) {
			ex, _ := executor.FromContext(ctx)
			return ex, nil
		}).Wait()
		require.NoError(t, err)
		require.Same(t, ex, v)
		first, err := executor.First(ctx, nil, func(context.Context) (int, error) { return 7, nil })
		require.NoError(t, err)
		require.Equal(t, 7, first)
	})
	t.Run("loops and pipelines", func(t *testing.T) {
		squares := make([]int, 1000)
		require.NoError(t, parallel.For(ctx, parallel.Options{}, 0, len(squares), func(i int) { squares[i] = i * i }))
		require.Equal(t, 999*999, squares[999])
		got, err := pipeline.Collect(ctx, nil, pipeline.SourceSeq("numbers", 0, slices.Values([]int{1, 2, 3})))
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3}, got)
	})

	testkit.Within(t, testkit.Patience, func() { require.NoError(t, ex.Close()) })
	require.Equal(t, before, runtime.GOMAXPROCS(0))
	require.Same(t, ex, executor.Default())
	_, err = executor.Call(ctx, nil, fib, 1)
	require.ErrorIs(t, err, executor.ErrClosed)
	var late executor.Group
	late.Go(func() error { t.Error("called after Close"); return nil })
	require.ErrorIs(t, late.Wait(), executor.ErrClosed)
}

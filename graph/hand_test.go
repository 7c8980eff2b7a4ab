package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Tasks of graphs, futures and goroutines share permits.
func TestSemaphoreByHand(t *testing.T) {
	for _, workers := range []int{1, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		s, in := graph.NewSemaphore(3), &gate{permits: 3}
		g := graph.New("g")
		for range 10 {
			g.Task(func(context.Context) error { in.pass(runtime.Gosched); return nil }).Hold(s)
		}
		pass := func(ctx context.Context, n int) error {
			if err := s.Acquire(ctx, n); err != nil {
				return err
			}
			for range n {
				in.enter()
			}
			runtime.Gosched()
			in.inside.Add(-int32(n))
			s.Release(n)
			return nil
		}
		within(t, ex, func() {
			var wg sync.WaitGroup
			for i := range 6 {
				wg.Go(func() {
					for range testkit.Scale(50) {
						switch i {
						case 0, 1:
							if err := ex.Run(t.Context(), g); err != nil {
								t.Error(err)
							}
						case 2:
							_, err := executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) {
								return 0, pass(ctx, 2)
							}).Wait()
							if err != nil {
								t.Error(err)
							}
						case 3:
							if s.TryAcquire(1) {
								in.pass(runtime.Gosched)
								s.Release(1)
							}
						default:
							ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(100))*time.Microsecond)
							if err := pass(ctx, 1+rand.IntN(3)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
								t.Error(err)
							}
							cancel()
						}
					}
				})
			}
			wg.Wait()
		})
		require.Zero(t, in.wrong.Load())
		requireFree(t, s, 3)
	}
}

func TestSemaphoreByHandEnds(t *testing.T) {
	s := graph.NewSemaphore(2)
	require.True(t, s.TryAcquire(2))
	require.False(t, s.TryAcquire(1))
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(errTask) })
	require.Equal(t, context.Canceled, s.Acquire(ctx, 1))
	require.Zero(t, graph.WaitingFor(s), "it no longer waits")

	// One that waits for two permits does not keep one that waits for one from its permit.
	two := make(chan error)
	go func() { two <- s.Acquire(t.Context(), 2) }()
	for graph.WaitingFor(s) == 0 {
		runtime.Gosched()
	}
	s.Release(1)
	require.NoError(t, s.Acquire(t.Context(), 1))
	s.Release(2)
	require.NoError(t, <-two)
	s.Release(2)
	requireFree(t, s, 2)
}

func TestSemaphoreByHandMistakes(t *testing.T) {
	s := graph.NewSemaphore(2)
	require.PanicsWithValue(t, "graph: TryAcquire of 3 permits of a semaphore that has 2", func() { s.TryAcquire(3) })
	require.PanicsWithValue(t, "graph: Acquire of 0 permits of a semaphore that has 2",
		func() { _ = s.Acquire(t.Context(), 0) })
	require.True(t, s.TryAcquire(1))
	require.PanicsWithValue(t,
		"graph: Release of 2 permits of a semaphore, of which Acquire and TryAcquire have taken 1", func() { s.Release(2) })
	require.PanicsWithValue(t,
		"graph: Release of 0 permits of a semaphore, of which Acquire and TryAcquire have taken 1", func() { s.Release(0) })
	s.Release(1)

	// A permit of a task cannot be given back by hand.
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	g.Task(func(context.Context) error { s.Release(1); return nil }).Hold(s)
	require.ErrorContains(t, run(t, ex, t.Context(), g), "have taken 0")
	requireFree(t, s, 2)
}

// Acquire with a context that has ended takes no permit, also if permits are free.
func TestAcquireAfterTheEnd(t *testing.T) {
	s := graph.NewSemaphore(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, context.Canceled, s.Acquire(ctx, 1))
	require.True(t, s.TryAcquire(1))
	require.PanicsWithValue(t, "graph: Semaphore.Acquire needs a context, got nil", func() {
		_ = s.Acquire(nil, 1) //nolint:staticcheck // on purpose
	})
}

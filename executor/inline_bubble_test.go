package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// Each bubble has an executor of its own. Graphs and other jobs are shared by all of them, and used outside too.
func TestInlineBubbles(t *testing.T) {
	semaphore := graph.NewSemaphore(1)
	ran := 0
	g := graph.New("g")
	g.Task(func(context.Context) error { ran++; time.Sleep(time.Millisecond); return nil }).Hold(semaphore).
		Precede(g.Task(func(context.Context) error { ran++; return nil }).Hold(semaphore))
	g.Subflow(func(_ context.Context, s *graph.Graph) error {
		s.Task(func(context.Context) error { ran++; return nil })
		return nil
	})
	f := executor.NewJob("f", func(s *executor.Scope) error {
		s.Go(func(context.Context) error { ran++; return nil })
		return s.Wait()
	})
	p, err := pipeline.New("p", 2, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
		if ran++; t.Number() == 1 {
			t.Stop()
		}
		return nil
	}})
	require.NoError(t, err)
	use := func(t *testing.T) {
		ran = 0
		ex := executor.NewInline(1)
		for _, job := range []executor.Job{g, f, p} {
			require.NoError(t, ex.Run(t.Context(), job))
		}
		_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) { ran++; return 0, nil }).Wait()
		require.NoError(t, err)
		require.Equal(t, 7, ran)
		require.NoError(t, ex.Close())
	}
	synctest.Test(t, use)
	use(t)
	synctest.Test(t, use)
}

// A task of an inline executor that waits for a permit, which comes with time only, lets the bubble's time pass.
func TestInlineWaitsInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		semaphore := graph.NewSemaphore(1)
		limited := func(f func(context.Context) error) *graph.Graph {
			g := graph.New("limited")
			g.Task(f).Hold(semaphore)
			return g
		}
		a, b := executor.NewInline(1), executor.NewInline(2)
		result := make(chan error)
		go func() {
			result <- a.Run(t.Context(), limited(func(context.Context) error { time.Sleep(time.Hour); return nil }))
		}()
		synctest.Wait()
		require.NoError(t, b.Run(t.Context(), one(func(ctx context.Context) error {
			return b.Run(ctx, limited(nothing))
		})))
		require.Equal(t, time.Hour, time.Since(begin))
		require.NoError(t, <-result)
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	})
}

// New fails in a bubble, where the workers' threads would keep time from passing, and says what to do. What it says
// works.
func TestNewInBubble(t *testing.T) {
	ps := runtime.GOMAXPROCS(0)
	synctest.Test(t, func(t *testing.T) {
		ex, err := executor.New(executor.Config{})
		if err == nil {
			require.NoError(t, ex.Close())
		}
		require.ErrorContains(t, err, `use NewInline there or, to leave the program as it is, call t.Setenv("MAGPIE_INLINE"`)
		t.Setenv("MAGPIE_INLINE", "1")
		ex, err = executor.New(executor.Config{})
		require.NoError(t, err)
		begin := time.Now()
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error { time.Sleep(time.Hour); return nil })))
		require.Equal(t, time.Hour, time.Since(begin))
		require.NoError(t, ex.Close())
	})
	require.Equal(t, ps, runtime.GOMAXPROCS(0))
}

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// failing returns a function that fails n times, and counts its calls.
func failing(n int64, calls *atomic.Int64, err error) func(context.Context) error {
	return func(context.Context) error {
		if calls.Add(1) <= n {
			return err
		}
		return nil
	}
}

// TestRetry: the calls end with the first that returns nil, in graphs of every kind, and the successors come after it.
func TestRetry(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for fails := range int64(5) {
			for name, change := range map[string]func(g *graph.Graph, x graph.Task){
				"static":     func(*graph.Graph, graph.Task) {},
				"priorities": func(_ *graph.Graph, x graph.Task) { x.Priority(graph.High) },
				"limit":      func(_ *graph.Graph, x graph.Task) { x.Hold(graph.NewSemaphore(1)) },
				"conditions": func(g *graph.Graph, x graph.Task) {
					x.Precede(g.Condition(func(context.Context) (int, error) { return 0, nil }))
				},
			} {
				g := graph.New("g")
				var calls, after atomic.Int64
				x := g.Retry(graph.RetryPolicy{Tries: 5}, failing(fails, &calls, errTask))
				require.Equal(t, graph.KindRetry, x.Kind())
				x.Precede(g.Task(func(context.Context) error { after.Store(calls.Load()); return nil }))
				change(g, x)
				around := graph.New("around")
				around.Task(nothing).Precede(around.Module(g))
				for range 2 {
					for _, job := range []*graph.Graph{g, around} {
						calls.Store(0)
						after.Store(0)
						require.NoError(t, run(t, ex, t.Context(), job), name)
						require.Equal(t, fails+1, calls.Load(), name)
						require.Equal(t, fails+1, after.Load(), name)
					}
				}
			}
		}
	})
}

// TestRetryErrors: what the task fails with, and which errors end it at once.
func TestRetryErrors(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var calls atomic.Int64
		isTask := func(err error) bool { return errors.Is(err, errTask) }
		other := errors.New("another error")
		for name, test := range map[string]struct {
			policy graph.RetryPolicy
			fn     func(context.Context) error
			want   string
			calls  int64
		}{
			"all": {graph.RetryPolicy{Tries: 3}, failing(9, &calls, errTask), "after 3 calls: the task's own error", 3},
			"one": {graph.RetryPolicy{Tries: 1}, failing(9, &calls, errTask), "the task's own error", 1},
			"not again": {graph.RetryPolicy{Tries: 3, When: isTask}, failing(9, &calls, other),
				"another error", 1},
			"not a third time": {graph.RetryPolicy{Tries: 5, When: isTask}, func(context.Context) error {
				if calls.Add(1) == 1 {
					return errTask
				}
				return other
			}, "after 2 calls: another error", 2},
			"panic": {graph.RetryPolicy{Tries: 5}, func(context.Context) error {
				calls.Add(1)
				panic(errTask)
			}, "panic: the task's own error", 1},
			"later panic": {graph.RetryPolicy{Tries: 5}, func(context.Context) error {
				if calls.Add(1) == 2 {
					panic(errTask)
				}
				return other
			}, "panic: the task's own error", 2},
		} {
			calls.Store(0)
			g := graph.New("g")
			x := g.Retry(test.policy, test.fn).Named("x")
			x.Precede(g.Task(func(context.Context) error { t.Error("not skipped"); return nil }))
			err := run(t, ex, t.Context(), g)
			require.EqualError(t, err, `graph "g": task x: `+test.want, name)
			require.Equal(t, test.calls, calls.Load(), name)
			var failed *graph.TaskError
			require.ErrorAs(t, err, &failed)
			hasStack := strings.Contains(fmt.Sprintf("%+v", err), "goroutine")
			require.Equal(t, strings.Contains(name, "panic"), hasStack, name)
		}
	})
}

// TestRetryGoexit: a Goexit of the first call, or of another, fails the task at once.
func TestRetryGoexit(t *testing.T) {
	guests.None(t)
	ex := newExecutor(t, executor.Config{Workers: 1})
	for at := range int64(2) {
		var calls atomic.Int64
		g := graph.New("g")
		g.Retry(graph.RetryPolicy{Tries: 5}, func(context.Context) error {
			if calls.Add(1) == at+1 {
				runtime.Goexit()
			}
			return errTask
		})
		require.ErrorIs(t, run(t, ex, t.Context(), g), executor.ErrGoexit)
		require.Equal(t, at+1, calls.Load())
	}
}

// TestRetryPauses: each pause is twice the one before, up to the longest, and is shortened by less than the jitter.
func TestRetryPauses(t *testing.T) {
	for _, jitter := range []float64{0, 0.5, 1} {
		for _, longest := range []time.Duration{0, 5 * time.Second, time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				ex := executor.NewInline(1)
				var at []time.Time
				g := graph.New("g")
				policy := graph.RetryPolicy{Tries: 6, Pause: time.Second, MaxPause: longest, Jitter: jitter}
				g.Retry(policy, func(context.Context) error { at = append(at, time.Now()); return errTask })
				require.ErrorIs(t, ex.Run(t.Context(), g), errTask)
				require.Len(t, at, 6)
				for i, want := range []time.Duration{1, 2, 4, 8, 16} {
					want *= time.Second
					if longest > 0 {
						want = min(want, longest)
					}
					pause := at[i+1].Sub(at[i])
					require.LessOrEqual(t, pause, want)
					require.GreaterOrEqual(t, pause, time.Duration(float64(want)*(1-jitter)))
				}
				require.NoError(t, ex.Close())
			})
		}
	}
	require.Equal(t, time.Duration(1<<63-1), graph.Pause(graph.RetryPolicy{Pause: time.Hour}, 1000))
	require.Equal(t, time.Minute, graph.Pause(graph.RetryPolicy{Pause: time.Hour, MaxPause: time.Minute}, 1))
	require.Zero(t, graph.Pause(graph.RetryPolicy{MaxPause: time.Minute}, 1<<30))
}

// TestRetryHoldsNoWorker: a thousand tasks pause while one worker without spares runs others.
func TestRetryHoldsNoWorker(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Spares: -1})
	g := graph.New("g")
	var calls, other atomic.Int64
	for range 1000 {
		g.Retry(graph.RetryPolicy{Tries: 2, Pause: time.Hour}, func(context.Context) error {
			calls.Add(1)
			return errTask
		})
	}
	within(t, ex, func() {
		r := ex.Start(t.Context(), g)
		for r.Progress().Waiting != 1000 {
			time.Sleep(time.Millisecond)
		}
		others := graph.New("others")
		others.Task(func(context.Context) error { other.Add(1); return nil })
		require.NoError(t, ex.Run(t.Context(), others))
		require.EqualValues(t, 1, other.Load())
		r.Cancel(errOutside)
		err := r.Wait()
		require.ErrorIs(t, err, errOutside)
		require.NotErrorIs(t, err, errTask)
		require.EqualValues(t, 1000, calls.Load())
	})
}

// TestRetryStopped: when another task fails, a pause ends at once, its timer is stopped, and there is no further call.
func TestRetryStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		g := graph.New("g")
		calls := 0
		g.Retry(graph.RetryPolicy{Tries: 2, Pause: time.Hour}, func(context.Context) error {
			calls++
			return errors.New("try again")
		})
		g.External(func(_ context.Context, done func(error)) error {
			time.AfterFunc(time.Minute, func() { done(errTask) })
			return nil
		})
		begin := time.Now()
		require.EqualError(t, ex.Run(t.Context(), g), `graph "g": task #1: the task's own error`)
		require.Equal(t, time.Minute, time.Since(begin))
		require.Equal(t, 1, calls)
		require.NoError(t, ex.Close())
	})
}

// TestRetryStoppedCall: a call that returns because the context has ended is the last, and is not what failed.
func TestRetryStoppedCall(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for at := range int64(2) {
			ctx, cancel := context.WithCancelCause(t.Context())
			var calls atomic.Int64
			g := graph.New("g")
			g.Retry(graph.RetryPolicy{Tries: 5}, func(ctx context.Context) error {
				if calls.Add(1) == at+1 {
					cancel(errOutside)
					for ctx.Err() == nil {
						runtime.Gosched()
					}
					return ctx.Err()
				}
				return errTask
			})
			err := run(t, ex, ctx, g)
			require.ErrorIs(t, err, errOutside)
			require.NotErrorIs(t, err, errTask)
			require.NotContains(t, err.Error(), "after")
			require.Equal(t, at+1, calls.Load())
		}
	})
}

// TestRetryRandom: any number of tasks fail any number of times in graphs with limits and priorities.
func TestRetryRandom(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range testkit.Scale(60) {
		ex := newExecutor(t, executor.Config{Workers: 1 + rng.IntN(3)})
		g := graph.New("g")
		s := graph.NewSemaphore(1 + rng.IntN(2))
		tasks := make([]graph.Task, 20)
		calls := make([]atomic.Int64, len(tasks))
		fails := make([]int64, len(tasks))
		for i := range tasks {
			fails[i] = int64(rng.IntN(4))
			pause := time.Duration(rng.IntN(2)) * 10 * time.Microsecond
			policy := graph.RetryPolicy{Tries: 4, Pause: pause, Jitter: 0.5}
			tasks[i] = g.Retry(policy, failing(fails[i], &calls[i], errTask))
			if rng.IntN(3) == 0 {
				tasks[i].Hold(s)
			}
			if rng.IntN(4) == 0 {
				tasks[i].Priority(graph.Low)
			}
			if i > 0 {
				tasks[rng.IntN(i)].Precede(tasks[i])
			}
		}
		require.NoError(t, run(t, ex, t.Context(), g))
		for i := range tasks {
			require.Equal(t, fails[i]+1, calls[i].Load())
		}
		free, waiting := graph.Permits(s)
		require.Positive(t, free)
		require.Zero(t, waiting)
	}
}

func TestRetryMistakes(t *testing.T) {
	g := graph.New("g")
	require.PanicsWithValue(t, `graph "g": the function of task 0 is nil`,
		func() { g.Retry(graph.RetryPolicy{Tries: 1}, nil) })
	for _, test := range []struct {
		policy graph.RetryPolicy
		want   string
	}{
		{graph.RetryPolicy{}, "Tries is 0: the first call counts, so give at least 1"},
		{graph.RetryPolicy{Tries: 1, Pause: -1}, "Pause is -1ns and MaxPause 0s: neither may be negative"},
		{graph.RetryPolicy{Tries: 1, MaxPause: -1}, "Pause is 0s and MaxPause -1ns: neither may be negative"},
		{graph.RetryPolicy{Tries: 1, Jitter: 1.5}, "Jitter is 1.5: give a fraction from 0 to 1"},
	} {
		require.PanicsWithValue(t, `graph "g": Retry of task 0: `+test.want, func() { g.Retry(test.policy, nothing) })
	}
}

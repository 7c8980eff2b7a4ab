package graph_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// farLevels is more levels than any stack would hold. With quadratic time the tests would take minutes.
func farLevels() int { return max(10_000, testkit.Scale(50_000)) }

// chain builds a graph of subflows in subflows, each with a task after it that counts. bottom is the innermost.
func chain(levels int, after *atomic.Int64, bottom leaf) *graph.Graph {
	var flow func(level int) func(context.Context, *graph.Graph) error
	flow = func(level int) func(context.Context, *graph.Graph) error {
		return func(ctx context.Context, sub *graph.Graph) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if level == levels {
				sub.Task(bottom)
				return nil
			}
			sub.Subflow(flow(level + 1)).Precede(sub.Task(func(ctx context.Context) error {
				after.Add(1)
				return ctx.Err()
			}))
			return nil
		}
	}
	g := graph.New("g")
	g.Subflow(flow(1)).Named("flow")
	return g
}

// TestSubflowFar: the depth of subflows is bounded by memory only, and all of it takes linear time: to go down and up,
// to fail at the bottom, to be cancelled there, and to be waited for by a task.
func TestSubflowFar(t *testing.T) {
	levels := farLevels()
	for _, cfg := range testkit.Part(t, []executor.Config{
		{Workers: 1}, {Workers: 2}, {Workers: 2, Experiment: experiment.Options{Verbatim: true}},
	}) {
		t.Run(fmt.Sprintf("W=%d/verbatim=%v", cfg.Workers, cfg.Experiment.Verbatim), func(t *testing.T) {
			ex := newExecutor(t, cfg)
			var after atomic.Int64
			var end leaf
			g := chain(levels, &after, func(ctx context.Context) error { return end(ctx) })

			end = nothing
			require.NoError(t, run(t, ex, t.Context(), g))
			require.EqualValues(t, levels-1, after.Swap(0))

			end = func(context.Context) error { return errTask }
			err := run(t, ex, t.Context(), g)
			require.ErrorIs(t, err, errTask)
			require.Less(t, len(err.Error()), 1000)
			deep := 0
			for e := err; e != errTask; e = errors.Unwrap(e) {
				deep++
			}
			require.Equal(t, levels+1, deep)
			require.Zero(t, after.Load(), "a task after a failed subflow")

			ctx, cancel := context.WithCancelCause(t.Context())
			end = func(ctx context.Context) error { cancel(errOutside); <-ctx.Done(); return ctx.Err() }
			require.ErrorIs(t, run(t, ex, ctx, g), errOutside)
			require.Zero(t, after.Load(), "a task after a cancelled subflow")

			end = nothing
			around := graph.New("around")
			around.Task(func(ctx context.Context) error { return ex.Run(ctx, g) })
			require.NoError(t, run(t, ex, t.Context(), around))
			require.EqualValues(t, levels-1, after.Swap(0))
		})
	}
}

// TestModuleFar: modules that are run as a whole are nested as deep.
func TestModuleFar(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	reached := false
	bottom := func(context.Context) error { reached = true; return nil }
	g := nestings["modules with conditions"](ex, farLevels()/10, bottom)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.True(t, reached)
}

// TestSubflowHoldsNoWorker: while a subflow waits for its tasks, its worker runs others.
func TestSubflowHoldsNoWorker(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Spares: -1})
	open := make(chan struct{})
	g := graph.New("g")
	flow := g.Subflow(func(_ context.Context, sub *graph.Graph) error {
		sub.External(func(_ context.Context, done func(error)) error {
			go func() { <-open; done(nil) }()
			return nil
		})
		return nil
	})
	order := make(chan string, 2)
	flow.Precede(g.Task(func(context.Context) error { order <- "after"; return nil }))
	other := graph.New("other")
	other.Task(func(context.Context) error { order <- "other"; return nil })
	within(t, ex, func() {
		r := ex.Start(t.Context(), g)
		require.NoError(t, ex.Run(t.Context(), other))
		close(open)
		require.NoError(t, r.Wait())
	})
	require.Equal(t, "other", <-order)
	require.Equal(t, "after", <-order)
}

// TestSubflowUsedLate: what uses the graph of a subflow when the subflow's function has returned is told so.
func TestSubflowUsedLate(t *testing.T) {
	const want = `graph "flow": the graph of a subflow is used after the subflow's function has returned: ` +
		`it has run, or runs; build another`
	for name, end := range map[string]func(sub *graph.Graph) error{
		"built":   func(sub *graph.Graph) error { sub.Task(nothing); return nil },
		"empty":   func(*graph.Graph) error { return nil },
		"failed":  func(sub *graph.Graph) error { sub.Task(nothing); return errTask },
		"panics":  func(sub *graph.Graph) error { sub.Task(nothing); panic(errTask) },
		"invalid": func(sub *graph.Graph) error { a := sub.Task(nothing); a.Precede(a); return nil },
	} {
		for _, isDetached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/detached=%v", name, isDetached), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: 1})
				g := graph.New("g")
				add := g.Subflow
				if isDetached {
					add = g.DetachedSubflow
				}
				var kept *graph.Graph
				add(func(_ context.Context, sub *graph.Graph) error { kept = sub; return end(sub) }).Named("flow")
				_ = run(t, ex, t.Context(), g)
				require.PanicsWithValue(t, want, func() { kept.Task(nothing) })
				none := func(context.Context, *graph.Graph) error { return nil }
				require.PanicsWithValue(t, want, func() { kept.Subflow(none) })
				require.PanicsWithValue(t, want, func() { ex.Start(t.Context(), kept) })
				require.PanicsWithValue(t, want, func() { graph.New("around").Module(kept) })
				within(t, ex, func() { require.NoError(t, ex.Close()) })
			})
		}
	}
}

// TestSubflowLimit: a subflow and a module that is run as a whole hold their permits until they have ended.
func TestSubflowLimit(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		s := graph.NewSemaphore(2)
		var inside, most, ran atomic.Int64
		g := graph.New("g")
		for i := range 40 {
			flow := func(_ context.Context, sub *graph.Graph) error {
				first := sub.Task(func(context.Context) error {
					if n := inside.Add(1); n > most.Load() {
						most.Store(n)
					}
					return nil
				})
				last := sub.Task(func(context.Context) error { inside.Add(-1); ran.Add(1); return nil })
				for range 3 {
					mid := sub.Task(nothing)
					first.Precede(mid)
					mid.Precede(last)
				}
				return nil
			}
			var task graph.Task
			if i%2 == 0 {
				task = g.Subflow(flow)
			} else {
				m := graph.New("m")
				require.NoError(t, flow(nil, m))
				task = g.Module(m)
			}
			task.Hold(s).Precede(g.Task(nothing))
			if i%3 == 0 {
				task.Priority(graph.High)
			}
		}
		for range 3 {
			require.NoError(t, run(t, ex, t.Context(), g))
			require.LessOrEqual(t, most.Load(), int64(2))
			require.EqualValues(t, 40, ran.Swap(0))
			free, waiting := graph.Permits(s)
			require.Equal(t, 2, free)
			require.Zero(t, waiting)
		}
	})
}

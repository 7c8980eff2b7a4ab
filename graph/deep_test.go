package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A leaf is the work at the innermost level.
type leaf func(context.Context) error

// nestings build a graph with that many nested levels and the leaf inside.
var nestings = map[string]func(ex *executor.Executor, levels int, bottom leaf) *graph.Graph{
	"subflows": func(_ *executor.Executor, levels int, bottom leaf) *graph.Graph {
		g := graph.New("g")
		g.Subflow(deep(levels, bottom))
		return g
	},
	"modules with conditions": func(_ *executor.Executor, levels int, bottom leaf) *graph.Graph {
		g := graph.New("bottom")
		g.Task(bottom).Precede(g.Condition(func(context.Context) (int, error) { return -1, nil }))
		for range levels {
			around := graph.New("around")
			around.Module(g).Precede(around.Condition(func(context.Context) (int, error) { return -1, nil }))
			g = around
		}
		return g
	},
	"subflows in forked calls": func(ex *executor.Executor, levels int, bottom leaf) *graph.Graph {
		g := graph.New("g")
		g.Subflow(calls(ex, levels, bottom))
		return g
	},
	"runs in tasks": func(ex *executor.Executor, levels int, bottom leaf) *graph.Graph {
		g := graph.New("g")
		g.Task(runs(ex, levels, bottom))
		return g
	},
}

// deep builds a subflow in a subflow.
func deep(levels int, bottom leaf) func(context.Context, *graph.Graph) error {
	return func(_ context.Context, sub *graph.Graph) error {
		if levels == 0 {
			sub.Task(bottom)
			return nil
		}
		sub.Subflow(deep(levels-1, bottom)).Precede(sub.Task(nothing))
		return nil
	}
}

// calls builds a task with a forked call with a subflow in it. Each of the three counts as a level.
func calls(ex *executor.Executor, levels int, bottom leaf) func(context.Context, *graph.Graph) error {
	return func(_ context.Context, sub *graph.Graph) error {
		if levels < 3 {
			sub.Task(bottom)
			return nil
		}
		call := func(s *executor.Scope, levels int) error {
			g := graph.New("called")
			g.Subflow(calls(ex, levels, bottom))
			return ex.Run(s.Context(), g)
		}
		sub.Task(func(ctx context.Context) error {
			return ex.Run(ctx, executor.NewJob("forks",
				func(s *executor.Scope) error { return executor.Fork(s, call, levels-3).Join(s) }))
		}).Precede(sub.Task(nothing))
		return nil
	}
}

// runs is a task that runs a graph with another such task.
func runs(ex *executor.Executor, levels int, bottom leaf) leaf {
	return func(ctx context.Context) error {
		if levels == 0 {
			return bottom(ctx)
		}
		g := graph.New("g")
		g.Task(runs(ex, levels-1, bottom)).Precede(g.Task(nothing))
		return ex.Run(ctx, g)
	}
}

// Subflows are nested a thousand deep.
func TestSubflowDeep(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: w})
		reached := 0
		g := nestings["subflows"](ex, 1000, func(context.Context) error { reached++; return nil })
		for i := range 3 {
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, i+1, reached)
		}
	}
}

// Work is nested in other work, and the outermost result tells how the innermost ended.
func TestDeep(t *testing.T) {
	guests.None(t)
	for name, build := range nestings {
		for _, w := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s/W=%d", name, w), func(t *testing.T) {
				s := &site{ex: newExecutor(t, executor.Config{Workers: w})}
				reached := 0
				var end leaf
				g := build(s.ex, 200, func(ctx context.Context) error { reached++; return end(ctx) })
				end = nothing
				require.NoError(t, run(t, s.ex, t.Context(), g))
				require.Equal(t, 1, reached)

				end = func(context.Context) error { return errTask }
				require.ErrorIs(t, run(t, s.ex, t.Context(), g), errTask)

				end = func(context.Context) error { return explode(errTask) }
				var p *executor.PanicError
				require.ErrorAs(t, run(t, s.ex, t.Context(), g), &p)
				require.Equal(t, errTask, p.Value)

				end = func(context.Context) error { runtime.Goexit(); return nil }
				require.ErrorIs(t, run(t, s.ex, t.Context(), g), executor.ErrGoexit)

				ctx, cancel := context.WithCancelCause(t.Context())
				end = func(ctx context.Context) error { cancel(errOutside); <-ctx.Done(); return ctx.Err() }
				require.ErrorIs(t, run(t, s.ex, ctx, g), errOutside)

				end = nothing
				require.NoError(t, run(t, s.ex, t.Context(), g))
				require.Equal(t, 6, reached)
				within(t, s.ex, func() { s.muster(t) })
			})
		}
	}
}

// Work that is nested too deep for any stack fails with ErrTooDeep, in the task that went too far. Several workers
// would share the levels, each with a stack of its own.
func TestTooDeep(t *testing.T) {
	for name, levels := range map[string]int{"runs in tasks": 4200, "subflows in forked calls": 6300} {
		t.Run(name, func(t *testing.T) {
			s := &site{ex: newExecutor(t, executor.Config{Workers: 1})}
			reached := false
			err := run(t, s.ex, context.Background(),
				nestings[name](s.ex, levels, func(context.Context) error { reached = true; return nil }))
			require.False(t, reached)
			deepest := err
			for errors.Unwrap(err) != nil { // the whole message leaves out the middle
				deepest, err = err, errors.Unwrap(err)
			}
			require.IsType(t, &graph.TaskError{}, deepest)
			require.ErrorContains(t, deepest, "too many tasks on one worker wait for each other")
			require.Equal(t, executor.ErrTooDeep, err)
			within(t, s.ex, func() { s.muster(t) })
		})
	}
}

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// errorTexts are graphs of one task that fails, by what fails in it, and what the error of the run says. fail fails.
var errorTexts = map[string]struct {
	add  func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task
	want string // before what the failure itself says
}{
	"task": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(context.Context) error { return fail() })
	}, `graph "g": task t: `},
	"condition": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Condition(func(context.Context) (int, error) { return 0, fail() })
	}, `graph "g": task t: `},
	"multi-condition": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.MultiCondition(func(context.Context) ([]int, error) { return nil, fail() })
	}, `graph "g": task t: `},
	"value": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return graph.Source(g, func(context.Context) (int, error) { return 0, fail() }).Task()
	}, `graph "g": task t: `},
	"subflow": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Subflow(func(context.Context, *graph.Graph) error { return fail() })
	}, `graph "g": task t: `},
	"task of a subflow": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Subflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(func(context.Context) error { return fail() }).Named("in")
			return nil
		})
	}, `graph "g": task t: graph "t": task in: `},
	"task of a detached subflow": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(func(context.Context) error { return fail() })
			return nil
		})
	}, `graph "g": task t: graph "t": task #0: `},
	"subflow in a subflow": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Subflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Subflow(func(_ context.Context, sub *graph.Graph) error {
				sub.Task(func(context.Context) error { return fail() }).Named("in")
				return nil
			}).Named("mid")
			return nil
		})
	}, `graph "g": task t: graph "t": task mid: graph "mid": task in: `},
	"module": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Module(failingModule(fail))
	}, `graph "g": task t: graph "sub": task in: `},
	"module in a module": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		mid := graph.New("mid")
		mid.Task(nothing)
		mid.Module(failingModule(fail)).Named("m")
		g.Module(graph.New("empty"))
		return g.Module(mid)
	}, `graph "g": task t: graph "mid": task m: graph "sub": task in: `},
	"module that runs apart": {func(g *graph.Graph, _ *executor.Executor, fail func() error) graph.Task {
		return g.Module(failingModule(fail)).Hold(graph.NewSemaphore(1))
	}, `graph "g": task t: graph "sub": task in: `},
	"run in a task": {func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(ctx context.Context) error { return ex.Run(ctx, failingModule(fail)) })
	}, `graph "g": task t: graph "sub": task in: `},
	"loop in a task": {func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(ctx context.Context) error {
			return parallel.For(ctx, parallel.Options{Executor: ex}, 0, 1, func(int) {
				if err := fail(); err != nil {
					panic(err)
				}
			})
		})
	}, `graph "g": task t: `},
	"pipeline in a task": {func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(ctx context.Context) error {
			p, err := pipeline.New("p", 1,
				pipeline.Stage{Mode: pipeline.Serial, Run: func(*pipeline.Token) error { return fail() }})
			if err != nil {
				return err
			}
			return ex.Run(ctx, p)
		})
	}, `graph "g": task t: pipeline "p": `},
	"child in a task": {func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(ctx context.Context) error {
			return ex.Run(ctx, executor.NewJob("children", func(s *executor.Scope) error {
				s.Go(func(context.Context) error { return fail() })
				return s.Wait()
			}))
		})
	}, `graph "g": task t: `},
	"future in a task": {func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(ctx context.Context) error {
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, fail() }).Wait()
			return err
		})
	}, `graph "g": task t: `},
	"group in a task": {func(g *graph.Graph, ex *executor.Executor, fail func() error) graph.Task {
		return g.Task(func(context.Context) error {
			group := executor.NewGroup(ex)
			group.Go(fail)
			return group.Wait()
		})
	}, `graph "g": task t: `},
}

func failingModule(fail func() error) *graph.Graph {
	sub := graph.New("sub")
	sub.Task(func(context.Context) error { return fail() }).Named("in")
	return sub
}

// Whatever fails in a task of a graph, however it fails, the error of the run names the graph and the task first, and
// then what is inside: in a module's copy as in a module that runs as a whole. The text is one line, and %+v has the
// stack of a panic. errors.Is finds the cause, and errors.As the task.
func TestErrorTexts(t *testing.T) {
	guests.None(t)
	for name, c := range errorTexts {
		for how, failure := range map[string]struct {
			fail func() error
			says string
			is   error
		}{
			"error":         {func() error { return errTask }, errTask.Error(), errTask},
			"panic":         {func() error { return explode(errTask) }, "panic: " + errTask.Error(), errTask},
			"panic, values": {func() error { return explode("two\nlines") }, `panic: two\nlines`, nil},
			"goexit":        {func() error { runtime.Goexit(); return nil }, executor.ErrGoexit.Error(), executor.ErrGoexit},
		} {
			t.Run(fmt.Sprintf("%s/%s", name, how), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: 2})
				g := graph.New("g")
				c.add(g, ex, failure.fail).Named("t")
				err := run(t, ex, t.Context(), g)
				text := fmt.Sprint(err)
				want := c.want
				if how == "goexit" { // it ends every task on the same stack, and the outermost of them is told
					want = `graph "g": task t: `
				}
				require.True(t, strings.HasPrefix(text, want), text)
				require.True(t, strings.HasSuffix(text, failure.says), text)
				require.NotContains(t, text, "\n")
				var told *graph.TaskError
				require.ErrorAs(t, err, &told)
				if failure.is != nil && name != "loop in a task" {
					require.ErrorIs(t, err, failure.is)
				}
				if strings.HasPrefix(how, "panic") {
					require.Contains(t, fmt.Sprintf("%+v", err), "graph_test.explode(")
				}
			})
		}
	}
}

// A run that is cancelled says which run it was of.
func TestCancelText(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no longer wanted"))
	g.Task(nothing)
	require.EqualError(t, run(t, ex, ctx, g), `run of "g": context canceled: no longer wanted`)
}

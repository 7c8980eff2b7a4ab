package graph_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// The tasks of a subflow run before its successors, and are built anew in every run.
func TestSubflow(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: workers})
			var j journal
			size := 0
			g := graph.New("g")
			before := g.Task(j.task("before"))
			also := g.Task(nothing)
			flow := g.Subflow(func(_ context.Context, sub *graph.Graph) error {
				last := sub.Task(j.task("last"))
				for i := range size {
					last.Succeed(sub.Task(j.task(fmt.Sprint(i))))
				}
				return nil
			})
			after := g.Task(j.task("after"))
			flow.Succeed(before, also)
			after.Succeed(flow)
			for size = range 5 {
				require.NoError(t, run(t, ex, t.Context(), g))
				lines := j.take()
				require.Len(t, lines, size+3)
				require.Equal(t, "before", lines[0])
				require.Equal(t, []string{"last", "after"}, lines[size+1:])
			}
			none := graph.New("none")
			none.Subflow(func(context.Context, *graph.Graph) error { return nil }).Precede(none.Task(j.task("after")))
			require.NoError(t, run(t, ex, t.Context(), none))
			require.Equal(t, []string{"after"}, j.take(), "nothing was built")

			// In a module.
			m := graph.New("m")
			m.Module(none).Precede(m.Task(j.task("end")))
			size = 1
			m.Module(g).Precede(m.Task(nothing))
			for range 2 {
				require.NoError(t, run(t, ex, t.Context(), m))
				require.ElementsMatch(t, []string{"after", "end", "before", "0", "last", "after"}, j.take())
			}
		})
	}
}

func TestSubflowErrors(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		never := func(context.Context) error { t.Error("not skipped"); return nil }
		var failed *graph.TaskError

		g := graph.New("g")
		g.Subflow(func(_ context.Context, sub *graph.Graph) error { sub.Task(never); return errTask }).Named("flow").
			Precede(g.Task(never))
		err := run(t, ex, t.Context(), g)
		require.ErrorAs(t, err, &failed)
		require.Equal(t, graph.TaskError{Run: "g", Graph: "g", Task: "flow", Err: errTask}, *failed)

		g = graph.New("g")
		g.Subflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(func(context.Context) error { return errTask }).Named("bad").Precede(sub.Task(never))
			return nil
		}).Named("flow").Precede(g.Task(never))
		err = run(t, ex, t.Context(), g)
		require.EqualError(t, err, `graph "g": task flow: graph "flow": task bad: the task's own error`)
		require.ErrorIs(t, err, errTask)

		g = graph.New("g")
		g.Subflow(func(context.Context, *graph.Graph) error { panic(errTask) }).Precede(g.Task(never))
		var p *executor.PanicError
		require.ErrorAs(t, run(t, ex, t.Context(), g), &p)

		g = graph.New("g")
		g.Subflow(func(_ context.Context, sub *graph.Graph) error {
			a, b := sub.Task(never), sub.Task(never)
			a.Precede(b)
			b.Precede(a)
			return nil
		})
		var cycle *graph.CycleError
		require.ErrorAs(t, run(t, ex, t.Context(), g), &cycle)

		// Cancelled from inside: the rest of the subflow is skipped.
		ctx, cancel := context.WithCancelCause(t.Context())
		g = graph.New("g")
		g.Subflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(func(context.Context) error { cancel(errTask); return nil }).
				Precede(sub.Task(func(ctx context.Context) error { <-ctx.Done(); return nil }))
			return nil
		}).Precede(g.Task(never))
		require.ErrorIs(t, run(t, ex, ctx, g), errTask)
	}
	require.Panics(t, func() { graph.New("g").Subflow(nil) })
}

// A tree of subflows: many at once, on all workers.
func TestSubflowTree(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	var leaves atomic.Int32
	var tree func(depth int) func(context.Context, *graph.Graph) error
	tree = func(depth int) func(context.Context, *graph.Graph) error {
		return func(_ context.Context, sub *graph.Graph) error {
			for range 4 {
				if depth == 0 {
					sub.Task(func(context.Context) error { leaves.Add(1); return nil })
				} else {
					sub.Subflow(tree(depth - 1))
				}
			}
			return nil
		}
	}
	g := graph.New("g")
	g.Subflow(tree(4))
	for i := range testkit.Scale(20) {
		require.NoError(t, run(t, ex, t.Context(), g))
		require.EqualValues(t, 1024*(i+1), leaves.Load())
	}
}

// The successors of a detached subflow do not wait for it, the run does.
func TestDetachedSubflow(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: workers})
			var ran atomic.Int32
			after := make(chan struct{})
			g := graph.New("g")
			detached := g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
				first := sub.Task(func(context.Context) error {
					if workers > 1 {
						<-after // not on one worker, which has taken this task first
					}
					time.Sleep(10 * time.Millisecond) // the run's other tasks are over
					return nil
				})
				for range 10 {
					first.Precede(sub.Task(func(context.Context) error { ran.Add(1); return nil }))
				}
				return nil
			})
			detached.Precede(g.Task(func(context.Context) error { close(after); return nil }))
			for n := range int32(3) {
				require.NoError(t, run(t, ex, t.Context(), g))
				require.Equal(t, 10*(n+1), ran.Load())
				<-after
				after = make(chan struct{})
			}
		})
	}
}

// Each detached subflow starts the next: no stack grows.
func TestDetachedSubflowsWithoutEnd(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	left := 10_000
	var flow func(context.Context, *graph.Graph) error
	flow = func(_ context.Context, sub *graph.Graph) error {
		if left--; left > 0 {
			sub.DetachedSubflow(flow)
		}
		return nil
	}
	g := graph.New("g")
	g.DetachedSubflow(flow)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Zero(t, left)
}

func TestDetachedSubflowErrors(t *testing.T) {
	guests.None(t)
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		build := func(fn func(*graph.Graph) error) *graph.Graph {
			g := graph.New("g")
			g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error { return fn(sub) }).Named("flow")
			return g
		}
		for _, test := range []struct {
			name string
			fn   func(*graph.Graph) error
			want string
		}{
			{"building it fails", func(*graph.Graph) error { return errTask },
				`graph "g": task flow: the task's own error`},
			{"nothing built", func(*graph.Graph) error { return nil }, ""},
			{"a task of it fails", func(sub *graph.Graph) error {
				sub.Task(func(context.Context) error { return errTask }).Named("bad")
				return nil
			}, `graph "g": task flow: graph "flow": task bad: the task's own error`},
			{"a cycle", func(sub *graph.Graph) error {
				a := sub.Task(nothing).Named("a")
				a.Precede(a)
				return nil
			}, `graph "g": task flow: graph "flow": cycle: a → a: remove one of these edges`},
			{"Goexit", func(sub *graph.Graph) error {
				sub.Task(func(context.Context) error { runtime.Goexit(); return nil }).Named("bad")
				return nil
			}, `graph "g": task flow: graph "flow": task bad: ` + executor.ErrGoexit.Error()},
		} {
			g := build(test.fn)
			for range 2 {
				err := run(t, ex, t.Context(), g)
				if test.want == "" {
					require.NoError(t, err, test.name)
				} else {
					require.EqualError(t, err, test.want, test.name)
				}
			}
		}

		// Cancelled while the subflow runs: its tasks see that, and the run's result has it once.
		begun := make(chan struct{})
		g := build(func(sub *graph.Graph) error {
			sub.Task(func(ctx context.Context) error { close(begun); <-ctx.Done(); return ctx.Err() })
			return nil
		})
		r := ex.Start(t.Context(), g)
		<-begun
		r.Cancel(errTask)
		require.EqualError(t, r.Wait(), `run of "g": context canceled: the task's own error`)
	}
	require.PanicsWithValue(t, `graph "g": the function of task 0 is nil`,
		func() { graph.New("g").DetachedSubflow(nil) })
}

// A context whose Err panics once it is told to.
type panicky struct {
	context.Context
	late *atomic.Bool
}

func (c panicky) Err() error {
	if c.late.Load() {
		panic("Err")
	}
	return c.Context.Err()
}

// A detached subflow that cannot start, because the caller's context panics, is not waited for.
func TestDetachedSubflowThatCannotStart(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		late := new(atomic.Bool)
		g := graph.New("outer")
		g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(nothing)
			late.Store(true)
			return nil
		})
		var p *executor.PanicError
		require.ErrorAs(t, ex.Run(panicky{t.Context(), late}, g), &p)
		require.NoError(t, ex.Close())
	})
}

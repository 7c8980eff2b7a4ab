package graph_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// TestJoinedErrors: tasks that fail at the same time are all reported, in the order in which they were added, whatever
// the order in which they failed.
func TestJoinedErrors(t *testing.T) {
	const n = 4
	ex := newExecutor(t, executor.Config{Workers: n})
	for last := range n {
		g := graph.New("joined")
		meet := newBarrier(n)
		first := make(chan struct{})
		for i := range n {
			g.Task(func(context.Context) error {
				meet.meet() // all have begun: none is skipped
				if i == last {
					close(first)
				} else {
					<-first
				}
				return fmt.Errorf("error %d: %w", i, errTask)
			}).Named(string(rune('a' + i)))
		}
		err := run(t, ex, t.Context(), g)
		require.EqualError(t, err, strings.Join([]string{
			`graph "joined": task a: error 0: the task's own error`,
			`graph "joined": task b: error 1: the task's own error`,
			`graph "joined": task c: error 2: the task's own error`,
			`graph "joined": task d: error 3: the task's own error`,
		}, "\n"))
		require.Equal(t, []string{"a", "b", "c", "d"}, failedTasks(err))
		require.ErrorIs(t, err, errTask)
	}
}

func TestSingleError(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("one")
	a := g.Task(func(context.Context) error { return io.ErrUnexpectedEOF }).Named("read")
	ran := false
	a.Precede(g.Task(func(context.Context) error { ran = true; return nil }))
	err := run(t, ex, t.Context(), g)
	require.EqualError(t, err, `graph "one": task read: unexpected EOF`)
	require.Equal(t, &graph.TaskError{Run: "one", Graph: "one", Task: "read", Err: io.ErrUnexpectedEOF}, err)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, context.Canceled, "nobody cancelled")
	require.False(t, ran)
}

// explode is named in the stack of its panic.
func explode(value any) error { panic(value) }

func TestPanics(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for _, c := range []struct {
		name  string
		value any
		check func(t *testing.T, err error, p *executor.PanicError)
	}{
		{"a value", 42, func(t *testing.T, err error, p *executor.PanicError) {
			require.Equal(t, 42, p.Value)
			require.NoError(t, p.Unwrap())
			require.Contains(t, err.Error(), `graph "g": task boom: panic: 42`)
		}},
		{"an error", io.ErrClosedPipe, func(t *testing.T, err error, p *executor.PanicError) {
			require.Equal(t, io.ErrClosedPipe, p.Value)
			require.ErrorIs(t, err, io.ErrClosedPipe)
		}},
		{"nil", nil, func(t *testing.T, err error, p *executor.PanicError) {
			var nilPanic *runtime.PanicNilError
			require.ErrorAs(t, err, &nilPanic)
		}},
		{"a context's error before anything was cancelled", context.Canceled,
			func(t *testing.T, err error, p *executor.PanicError) {
				require.ErrorIs(t, err, context.Canceled)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New("g")
			g.Task(func(context.Context) error { return explode(c.value) }).Named("boom")
			err := run(t, ex, t.Context(), g)
			var failed *graph.TaskError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "boom", failed.Task)
			var p *executor.PanicError
			require.ErrorAs(t, err, &p)
			require.Same(t, p, failed.Err)
			require.Contains(t, string(p.Stack), "graph_test.explode(", "the stack shows where it happened")
			c.check(t, err, p)
		})
	}
}

func TestGoexit(t *testing.T) {
	guests.None(t)
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	ran := false
	a := g.Task(func(context.Context) error { runtime.Goexit(); return nil }).Named("exits")
	a.Precede(g.Task(func(context.Context) error { ran = true; return nil }))
	for range 3 {
		err := run(t, ex, t.Context(), g)
		require.Equal(t, &graph.TaskError{Run: "g", Graph: "g", Task: "exits", Err: executor.ErrGoexit}, err)
		require.ErrorIs(t, err, executor.ErrGoexit)
		require.False(t, ran)
	}
}

// failBeside runs a graph of two tasks at once: one fails with errTask, and then the other returns answer of its
// context.
func failBeside(t *testing.T, ctx context.Context, answer func(ctx context.Context) error) error {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	meet := newBarrier(2)
	g.Task(func(context.Context) error { meet.meet(); return errTask }).Named("fails")
	g.Task(func(ctx context.Context) error { meet.meet(); <-ctx.Done(); return answer(ctx) }).Named("beside")
	return run(t, ex, ctx, g)
}

// TestEchoes: an error that only says that the run has failed is not a failure of its own.
func TestEchoes(t *testing.T) {
	guests.None(t)
	for name, answer := range map[string]func(context.Context) error{
		"the context's error":         func(ctx context.Context) error { return ctx.Err() },
		"the context's error wrapped": func(ctx context.Context) error { return fmt.Errorf("reading: %w", ctx.Err()) },
		"the cause":                   context.Cause,
		"the cause wrapped": func(ctx context.Context) error {
			return fmt.Errorf("reading: %w", context.Cause(ctx))
		},
		"of a derived context": func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := failBeside(t, t.Context(), answer)
			require.Equal(t, &graph.TaskError{Run: "g", Graph: "g", Task: "fails", Err: errTask}, err)
		})
	}
	t.Run("but not another error", func(t *testing.T) {
		err := failBeside(t, t.Context(), func(context.Context) error { return io.EOF })
		require.Equal(t, []string{"fails", "beside"}, failedTasks(err))
		require.ErrorIs(t, err, io.EOF)
	})
	t.Run("nor the same error found independently", func(t *testing.T) {
		err := failBeside(t, t.Context(), func(context.Context) error { return errTask })
		require.Equal(t, []string{"fails", "beside"}, failedTasks(err))
	})
	t.Run("nor Goexit", func(t *testing.T) {
		err := failBeside(t, t.Context(), func(context.Context) error { runtime.Goexit(); return nil })
		require.Equal(t, []string{"fails", "beside"}, failedTasks(err))
	})
	t.Run("nor a panic", func(t *testing.T) {
		err := failBeside(t, t.Context(), func(context.Context) error { panic("beside") })
		require.Equal(t, []string{"fails", "beside"}, failedTasks(err))
	})
	t.Run("nor a panic with the context's error", func(t *testing.T) {
		// A panic is never swallowed, whatever its value.
		err := failBeside(t, t.Context(), func(ctx context.Context) error { panic(ctx.Err()) })
		require.Equal(t, []string{"fails", "beside"}, failedTasks(err))
	})
	t.Run("nor a deadline of the task's own", func(t *testing.T) {
		err := failBeside(t, t.Context(), func(ctx context.Context) error {
			own, cancel := context.WithDeadline(context.WithoutCancel(ctx), time.Unix(0, 0))
			defer cancel()
			return fmt.Errorf("dial: %w", own.Err())
		})
		require.Equal(t, []string{"fails", "beside"}, failedTasks(err))
	})
}

// TestOwnCanceled: a context's error from a task is a failure like others as long as nothing was cancelled.
func TestOwnCanceled(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for _, own := range []error{context.Canceled, context.DeadlineExceeded} {
		g := graph.New("g")
		g.Task(func(context.Context) error { return own }).Named("a")
		err := run(t, ex, t.Context(), g)
		require.Equal(t, &graph.TaskError{Run: "g", Graph: "g", Task: "a", Err: own}, err)
	}
}

// TestCauseInTasks: the tasks that still run learn which failure cancelled them.
func TestCauseInTasks(t *testing.T) {
	var seen error
	err := failBeside(t, t.Context(), func(ctx context.Context) error {
		seen = context.Cause(ctx)
		return ctx.Err()
	})
	require.ErrorIs(t, seen, errTask)
	require.Equal(t, err, seen, "the cause is the failure that is reported")
}

// TestPanicIsToldOnce: an error that only repeats that another task has panicked is left out too.
func TestPanicIsToldOnce(t *testing.T) {
	for name, echo := range map[string]func(context.Context, *executor.Executor) error{
		"the cause": func(ctx context.Context, _ *executor.Executor) error { return context.Cause(ctx) },
		"the cause, said": func(ctx context.Context, _ *executor.Executor) error {
			return fmt.Errorf("beside: %w", context.Cause(ctx))
		},
		"a run not begun": func(ctx context.Context, ex *executor.Executor) error {
			return ex.Run(ctx, graph.New("inner"))
		},
		"the cause, twice": func(ctx context.Context, _ *executor.Executor) error {
			return errors.Join(ctx.Err(), context.Cause(ctx))
		},
		"another panic": func(ctx context.Context, _ *executor.Executor) error { panic(context.Cause(ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			g := graph.New("g")
			begun := make(chan struct{})
			g.Task(func(context.Context) error { <-begun; return explode(errTask) }).Named("panics")
			g.Task(func(ctx context.Context) error { close(begun); <-ctx.Done(); return echo(ctx, ex) }).Named("beside")
			want := []string{"panics"}
			if name == "another panic" {
				want = append(want, "beside")
			}
			require.Equal(t, want, failedTasks(run(t, ex, t.Context(), g)))
		})
	}
}

var errOutside = errors.New("the caller's cause")

func (untellingContext) AfterFunc(func()) func() bool { return func() bool { return true } }

// TestNestedErrors: the error of a nested run is an error like any other, and distinct from the outer.
func TestNestedErrors(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: w})
		inner := graph.New("inner")
		inner.Task(func(context.Context) error { return explode(errTask) }).Named("in")
		outer := graph.New("outer")
		outer.Task(func(ctx context.Context) error { return ex.Run(ctx, inner) }).Named("out")
		err := run(t, ex, t.Context(), outer)
		require.Contains(t, err.Error(), `graph "outer": task out: graph "inner": task in: panic: the task's own error`)
		require.ErrorIs(t, err, errTask)
		var p *executor.PanicError
		require.ErrorAs(t, err, &p)
	}
}

// TestToldBesideAnEcho: a failure is reported even if the same error also says that the run was stopped, as the error
// of a nested run does.
func TestToldBesideAnEcho(t *testing.T) {
	begun := make(chan struct{})
	untilStopped := func(ctx context.Context) { begun <- struct{}{}; <-ctx.Done() }
	for name, fail := range map[string]func(context.Context, *executor.Executor) error{
		"joined": func(ctx context.Context, _ *executor.Executor) error {
			untilStopped(ctx)
			return errors.Join(ctx.Err(), errTask)
		},
		"nested": func(ctx context.Context, ex *executor.Executor) error {
			inner := graph.New("inner")
			inner.Task(func(ctx context.Context) error { untilStopped(ctx); return errTask })
			return ex.Run(ctx, inner)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			g := graph.New("g")
			g.Task(func(ctx context.Context) error { return fail(ctx, ex) })
			ctx, cancel := context.WithCancelCause(t.Context())
			r := ex.Start(ctx, g)
			<-begun
			cancel(errors.New("no longer wanted"))
			err := r.Wait()
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, errTask)
		})
	}
}

// The text of nested failures names the outermost and the innermost levels, at any depth; errors.As finds all.
func TestTaskErrorDeep(t *testing.T) {
	told := func(levels int) string {
		err := errTask
		for i := range levels {
			err = &graph.TaskError{Graph: "g", Task: fmt.Sprint(levels - i), Err: err}
		}
		return err.Error()
	}
	require.Equal(t, `graph "g": task 1: graph "g": task 2: the task's own error`, told(2))
	require.NotContains(t, told(12), "more")
	const task = `graph "g": task %d: `
	require.Equal(t, fmt.Sprintf(strings.Repeat(task, 6)+"… 1 more …: "+strings.Repeat(task, 6)+"the task's own error",
		1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13), told(13))
	require.Contains(t, told(500_000), "… 499988 more …") // would not end if each text were copied into the next
}

// The error of a run tells the run too, if that has another name than the graph, and once.
func TestTaskErrorOfNamedRun(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	failing := func(name string) *graph.Graph {
		g := graph.New(name)
		g.Task(func(context.Context) error { return errTask }).Named("t")
		return g
	}
	named := func(g *graph.Graph, name string) executor.Job {
		return executor.With(g, executor.RunOptions{Name: name})
	}
	for kind, c := range map[string]struct {
		add  func(g *graph.Graph) graph.Task
		want string // after the graph and the task
	}{
		"task": {func(g *graph.Graph) graph.Task {
			return g.Task(func(context.Context) error { return errTask })
		}, ""},
		"module": {func(g *graph.Graph) graph.Task { return g.Module(failing("sub")) }, `graph "sub": task t: `},
		"module that runs apart": {func(g *graph.Graph) graph.Task {
			return g.Module(failing("sub")).Hold(graph.NewSemaphore(1))
		}, `graph "sub": task t: `},
		"subflow in a subflow": {func(g *graph.Graph) graph.Task {
			return g.Subflow(func(_ context.Context, sub *graph.Graph) error {
				sub.Subflow(func(_ context.Context, sub *graph.Graph) error {
					sub.Module(failing("sub")).Named("m")
					return nil
				}).Named("in")
				return nil
			})
		}, `graph "top": task in: graph "in": task m: graph "sub": task t: `},
		"detached subflow": {func(g *graph.Graph) graph.Task {
			return g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
				sub.Module(failing("sub")).Named("m")
				return nil
			})
		}, `graph "top": task m: graph "sub": task t: `},
		"retry": {func(g *graph.Graph) graph.Task {
			return g.Retry(graph.RetryPolicy{Tries: 2}, func(context.Context) error { return errTask })
		}, "after 2 calls: "},
		"run in a task": {func(g *graph.Graph) graph.Task {
			return g.Task(func(ctx context.Context) error { return ex.Run(ctx, failing("sub")) })
		}, `graph "sub": task t: `},
		"named run in a task": {func(g *graph.Graph) graph.Task {
			return g.Task(func(ctx context.Context) error { return ex.Run(ctx, named(failing("sub"), "inner")) })
		}, `run of "inner": graph "sub": task t: `},
	} {
		g := graph.New("g")
		c.add(g).Named("top")
		plain := `graph "g": task top: ` + c.want + errTask.Error()
		for name, want := range map[string]string{"": plain, "g": plain, "nightly": `run of "nightly": ` + plain} {
			var err error
			within(t, ex, func() { err = ex.Run(t.Context(), named(g, name)) })
			require.EqualError(t, err, want, kind)
			require.ErrorIs(t, err, errTask, kind)
			var failed *graph.TaskError
			require.ErrorAs(t, err, &failed, kind)
			require.Equal(t, cmp.Or(name, "g"), failed.Run, kind)
			require.Equal(t, "g", failed.Graph, kind)
		}
	}
	require.EqualError(t, &graph.TaskError{Graph: "g", Task: "t", Err: errTask}, `graph "g": task t: `+errTask.Error())
}

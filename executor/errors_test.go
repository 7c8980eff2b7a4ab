package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// The text of a PanicError is fit for a log line and for a client: no line break, no stack,
// whatever the value is and whatever wraps the error. %+v has the stack.
func TestPanicErrorIsOneLine(t *testing.T) {
	for name, run := range panicking {
		for _, value := range []any{"boom", errors.New("boom"), "boom\r\nboom\n",
			errors.Join(errors.New("boom"), errors.New("boom")), 42} {
			t.Run(fmt.Sprintf("%s/%T", name, value), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: 2})
				within(t, ex, func() {
					err := run(t.Context(), ex, value)
					var p *executor.PanicError
					require.ErrorAs(t, err, &p)
					require.Equal(t, value, p.Value)
					for _, verb := range []string{"%v", "%s", "%q", "%x"} {
						said := fmt.Sprintf(verb, err)
						require.Equal(t, fmt.Sprintf(verb, err.Error()), said)
						require.NotContains(t, said, "\n")
						require.NotContains(t, said, "panicWith")
					}
					require.Contains(t, err.Error(), strings.SplitN(fmt.Sprint(value), "\r", 2)[0][:2])
					require.Contains(t, fmt.Sprintf("%+v", err), "executor_test.panicWith(")
				})
			})
		}
	}
}

func taskPanics(value any) func(context.Context) error {
	return func(context.Context) error { return panicWith(value) }
}

// panicking are the ways in which a panic in a task becomes an error.
var panicking = map[string]func(ctx context.Context, ex *executor.Executor, value any) error{
	"func": func(ctx context.Context, ex *executor.Executor, value any) error {
		return ex.Run(ctx, executor.NewJob("f", func(*executor.Scope) error { return panicWith(value) }))
	},
	"child": func(ctx context.Context, ex *executor.Executor, value any) error {
		return ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return panicWith(value) })
			return nil
		}))
	},
	"fork": func(ctx context.Context, ex *executor.Executor, value any) error {
		_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) error {
			return executor.Fork(s, func(*executor.Scope, int) error { return panicWith(value) }, 0).Join(s)
		}, 0)
		return err
	},
	"future": func(ctx context.Context, ex *executor.Executor, value any) error {
		_, err := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, panicWith(value) }).Wait()
		return err
	},
	"first": func(ctx context.Context, ex *executor.Executor, value any) error {
		_, err := executor.First(ctx, ex, func(ctx context.Context) (int, error) { return 0, panicWith(value) })
		return err
	},
	"loop": func(ctx context.Context, ex *executor.Executor, value any) error {
		return parallel.For(ctx, parallel.Options{Executor: ex}, 0, 1, func(int) { _ = panicWith(value) })
	},
	"graph": func(ctx context.Context, ex *executor.Executor, value any) error {
		return ex.Run(ctx, one(taskPanics(value)))
	},
	"nested": func(ctx context.Context, ex *executor.Executor, value any) error {
		return ex.Run(ctx, one(func(ctx context.Context) error { return ex.Run(ctx, one(taskPanics(value))) }))
	},
	"pipeline": func(ctx context.Context, ex *executor.Executor, value any) error {
		p, err := pipeline.New("p", 1, pipeline.Stage{Mode: pipeline.Serial, Run: func(*pipeline.Token) error {
			return panicWith(value)
		}})
		if err != nil {
			return err
		}
		return ex.Run(ctx, p)
	},
	"pool": func(ctx context.Context, ex *executor.Executor, value any) error {
		p, err := pool.New("p", pool.Options{})
		if err != nil {
			return err
		}
		p.Add(func(*pool.Task) error { return panicWith(value) })
		return ex.Run(ctx, p)
	},
	"cause": func(ctx context.Context, ex *executor.Executor, value any) error { // of a cancelled run
		failed := ex.Run(ctx, one(taskPanics(value)))
		r := ex.Start(ctx, one(func(ctx context.Context) error { <-ctx.Done(); return nil }))
		r.Cancel(failed)
		return r.Wait()
	},
}

// Of several failures each has a line, in the short text, and its stack in the long one.
func TestPanicErrorsJoined(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		b := barrier{n: 2}
		err := ex.Run(t.Context(), fan(2, func(ctx context.Context) error {
			b.meet()
			return panicWith("boom")
		}))
		require.Equal(t, 2, strings.Count(err.Error(), "boom"))
		require.Equal(t, 1, strings.Count(err.Error(), "\n"))
		require.Equal(t, 2, strings.Count(fmt.Sprintf("%+v", err), "executor_test.panicWith("))
	})
}

// The text of the error of a cancelled run is one line too. %+v has the lines of the cause.
func TestCancelErrorIsOneLine(t *testing.T) {
	lines := errors.New("boom\r\nboom")
	for name, c := range map[string]struct {
		run func(ctx context.Context, ex *executor.Executor) error
		job string
	}{
		"run": {func(ctx context.Context, ex *executor.Executor) error { return ex.Run(ctx, one(nothing)) }, "one"},
		"group": {func(ctx context.Context, ex *executor.Executor) error {
			g, _ := executor.GroupWithContext(ctx, ex)
			return g.Wait()
		}, "group"},
		"future": {func(ctx context.Context, ex *executor.Executor) error {
			_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }).Wait()
			return err
		}, "async"},
	} {
		ex := newExecutor(t, executor.Config{Workers: 1})
		within(t, ex, func() {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(lines)
			err := c.run(ctx, ex)
			require.ErrorIs(t, err, lines, name)
			require.EqualError(t, err, `run of "`+c.job+`": context canceled: boom\r\nboom`, name)
			require.Equal(t, err.Error(), fmt.Sprintf("%v", err), name)
			require.Equal(t, `run of "`+c.job+`": context canceled: `+lines.Error(), fmt.Sprintf("%+v", err), name)
		})
	}
}

// An error value may not be comparable, and formats itself; both are the program's, and may panic.
type hostileValue struct{ _ []int }

func (hostileValue) Error() string { panic("Error panics") }

func TestPanicErrorOfAHostileValue(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	testkit.Within(t, testkit.Patience, func() {
		err := ex.Run(t.Context(), one(taskPanics(hostileValue{})))
		require.NotContains(t, err.Error(), "\n")
	})
}

// The text of a panic says of which run it is, once.
func TestPanicErrorNamesItsRun(t *testing.T) {
	says := map[string]string{
		"func": `run of "f": panic: boom`, "child": `run of "f": panic: boom`, "fork": `run of "call": panic: boom`,
		"future": `run of "async": panic: boom`, "first": `run of "first": panic: boom`,
		"loop": `run of "parallel.For": panic: boom`,
	}
	for name, want := range says {
		ex := newExecutor(t, executor.Config{Workers: 2})
		within(t, ex, func() { require.EqualError(t, panicking[name](t.Context(), ex, "boom"), want, name) })
	}
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := executor.NewGroup(ex)
	g.Go(func() error { return panicWith("boom") })
	require.EqualError(t, g.Wait(), `run of "group": panic: boom`)

	// A panic that a Join passes on, and the program again, is of one run.
	err := ex.Run(t.Context(), executor.NewJob("outer", func(s *executor.Scope) error {
		return executor.Fork(s, func(*executor.Scope, int) error { return panicWith("boom") }, 0).Join(s)
	}))
	require.EqualError(t, err, `run of "outer": panic: boom`)
	require.EqualError(t, &executor.PanicError{Value: "boom"}, "panic: boom")
}

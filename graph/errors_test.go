package graph_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
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
	require.Equal(t, &graph.TaskError{Graph: "one", Task: "read", Err: io.ErrUnexpectedEOF}, err)
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
		{"a context's error before anything was cancelled", context.Canceled, func(t *testing.T, err error, p *executor.PanicError) {
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
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	ran := false
	a := g.Task(func(context.Context) error { runtime.Goexit(); return nil }).Named("exits")
	a.Precede(g.Task(func(context.Context) error { ran = true; return nil }))
	for range 3 {
		err := run(t, ex, t.Context(), g)
		require.Equal(t, &graph.TaskError{Graph: "g", Task: "exits", Err: executor.ErrGoexit}, err)
		require.ErrorIs(t, err, executor.ErrGoexit)
		require.False(t, ran)
	}
}

// failBeside runs a graph of two tasks at once: one fails with errTask, the other returns what answer makes of its
// context after that.
func failBeside(t *testing.T, ctx context.Context, answer func(ctx context.Context) error) error {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	meet := newBarrier(2)
	g.Task(func(context.Context) error { meet.meet(); return errTask }).Named("fails")
	g.Task(func(ctx context.Context) error { meet.meet(); <-ctx.Done(); return answer(ctx) }).Named("beside")
	return run(t, ex, ctx, g)
}

// TestEchoes: what only says that the run has failed is not a failure of its own.
func TestEchoes(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"the context's error":         func(ctx context.Context) error { return ctx.Err() },
		"the context's error wrapped": func(ctx context.Context) error { return fmt.Errorf("reading: %w", ctx.Err()) },
		"the cause":                   context.Cause,
		"the cause wrapped":           func(ctx context.Context) error { return fmt.Errorf("reading: %w", context.Cause(ctx)) },
		"of a derived context": func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := failBeside(t, t.Context(), answer)
			require.Equal(t, &graph.TaskError{Graph: "g", Task: "fails", Err: errTask}, err)
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
		require.Equal(t, &graph.TaskError{Graph: "g", Task: "a", Err: own}, err)
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

var errOutside = errors.New("the caller's cause")

func TestCancelBefore(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for name, make := range map[string]func() (context.Context, error){
		"cancelled": func() (context.Context, error) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, context.Canceled
		},
		"cancelled with a cause": func() (context.Context, error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errOutside)
			return ctx, context.Canceled
		},
		"past its deadline": func() (context.Context, error) {
			ctx, cancel := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), errOutside)
			cancel()
			return ctx, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("late")
			ran := false
			g.Task(func(context.Context) error { ran = true; return nil })
			ctx, want := make()
			before := ex.Stats().Total.Tasks
			err := run(t, ex, ctx, g)
			require.ErrorIs(t, err, want)
			require.ErrorIs(t, err, context.Cause(ctx))
			require.Contains(t, err.Error(), `run of "late": `+want.Error())
			require.False(t, ran)
			require.Equal(t, before, ex.Stats().Total.Tasks)
		})
	}
}

// TestCancelDuring cancels the caller's context in the middle of a run. Whatever the tasks make of it, the run's error
// matches the context's error and its cause; unless the run was not told before every task had run and returned nil.
func TestCancelDuring(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(ctx context.Context) error
		fails  bool
	}{
		{"tasks wait for it", func(ctx context.Context) error { <-ctx.Done(); return nil }, false},
		{"tasks return the error", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true},
		{"tasks return the cause", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, true},
		{"tasks poll the error", pollErr, true},
		{"tasks poll a derived context", func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return pollErr(ctx)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const sources = 4
			ex := newExecutor(t, executor.Config{Workers: sources})
			within(t, ex, func() {
				for i := range testkit.Scale(300) {
					ctx, cancel := context.WithCancelCause(context.Background())
					g := graph.New("g")
					begun := make(chan struct{}, sources)
					var after atomic.Int32
					for range sources {
						source := g.Task(func(ctx context.Context) error { begun <- struct{}{}; return c.answer(ctx) })
						source.Precede(g.Task(func(context.Context) error { after.Add(1); return nil }))
					}
					r := ex.Start(ctx, g)
					for range 1 + i%sources {
						<-begun
					}
					cancel(errOutside)
					err := r.Wait()
					if err == nil && !c.fails {
						require.EqualValues(t, sources, after.Load(), "run %d left tasks out and returned no error", i)
						continue
					}
					require.ErrorIs(t, err, context.Canceled, "run %d", i)
					require.ErrorIs(t, err, errOutside, "run %d", i)
					require.Empty(t, failedTasks(err), "run %d reports what only repeats its end", i)
					if c.fails {
						require.Zero(t, after.Load())
					}
				}
			})
		})
	}
}

// pollErr does not ask for Done, so it sees the context's error as early as anybody can.
func pollErr(ctx context.Context) error {
	for ctx.Err() == nil {
		runtime.Gosched()
	}
	return ctx.Err()
}

func TestDeadlineDuring(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for name, answer := range map[string]func(ctx context.Context) error{
		"nothing":   func(ctx context.Context) error { <-ctx.Done(); return nil },
		"the error": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"polled":    pollErr,
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("g")
			var deadline time.Time
			var seen, cause error
			g.Task(func(ctx context.Context) error {
				deadline, _ = ctx.Deadline()
				err := answer(ctx)
				seen, cause = ctx.Err(), context.Cause(ctx)
				return err
			})
			var when time.Time
			var err error
			// On a busy machine the deadline may pass before the task has begun: it is skipped, and later is better.
			for wait := 2 * time.Millisecond; deadline.IsZero(); wait *= 4 {
				when = time.Now().Add(wait)
				ctx, cancel := context.WithDeadlineCause(t.Context(), when, errOutside)
				defer cancel()
				err = run(t, ex, ctx, g)
			}
			if err == nil {
				// The task saw the deadline pass and returned nil before the run was told: every task ran.
				require.Equal(t, "nothing", name)
			} else {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, errOutside)
			}
			require.Equal(t, when, deadline)
			require.Equal(t, context.DeadlineExceeded, seen)
			require.Equal(t, errOutside, cause)
		})
	}
}

func TestRunCancel(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for _, c := range []struct{ cause, want error }{{nil, context.Canceled}, {errOutside, errOutside}} {
		g := graph.New("g")
		begun := make(chan struct{})
		var seen error
		ran := false
		a := g.Task(func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			seen = context.Cause(ctx)
			return ctx.Err()
		})
		a.Precede(g.Task(func(context.Context) error { ran = true; return nil }))
		r := ex.Start(t.Context(), g)
		<-begun
		r.Cancel(c.cause)
		r.Cancel(io.EOF) // the first counts
		within(t, ex, func() {
			err := r.Wait()
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, c.want)
			require.NotErrorIs(t, err, io.EOF)
			require.Empty(t, failedTasks(err))
		})
		require.Equal(t, c.want, seen)
		require.False(t, ran)
	}
}

// TestCancelAndFailure: a run that was cancelled and in which a task then failed by itself tells both.
func TestCancelAndFailure(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	begun := make(chan struct{})
	g.Task(func(ctx context.Context) error { close(begun); <-ctx.Done(); return errTask }).Named("a")
	r := ex.Start(t.Context(), g)
	<-begun
	r.Cancel(errOutside)
	within(t, ex, func() {
		err := r.Wait()
		require.EqualError(t, err, "run of \"g\": context canceled: the caller's cause\ngraph \"g\": task a: the task's own error")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errOutside)
		require.ErrorIs(t, err, errTask)
		require.Equal(t, []string{"a"}, failedTasks(err))
	})
}

// kept runs one task and returns the context that it was given, as prepared by it.
func kept(t *testing.T, ctx context.Context, prepare func(context.Context) error) (context.Context, error) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	var seen context.Context
	g.Task(func(ctx context.Context) error { seen = ctx; return prepare(ctx) })
	err := run(t, ex, ctx, g)
	return seen, err
}

// TestContextAfterRun: what a task leaves behind, a goroutine for example, sees the run's end, also if it asks for Done
// only then.
func TestContextAfterRun(t *testing.T) {
	for name, prepare := range map[string]func(context.Context) error{
		"never looked at": nothing,
		"Done asked for":  func(ctx context.Context) error { ctx.Done(); return nil },
		"value asked for": func(ctx context.Context) error { ctx.Value(gateKey{}); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, err := kept(t, t.Context(), prepare)
			require.NoError(t, err)
			require.Equal(t, context.Canceled, ctx.Err())
			<-ctx.Done()
			require.Equal(t, context.Canceled, ctx.Err())
			require.Equal(t, context.Canceled, context.Cause(ctx))
		})
	}
	t.Run("failed", func(t *testing.T) {
		ctx, err := kept(t, t.Context(), func(context.Context) error { return errTask })
		<-ctx.Done()
		require.Equal(t, context.Canceled, ctx.Err())
		require.Equal(t, err, context.Cause(ctx))
	})
}

// TestContextErrIsFinal: once a context has an error it keeps that one, even if its parent ends later for another
// reason.
func TestContextErrIsFinal(t *testing.T) {
	for name, prepare := range map[string]func(context.Context) error{
		"never looked at": nothing,
		"Done asked for":  func(ctx context.Context) error { ctx.Done(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			parent := newManualContext(t.Context())
			ctx, err := kept(t, parent, prepare)
			require.NoError(t, err)
			require.Equal(t, context.Canceled, ctx.Err())
			parent.expire()
			require.Equal(t, context.Canceled, ctx.Err())
			<-ctx.Done()
			require.Equal(t, context.Canceled, ctx.Err())
			require.Equal(t, context.Canceled, context.Cause(ctx))
		})
	}
}

// TestContextSaysWhatTheRunSays: the caller's context ends, and it is the run that finds out: the context's own news come
// late, or never. What tasks have seen does not change then, and contexts derived from theirs say the same.
func TestContextSaysWhatTheRunSays(t *testing.T) {
	for name, look := range map[string]func(context.Context){
		"never looked at": func(context.Context) {},
		"Done asked for":  func(ctx context.Context) { ctx.Done() },
		"Err asked for":   func(ctx context.Context) { _ = ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			parent := newManualContext(context.WithoutCancel(t.Context()))
			var derived context.Context
			ctx, err := kept(t, silentContext{parent}, func(ctx context.Context) error {
				look(ctx)
				var cancel context.CancelFunc
				derived, cancel = context.WithCancel(ctx)
				defer context.AfterFunc(derived, cancel)
				parent.expire()
				look(ctx)
				return errTask
			})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, context.Canceled)
			for _, c := range []context.Context{ctx, derived} {
				<-c.Done()
				require.Equal(t, context.DeadlineExceeded, c.Err())
				require.Equal(t, context.DeadlineExceeded, context.Cause(c))
			}
		})
	}
}

// TestContextEndIsSeenAtOnce: a task that asks sees the end of the caller's context however late the run is told.
func TestContextEndIsSeenAtOnce(t *testing.T) {
	cause := errors.New("the caller's cause")
	for name, look := range map[string]func(*testing.T, context.Context){
		"Err":  func(t *testing.T, ctx context.Context) { require.Equal(t, context.Canceled, ctx.Err()) },
		"Done": func(_ *testing.T, ctx context.Context) { <-ctx.Done() },
		"Cause": func(t *testing.T, ctx context.Context) {
			require.Equal(t, cause, context.Cause(ctx))
			require.Equal(t, context.Canceled, ctx.Err())
		},
	} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, Done asked for before: %v", name, early), func(t *testing.T) {
				parent, cancel := context.WithCancelCause(t.Context())
				ctx, err := kept(t, untellingContext{parent}, func(ctx context.Context) error {
					if early {
						ctx.Done()
					}
					cancel(cause)
					look(t, ctx)
					return nil
				})
				require.ErrorIs(t, err, cause)
				require.Equal(t, cause, context.Cause(ctx))
			})
		}
	}
}

// TestCauseComesWithTheError: whoever sees that a context has ended finds out why. The task asks all the time, so as to
// come in the middle of the cancellation.
func TestCauseComesWithTheError(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	begun := make(chan struct{})
	var cause error
	g.Task(func(ctx context.Context) error {
		ctx.Done()
		begun <- struct{}{}
		for ctx.Err() == nil {
		}
		cause = context.Cause(ctx)
		return nil
	})
	within(t, ex, func() {
		for range testkit.Scale(2000) {
			r := ex.Start(t.Context(), g)
			<-begun
			r.Cancel(errOutside)
			require.ErrorIs(t, r.Wait(), errOutside)
			require.Equal(t, errOutside, cause)
		}
	})
}

// An untellingContext calls nobody when it ends.
type untellingContext struct{ context.Context }

func (untellingContext) AfterFunc(func()) func() bool { return func() bool { return true } }
func (c untellingContext) Done() <-chan struct{}      { return make(chan struct{}) }

// A manualContext is past its deadline when the test says so.
type manualContext struct {
	context.Context
	done chan struct{}
}

func newManualContext(parent context.Context) *manualContext {
	return &manualContext{parent, make(chan struct{})}
}

func (c *manualContext) expire()               { close(c.done) }
func (c *manualContext) Done() <-chan struct{} { return c.done }
func (c *manualContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

type gateKey struct{}

// TestContextOfOthersMaking: the caller's context need not be one of the standard ones.
func TestContextOfOthersMaking(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	ctx := newManualContext(t.Context())
	g := graph.New("g")
	g.Task(func(own context.Context) error { ctx.expire(); <-own.Done(); return own.Err() })
	require.ErrorIs(t, run(t, ex, ctx, g), context.DeadlineExceeded)
}

// TestCauseIsThatOfTheEnd: what ends above a context of others' making after that one has ended itself is no cause any
// more, even if nobody has asked before.
func TestCauseIsThatOfTheEnd(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	above, cancel := context.WithCancelCause(t.Context())
	ctx := newManualContext(above)
	g := graph.New("g")
	begun, ended := make(chan struct{}), make(chan struct{})
	var err, cause error
	g.Task(func(own context.Context) error {
		close(begun)
		<-ended
		cause, err = context.Cause(own), own.Err()
		return nil
	})
	within(t, ex, func() {
		r := ex.Start(ctx, g)
		<-begun
		ctx.expire()
		r.NoticeContext()
		cancel(errOutside)
		close(ended)
		require.ErrorIs(t, r.Wait(), context.DeadlineExceeded)
		require.NotErrorIs(t, r.Wait(), errOutside)
	})
	require.Equal(t, context.DeadlineExceeded, err)
	require.Equal(t, context.DeadlineExceeded, cause)
}

func TestContextValuesAndDerived(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	var value any
	var childErr, childCause error
	afterFunc := make(chan struct{})
	meet := newBarrier(2)
	g.Task(func(ctx context.Context) error {
		value = ctx.Value(gateKey{})
		child, cancel := context.WithCancel(context.WithValue(ctx, "k", "v"))
		defer cancel()
		context.AfterFunc(child, func() { close(afterFunc) })
		meet.meet()
		<-child.Done()
		childErr, childCause = child.Err(), context.Cause(child)
		return nil
	})
	g.Task(func(context.Context) error { meet.meet(); return errTask })
	err := run(t, ex, context.WithValue(t.Context(), gateKey{}, "through"), g)
	require.ErrorIs(t, err, errTask)
	require.Equal(t, "through", value)
	require.Equal(t, context.Canceled, childErr)
	require.ErrorIs(t, childCause, errTask)
	within(t, ex, func() { <-afterFunc })
}

// TestContextIsTheRuns: two runs of one graph have a context each; cancelling one leaves the other alone.
func TestContextIsTheRuns(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	begun := make(chan struct{}, 2)
	g.Task(func(ctx context.Context) error {
		begun <- struct{}{}
		gate := ctx.Value(gateKey{}).(chan struct{})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gate:
			return nil
		}
	})
	gate := make(chan struct{})
	ctx := context.WithValue(t.Context(), gateKey{}, gate)
	doomed, well := ex.Start(ctx, g), ex.Start(ctx, g)
	within(t, ex, func() { <-begun; <-begun })
	doomed.Cancel(nil)
	within(t, ex, func() { require.ErrorIs(t, doomed.Wait(), context.Canceled) })
	close(gate)
	within(t, ex, func() { require.NoError(t, well.Wait()) })
}

// TestNestedErrors: what a nested run returns is an error like any other, and can be told apart from the outer.
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

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// kept runs one task and returns the context that it was given, as prepared by it.
func kept(t *testing.T, ctx context.Context, prepare func(context.Context) error) (context.Context, error) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	var seen context.Context
	g.Task(func(ctx context.Context) error { seen = ctx; return prepare(ctx) })
	err := run(t, ex, ctx, g)
	return seen, err
}

// TestContextAfterRun: a goroutine that a task leaves behind sees the run's end, also if it asks for Done only then.
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

// TestContextSaysWhatTheRunSays: the caller's context ends and notifies the run late, or never, so the run has to find
// out. Errors that tasks have seen do not change then, and contexts derived from theirs have the same.
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

// TestContextEndIsSeenAtOnce: a task that asks sees the end of the caller's context, however late the run is notified.
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

// TestCauseComesWithTheError: a context that has an error has a cause too. The task asks all the time, so that it asks
// in the middle of the cancellation.
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

// An untellingContext does not notify when it ends.
type untellingContext struct{ context.Context }

func (c untellingContext) Done() <-chan struct{} { return make(chan struct{}) }

// A manualContext is past its deadline when the test says so.
type manualContext struct {
	context.Context
	done chan struct{}
}

func newManualContext(parent context.Context) *manualContext {
	return &manualContext{parent, make(chan struct{})}
}

func (c *manualContext) expire() { close(c.done) }

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

// TestContextOfOthersMaking: the caller's context need not be of package context.
func TestContextOfOthersMaking(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	ctx := newManualContext(t.Context())
	g := graph.New("g")
	g.Task(func(own context.Context) error { ctx.expire(); <-own.Done(); return own.Err() })
	require.ErrorIs(t, run(t, ex, ctx, g), context.DeadlineExceeded)
}

// TestCauseIsThatOfTheEnd: a context that is not of package context has ended. A later end of its parent is not the
// cause, even if no one has asked for the cause before.
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
		require.Equal(t, context.DeadlineExceeded, r.Context().Err()) // so the run has noticed
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

// TestContextIsTheRuns: two runs of one graph have a context each. Cancelling one does not affect the other.
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

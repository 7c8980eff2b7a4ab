package executor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A rude is a job whose methods panic, apart from those that run it.
type rude struct {
	*layer
	nameless bool
}

func newRude(nameless bool, first step) *rude {
	r := &rude{newLayer("rude", first), nameless}
	r.Body.Init(r)
	return r
}

func (r *rude) Name() string {
	if r.nameless {
		panic("no name")
	}
	return r.layer.Name()
}

func (r *rude) Progress() executor.Progress { panic("no progress") }

// A sudden is a context whose Err panics from now on.
type sudden struct {
	context.Context
	now atomic.Bool
}

func (c *sudden) Done() <-chan struct{} { return nil }

func (c *sudden) Err() error {
	if c.now.Load() {
		panic("no error")
	}
	return nil
}

// Methods of a user's types may panic outside of tasks. The executor tells what it can, and goes on.
func TestMethodsOfUsersPanic(t *testing.T) {
	const noName = `run of "(Name panicked: no name)"`
	held := func(nameless bool) func(*executor.Executor, chan struct{}) *executor.Run {
		return func(ex *executor.Executor, gate chan struct{}) *executor.Run {
			begun := make(chan struct{})
			r := ex.Start(context.Background(), newRude(nameless, func(*executor.Worker, *executor.Item) *executor.Item {
				close(begun)
				<-gate
				return nil
			}))
			<-begun
			return r
		}
	}
	for name, c := range map[string]struct {
		start func(ex *executor.Executor, gate chan struct{}) *executor.Run
		says  string
		fails bool
	}{
		"Name":     {held(true), noName, false},
		"Progress": {held(false), `run of "rude"`, false},
		"Name of a nested run": {func(ex *executor.Executor, gate chan struct{}) *executor.Run {
			return ex.Start(context.Background(), one(func(ctx context.Context) error {
				return ex.Run(ctx, newRude(true, func(*executor.Worker, *executor.Item) *executor.Item {
					<-gate
					return nil
				}))
			}))
		}, noName, false},
		"Name of a run around another": {func(ex *executor.Executor, gate chan struct{}) *executor.Run {
			return ex.Start(context.Background(), newRude(true, func(*executor.Worker, *executor.Item) *executor.Item {
				_ = ex.Run(context.Background(), one(func(context.Context) error { <-gate; return nil }))
				return nil
			}))
		}, "nested in " + noName, false},
		"Err of a context": {func(ex *executor.Executor, gate chan struct{}) *executor.Run {
			ctx := &sudden{Context: context.Background()}
			begun := make(chan struct{})
			r := ex.Start(ctx, one(func(context.Context) error { close(begun); <-gate; return nil }))
			<-begun
			ctx.now.Store(true)
			return r
		}, "context error context canceled", true},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1})
			gate := make(chan struct{})
			within(t, ex, func() {
				r := c.start(ex, gate)
				eventually(func() bool { return containsAll(dump(ex), "runs in progress", c.says) })
				_ = r.Name()
				_ = ex.Stats()
				close(gate)
				if err := r.Wait(); c.fails {
					require.ErrorContains(t, err, "no error")
				} else {
					require.NoError(t, err)
				}
				require.True(t, r.Progress().Over)
				require.Contains(t, dump(ex), "runs in progress: 0")
				require.NoError(t, ex.Run(t.Context(), one(nothing)))
				require.NoError(t, ex.Close())
			})
		})
	}
}

// A panic of Progress of a layer comes to the caller of Run.Progress, who has asked for it, and takes no lock along.
func TestProgressPanics(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	begun, gate := make(chan struct{}), make(chan struct{})
	within(t, ex, func() {
		r := ex.Start(t.Context(), newRude(false, func(*executor.Worker, *executor.Item) *executor.Item {
			close(begun)
			<-gate
			return nil
		}))
		<-begun
		for range 2 {
			require.Equal(t, "no progress", recoveredFrom(t, func() { r.Progress() }))
		}
		close(gate)
		require.NoError(t, r.Wait())
		require.NoError(t, ex.Close())
	})
}

// The errors of runs that end early name the others, whichever Name panics.
func TestErrorsOfTheNameless(t *testing.T) {
	const noName = "(Name panicked: no name)"
	wait := func(gate chan struct{}) step {
		return func(*executor.Worker, *executor.Item) *executor.Item { <-gate; return nil }
	}
	t.Run("Shutdown", func(t *testing.T) {
		ex := newExecutor(t, executor.Config{Workers: 1})
		ex.SetShutdownPatience(time.Millisecond)
		gate := make(chan struct{})
		within(t, ex, func() {
			begun := make(chan struct{})
			ex.Start(t.Context(), newLayer("good", func(w *executor.Worker, it *executor.Item) *executor.Item {
				close(begun)
				return wait(gate)(w, it)
			}))
			<-begun
			ex.Start(t.Context(), newRude(true, wait(gate)))
			over, cancel := context.WithCancel(t.Context())
			cancel()
			err := ex.Shutdown(over)
			require.ErrorIs(t, err, executor.ErrShutdown)
			require.ErrorContains(t, err, `in run of "good", "`+noName+`"`)
			close(gate)
			require.NoError(t, ex.Close())
		})
	})
	t.Run("a follower of a cancelled run", func(t *testing.T) {
		ex := newExecutor(t, executor.Config{Workers: 1})
		within(t, ex, func() {
			gate, inner := make(chan struct{}), make(chan *executor.Run, 1)
			r := ex.Start(t.Context(), one(func(ctx context.Context) error {
				in := ex.Start(ctx, newRude(true, wait(gate)))
				inner <- in
				return in.Wait()
			}))
			in := <-inner
			r.Cancel(nil)
			close(gate)
			require.ErrorContains(t, in.Wait(), noName)
			require.ErrorIs(t, r.Wait(), context.Canceled)
			require.NoError(t, ex.Close())
		})
	})
	t.Run("a full gate", func(t *testing.T) {
		ex := newExecutor(t, executor.Config{Workers: 1, MaxRuns: 1})
		gate := make(chan struct{})
		within(t, ex, func() {
			first := ex.Start(t.Context(), newLayer("first", wait(gate)))
			ctx, cancel := context.WithCancel(t.Context())
			second := make(chan *executor.Run)
			go func() { second <- ex.Start(ctx, newRude(true, wait(gate))) }()
			eventually(func() bool { return ex.Stats().Gauges.Entering == 1 })
			cancel()
			require.ErrorContains(t, (<-second).Wait(), noName)
			close(gate)
			require.NoError(t, first.Wait())
			require.NoError(t, ex.Close())
		})
	})
}

// Functions that run beside tasks fail those that need them, and may be called again.
func TestFunctionsBesideTasksPanic(t *testing.T) {
	for name, call := range map[string]func(ex *executor.Executor) error{
		"done of Until": func(ex *executor.Executor) error {
			return ex.Run(context.Background(), executor.Until(one(nothing), func() bool { panic("beside") }))
		},
		"init of a PerWorker": func(ex *executor.Executor) error {
			values := executor.NewPerWorker(ex, func() int { panic("beside") })
			return ex.Run(context.Background(), one(func(context.Context) error { values.Local(); return nil }))
		},
		"init of a PerWorker, outside": func(ex *executor.Executor) (err error) {
			values := executor.NewPerWorker(ex, func() int { panic("beside") })
			for range 2 { // the second call finds no lock held
				func() {
					defer func() { err = &executor.PanicError{Value: recover()} }()
					values.Do(func(*int) { t.Error("called") })
				}()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1})
			within(t, ex, func() {
				for range 2 {
					require.ErrorContains(t, call(ex), "panic: beside")
				}
				require.Contains(t, dump(ex), "runs in progress: 0")
				require.NoError(t, ex.Run(t.Context(), one(nothing)))
				require.NoError(t, ex.Close())
			})
		})
	}
}

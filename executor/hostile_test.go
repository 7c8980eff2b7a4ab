package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A hostile context is a user's context whose methods may panic, or return what they must not.
type hostile struct {
	context.Context
	done, err, value, deadline, after bool         // which methods panic
	late                              *atomic.Bool // if set, only once it is true
	says                              func() error // what Err says, if it is set
	stop                              bool         // the function that AfterFunc returns panics
}

func (c *hostile) blow(whether bool, method string) {
	if whether && (c.late == nil || c.late.Load()) {
		panic(method)
	}
}

func (c *hostile) Done() <-chan struct{} {
	c.blow(c.done, "Done")
	return c.Context.Done()
}

func (c *hostile) Err() error {
	c.blow(c.err, "Err")
	if c.says != nil {
		return c.says()
	}
	return c.Context.Err()
}

func (c *hostile) Value(key any) any {
	c.blow(c.value, "Value")
	return c.Context.Value(key)
}

// A stopper is a hostile context that has AfterFunc, which package context calls in place of waiting for Done, unless
// Done is that of a context of its own.
type stopper struct {
	hostile
	ended chan struct{}
}

func newStopper(c hostile) *stopper {
	s := &stopper{c, make(chan struct{})}
	context.AfterFunc(c.Context, func() { close(s.ended) })
	return s
}

func (c *stopper) Done() <-chan struct{} { return c.ended }

func (c *stopper) AfterFunc(f func()) func() bool {
	c.blow(c.after, "AfterFunc")
	stop := context.AfterFunc(c.Context, f)
	return func() bool {
		c.blow(c.stop, "stop")
		return stop()
	}
}

// A badJob begins as it is told.
type badJob func() (*executor.Item, error)

func (j badJob) Begin(*executor.JobRun) (*executor.Item, error) { return j() }
func (j badJob) Name() string                                   { return "bad" }

// recoveredFrom calls f, which must panic, and returns the panic's value.
func recoveredFrom(t testing.TB, f func()) (value any) {
	t.Helper()
	defer func() {
		value = recover()
		require.NotNil(t, value)
	}()
	f()
	return nil
}

// A call that panics because of its arguments has not started anything: Close does not wait for
// it.
func TestCloseAfterAPanicOfTheCaller(t *testing.T) {
	bg := t.Context()
	live, cancel := context.WithCancel(bg)
	defer cancel()
	answer := func(context.Context) (int, error) { return 42, nil }
	var none *executor.Future[int]
	type embeds struct{ executor.Awaitable }
	inTask := func(ex *executor.Executor, f func(context.Context)) {
		repanic(ex.Run(bg, one(func(ctx context.Context) error { f(ctx); return nil })))
	}
	var body executor.Body
	body.Init(nil)
	for name, call := range map[string]func(ex *executor.Executor){
		"nil Awaitable":   func(ex *executor.Executor) { executor.Async(bg, ex, answer, nil) },
		"nil Future":      func(ex *executor.Executor) { executor.Async(bg, ex, answer, none) },
		"zero Future":     func(ex *executor.Executor) { executor.Async(bg, ex, answer, new(executor.Future[int])) },
		"empty Awaitable": func(ex *executor.Executor) { executor.Async(bg, ex, answer, embeds{}) },
		"behind a good one": func(ex *executor.Executor) {
			executor.Async(bg, ex, answer, executor.Async(bg, ex, answer), nil)
		},
		"nil Awaitable in a task": func(ex *executor.Executor) {
			inTask(ex, func(ctx context.Context) { executor.Async(ctx, ex, answer, nil) })
		},
		"no context": func(ex *executor.Executor) {
			executor.Async(nil, ex, answer) //nolint:staticcheck // on purpose
		},
		"nil job":   func(ex *executor.Executor) { _ = ex.Run(bg, nil) },
		"nil graph": func(ex *executor.Executor) { _ = ex.Run(bg, (*graph.Graph)(nil)) },
		"Begin panics": func(ex *executor.Executor) {
			ex.Start(bg, badJob(func() (*executor.Item, error) { panic("Begin") }))
		},
		"no Body": func(ex *executor.Executor) {
			ex.Start(bg, badJob(func() (*executor.Item, error) { return &executor.Item{}, nil }))
		},
		"empty Body": func(ex *executor.Executor) {
			ex.Start(live, badJob(func() (*executor.Item, error) {
				return &executor.Item{Body: &executor.Body{},
					Exec: func(*executor.Worker, *executor.Item) *executor.Item { return nil }}, nil
			}))
		},
		"no Exec": func(ex *executor.Executor) {
			ex.Start(bg, badJob(func() (*executor.Item, error) { return &executor.Item{Body: &body}, nil }))
		},
		"no Body in a task": func(ex *executor.Executor) {
			inTask(ex, func(ctx context.Context) {
				ex.Start(ctx, badJob(func() (*executor.Item, error) { return &executor.Item{}, nil }))
			})
		},
		"context without Done": func(ex *executor.Executor) {
			ex.Start(&hostile{Context: live, done: true}, one(nothing))
		},
		"context without Err": func(ex *executor.Executor) {
			ex.Start(&hostile{Context: live, err: true}, one(nothing))
		},
		"context without Value": func(ex *executor.Executor) {
			ex.Start(&hostile{Context: live, value: true}, one(nothing))
		},
		"context without AfterFunc": func(ex *executor.Executor) {
			ex.Start(newStopper(hostile{Context: live, after: true}), executor.Times(one(nothing), 1))
		},
		"context without Done in a task": func(ex *executor.Executor) {
			inTask(ex, func(context.Context) { ex.Start(&hostile{Context: live, done: true}, one(nothing)) })
		},
		"Call":  func(ex *executor.Executor) { _, _ = executor.Call(&hostile{Context: live, done: true}, ex, fib, 3) },
		"First": func(ex *executor.Executor) { _, _ = executor.First(&hostile{Context: live, done: true}, ex, answer) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, make := range []func() *executor.Executor{
				func() *executor.Executor { return newExecutor(t, executor.Config{Workers: 2}) },
				func() *executor.Executor { return newInline(t) },
			} {
				ex := make()
				require.NotNil(t, recoveredFrom(t, func() { call(ex) }))
				within(t, ex, func() {
					require.NoError(t, ex.Run(bg, one(nothing)))
					require.NoError(t, ex.Close())
				})
			}
		})
	}
}

// The first item of a job needs an Exec and a Body: else Start panics and says so. A later item without an Exec fails
// its run.
func TestItemWithoutExec(t *testing.T) {
	const says = "executor: the job's Begin returned an item without an Exec, or without a Body with Hooks"
	ex := newExecutor(t, executor.Config{Workers: 1})
	exec := func(*executor.Worker, *executor.Item) *executor.Item { t.Error("called"); return nil }
	var body executor.Body
	body.Init(nil)
	for _, it := range []*executor.Item{{}, {Body: &body}, {Exec: exec}, {Exec: exec, Body: &executor.Body{}}} {
		job := badJob(func() (*executor.Item, error) { return it, nil })
		require.PanicsWithValue(t, says, func() { ex.Start(t.Context(), job) })
	}

	var l *layer
	without := func() *executor.Item {
		it := l.item(nil)
		it.Exec = nil
		return it
	}
	for name, first := range map[string]step{
		"pushed":   func(w *executor.Worker, _ *executor.Item) *executor.Item { w.Push(without()); return nil },
		"returned": func(*executor.Worker, *executor.Item) *executor.Item { return without() },
	} {
		l = newLayer(name, first)
		var failed *executor.PanicError
		require.ErrorAs(t, ex.Run(t.Context(), l), &failed, name)
		require.ErrorContains(t, failed, "nil pointer dereference")
	}
	require.NoError(t, ex.Run(t.Context(), one(nothing)))
}

// newInline makes an inline executor that lives as long as the test.
func newInline(t testing.TB) *executor.Executor {
	ex := executor.NewInline(1)
	t.Cleanup(func() {
		if !t.Failed() {
			require.NoError(t, ex.Close())
		}
	})
	return ex
}

// The panic says which argument is nil, instead of being a nil dereference.
func TestAsyncSaysWhatIsNil(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	answer := func(context.Context) (int, error) { return 42, nil }
	good := executor.Async(t.Context(), ex, answer)
	for _, bad := range []executor.Awaitable{nil, (*executor.Future[string])(nil), new(executor.Future[int])} {
		require.Contains(t, fmt.Sprint(recoveredFrom(t, func() { executor.Async(t.Context(), ex, answer, good, bad) })),
			"after number 1")
	}
	runtime.KeepAlive(good)
}

// An exitError calls Goexit when it is compared.
type exitError struct{}

func (exitError) Error() string { return "exit" }
func (exitError) Is(error) bool { runtime.Goexit(); return false }
func (exitError) Unwrap() error { return nil }

// An error of a task whose Is calls Goexit ends the task as if the task had called it. On a caller that runs the task,
// as that of an inline executor does, it ends the caller.
func TestGoexitInIs(t *testing.T) {
	for work, job := range map[string]func(fn func(context.Context) error) executor.Job{
		"graph": func(fn func(context.Context) error) executor.Job { return one(fn) },
		"func": func(fn func(context.Context) error) executor.Job {
			return executor.NewJob("f", func(s *executor.Scope) error { return fn(s.Context()) })
		},
	} {
		t.Run(work, func(t *testing.T) {
			cancelled := func(ex *executor.Executor) error {
				ctx, cancel := context.WithCancelCause(t.Context())
				return ex.Run(ctx, job(func(ctx context.Context) error {
					cancel(errTest)
					<-ctx.Done()
					return exitError{}
				}))
			}
			err := cancelled(newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers}))
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, err, executor.ErrGoexit)

			returned := false
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = cancelled(executor.NewInline(1))
				returned = true
			}()
			<-ended
			require.False(t, returned)
		})
	}
}

// A user's context that begins to panic while it is in use, or returns strange values, ends the run that it was given
// to, and neither a worker nor the process.
func TestContextTurnsHostile(t *testing.T) {
	for name, c := range map[string]struct {
		hostile
		panics, ends bool
	}{
		"Err panics":            {hostile: hostile{err: true}, panics: true},
		"Err panics at the end": {hostile: hostile{err: true}, panics: true, ends: true},
		"stop panics":           {hostile: hostile{stop: true}, panics: true},
		"Err is nil":            {hostile: hostile{says: func() error { return nil }}, ends: true},
		"uncomparable":          {hostile: hostile{says: func() error { return uncomparable{"a"} }}},
	} {
		t.Run(name, func(t *testing.T) {
			for work, run := range map[string]func(ex *executor.Executor, ctx context.Context, f func()) error{
				"graph": func(ex *executor.Executor, ctx context.Context, f func()) error {
					return ex.Run(ctx, one(func(ctx context.Context) error {
						ctx.Done() // so that the run follows the context
						f()
						return nil
					}))
				},
				"failing": func(ex *executor.Executor, ctx context.Context, f func()) error {
					return ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
						s.Go(func(context.Context) error { f(); return errTest })
						s.Go(nothing)
						return s.Wait()
					}))
				},
				"nested": func(ex *executor.Executor, ctx context.Context, f func()) error {
					return ex.Run(ctx, one(func(ctx context.Context) error {
						return ex.Run(ctx, one(func(context.Context) error { f(); return nil }))
					}))
				},
				"async": func(ex *executor.Executor, ctx context.Context, f func()) error {
					future := executor.Async(ctx, ex, func(context.Context) (int, error) { f(); return 0, nil })
					recovered(func() { <-future.Done() })
					_, err := future.Wait()
					return err
				},
			} {
				t.Run(work, func(t *testing.T) {
					onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
						live, cancel := context.WithCancel(t.Context())
						defer cancel()
						bad := c.hostile
						bad.Context, bad.late = live, new(atomic.Bool)
						if says := bad.says; says != nil {
							bad.says = func() error {
								if !bad.late.Load() {
									return nil
								}
								return says()
							}
						}
						ctx := context.Context(&bad)
						if bad.stop {
							ctx = newStopper(bad)
						}
						err := run(ex, ctx, func() {
							bad.late.Store(true)
							if c.ends {
								cancel()
							}
						})
						var p *executor.PanicError
						if work == "failing" {
							require.Error(t, err)
						} else if work != "async" && (c.panics || bad.says != nil && !c.ends) {
							require.Error(t, err)
							require.NotEmpty(t, err.Error())
							require.Equal(t, c.panics, errors.As(err, &p), "%v", err)
						}
						require.NoError(t, ex.Run(t.Context(), one(nothing)))
						require.NoError(t, ex.Close())
					})
				})
			}
		})
	}
}

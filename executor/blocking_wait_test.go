package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// waits are the ways in which a task waits for piece, which it has started. The task calls between first.
var waits = []struct {
	name string
	job  func(ex *executor.Executor, piece, between func()) executor.Job
}{
	{"run", func(ex *executor.Executor, piece, between func()) executor.Job {
		return one(func(ctx context.Context) error {
			r := ex.Start(ctx, one(func(context.Context) error { piece(); return nil }))
			between()
			return r.Wait()
		})
	}},
	{"future", func(ex *executor.Executor, piece, between func()) executor.Job {
		return one(func(ctx context.Context) error {
			f := executor.Async(ctx, ex, func(context.Context) (int, error) { piece(); return 0, nil })
			between()
			_, err := f.Wait()
			return err
		})
	}},
	{"fork", func(_ *executor.Executor, piece, between func()) executor.Job {
		return executor.NewJob("fork", func(s *executor.Scope) error {
			f := executor.Fork(s, func(*executor.Scope, int) int { piece(); return 0 }, 0)
			between()
			f.Join(s)
			return nil
		})
	}},
	{"child", func(_ *executor.Executor, piece, between func()) executor.Job {
		return executor.NewJob("child", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { piece(); return nil })
			between()
			return s.Wait()
		})
	}},
}

// Every configured worker sleeps in a wait for a task that a spare has begun and that blocks: as many tasks as
// there are workers go on all the same. The same holds if the spare sleeps and the only worker blocks.
func TestBlockingWhileOthersSleep(t *testing.T) {
	for _, p := range testkit.Thorough(t, usable()) {
		for _, kind := range waits {
			for _, c := range []struct {
				n              int
				onSpare, early bool
			}{
				{1, false, false}, {1, false, true}, {1, true, false}, {1, true, true}, {2, false, true},
			} {
				t.Run(fmt.Sprintf("%v/%s/W=%d/onSpare=%v/early=%v", p, kind.name, c.n, c.onSpare, c.early),
					func(t *testing.T) {
						ex := newExecutor(t, executor.Config{Workers: c.n, Spares: 2 * c.n, Experiment: experiment.Options{Policy: p}})
						within(t, ex, func() { blockWhileOthersSleep(t, ex, kind.job, c.onSpare, c.early) })
					})
			}
		}
	}
}

// blockWhileOthersSleep has as many tasks as there are workers each wait for a piece that another worker has begun, and
// that blocks, early if that may be before the task sleeps. If onSpare is set, a spare has the task, and the only
// worker the piece.
func blockWhileOthersSleep(t *testing.T, ex *executor.Executor,
	job func(ex *executor.Executor, piece, between func()) executor.Job,
	onSpare, early bool,
) {
	n := ex.Workers()
	var runs []*executor.Run
	free, release := make(chan struct{}), make(chan struct{})
	if onSpare {
		runs = append(runs, ex.Start(t.Context(), one(func(context.Context) error {
			executor.Blocking(func() { <-free })
			return nil
		})))
		eventually(func() bool { return ex.Blocked() == 1 })
	}
	for range n {
		begun := make(chan struct{})
		piece := func() {
			close(begun)
			if !early {
				eventually(func() bool { return ex.Asleep() == n })
			}
			executor.Blocking(func() { <-release })
		}
		between := func() { executor.Blocking(func() { <-begun }) }
		if onSpare {
			between = func() { close(free); <-begun }
		}
		runs = append(runs, ex.Start(t.Context(), job(ex, piece, between)))
	}
	eventually(func() bool { return ex.Blocked() == n && ex.Asleep() == n })
	meetApart(t, ex)
	close(release)
	for _, r := range runs {
		require.NoError(t, r.Wait())
	}
	rests(t, ex)
}

// forkApart forks fn from a frame of its own: such a fork stays private if there are others to be had.
//
//go:noinline
func forkApart(s *executor.Scope, fn func()) executor.Forked[int, int] {
	return executor.Fork(s, func(*executor.Scope, int) int { fn(); return 0 }, 0)
}

// While a worker waits, other workers can run the items that only it knew of: the awaited work may need them.
func TestWaitKeepsNothing(t *testing.T) {
	elsewhere := func(t *testing.T, wait func(ctx context.Context, other *executor.Executor,
		gate chan struct{}) error) func(ex *executor.Executor) error {
		return func(ex *executor.Executor) error {
			other, gate := newExecutor(t, executor.Config{Workers: 1}), make(chan struct{})
			return ex.Run(t.Context(), executor.NewJob("elsewhere", func(s *executor.Scope) error {
				first := executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0)
				f := forkApart(s, func() { close(gate) })
				err := wait(s.Context(), other, gate)
				f.Join(s)
				first.Join(s)
				return err
			}))
		}
	}
	// inScope has a spare begin what wait waits for, and forks what that needs.
	inScope := func(t *testing.T, start func(s *executor.Scope,
		piece func()) (wait func() error)) func(ex *executor.Executor) error {
		return func(ex *executor.Executor) error {
			begun, forked, gate := make(chan struct{}), make(chan struct{}), make(chan struct{})
			return ex.Run(t.Context(), executor.NewJob("in scope", func(s *executor.Scope) error {
				wait := start(s, func() {
					close(begun)
					<-forked
					executor.Blocking(func() { <-gate })
				})
				executor.Blocking(func() { <-begun })
				first := executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0)
				f := forkApart(s, func() { close(gate) })
				close(forked)
				err := wait()
				f.Join(s)
				first.Join(s)
				return err
			}))
		}
	}
	// nested waits in Blocking, for what it has forked, in a run that a task waits for in Blocking.
	nested := func(ex *executor.Executor) error {
		return ex.Run(t.Context(), one(func(ctx context.Context) (err error) {
			executor.Blocking(func() {
				err = ex.Run(ctx, executor.NewJob("nested", func(s *executor.Scope) error {
					first, gate := executor.Fork(s, func(*executor.Scope, int) int { return 0 }, 0), make(chan struct{})
					f := forkApart(s, func() { close(gate) })
					executor.Blocking(func() { <-gate })
					f.Join(s)
					first.Join(s)
					return nil
				}))
			})
			return err
		}))
	}
	// held has the layer above hold back what the task needs that wait waits for.
	held := func(t *testing.T, start func(ctx context.Context, ex *executor.Executor,
		piece func()) (wait func() error)) func(ex *executor.Executor) error {
		return func(ex *executor.Executor) (err error) {
			begun, gate := make(chan struct{}), make(chan struct{})
			h := &holder{layer: newLayer("holder", nil)}
			h.Body.Init(h)
			h.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
				wait := start(t.Context(), ex, func() {
					close(begun)
					executor.Blocking(func() { <-gate })
				})
				executor.Blocking(func() { <-begun })
				h.held = h.item(func(*executor.Worker, *executor.Item) *executor.Item { close(gate); return nil })
				err = wait()
				return nil
			}
			return errors.Join(ex.Run(t.Context(), h), err)
		}
	}
	for _, c := range []struct {
		name string
		run  func(ex *executor.Executor) error
	}{
		{"another executor's run", elsewhere(t,
			func(ctx context.Context, other *executor.Executor, gate chan struct{}) error {
				return other.Run(ctx, one(func(context.Context) error { <-gate; return nil }))
			})},
		{"another executor's future", elsewhere(t,
			func(ctx context.Context, other *executor.Executor, gate chan struct{}) error {
				_, err := executor.Async(ctx, other, func(context.Context) (int, error) {
					<-gate
					return 0, nil
				}).Wait()
				return err
			})},
		{"another executor's end", elsewhere(t,
			func(ctx context.Context, other *executor.Executor, gate chan struct{}) error {
				other.Start(ctx, one(func(context.Context) error { <-gate; return nil }))
				return other.Close()
			})},
		{"Blocking in Blocking", nested},
		{"older fork", inScope(t, func(s *executor.Scope, piece func()) (wait func() error) {
			f := forkApart(s, piece)
			return func() error { f.Join(s); return nil }
		})},
		{"older child", inScope(t, func(s *executor.Scope, piece func()) (wait func() error) {
			s.Go(func(context.Context) error { piece(); return nil })
			return s.Wait
		})},
		{"held back, run", held(t, func(ctx context.Context, ex *executor.Executor, piece func()) (wait func() error) {
			return ex.Start(ctx, one(func(context.Context) error { piece(); return nil })).Wait
		})},
		{"held back, future", held(t, func(ctx context.Context, ex *executor.Executor,
			piece func()) (wait func() error) {
			f := executor.Async(ctx, ex, func(context.Context) (int, error) { piece(); return 0, nil })
			return func() error { _, err := f.Wait(); return err }
		})},
	} {
		for _, s := range testkit.Part(t, forkStores) {
			t.Run(fmt.Sprintf("%s/%v", c.name, s), func(t *testing.T) {
				ex := newExecutor(t, s.in(executor.Config{Workers: 1, Spares: 3}))
				within(t, ex, func() { require.NoError(t, c.run(ex)) })
				rests(t, ex)
			})
		}
	}
}

package executor_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// hidingDeques are the kinds of which thieves do not see everything.
var hidingDeques = slices.DeleteFunc(deque.Kinds(), func(d deque.Kind) bool { return !d.Hides() })

// TestQueueConfigs: the options that each kind of deque accepts, and those that are refused.
func TestQueueConfigs(t *testing.T) {
	for _, d := range deque.Kinds() {
		for _, steal := range []deque.Batch{deque.One, deque.Half, deque.Block} {
			cfg := executor.Config{Workers: 2, Experiment: experiment.Options{Deque: d, Capacity: 3, Steal: steal}}
			ex, err := executor.New(cfg)
			if steal != deque.One && !d.Batches() {
				require.Nil(t, ex)
				require.EqualError(t, err,
					fmt.Sprintf("executor: Config.Experiment.Steal is %v, but from %v thieves take one item at a time: "+
						"set Steal to one, or Deque to one of [bwos bwos-fifo padws locked]", steal, d))
				continue
			}
			require.NoError(t, err, "%+v", cfg)
			require.NoError(t, ex.Close())
		}
	}
	for _, c := range []struct {
		cfg  executor.Config
		says string
	}{
		{executor.Config{Experiment: experiment.Options{Deque: 200}}, "Config.Experiment.Deque is 200"},
		{executor.Config{Experiment: experiment.Options{Steal: 3}}, "Config.Experiment.Steal is 3"},
		{executor.Config{Experiment: experiment.Options{Capacity: -1}},
			"Config.Experiment with Deque chaselev: Capacity is -1"},
		{executor.Config{
			Experiment: experiment.Options{Deque: deque.KindPadWS, BlockSize: -1},
		}, "Config.Experiment with Deque padws: BlockSize is -1"},
		{executor.Config{Experiment: experiment.Options{Deque: deque.KindABP, BlockSize: 8}},
			"Config.Experiment with Deque abp: BlockSize is 8, but abp has no blocks"},
	} {
		ex, err := executor.New(c.cfg)
		require.Nil(t, ex)
		require.ErrorContains(t, err, "executor: "+c.says)
	}
}

// TestQueueFIFO: the only worker of an executor with a deque that is first in, first out runs items in that order,
// also those that do not fit. Scopes are refused.
func TestQueueFIFO(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1,
		Experiment: experiment.Options{Deque: deque.KindBWoSFIFO, Capacity: 4}, Spares: -1,
		Callers: executor.IdleCallers}) // a caller that leaves its place gives old items away, to behind younger ones
	within(t, ex, func() {
		const items = 50 // before the next run has its turn
		var ran []int
		l := newLayer("fifo", nil)
		l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			for i := range items {
				l.push(w, func(*executor.Worker, *executor.Item) *executor.Item {
					ran = append(ran, i)
					return nil
				})
			}
			return nil
		}
		require.NoError(t, ex.Run(t.Context(), l))
		require.Len(t, ran, items)
		require.IsIncreasing(t, ran)

		_, err := executor.Call(t.Context(), ex, fib, 3)
		require.ErrorIs(t, err, experiment.ErrFIFO)
		require.ErrorIs(t, ex.Run(t.Context(), executor.NewJob("f", func(*executor.Scope) error { return nil })),
			experiment.ErrFIFO)
		one := func(context.Context) (int, error) { return 1, nil }
		_, err = executor.First(t.Context(), ex, one)
		require.ErrorIs(t, err, experiment.ErrFIFO)
		v, err := executor.Async(t.Context(), ex, one).Wait()
		require.NoError(t, err)
		require.Equal(t, 1, v)
	})
}

// TestQueueGivesAway: hidden items of a worker are run by others while it waits for work that it takes no part in.
func TestQueueGivesAway(t *testing.T) {
	type closed = chan struct{}
	until := func(done closed) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { <-done; return 0, nil }
	}
	// What is waited for begins first, if the executor's own workers are to run it.
	for name, begin := range map[string]func(ctx context.Context, ex, other *executor.Executor,
		done closed) (wait func()){
		"a run": func(ctx context.Context, ex, _ *executor.Executor, done closed) func() {
			r := ex.Start(ctx, one(func(context.Context) error { <-done; return nil }))
			return func() { _ = r.Wait() }
		},
		"a future": func(ctx context.Context, ex, _ *executor.Executor, done closed) func() {
			begun := make(closed)
			f := executor.Async(ctx, ex, func(ctx context.Context) (int, error) {
				close(begun)
				return until(done)(ctx)
			})
			<-begun
			return func() { _, _ = f.Wait() }
		},
		"another executor": func(ctx context.Context, _, other *executor.Executor, done closed) func() {
			return func() { _ = other.Run(ctx, one(func(context.Context) error { <-done; return nil })) }
		},
		"another executor's future": func(ctx context.Context, _, other *executor.Executor, done closed) func() {
			return func() { _, _ = executor.Async(ctx, other, until(done)).Wait() }
		},
		"whatever": func(_ context.Context, _, _ *executor.Executor, done closed) func() {
			return func() { executor.Blocking(func() { <-done }) }
		},
	} {
		for _, d := range hidingDeques {
			t.Run(fmt.Sprintf("%v/%v", name, d), func(t *testing.T) {
				ex, other := newExecutor(t, executor.Config{Workers: 3, Experiment: experiment.Options{Deque: d}}),
					newExecutor(t, executor.Config{Workers: 1})
				within(t, ex, func() {
					for i := range max(4, testkit.Scale(40)) {
						done := make(closed)
						wait := begin(t.Context(), ex, other, done)
						l := newLayer("waits", nil)
						l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
							for range i % 4 { // a request that stands takes one
								l.push(w, func(*executor.Worker, *executor.Item) *executor.Item { return nil })
							}
							l.push(w, func(*executor.Worker, *executor.Item) *executor.Item { close(done); return nil })
							wait()
							return nil
						}
						require.NoError(t, ex.Run(t.Context(), l))
					}
				})
			})
		}
	}
}

// TestQueueAskedInAChain: an item that a worker has pushed goes to a thief that asks for it while the worker runs items
// that follow each other without its queue.
func TestQueueAskedInAChain(t *testing.T) {
	for _, d := range hidingDeques {
		if d == deque.KindBWoS || d == deque.KindBWoSFIFO {
			continue // thieves cannot ask
		}
		t.Run(d.String(), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Deque: d}})
			within(t, ex, func() {
				for range testkit.Scale(50) {
					var stolen atomic.Bool
					l := newLayer("chain", nil)
					l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
						l.push(w, func(*executor.Worker, *executor.Item) *executor.Item {
							stolen.Store(true)
							return nil
						})
						return l.item(func(_ *executor.Worker, self *executor.Item) *executor.Item {
							if stolen.Load() {
								return nil
							}
							return self
						})
					}
					require.NoError(t, ex.Run(t.Context(), l))
				}
			})
		})
	}
}

// TestQueueBegs: while a worker runs items of which each lasts longer than a thief waits to be dealt an item, a thief
// gets one nevertheless. With Verbatim it does not: it sleeps whenever the worker could deal.
func TestQueueBegs(t *testing.T) {
	for _, verbatim := range []bool{false, true} {
		t.Run(fmt.Sprintf("verbatim=%v", verbatim), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{
				Workers: 2, Experiment: experiment.Options{Deque: deque.KindPDQS, Verbatim: verbatim},
				Callers: executor.IdleCallers, // a caller that leaves its place gives its items away
			})
			sleeps := func() bool { return ex.Parked() == 1 && ex.Thieves() == 0 }
			within(t, ex, func() {
				for range testkit.Scale(20) {
					var ran, stolen atomic.Bool
					l := newLayer("long items", nil)
					l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
						eventually(sleeps)
						l.push(w, func(other *executor.Worker, _ *executor.Item) *executor.Item {
							stolen.Store(other != w)
							ran.Store(true)
							return nil
						})
						left := 100
						return l.item(func(_ *executor.Worker, self *executor.Item) *executor.Item {
							eventually(func() bool { return ran.Load() || sleeps() })
							if left--; left == 0 || ran.Load() {
								return nil
							}
							return self
						})
					}
					require.NoError(t, ex.Run(t.Context(), l))
					require.Equal(t, !verbatim, stolen.Load())
				}
			})
		})
	}
}

// TestQueueOverflows: a tiny queue loses no item.
func TestQueueOverflows(t *testing.T) {
	for _, d := range deque.Kinds() {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%v/W=%d", d, workers), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: workers, Experiment: experiment.Options{Deque: d, Capacity: 1}})
				within(t, ex, func() {
					for range testkit.Scale(20) {
						const items = 1000
						var ran [items]atomic.Int32
						l := newLayer("overflow", nil)
						l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
							for i := range items {
								l.push(w, func(*executor.Worker, *executor.Item) *executor.Item {
									ran[i].Add(1)
									return nil
								})
							}
							return nil
						}
						require.NoError(t, ex.Run(t.Context(), l))
						for i := range ran {
							require.EqualValues(t, 1, ran[i].Load(), "item %d", i)
						}
					}
				})
			})
		}
	}
}

// TestQueueForkInBlocking: a fork that is made inside Blocking is taken by others, although they sleep.
func TestQueueForkInBlocking(t *testing.T) {
	for _, s := range testkit.Part(t, forkStores) {
		t.Run(s.String(), func(t *testing.T) {
			ex := newExecutor(t, s.in(executor.Config{Workers: 2}))
			within(t, ex, func() {
				for range testkit.Scale(20) {
					gate := make(chan struct{})
					_, err := executor.Call(t.Context(), ex, func(s *executor.Scope, _ int) (r int) {
						executor.Blocking(func() {
							eventually(func() bool { return ex.Parked() > 0 })
							f := executor.Fork(s, func(*executor.Scope, int) int { close(gate); return 1 }, 1)
							<-gate
							r = f.Join(s)
						})
						return r
					}, 0)
					require.NoError(t, err)
				}
			})
		})
	}
}

// TestQueueFIFOGivesAway: items that a first in, first out deque has given away run before later ones.
func TestQueueFIFOGivesAway(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Experiment: experiment.Options{Deque: deque.KindBWoSFIFO}, Spares: 1})
	within(t, ex, func() {
		end := make(chan struct{})
		other := ex.Start(t.Context(), one(func(context.Context) error {
			executor.Blocking(func() { <-end })
			return nil
		}))
		eventually(func() bool { return ex.Serving() == 1 }) // the spare is the only one who runs items
		var ran []int
		l := newLayer("fifo", nil)
		push := func(w *executor.Worker, from, to int) {
			for i := from; i < to; i++ {
				l.push(w, func(*executor.Worker, *executor.Item) *executor.Item { ran = append(ran, i); return nil })
			}
		}
		var again step
		again = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			if len(ran) < 5 {
				l.push(w, again) // endless, if no worker runs the others
			}
			return nil
		}
		l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			push(w, 0, 5)
			executor.Blocking(func() {})
			l.push(w, again)
			return nil
		}
		require.NoError(t, ex.Run(t.Context(), l))
		require.Equal(t, []int{0, 1, 2, 3, 4}, ran)
		close(end)
		require.NoError(t, other.Wait())
	})
}

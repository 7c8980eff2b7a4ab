package executor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// runSplit runs, inside a task, a job that has one item on another worker than the one that helps: elsewhere is what it
// does. The helper, told by its thread, has nothing to run until that item pushes something.
func runSplit(t *testing.T, ex *executor.Executor,
	elsewhere func(l *layer, w *executor.Worker, helper int64) *executor.Item) error {
	return ex.Run(t.Context(), one(func(ctx context.Context) error {
		helper := executor.Thread()
		l := newLayer("split", nil)
		l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			if executor.Thread() != helper {
				return elsewhere(l, w, helper)
			}
			var started atomic.Bool
			l.push(w, func(w *executor.Worker, _ *executor.Item) *executor.Item {
				started.Store(true)
				return elsewhere(l, w, helper)
			})
			eventually(started.Load)
			return nil
		}
		return ex.Run(ctx, l)
	}))
}

// A helper sleeps while other workers run the rest of its run. Every item that they push wakes it if no worker
// is there to run the item.
func TestHelperIsWokenForItems(t *testing.T) {
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		pushed, byHelper := testkit.Scale(200), 0
		err := runSplit(t, ex, func(l *layer, w *executor.Worker, helper int64) *executor.Item {
			for range pushed {
				eventually(func() bool { return ex.SleepingHelpers() == 1 })
				var ran atomic.Bool
				l.push(w, func(w *executor.Worker, _ *executor.Item) *executor.Item {
					if executor.Thread() == helper {
						byHelper++
					}
					ran.Store(true)
					return nil
				})
				eventually(ran.Load)
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, pushed, byHelper)
		require.Zero(t, ex.SleepingHelpers())
	})
}

// The end of the run wakes the helper too.
func TestHelperIsWokenAtTheEnd(t *testing.T) {
	onEach(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(100) {
			require.NoError(t, runSplit(t, ex, func(*layer, *executor.Worker, int64) *executor.Item {
				eventually(func() bool { return ex.SleepingHelpers() == 1 })
				return nil
			}))
		}
	})
}

// An end that comes while the helper goes to sleep, at any point of it.
func TestHelperAndEndAtOnce(t *testing.T) {
	onEach(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(1500) {
			require.NoError(t, runSplit(t, ex, func(*layer, *executor.Worker, int64) *executor.Item {
				for range i % 128 * 16 {
					_ = ex.SleepingHelpers()
				}
				return nil
			}))
		}
	})
}

// A worker that is busy with runs from outside looks at the injector between two of them. It may then have no run of
// its own, and helpers may be asleep.
func TestPollBesideASleepingHelper(t *testing.T) {
	onEach(t, []int{3}, func(t *testing.T, ex *executor.Executor) {
		err := runSplit(t, ex, func(*layer, *executor.Worker, int64) *executor.Item {
			eventually(func() bool { return ex.SleepingHelpers() == 1 })
			gate := make(chan struct{})
			runs := []*executor.Run{ex.Start(context.Background(), one(func(context.Context) error {
				<-gate
				return nil
			}))}
			done := make(chan error)
			go func() { // not a worker: its runs go to the injector
				for range 10 * executor.PollInterval {
					runs = append(runs, ex.Start(context.Background(), one(nothing)))
				}
				close(gate)
				for _, r := range runs {
					if err := r.Wait(); err != nil {
						done <- err
					}
				}
				close(done)
			}()
			if err := <-done; err != nil {
				t.Error(err)
			}
			return nil
		})
		require.NoError(t, err)
	})
}

// A busy worker puts the chain that it runs aside for a newcomer from outside. If the run has a helper asleep, the
// helper takes the chain over: the newcomer may take for ever, or until that very chain has ended, as here.
func TestHelperTakesOverAChain(t *testing.T) {
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(100) {
			begun := make(chan struct{})
			var over atomic.Bool
			newcomer := make(chan error)
			go func() {
				<-begun
				newcomer <- ex.Run(context.Background(), one(func(context.Context) error {
					eventually(over.Load)
					return nil
				}))
			}()
			require.NoError(t, runSplit(t, ex, func(l *layer, _ *executor.Worker, helper int64) *executor.Item {
				eventually(func() bool { return ex.SleepingHelpers() == 1 })
				close(begun)
				return l.item(func(_ *executor.Worker, self *executor.Item) *executor.Item {
					if executor.Thread() == helper {
						over.Store(true)
						return nil
					}
					return self
				})
			}))
			require.NoError(t, <-newcomer)
		}
	})
}

// Two helpers go through the injector at the same time, each for the item of its own run. The one whose item comes
// first then waits for the other's: a helper that loses the race for one item must not go to sleep beside the next.
func TestHelpersShareTheInjector(t *testing.T) {
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		for round := range testkit.Scale(500) {
			var (
				busy, together       = barrier{n: 3}, atomic.Int64{}
				started, passed, ran atomic.Bool
				runs                 [2]*executor.Run
			)
			helpers := ex.Start(t.Context(), fan(2, func(context.Context) error {
				me := 0
				busy.meet()
				if passed.Swap(true) {
					me = 1
				}
				eventually(started.Load)
				for together.Add(1); together.Load() < 2; {
					// Looking without a break brings both to the injector within some nanoseconds.
				}
				for range me * (round % 16) {
					_ = together.Load()
				}
				return runs[me].Wait()
			}))
			busy.meet() // both workers have a task: what is started now stays in the injector
			runs[0] = ex.Start(t.Context(), one(func(context.Context) error {
				eventually(ran.Load)
				return nil
			}))
			runs[1] = ex.Start(t.Context(), one(func(context.Context) error {
				ran.Store(true)
				return nil
			}))
			started.Store(true)
			require.NoError(t, helpers.Wait())
		}
	})
}

// Two helpers of one run, and the worker that runs its task. The task pushes an item for each of them at the moment
// when they go to sleep or get up, and the three must meet: a helper must not sleep because it lost the race for one
// item while there is another.
func TestHelpersMeet(t *testing.T) {
	onEach(t, []int{3}, func(t *testing.T, ex *executor.Executor) {
		rounds, most := testkit.Scale(20000), min(testkit.Patience/4, time.Duration(testkit.Scale(15_000))*time.Millisecond)
		l := newLayer("meeting", nil)
		l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			begin := time.Now() // with fewer cores than workers that stay awake, a round takes some time slices
			for round := 0; round < rounds && time.Since(begin) < most; round++ {
				met := barrier{n: 3}
				meet := func(*executor.Worker, *executor.Item) *executor.Item {
					met.meet()
					return nil
				}
				for range round % 64 * 8 {
					_ = ex.SleepingHelpers()
				}
				l.push(w, meet)
				l.push(w, meet)
				meet(w, nil)
			}
			return nil
		}
		b := barrier{n: 3}
		shared := make(chan *executor.Run, 3)
		var first atomic.Bool
		require.NoError(t, ex.Run(t.Context(), fan(3, func(ctx context.Context) error {
			b.meet()
			if first.CompareAndSwap(false, true) {
				r := ex.Start(ctx, l)
				for range 3 {
					shared <- r
				}
			}
			return (<-shared).Wait()
		})))
	})
}

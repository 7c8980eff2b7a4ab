package executor_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

var fewWorkers = []int{1, 2, 4}

func TestNestedDeep(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		g := count(&ran)
		for range 100 {
			inner := g
			g = fan(2, func(ctx context.Context) error {
				if ran.Load() == 0 { // the first to come this far goes deeper
					return ex.Run(ctx, inner)
				}
				return nil
			})
		}
		require.NoError(t, ex.Run(t.Context(), g))
		require.Positive(t, ran.Load())
	})
}

func TestNestedWide(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		err := ex.Run(t.Context(), fan(64, func(ctx context.Context) error {
			return ex.Run(ctx, fan(64, func(context.Context) error {
				ran.Add(1)
				return nil
			}))
		}))
		require.NoError(t, err)
		require.EqualValues(t, 64*64, ran.Load())
	})
}

// A graph may run inside itself: each run has a state of its own.
func TestNestedInItself(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		const depth, width = 20, 5
		var ran atomic.Int64
		g := graph.New("itself")
		source := g.Task(nothing)
		for i := range width {
			source.Precede(g.Task(func(ctx context.Context) error {
				ran.Add(1)
				level, _ := ctx.Value(contextKey{}).(int)
				if i != 0 || level+1 == depth {
					return nil
				}
				return ex.Run(context.WithValue(ctx, contextKey{}, level+1), g)
			}))
		}
		require.NoError(t, ex.Run(t.Context(), g))
		require.EqualValues(t, depth*width, ran.Load())
	})
}

// More workers than a run's set of visited workers has bits.
func TestNestedOnManyWorkers(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 70, Host: host.Options{KeepGOMAXPROCS: true}})
	within(t, ex, func() {
		var ran atomic.Int64
		for range 5 {
			err := ex.Run(t.Context(), fan(100, func(ctx context.Context) error {
				return ex.Run(ctx, fan(10, func(context.Context) error {
					ran.Add(1)
					return nil
				}))
			}))
			require.NoError(t, err)
		}
		require.EqualValues(t, 5*100*10, ran.Load())
	})
}

// A task need not wait for what it starts.
func TestStartInTask(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		inner := make(chan *executor.Run, 10)
		require.NoError(t, ex.Run(t.Context(), fan(10, func(context.Context) error {
			inner <- ex.Start(t.Context(), fan(10, func(context.Context) error {
				ran.Add(1)
				return nil
			}))
			return nil
		})))
		for range 10 {
			require.NoError(t, (<-inner).Wait())
		}
		require.EqualValues(t, 100, ran.Load())
	})
}

// A run that a task starts with its own context, and does not wait for, is cancelled with the task's run.
func TestContextOfNestedRun(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		var run *executor.Run
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			inner := newLayer("until cancelled", nil)
			inner.first = func(_ *executor.Worker, self *executor.Item) *executor.Item {
				if inner.Stopped() {
					return nil
				}
				return self
			}
			run = ex.Start(ctx, inner)
			return nil
		})))
		require.ErrorIs(t, run.Wait(), context.Canceled)
	})
}

// A worker that waits for one of several runs meets items of the others. None may be lost, in
// whatever order the runs are awaited and whatever they release.
func TestStartSeveralWaitInAnyOrder(t *testing.T) {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for _, width := range []int{1, 2, 3, 5, 7, 8, 30} { // pushed one by one, or as a span
			for _, order := range orders {
				for _, before := range []int{0, 5} { // items of the outer run in the deque
					err := ex.Run(t.Context(), fan(before+1, func(ctx context.Context) error {
						var runs [3]*executor.Run
						for i := range runs {
							runs[i] = ex.Start(ctx, fan(width, nothing))
						}
						for _, i := range order {
							if err := runs[i].Wait(); err != nil {
								return err
							}
						}
						return nil
					}))
					require.NoError(t, err)
				}
			}
		}
	})
}

// The runs may also be awaited by each other's tasks, so that helping nests across them and an inner helper takes items
// from below an outer one's.
func TestRunsThatAwaitEachOther(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for _, width := range []int{1, 2, 3, 4, 5, 7, 8, 30} {
			for _, last := range []bool{false, true} {
				err := ex.Run(t.Context(), fan(3, func(ctx context.Context) error {
					a := ex.Start(ctx, fan(width, nothing))
					b := ex.Start(ctx, fan(width, func(context.Context) error { return a.Wait() }))
					c := graph.New("c")
					first := c.Task(func(context.Context) error { return a.Wait() })
					for range width {
						first.Precede(c.Task(func(context.Context) error {
							if last {
								return b.Wait()
							}
							return nil
						}))
					}
					return errors.Join(ex.Run(ctx, c), b.Wait())
				}))
				require.NoError(t, err)
			}
		}
	})
}

// A helper returns at the end of the awaited run, even if a run nested in that goes on, as one long chain or many
// tasks.
func TestWaitEndsWithItsRun(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		var ran atomic.Int64
		const many = 100 * executor.PollInterval
		for _, detached := range []executor.Job{
			endless(&stop),
			fan(many, func(context.Context) error {
				ran.Add(1)
				return nil
			}),
		} {
			var left *executor.Run
			err := ex.Run(t.Context(), one(func(ctx context.Context) error {
				err := ex.Run(ctx, one(func(context.Context) error {
					left = ex.Start(t.Context(), detached)
					return nil
				}))
				stop.Store(true)
				if n := ran.Load(); ex.Workers() == 1 && n > 2*executor.PollInterval {
					t.Errorf("%d tasks of another run came before the end of Run", n)
				}
				return err
			}))
			require.NoError(t, err)
			require.NoError(t, left.Wait())
		}
		require.EqualValues(t, many, ran.Load())
	})
}

// The first item of a nested run lies in the deque of the worker whose task started it. A sibling that waits for the
// run finds it there, while that worker is busy.
func TestWaitForSiblingsRun(t *testing.T) {
	onEach(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(200) {
			var over atomic.Bool
			started := make(chan *executor.Run, 1)
			b := barrier{n: 2}
			g := graph.New("siblings")
			g.Task(func(ctx context.Context) error {
				b.meet()
				started <- ex.Start(ctx, fan(4, nothing))
				eventually(over.Load)
				return nil
			})
			g.Task(func(ctx context.Context) error {
				b.meet()
				defer over.Store(true)
				return (<-started).Wait()
			})
			require.NoError(t, ex.Run(t.Context(), g))
		}
	})
}

// A helper never runs a foreign item: no task finds on its own stack another that wants the lock it holds.
func TestIsolation(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var mu sync.Mutex
		var holders, ran int
		locked := func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			holders++
			defer func() { holders-- }()
			if holders != 1 {
				return errors.New("two hold the lock")
			}
			ran++
			return ex.Run(ctx, fan(16, func(ctx context.Context) error {
				return ex.Run(ctx, fan(3, nothing))
			}))
		}
		var others []*executor.Run
		for range 4 {
			others = append(others, ex.Start(t.Context(), fan(32, locked)))
		}
		for _, r := range others {
			require.NoError(t, r.Wait())
		}
		require.Equal(t, 4*32, ran)
	})
}

// The same for runs that the task itself has started and does not wait for yet, whichever is on top of the deque.
func TestIsolationFromOnesOwnRuns(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		for _, width := range []int{1, 3, 20} {
			var mu sync.Mutex
			wanted := fan(width, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				return nil
			})
			err := ex.Run(t.Context(), one(func(ctx context.Context) error {
				mu.Lock()
				below := ex.Start(ctx, wanted)
				awaited := ex.Start(ctx, fan(width, nothing))
				above := ex.Start(ctx, wanted)
				err := awaited.Wait()
				mu.Unlock()
				return errors.Join(err, below.Wait(), above.Wait())
			}))
			require.NoError(t, err)
		}
	})
}

// All workers help while the injector is full of foreign items: none of these is run by a helper, all are run at last.
func TestForeignItemsInTheInjector(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			const runs = 50
			var (
				helping sync.Map // threads
				ran     atomic.Int64
				gate    = make(chan struct{})
				b       = barrier{n: int64(ex.Workers())}
			)
			helpers := ex.Start(t.Context(), fan(ex.Workers(), func(ctx context.Context) error {
				b.meet()
				<-gate
				me := executor.Thread()
				helping.Store(me, true)
				defer helping.Delete(me)
				return ex.Run(ctx, fan(64, nothing))
			}))
			eventually(func() bool { return b.arrived.Load() == b.n })
			var foreign []*executor.Run
			for range runs {
				foreign = append(foreign, ex.Start(t.Context(), fan(3, func(context.Context) error {
					if _, is := helping.Load(executor.Thread()); is {
						return errors.New("a helper ran a foreign task")
					}
					ran.Add(1)
					return nil
				})))
			}
			close(gate)
			require.NoError(t, helpers.Wait())
			for _, r := range foreign {
				require.NoError(t, r.Wait())
			}
			require.EqualValues(t, 3*runs, ran.Load())
		}
	})
}

// Tasks wait for runs that were started from outside, before or after themselves: the items are in the injector, or on
// their way from there.
func TestWaitForOutsidersRun(t *testing.T) {
	shifts := []int{0, 1, 2, 3}
	if testkit.Quick() {
		shifts = testkit.Draw(t, shifts, 0, 2)
	}
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		const n = 3 * executor.PollInterval
		for _, shift := range shifts { // against the interval at which busy workers look at the injector
			gate := make(chan struct{})
			opening := ex.Start(t.Context(), chain(1+shift, func(context.Context) error {
				<-gate
				return nil
			}))
			var ran atomic.Int64
			var runs []*executor.Run
			for range n {
				early := ex.Start(t.Context(), fan(3, nothing))
				late := make(chan *executor.Run, 1)
				runs = append(runs, ex.Start(t.Context(), one(func(context.Context) error {
					ran.Add(1)
					return errors.Join(early.Wait(), (<-late).Wait())
				})))
				late <- ex.Start(t.Context(), one(nothing))
				runs = append(runs, ex.Start(t.Context(), one(func(context.Context) error { return early.Wait() })))
			}
			close(gate)
			require.NoError(t, opening.Wait())
			for _, r := range runs {
				require.NoError(t, r.Wait())
			}
			require.EqualValues(t, n, ran.Load())
		}
	})
}

// TestTooDeep: runs nested too deep are refused, before the worker's stack is too large for the process.
func TestTooDeep(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		depth := 0
		var deeper func(ctx context.Context) error
		deeper = func(ctx context.Context) error {
			depth++
			return ex.Run(ctx, one(deeper))
		}
		if ex.Workers() > 1 {
			return // each level may run on another worker: nothing is too deep
		}
		within(t, ex, func() {
			require.ErrorIs(t, ex.Run(t.Context(), one(deeper)), executor.ErrTooDeep)
			require.Greater(t, depth, 1000)
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		})
	})
}

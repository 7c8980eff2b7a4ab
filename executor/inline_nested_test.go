package executor_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A worker is still that worker while an inline executor runs tasks on its thread, and after that.
func TestInlineInTask(t *testing.T) {
	inTask := func(outer, inner *executor.Executor, f func(context.Context) error) error {
		return outer.Run(t.Context(), one(func(ctx context.Context) error {
			return inner.Run(ctx, one(f))
		}))
	}
	onInlineToo(t, func(t *testing.T, ex *executor.Executor) {
		in := executor.NewInline(1)
		nested := func(ctx context.Context) error { return ex.Run(ctx, fan(3, nothing)) }

		t.Run("after", func(t *testing.T) {
			within(t, ex, func() {
				require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
					if err := in.Run(ctx, one(nothing)); err != nil {
						return err
					}
					require.ErrorIs(t, ex.Close(), executor.ErrInTask)
					return nested(ctx)
				})))
			})
		})
		t.Run("within", func(t *testing.T) {
			within(t, ex, func() {
				require.NoError(t, inTask(ex, in, func(ctx context.Context) error {
					require.ErrorIs(t, ex.Close(), executor.ErrInTask)
					require.ErrorIs(t, in.Close(), executor.ErrInTask)
					if _, err := executor.Async(ctx, ex,
						func(ctx context.Context) (int, error) { return 0, nested(ctx) }).Wait(); err != nil {
						return err
					}
					return nested(ctx)
				}))
			})
		})
		t.Run("scope", func(t *testing.T) { // of the outer executor, used by the function that it was given to
			within(t, ex, func() {
				require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
					ran := false
					err := in.Run(s.Context(), one(func(context.Context) error {
						s.Go(func(context.Context) error { ran = true; return nil })
						return s.Wait()
					}))
					require.True(t, ran)
					return err
				})))
			})
		})
		t.Run("semaphore", func(t *testing.T) { // a permit given back starts the inline run's task
			within(t, ex, func() {
				semaphore := graph.NewSemaphore(1)
				held, put := make(chan int), make(chan int)
				g := graph.New("g")
				first := g.Task(func(context.Context) error { close(held); <-put; return nil }).Hold(semaphore)
				first.Precede(g.Task(nested))
				result := make(chan error)
				go func() { result <- ex.Run(t.Context(), g) }()
				<-held
				h := graph.New("h")
				h.Task(nested).Hold(semaphore)
				r := in.Start(t.Context(), h)
				close(put)
				require.NoError(t, <-result)
				require.NoError(t, r.Wait())
			})
		})
		require.NoError(t, in.Close())
	})
}

// onInlineToo runs a test for executors with threads and one without.
func onInlineToo(t *testing.T, f func(t *testing.T, ex *executor.Executor)) {
	onEach(t, []int{1, 2}, f)
	t.Run("inline", func(t *testing.T) {
		ex := executor.NewInline(2)
		f(t, ex)
		within(t, ex, func() { require.NoError(t, ex.Close()) })
	})
}

// Blocking in a task of an inline executor calls up a spare for the worker on whose thread the task is.
func TestInlineBlocking(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Spares: 1})
	in := executor.NewInline(1)
	within(t, ex, func() {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			other := make(chan error)
			return in.Run(ctx, one(func(context.Context) error {
				go func() { other <- ex.Run(t.Context(), one(nothing)) }()
				var err error
				executor.Blocking(func() { err = <-other })
				return err
			}))
		})))
	})
	require.NoError(t, in.Close())
}

// While a task of an inline executor sleeps, the worker on whose thread it is does not run. It hides no items that no
// other worker sees.
func TestInlineSleepHidesNothing(t *testing.T) {
	for _, kind := range deque.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2, Spares: -1, Experiment: experiment.Options{Deque: kind}})
			semaphore := graph.NewSemaphore(1)
			limited := func(f func(context.Context) error) *graph.Graph {
				g := graph.New("limited")
				g.Task(f).Hold(semaphore)
				return g
			}
			holder, in := executor.NewInline(1), executor.NewInline(2)
			within(t, ex, func() {
				held, put := make(chan int), make(chan int)
				var wg sync.WaitGroup
				wg.Go(func() {
					_ = holder.Run(t.Context(), limited(func(context.Context) error { close(held); <-put; return nil }))
				})
				<-held
				require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
					ex.Start(t.Context(), one(func(context.Context) error { close(put); return nil }))
					return in.Run(ctx, one(func(ctx context.Context) error { return in.Run(ctx, limited(nothing)) }))
				})))
				wg.Wait()
			})
			require.NoError(t, holder.Close())
			require.NoError(t, in.Close())
		})
	}
}

// A permit given back, or the end of a future, may have an inline executor run a task here and now. Goexit in that one
// ends the goroutine of the giver; but the giver's task itself has ended, and other waiting tasks go on.
func TestInlineGoexitPassesThrough(t *testing.T) {
	exit := func(context.Context) error { runtime.Goexit(); return nil }
	onInlineToo(t, func(t *testing.T, ex *executor.Executor) {
		in := executor.NewInline(1)
		for _, c := range []struct {
			name  string
			graph func(hold, after func(context.Context) error, limit ...*graph.Semaphore) *graph.Graph
		}{
			{"static", func(hold, after func(context.Context) error, limit ...*graph.Semaphore) *graph.Graph {
				g := graph.New("g")
				g.Task(hold).Hold(limit...).Precede(g.Task(after))
				return g
			}},
			{"dynamic", func(hold, after func(context.Context) error, limit ...*graph.Semaphore) *graph.Graph {
				g := graph.New("g")
				g.Condition(func(ctx context.Context) (int, error) {
					return 0,
						hold(ctx)
				}).Hold(limit...).Precede(g.Task(after))
				return g
			}},
			{"priorities", func(hold, after func(context.Context) error, limit ...*graph.Semaphore) *graph.Graph {
				g := graph.New("g")
				g.Task(hold).Hold(limit...).Priority(graph.High).Precede(g.Task(after))
				return g
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				within(t, ex, func() {
					a, b := graph.NewSemaphore(1), graph.NewSemaphore(1)
					held, put := make(chan int), make(chan int)
					ran := 0
					var err error
					var wg sync.WaitGroup
					wg.Go(func() {
						err = ex.Run(t.Context(), c.graph(
							func(context.Context) error { close(held); <-put; ran++; return nil },
							func(context.Context) error { ran++; return nil }, a, b))
					})
					<-held
					var runs []*executor.Run
					for _, s := range []*graph.Semaphore{a, b, b, a} {
						g := graph.New("waits")
						g.Task(exit).Hold(s)
						runs = append(runs, in.Start(t.Context(), g))
					}
					close(put)
					for _, r := range runs {
						require.ErrorIs(t, r.Wait(), executor.ErrGoexit)
					}
					wg.Wait()
					require.NoError(t, err)
					require.Equal(t, 2, ran)
					require.Zero(t, ex.RunsInProgress())
				})
			})
		}
		t.Run("future", func(t *testing.T) {
			within(t, ex, func() {
				gate := executor.NewInline(2) // its worker is held while others come to wait for the future
				var f *executor.Future[int]
				var after []*executor.Future[int]
				var wg sync.WaitGroup
				wg.Go(func() {
					_, _ = executor.Async(t.Context(), gate, func(context.Context) (int, error) {
						f = executor.Async(t.Context(), gate, func(context.Context) (int, error) { return 1, nil })
						for _, on := range []*executor.Executor{in, ex, in, ex} {
							after = append(after,
								executor.Async(t.Context(), on, func(ctx context.Context) (int, error) {
									if on == in {
										runtime.Goexit()
									}
									return 2, nil
								}, f))
						}
						return 0, nil
					}).Wait()
				})
				wg.Wait()
				n, err := f.Wait()
				require.NoError(t, err)
				require.Equal(t, 1, n)
				for i, f := range after {
					if n, err = f.Wait(); i%2 == 0 {
						require.ErrorIs(t, err, executor.ErrGoexit)
					} else {
						require.NoError(t, err)
						require.Equal(t, 2, n)
					}
				}
				require.NoError(t, gate.Close())
			})
		})
		require.NoError(t, in.Close())
	})
}

// A nest is a random program that uses executors, with threads and without, in tasks of each other.
type nest struct {
	exs       []*executor.Executor
	inline    []bool
	semaphore *graph.Semaphore
	// apart: several goroutines use the executors, and these have several workers. A task must then not wait for an
	// executor whose worker may wait, elsewhere, for the task's own: it uses its own, and those that come after it.
	apart  bool
	exits  bool // some tasks call Goexit
	exited atomic.Bool

	deepest atomic.Int64
}

// A spot is where a task is.
type spot struct {
	stack []int // the executors whose tasks stand on the thread, the topmost last
	held  []int // those whose workers wait for it on other threads
	depth int
}

// choose draws an executor that a task at that spot may use.
func (n *nest) choose(rng *rand.Rand, at spot) (int, spot) {
	var may []int
	for i := range n.exs {
		top := -1
		if len(at.stack) > 0 {
			top = at.stack[len(at.stack)-1]
		}
		if n.apart && i >= top || !n.apart && !slices.Contains(at.held, i) {
			may = append(may, i)
		}
	}
	i := may[rng.IntN(len(may))]
	in := spot{append(slices.Clone(at.stack), i), at.held, at.depth + 1}
	if !n.inline[i] && !slices.Contains(at.stack, i) { // another thread
		in = spot{[]int{i}, append(slices.Clone(at.held), at.stack...), at.depth + 1}
	}
	return i, in
}

// act is the function of a task at that spot. It returns an error if something is not as documented.
func (n *nest) act(ctx context.Context, seed uint64, at spot) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	for step := range rng.IntN(4) {
		if at.depth == maxNest {
			break
		}
		i, in := n.choose(rng, at)
		ex := n.exs[i]
		var ran atomic.Int64
		kinds := 7
		if n.apart {
			// Without permits: one may be given to a task that no worker is free to begin, while all of them wait for
			// runs that need the permit. PROTOCOL.md, Not guaranteed.
			kinds = 6
		}
		k, kind := 1+rng.IntN(3), rng.IntN(kinds)
		bodies := make([]func(context.Context) error, k)
		for j := range bodies {
			own := rng.Uint64()
			bodies[j] = func(ctx context.Context) error {
				ran.Add(1)
				n.deepest.Store(max(n.deepest.Load(), int64(in.depth)))
				if n.exits && own%16 == 0 {
					n.exited.Store(true)
					runtime.Goexit()
				}
				return n.act(ctx, own, in)
			}
		}
		err := n.use(ctx, ex, kind, bodies)
		if n.exited.Load() {
			return nil
		}
		if err != nil || ran.Load() != int64(k) {
			return cmp.Or(err, fmt.Errorf("%v, step %d, kind %d: %d of %d ran", at, step, kind, ran.Load(), k))
		}
		for _, i := range at.stack {
			if n.apart && i != at.stack[len(at.stack)-1] {
				continue // another goroutine may have taken the task over
			}
			if err := n.exs[i].Close(); err != executor.ErrInTask {
				return fmt.Errorf("%v, step %d, kind %d: Close of executor %d: %v", at, step, kind, i, err)
			}
		}
	}
	return nil
}

// use has ex call the functions, in a way of that kind.
func (n *nest) use(ctx context.Context, ex *executor.Executor, kind int, bodies []func(context.Context) error) error {
	switch kind {
	case 0:
		return ex.Run(ctx, graphOf(bodies))
	case 1:
		runs := make([]*executor.Run, len(bodies))
		for i, body := range bodies {
			runs[i] = ex.Start(ctx, one(body))
		}
		var errs []error
		for _, r := range slices.Backward(runs) {
			errs = append(errs, r.Wait())
		}
		return errors.Join(errs...)
	case 2:
		var last *executor.Future[int]
		for _, body := range bodies {
			var after []executor.Awaitable
			if last != nil {
				after = append(after, last)
			}
			last = executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, body(ctx) }, after...)
		}
		_, err := last.Wait()
		return err
	case 3:
		return ex.Run(ctx, executor.NewJob("children", func(s *executor.Scope) error {
			for _, body := range bodies {
				s.Go(body)
			}
			return s.Wait()
		}))
	case 4:
		failed, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) error {
			var all []executor.Forked[int, error]
			for _, body := range bodies {
				all = append(all, executor.Fork(s, func(s *executor.Scope, _ int) error {
					return body(s.Context())
				}, 0))
			}
			var errs []error
			for _, f := range slices.Backward(all) {
				errs = append(errs, f.Join(s))
			}
			return errors.Join(errs...)
		}, 0)
		return errors.Join(err, failed)
	case 5:
		var err error
		executor.Blocking(func() { err = ex.Run(ctx, graphOf(bodies)) })
		return err
	default:
		g := graph.New("limited")
		for _, body := range bodies {
			g.Task(func(context.Context) error {
				runtime.Gosched()
				return nil
			}).Hold(n.semaphore).Precede(g.Task(body))
		}
		return ex.Run(ctx, g)
	}
}

func graphOf(bodies []func(context.Context) error) *graph.Graph {
	g := graph.New("g")
	source := g.Task(nothing)
	for _, body := range bodies {
		source.Precede(g.Task(body))
	}
	return g
}

// maxNest is how deep tasks stand in tasks.
const maxNest = 5

// TestRandomNests: executors, with threads and without, used in each other's tasks: everything runs, every wait ends,
// and a task knows whose it is. Goexit anywhere ends what it must, and leaves nothing behind.
func TestRandomNests(t *testing.T) {
	seed, programs := testkit.Seed(t), testkit.Count(t, 60)
	deep := 0
	for i := range programs {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		rng := rand.New(rand.NewPCG(own, 1))
		n := &nest{semaphore: graph.NewSemaphore(1 + rng.IntN(2)), apart: rng.IntN(2) == 0, exits: rng.IntN(3) == 0}
		for range 4 {
			inline := rng.IntN(2) == 0
			n.inline = append(n.inline, inline)
			if inline {
				n.exs = append(n.exs, executor.NewInline(rng.Uint64()))
				continue
			}
			cfg := oneOf(rng, forkStores).in(executor.Config{Workers: 1, Spares: -1})
			if n.apart {
				cfg.Workers, cfg.Spares = 1+rng.IntN(2), 2
			}
			ex, err := executor.New(cfg)
			require.NoError(t, err)
			n.exs = append(n.exs, ex)
		}
		goroutines := 1
		if n.apart {
			goroutines = 3
		}
		failed := make([]error, goroutines)
		tell := func() string {
			return fmt.Sprintf("program %d: inline %v, apart %v, exits %v; %s", i, n.inline, n.apart, n.exits,
				testkit.Only(t, own))
		}
		testkit.Within(t, testkit.Patience, func() {
			var wg sync.WaitGroup
			for j := range goroutines {
				own := rng.Uint64()
				wg.Go(func() { failed[j] = n.act(t.Context(), own, spot{}) })
			}
			wg.Wait()
			for _, ex := range n.exs {
				failed = append(failed, ex.Close())
				if ex.RunsInProgress() != 0 {
					failed = append(failed, errors.New("runs are left"))
				}
			}
		}, tell)
		require.NoError(t, errors.Join(failed...), tell())
		deep = max(deep, int(n.deepest.Load()))
	}
	testkit.Proved(t, programs, "random programs of executors in each other")
	if programs > 100 {
		require.Equal(t, maxNest, deep, "the programs must nest")
	}
}

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A gate counts the tasks inside, and keeps the largest count.
type gate struct {
	permits int32
	inside  atomic.Int32
	wrong   atomic.Int32
}

func (g *gate) pass(do func()) {
	g.enter()
	do()
	g.inside.Add(-1)
}

func (g *gate) enter() {
	if n := g.inside.Add(1); n > g.permits {
		g.wrong.Add(1)
	}
}

// At most as many tasks as permits are inside, in several runs of several graphs on two executors. Every task runs.
func TestSemaphore(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			exs := []*executor.Executor{newExecutor(t, executor.Config{Workers: workers}),
				newExecutor(t, executor.Config{Workers: 2})}
			for range testkit.Scale(20) {
				gates := make([]*gate, 3)
				semaphores := make([]*graph.Semaphore, 3)
				for i := range gates {
					permits := 1 + rng.IntN(3)
					gates[i] = &gate{permits: int32(permits)}
					semaphores[i] = graph.NewSemaphore(permits)
				}
				var ran atomic.Int32
				tasks := 0
				graphs := make([]*graph.Graph, 3)
				for n := range graphs {
					g := graph.New(fmt.Sprint(n))
					graphs[n] = g
					var last graph.Task
					for i := range 30 {
						a, b := rng.IntN(3), rng.IntN(3)
						body := func(context.Context) error { gates[a].pass(runtime.Gosched); ran.Add(1); return nil }
						limits := []*graph.Semaphore{semaphores[a]}
						if a != b && i%2 == 0 {
							limits = append(limits, semaphores[b])
							body = func(context.Context) error {
								gates[a].pass(func() { gates[b].pass(runtime.Gosched) })
								ran.Add(1)
								return nil
							}
						}
						task := g.Task(body).Hold(limits...)
						tasks++
						if i%5 == 4 {
							last.Precede(task)
						}
						last = task
					}
				}
				within(t, exs[0], func() {
					var wg sync.WaitGroup
					for n, g := range graphs {
						for _, ex := range exs {
							wg.Go(func() {
								for range 2 {
									if err := ex.Run(t.Context(), g); err != nil {
										t.Error(n, err)
									}
								}
							})
						}
					}
					wg.Wait()
				})
				require.EqualValues(t, tasks*4, ran.Load())
				for i, g := range gates {
					require.Zero(t, g.wrong.Load(), "gate %d of %d permits", i, g.permits)
				}
			}
		})
	}
}

// Permits are given back in whichever way the task ends, and waiting tasks do not hold up a run that is stopped.
func TestSemaphoreFailures(t *testing.T) {
	guests.None(t)
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		s := graph.NewSemaphore(1)
		for name, fail := range map[string]func() error{
			"error": func() error { return errTask }, "panic": func() error { panic(errTask) },
			"goexit": func() error { runtime.Goexit(); return nil },
		} {
			g := graph.New("g")
			for i := range 20 {
				g.Task(func(context.Context) error {
					if i == 7 {
						return fail()
					}
					return nil
				}).Hold(s)
			}
			within(t, ex, func() { require.Error(t, ex.Run(t.Context(), g), name) })
		}

		// One task holds the permit. Others wait for it in a run that is then cancelled, which ends all the same.
		begun, free := make(chan struct{}), make(chan struct{})
		holder := graph.New("holder")
		holder.Task(func(context.Context) error { close(begun); <-free; return nil }).Hold(s)
		waiters := graph.New("waiters")
		for range 10 {
			waiters.Task(func(context.Context) error { t.Error("ran without a permit"); return nil }).Hold(s)
		}
		if workers > 1 {
			within(t, ex, func() {
				r := ex.Start(t.Context(), holder)
				<-begun
				ctx, cancel := context.WithCancelCause(t.Context())
				w := ex.Start(ctx, waiters)
				time.Sleep(time.Millisecond)
				cancel(errTask)
				require.ErrorIs(t, w.Wait(), errTask)
				close(free)
				require.NoError(t, r.Wait())
			})
		}
		g := graph.New("g")
		ran := 0
		for range 5 {
			g.Task(func(context.Context) error { ran++; return nil }).Hold(s)
		}
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, 5, ran)
	}
}

// Special tasks and tasks in modules have limits too.
func TestSemaphoreOfAll(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	s := graph.NewSemaphore(2)
	in := &gate{permits: 1}
	inside := func() { in.pass(func() { time.Sleep(20 * time.Microsecond) }) }
	sub := graph.New("sub")
	for range 4 {
		sub.Task(func(context.Context) error { inside(); return nil }).Hold(s, s)
		sub.Subflow(func(_ context.Context, sub *graph.Graph) error {
			sub.Task(func(context.Context) error { inside(); return nil })
			return nil
		}).Hold(s).Hold(s)
		graph.Sink(graph.Source(sub, func(context.Context) (int, error) { inside(); return 1, nil }).Named("one"),
			func(context.Context, int) error { inside(); return nil }).Hold(s, s)
	}
	g := graph.New("g")
	g.Module(sub)
	g.Module(sub)
	in.permits = 8 // the values' own tasks have no limits
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Zero(t, in.wrong.Load())

	require.PanicsWithValue(t, "graph: a semaphore of 0 permits: nothing would ever run",
		func() { graph.NewSemaphore(0) })
	require.PanicsWithValue(t, `graph "g": task #2 needs 3 permits of a semaphore that has 2: it would never run`,
		func() { g.Task(nothing).Hold(s, s).Hold(s) })
	require.PanicsWithValue(t, `graph "g": Hold of task #3 by a nil semaphore`, func() { g.Task(nothing).Hold(nil) })
}

// A task has given its permits back before the worker runs the next task, also if that is its successor.
func TestPermitsEndWithTheirTask(t *testing.T) {
	guests.None(t) // a guest's loop looks around before each item
	ex := newExecutor(t, executor.Config{Workers: 1})
	s := graph.NewSemaphore(1)
	g := graph.New("g")
	free := func(context.Context) error {
		if !s.TryAcquire(1) {
			return errors.New("the permit is not free")
		}
		s.Release(1)
		return nil
	}
	first := g.Task(nothing)
	last := g.Task(free)
	for range 20 {
		holds, after := g.Task(nothing).Hold(s), g.Task(free)
		first.Precede(holds)
		holds.Precede(after)
		after.Precede(last)
		first = g.Task(free) // holds has several predecessors from the second round on
		after.Precede(first)
		holds.Precede(first)
	}
	for range 3 {
		require.NoError(t, run(t, ex, t.Context(), g))
	}
}

// A task that is woken for a permit and does not take it, because its run is stopped or a second permit is missing,
// passes it on.
func TestSemaphorePassesOn(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for range testkit.Scale(50) {
		within(t, ex, func() {
			a, b := graph.NewSemaphore(1), graph.NewSemaphore(1)
			begun, free := make(chan struct{}), make(chan struct{})
			holder := graph.New("holder")
			holder.Task(func(context.Context) error { close(begun); <-free; return nil }).Hold(b)
			first := ex.Start(t.Context(), holder)
			<-begun
			// One task needs b, which is held, and a. The others need only a: they get it, however the first ends.
			ctx, cancel := context.WithCancel(t.Context())
			both := graph.New("both")
			both.Task(nothing).Hold(b, a)
			waits := ex.Start(ctx, both)
			others := graph.New("others")
			for range 5 {
				others.Task(nothing).Hold(a)
			}
			require.NoError(t, ex.Run(t.Context(), others))
			cancel()
			require.ErrorIs(t, waits.Wait(), context.Canceled)
			require.NoError(t, ex.Run(t.Context(), others))
			close(free)
			require.NoError(t, first.Wait())
			require.NoError(t, ex.Run(t.Context(), both))
		})
	}
}

// A task that needs two permits of one semaphore sleeps while there is one.
func TestSemaphoreOfTwo(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		s := graph.NewSemaphore(2)
		begun, free := make(chan struct{}), make(chan struct{})
		holder := graph.New("holder")
		holder.Task(func(context.Context) error { close(begun); <-free; return nil }).Hold(s)
		first := ex.Start(t.Context(), holder)
		<-begun
		two := graph.New("two")
		two.Task(nothing).Hold(s, s)
		second := ex.Start(t.Context(), two)
		before := ex.Stats().Total.Tasks
		time.Sleep(20 * time.Millisecond)
		require.Less(t, ex.Stats().Total.Tasks-before, uint64(10), "it tries again and again")
		one := graph.New("one")
		one.Task(nothing).Hold(s)
		require.NoError(t, ex.Run(t.Context(), one), "there is one permit")
		close(free)
		require.NoError(t, first.Wait())
		require.NoError(t, second.Wait())
	})
}

// A permit that is given back goes to a task that some worker can run: if all workers wait for other runs, to a task of
// those.
func TestSemaphoreInNestedRuns(t *testing.T) {
	ex, other := newExecutor(t, executor.Config{Workers: 1}), newExecutor(t, executor.Config{Workers: 1})
	for range testkit.Scale(50) {
		within(t, ex, func() {
			s := graph.NewSemaphore(1)
			begun, free := make(chan struct{}), make(chan struct{})
			holder := graph.New("holder")
			holder.Task(func(context.Context) error { close(begun); <-free; return nil }).Hold(s)
			held := other.Start(t.Context(), holder)
			<-begun
			inner := graph.New("inner")
			inner.Task(nothing).Hold(s)
			g := graph.New("g")
			g.Task(nothing).Hold(s)
			g.Task(func(ctx context.Context) error { return ex.Run(ctx, inner) })
			r := ex.Start(t.Context(), g)
			time.Sleep(time.Millisecond)
			close(free)
			require.NoError(t, r.Wait())
			require.NoError(t, held.Wait())
		})
	}
}

// A task that needs more permits than are free does not keep tasks that need fewer from running.
func TestSemaphoreHeadOfLine(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	within(t, ex, func() {
		s := graph.NewSemaphore(2)
		hold := func(g *graph.Graph, wait func()) (begun chan struct{}) {
			begun = make(chan struct{})
			g.Task(func(context.Context) error { close(begun); wait(); return nil }).Hold(s)
			return begun
		}
		free1, free2 := make(chan struct{}), make(chan struct{})
		h1, h2, x, y := graph.New("h1"), graph.New("h2"), graph.New("x"), graph.New("y")
		b1, b2 := hold(h1, func() { <-free1 }), hold(h2, func() { <-free2 })
		r1, r2 := ex.Start(t.Context(), h1), ex.Start(t.Context(), h2)
		<-b1
		<-b2
		x.Task(nothing).Hold(s, s)
		y.Task(nothing).Hold(s)
		rx := ex.Start(t.Context(), x)
		time.Sleep(time.Millisecond)
		ry := ex.Start(t.Context(), y)
		time.Sleep(time.Millisecond)
		close(free2)
		require.NoError(t, ry.Wait()) // while h1 holds the other
		close(free1)
		require.NoError(t, errors.Join(rx.Wait(), r1.Wait(), r2.Wait()))
	})
}

// A module that needs a permit holds it until all of it has ended, whether it has choices or not.
func TestSemaphoreOfModule(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	for _, chooses := range []bool{false, true} {
		s := graph.NewSemaphore(1)
		in := &gate{permits: 1}
		sub := graph.New("sub")
		begin, last := sub.Task(nothing), sub.Task(func(context.Context) error { in.inside.Add(-1); return nil })
		begin.Precede(last)
		sub.Task(func(context.Context) error { in.enter(); time.Sleep(time.Millisecond); return nil }).Precede(begin)
		if chooses {
			last.Precede(sub.Condition(func(context.Context) (int, error) { return 0, nil }))
		}
		g := graph.New("g")
		end := g.Task(nothing)
		for range 4 {
			end.Succeed(g.Module(sub).Hold(s))
		}
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Zero(t, in.wrong.Load(), "with choices: %v", chooses)
	}
}

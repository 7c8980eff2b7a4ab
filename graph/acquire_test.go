package graph_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// addSession adds a session: tasks, of which the first acquires a permit and the last releases it.
func addSession(g *graph.Graph, s *graph.Semaphore, in *gate, middle int) (first, last graph.Task) {
	first = g.Task(func(context.Context) error { in.enter(); return nil }).Acquire(s)
	last = g.Task(func(context.Context) error { in.inside.Add(-1); return nil }).Release(s)
	if middle == 0 {
		first.Precede(last)
	}
	for range middle {
		t := g.Task(func(context.Context) error { runtime.Gosched(); return nil })
		first.Precede(t)
		t.Precede(last)
	}
	return first, last
}

func requireFree(t *testing.T, s *graph.Semaphore, permits int) {
	t.Helper()
	free, waiting := graph.Permits(s)
	require.Equal(t, permits, free, "free permits")
	require.Zero(t, waiting, "runs that wait")
}

// Permits are held from a task to another one, in several runs on two executors, beside tasks with limits.
func TestAcquire(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 2})
		for permits := 1; permits <= 3; permits++ {
			s, in := graph.NewSemaphore(permits), &gate{permits: int32(permits)}
			g := graph.New("g")
			for i := range 6 {
				first, last := addSession(g, s, in, i)
				g.Task(nothing).Precede(first)
				last.Precede(g.Task(func(context.Context) error { in.pass(runtime.Gosched); return nil }).Hold(s))
			}
			within(t, ex, func() {
				var wg sync.WaitGroup
				for _, ex := range []*executor.Executor{ex, other, ex} {
					wg.Go(func() {
						for range testkit.Scale(5) {
							if err := ex.Run(t.Context(), g); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
			})
			require.Zero(t, in.wrong.Load(), "more than %d", permits)
			requireFree(t, s, permits)
		}
	})
}

// A run gives back what it has when it ends, in whatever way, and before Run returns.
func TestAcquireKept(t *testing.T) {
	guests.None(t)
	for _, workers := range []int{0, 1, 4} {
		ex := executor.NewInline(1)
		if workers > 0 {
			ex = newExecutor(t, executor.Config{Workers: workers})
		}
		for name, fail := range map[string]func(cancel func()) error{
			"well": func(func()) error { return nil }, "error": func(func()) error { return errTask },
			"panic": func(func()) error { panic(errTask) }, "goexit": func(func()) error { runtime.Goexit(); return nil },
			"cancel": func(cancel func()) error { cancel(); return nil },
		} {
			for at := range 4 {
				if name == "goexit" && workers == 0 {
					continue // it would end the test's own goroutine
				}
				s, two := graph.NewSemaphore(2), graph.NewSemaphore(2)
				ctx, cancel := context.WithCancel(t.Context())
				g := graph.New("g")
				body := func(i int) func(context.Context) error {
					return func(context.Context) error {
						if i == at {
							return fail(cancel)
						}
						return nil
					}
				}
				first := g.Task(body(0)).Acquire(s, s, two).Hold(two)
				second, last := g.Task(body(1)).Release(s), g.Task(body(2)).Release(s)
				first.Precede(second)
				second.Precede(last)
				last.Precede(g.Task(body(3)))
				for range 2 {
					err := run(t, ex, ctx, g)
					require.Equal(t, name != "well" && (name != "cancel" || at < 3 || ctx.Err() != nil), err != nil,
						"%s at %d: %v", name, at, err)
					requireFree(t, s, 2)
					requireFree(t, two, 2) // there is no Release
				}
				cancel()
			}
		}
	}
}

// A task of another run that waits gets the permits that a run has kept until its end.
func TestAcquireHandsOn(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for range testkit.Scale(50) {
		s := graph.NewSemaphore(1)
		in := &gate{permits: 1}
		g := graph.New("g")
		g.Task(func(context.Context) error { in.enter(); return nil }).Acquire(s).
			Precede(g.Task(func(context.Context) error { in.inside.Add(-1); return nil }))
		within(t, ex, func() {
			var runs []*executor.Run
			for range 10 {
				runs = append(runs, ex.Start(t.Context(), g))
			}
			for _, r := range runs {
				require.NoError(t, r.Wait())
			}
		})
		require.Zero(t, in.wrong.Load())
		requireFree(t, s, 1)
	}
}

// In a loop, a permit is acquired and released in each round. Modules are copied with what their tasks acquire. A
// subflow is a run of its own.
func TestAcquireInAll(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	s := graph.NewSemaphore(1)
	in := &gate{permits: 1}

	loop := graph.New("loop")
	begin := loop.Task(nothing)
	first, last := addSession(loop, s, in, 0)
	rounds := 0
	again := loop.Condition(func(context.Context) (int, error) { rounds++; return rounds / 10, nil })
	begin.Precede(first)
	last.Precede(again)
	again.Precede(first)
	require.NoError(t, run(t, ex, t.Context(), loop))
	require.Equal(t, 10, rounds)
	requireFree(t, s, 1)

	rounds = 0
	open, shut := graph.New("open"), graph.New("shut")
	open.Task(func(context.Context) error { in.enter(); return nil }).Acquire(s)
	shut.Task(func(context.Context) error { in.inside.Add(-1); return nil }).Release(s)
	g := graph.New("g")
	opened, closed := g.Module(open), g.Module(shut)
	opened.Precede(closed)
	closed.Precede(g.Subflow(func(_ context.Context, sub *graph.Graph) error {
		_, last := addSession(sub, s, in, 3)
		keeps := sub.Task(func(context.Context) error { in.pass(runtime.Gosched); return nil })
		keeps.Acquire(s).Succeed(last) // until the subflow ends
		return nil
	}))
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Zero(t, in.wrong.Load())
	requireFree(t, s, 1)
	require.EqualError(t, shut.Validate(), `graph "shut": task #0 releases a permit of a semaphore that no task acquires`)

	apart := graph.New("apart") // the module is a run of its own, which has released nothing at the end
	apart.Module(loop).Acquire(graph.NewSemaphore(1))
	require.NoError(t, run(t, ex, t.Context(), apart))
	requireFree(t, s, 1)
}

// Random chains and forks of tasks that acquire and release: no more permits are out than there are, and none is lost.
func TestRandomAcquire(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Scale(30) {
		ex := executor.NewInline(rng.Uint64())
		if n := rng.IntN(4); n > 0 {
			ex = newExecutor(t, executor.Config{Workers: n})
		}
		semaphores, gates := make([]*graph.Semaphore, 2), make([]*gate, 2)
		for i := range semaphores {
			permits := 1 + rng.IntN(3)
			semaphores[i], gates[i] = graph.NewSemaphore(permits), &gate{permits: int32(permits)}
		}
		g := graph.New("g")
		for range 20 {
			k := rng.IntN(2)
			first, last := addSession(g, semaphores[k], gates[k], rng.IntN(4))
			if rng.IntN(2) == 0 { // the other one inside: always in the same order
				if k == 0 {
					f, l := addSession(g, semaphores[1], gates[1], rng.IntN(3))
					first.Precede(f)
					l.Precede(last)
				}
			}
			if rng.IntN(4) == 0 {
				last.Priority(graph.High)
			}
			if rng.IntN(20) == 0 {
				g.Task(func(context.Context) error { return errTask }).Succeed(last)
			}
		}
		var wg sync.WaitGroup
		within(t, ex, func() {
			for range 3 {
				wg.Go(func() { _ = ex.Run(t.Context(), g) })
			}
			wg.Wait()
		})
		for i, s := range semaphores {
			if gates[i].inside.Load() == 0 { // else a session was cut short, and gates do not follow
				require.Zero(t, gates[i].wrong.Load())
			}
			requireFree(t, s, int(gates[i].permits))
		}
	}
}

func TestAcquireMistakes(t *testing.T) {
	two := graph.NewSemaphore(2)
	g := graph.New("g")
	a := g.Task(nothing).Named("a")
	require.PanicsWithValue(t, `graph "g": task a needs 3 permits of a semaphore that has 2: it would never run`,
		func() { a.Acquire(two, two, two) })
	require.PanicsWithValue(t, `graph "g": task a needs 3 permits of a semaphore that has 2: it would never run`,
		func() { g.Task(nothing).Named("a").Hold(two).Acquire(two, two) })
	require.PanicsWithValue(t, `graph "g": task a gives back 3 permits of a semaphore that has 2`,
		func() { a.Release(two, two, two) })
	require.PanicsWithValue(t, `graph "g": Acquire of task a by a nil semaphore`, func() { a.Acquire(nil) })
	require.PanicsWithValue(t, `graph "g": Release of task a by a nil semaphore`, func() { a.Release(nil) })
	require.PanicsWithValue(t, `graph: Acquire called on a zero Task: make tasks with Graph.Task`,
		func() { graph.Task{}.Acquire(two) })

	// The task that releases too early fails, and gives back nothing that it does not have.
	ex := newExecutor(t, executor.Config{Workers: 1})
	early := graph.New("early")
	release := early.Task(nothing).Named("release").Release(two, two)
	release.Precede(early.Task(nothing).Acquire(two, two))
	err := run(t, ex, t.Context(), early)
	require.EqualError(t, err, `graph "early": task release: releases 2 of a semaphore's permits, `+
		`of which the run has 0: let a task that acquires them come before`)
	requireFree(t, two, 2)
}

// Validate finds what can never work.
func TestAcquireValidate(t *testing.T) {
	one, two := graph.NewSemaphore(1), graph.NewSemaphore(2)
	for name, c := range map[string]struct {
		build func(task func(name string, after ...graph.Task) graph.Task)
		want  string
	}{
		"no task acquires": {func(task func(string, ...graph.Task) graph.Task) {
			task("a").Hold(two).Release(two)
		}, `task a releases a permit of a semaphore that no task acquires`},
		"too many releases": {func(task func(string, ...graph.Task) graph.Task) {
			a := task("a").Acquire(two)
			task("b", a).Release(two)
			task("c", a).Release(two)
		}, `its tasks release 2 permits of a semaphore and acquire only 1: task b is one of them`},
		"too many acquires": {func(task func(string, ...graph.Task) graph.Task) {
			task("a").Acquire(one)
			task("b").Acquire(one)
		}, `its tasks acquire 2 permits more of a semaphore than they release, and it has 1: ` +
			`one of them, such as b, would wait for ever`},
		"kept on the path": {func(task func(string, ...graph.Task) graph.Task) {
			a := task("a").Acquire(two)
			b := task("b", a, a).Acquire(two)
			c := task("c", b).Hold(two)
			task("e", task("d", c).Release(two)).Release(two)
		}, `task c can never run: it needs 1 permits of a semaphore that has 2, and tasks before it keep 2: ` +
			`release some of them in a task before it`},
		"released beside the path": {func(task func(string, ...graph.Task) graph.Task) {
			a := task("a").Acquire(one)
			task("b", a).Release(one)
			c := task("c", a).Acquire(one)
			task("d", c).Release(one)
		}, ""},
		"acquired and released": {func(task func(string, ...graph.Task) graph.Task) {
			b := task("b", task("a").Acquire(one)).Release(one)
			task("d", task("c", b).Acquire(one).Hold(two)).Release(one).Hold(two, two)
		}, ""},
		"at once, for another": {func(task func(string, ...graph.Task) graph.Task) {
			task("b", task("a").Acquire(two)).Acquire(two).Release(two, two)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("g")
			c.build(func(name string, after ...graph.Task) graph.Task {
				task := g.Task(nothing).Named(name)
				task.Succeed(after...)
				return task
			})
			if c.want != "" {
				require.EqualError(t, g.Validate(), `graph "g": `+c.want)
				return
			}
			require.NoError(t, g.Validate())
			ex := newExecutor(t, executor.Config{Workers: 2})
			require.NoError(t, run(t, ex, t.Context(), g))
			requireFree(t, one, 1)
			requireFree(t, two, 2)
		})
	}
	// A long path takes a time that is linear.
	g := graph.New("long")
	last := g.Task(nothing)
	for range 100_000 {
		next := g.Task(nothing)
		if g.Len()%3 == 0 {
			next.Acquire(two)
		} else if g.Len()%3 == 1 && g.Len() > 3 {
			next.Release(two)
		}
		last.Precede(next)
		last = next
	}
	require.NoError(t, g.Validate())
	keeps := g.Task(nothing).Acquire(two)
	keeps.Succeed(last)
	keeps.Precede(g.Task(nothing).Named("end").Acquire(two, two))
	require.ErrorContains(t, g.Validate(), "task end can never run")
}

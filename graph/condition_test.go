package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A loop has as many rounds as its condition chooses, no buffer grows, and the run ends after it.
func TestConditionLoop(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		rounds, ends, n := 0, 0, 0
		g := graph.New("g")
		begin := g.Task(func(context.Context) error { rounds = 0; return nil })
		body := g.Task(func(context.Context) error { rounds++; return nil })
		again := g.Condition(func(context.Context) (int, error) {
			if rounds < n {
				return 0, nil
			}
			return 1, nil
		})
		end := g.Task(func(context.Context) error { ends++; return nil })
		begin.Precede(body)
		body.Precede(again)
		again.Precede(body, end)
		require.NoError(t, g.Validate())
		within(t, ex, func() {
			for i, rounded := range []int{1, 2, 10, testkit.Scale(200_000)} {
				n = rounded
				require.NoError(t, ex.Run(t.Context(), g))
				require.Equal(t, n, rounds)
				require.Equal(t, i+1, ends)
			}
		})
	}
}

// Only the chosen branch runs; with an index that no branch has, none runs.
func TestConditionBranches(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		var choice int
		var j journal
		g := graph.New("g")
		c := g.Condition(func(context.Context) (int, error) { return choice, nil })
		for i := range 3 {
			branch := g.Task(j.task(fmt.Sprint(i)))
			c.Precede(branch)
			branch.Precede(g.Task(j.task(fmt.Sprint(i, "'"))))
		}
		for choice = -2; choice < 5; choice++ {
			require.NoError(t, run(t, ex, t.Context(), g))
			if choice >= 0 && choice < 3 {
				require.Equal(t, []string{fmt.Sprint(choice), fmt.Sprint(choice, "'")}, j.take())
			} else {
				require.Empty(t, j.take())
			}
		}
		alone := graph.New("alone")
		alone.Condition(func(context.Context) (int, error) { return 0, nil })
		require.NoError(t, run(t, ex, t.Context(), alone))
	}
}

// Several tasks are chosen at once and run at the same time. The task after them waits for all of its predecessors that
// are no conditions.
func TestMultiCondition(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	var met atomic.Int32
	var j journal
	g := graph.New("g")
	c := g.MultiCondition(func(context.Context) ([]int, error) { return []int{4, 0, 17, 5, 4, -1, 6, 1, 7}, nil })
	var join graph.Task
	for i := range 4 {
		branch := g.Task(func(ctx context.Context) error {
			for met.Add(1); met.Load() < 3; {
				runtime.Gosched()
			}
			return j.task(fmt.Sprint(i))(ctx)
		})
		c.Precede(branch, branch)
		if i == 2 {
			join = g.Task(j.task("after 2"))
			branch.Precede(join)
		}
	}
	require.NoError(t, run(t, ex, t.Context(), g))
	require.ElementsMatch(t, []string{"0", "2", "3", "after 2"}, j.take())
}

// A walk through conditions is that of the sequential program, in several runs at once.
func TestConditionWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	type walk struct {
		steps int
		trail []int
	}
	type key struct{}
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		for range testkit.Scale(200) {
			n := 1 + rng.IntN(8)
			seed := rng.Uint64()
			next := func(w *walk, at int) int { // which of the successors, or none
				w.trail = append(w.trail, at)
				if w.steps--; w.steps < 0 {
					return -1
				}
				h := (seed + uint64(w.steps)*31 + uint64(at)) * 0x9E3779B97F4A7C15
				return int(h >> 60)
			}
			succ := make([][]int, n)
			g := graph.New("walk")
			begin := g.Condition(func(context.Context) (int, error) { return 0, nil })
			tasks := make([]graph.Task, n)
			for i := range tasks {
				tasks[i] = g.Condition(func(ctx context.Context) (int, error) {
					return next(ctx.Value(key{}).(*walk), i), nil
				})
			}
			begin.Precede(tasks...) // so that none is a source
			for i := range tasks {
				for range rng.IntN(4) {
					to := rng.IntN(n)
					succ[i] = append(succ[i], to)
					tasks[i].Precede(tasks[to])
				}
			}
			want := &walk{steps: 50}
			for at := 0; ; {
				c := next(want, at)
				if c < 0 || c >= len(succ[at]) {
					break
				}
				at = succ[at][c]
			}
			within(t, ex, func() {
				var runs [3]*executor.Run
				var got [3]walk
				for i := range runs {
					got[i].steps = 50
					runs[i] = ex.Start(context.WithValue(t.Context(), key{}, &got[i]), g)
				}
				for i, r := range runs {
					require.NoError(t, r.Wait())
					require.Equal(t, want.trail, got[i].trail)
				}
			})
		}
	}
}

// Loops in modules, twice, beside wide parts. A module with choices ends when none of its tasks is left.
func TestConditionInModule(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		var rounds atomic.Int32
		loop := graph.New("loop")
		left := 0
		begin := loop.Task(func(context.Context) error { left = 5; return nil })
		again := loop.Condition(func(context.Context) (int, error) {
			rounds.Add(1)
			if left--; left > 0 {
				return 0, nil
			}
			return 1, nil
		})
		begin.Precede(again)
		again.Precede(again)
		var j journal
		g := graph.New("g")
		a, b, c := g.Module(loop), g.Task(j.task("between")), g.Module(loop)
		a.Precede(b)
		b.Precede(c)
		c.Precede(g.Task(j.task("after")))
		for i := range 3 {
			require.NoError(t, run(t, ex, t.Context(), g))
			require.EqualValues(t, 10*(i+1), rounds.Load())
			require.Equal(t, []string{"between", "after"}, j.take())
		}
		// A module without choices, in a loop.
		wide := graph.New("wide")
		var ran atomic.Int32
		for range 10 {
			wide.Task(func(context.Context) error { ran.Add(1); return nil })
		}
		outer := graph.New("outer")
		m := outer.Module(wide)
		turns := 0
		turn := outer.Condition(func(context.Context) (int, error) {
			if turns++; turns%4 != 0 {
				return 0, nil
			}
			return 1, nil
		})
		outer.Task(nothing).Precede(m)
		m.Precede(turn)
		turn.Precede(m)
		for i := range 2 {
			require.NoError(t, run(t, ex, t.Context(), outer))
			require.EqualValues(t, 40*(i+1), ran.Load())
		}
	}
}

func TestConditionFailures(t *testing.T) {
	guests.None(t)
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		for name, fail := range map[string]func() (int, error){
			"error": func() (int, error) { return 0, errTask }, "panic": func() (int, error) { panic(errTask) },
			"goexit": func() (int, error) { runtime.Goexit(); return 0, nil },
		} {
			rounds := 0
			fails := true
			s := graph.NewSemaphore(1)
			g := graph.New("g")
			begin := g.Task(func(context.Context) error { rounds = 0; return nil })
			other := g.Task(nothing)
			again := g.Condition(func(context.Context) (int, error) {
				if rounds++; rounds == 10 {
					if fails {
						return fail()
					}
					return 1, nil
				}
				return 0, nil
			}).Named("again").Hold(s)
			begin.Precede(again)
			again.Precede(again, g.Task(nothing))
			join := g.Task(nothing)
			join.Succeed(begin, other)
			for range 2 {
				within(t, ex, func() {
					fails = true
					err := ex.Run(t.Context(), g)
					var failed *graph.TaskError
					require.ErrorAs(t, err, &failed, name)
					require.Equal(t, "again", failed.Task)
					fails = false
					require.NoError(t, ex.Run(t.Context(), g), "after "+name)
				})
			}
		}
		// An endless loop ends when the run is cancelled.
		ctx, cancel := context.WithCancelCause(t.Context())
		g := graph.New("endless")
		rounds := 0
		c := g.Condition(func(context.Context) (int, error) {
			if rounds++; rounds == 1000 {
				cancel(errTask)
			}
			return 0, nil
		})
		g.Task(nothing).Precede(c)
		c.Precede(c)
		require.ErrorIs(t, run(t, ex, ctx, g), errTask)
	}
}

// Errors name the tasks that could never run or would start too early.
func TestConditionMistakes(t *testing.T) {
	never := func(context.Context) (int, error) { return 0, nil }
	g := graph.New("g")
	c := g.Condition(never).Named("c")
	c.Precede(c)
	require.EqualError(t, g.Validate(),
		`graph "g": task c can never run: it is in a loop that nothing begins, put a task before it`)
	g.Task(nothing)
	require.Error(t, g.Validate(), "another source does not help")

	g = graph.New("g")
	c = g.Condition(never).Named("c")
	a, b, join := g.Task(nothing), g.Task(nothing), g.Task(nothing).Named("join")
	join.Succeed(a, b)
	c.Precede(join)
	require.EqualError(t, g.Validate(),
		`graph "g": task join comes after 2 tasks and may be chosen by c, `+
			`which would not wait for them: put a task between`)

	// A cycle of strong edges remains one.
	g = graph.New("g")
	c = g.Condition(never)
	a, b = g.Task(nothing), g.Task(nothing)
	c.Precede(a)
	a.Precede(b)
	b.Precede(a)
	var cycle *graph.CycleError
	require.ErrorAs(t, g.Validate(), &cycle)
	require.Len(t, cycle.Path, 2)

	require.Panics(t, func() { g.Condition(nil) })
	require.Panics(t, func() { g.MultiCondition(nil) })

	g = graph.New("g")
	g.Condition(never).Named("c").Precede(g.Task(nothing), g.Task(nothing))
	var drawing bytes.Buffer
	require.NoError(t, g.WriteDOT(&drawing))
	lines := slices.Collect(bytes.Lines(drawing.Bytes()))
	require.Equal(t, "\tn0 [label=\"c\" shape=diamond];\n", string(lines[1]))
	require.Equal(t, "\tn0 -> n2 [style=dashed label=1];\n", string(lines[5]))
}

// A join counter that one run has left half counted is armed for the next run.
func TestConditionHalfJoin(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		chosen, joined := false, 0
		g := graph.New("g")
		a, b, c := g.Task(nothing), g.Task(nothing), g.Condition(func(context.Context) (int, error) {
			if chosen {
				return 0, nil
			}
			return -1, nil
		})
		c.Precede(b)
		g.Task(func(context.Context) error { joined++; return nil }).Succeed(a, b)
		for i := range 6 {
			chosen, joined = i%2 == 1, 0
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, chosen, joined == 1, "run %d", i)
		}
	}
}

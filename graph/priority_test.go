package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/dag"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

var priorities = []graph.Priority{graph.Low, graph.Normal, graph.High}

// oneAfterTheOther are executors that run one task at a time.
func oneAfterTheOther(t *testing.T, f func(t *testing.T, ex *executor.Executor)) {
	everyExecutor(t, []int{1}, f)
	for seed := range uint64(5) {
		t.Run(fmt.Sprintf("inline/%d", seed), func(t *testing.T) {
			ex := executor.NewInline(seed)
			defer ex.Close()
			f(t, ex)
		})
	}
}

// A leveled is a graph on paper, of tasks 0, 1, … with a priority and successors each.
type leveled struct {
	levels []graph.Priority
	succ   [][]int
}

func (s *leveled) graph(do func(task int) error) *graph.Graph {
	g := graph.New("leveled")
	tasks := make([]graph.Task, len(s.levels))
	for i := range tasks {
		tasks[i] = g.Task(func(context.Context) error { return do(i) }).Priority(s.levels[i])
	}
	for i, succ := range s.succ {
		for _, j := range succ {
			tasks[i].Precede(tasks[j])
		}
	}
	return g
}

// randomSketch draws up to most tasks.
func randomSketch(rng *rand.Rand, most int) *leveled {
	f := dag.Draw(rng, 1+rng.IntN(most))
	s := &leveled{make([]graph.Priority, f.Tasks), make([][]int, f.Tasks)}
	for i := range s.levels {
		s.levels[i] = priorities[rng.IntN(3)]
	}
	for _, e := range f.Edges {
		s.succ[e.From] = append(s.succ[e.From], e.To)
	}
	return s
}

// order returns the order in which one worker has to run the tasks.
func (s *leveled) order() (order []int) {
	join := make([]int, len(s.levels))
	for _, succ := range s.succ {
		for _, j := range succ {
			join[j]++
		}
	}
	var ready []int // in the order in which they became ready
	for i, n := range join {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	first := func(p graph.Priority) int {
		return slices.IndexFunc(ready, func(i int) bool { return s.levels[i] == p })
	}
	for len(ready) > 0 {
		preferred := []graph.Priority{graph.High, graph.Normal, graph.Low}
		if len(order)%16 == 15 {
			preferred = []graph.Priority{graph.Low, graph.High, graph.Normal}
		} else if len(order)%16 == 7 {
			preferred = []graph.Priority{graph.Normal, graph.High, graph.Low}
		}
		at := -1
		for _, p := range preferred {
			if at < 0 {
				at = first(p)
			}
		}
		i := ready[at]
		ready = slices.Delete(ready, at, at+1)
		order = append(order, i)
		for _, j := range s.succ[i] {
			if join[j]--; join[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	return order
}

// One worker runs ready tasks of the highest priority first, and those of one priority in their order, except at the
// turns of the lower priorities. The order is the same in every run.
func TestPriorityOrder(t *testing.T) {
	oneAfterTheOther(t, func(t *testing.T, ex *executor.Executor) {
		var j journal
		g := graph.New("g")
		g.Task(j.task("low")).Priority(graph.Low)
		first := g.Task(j.task("first"))
		g.Task(j.task("second"))
		after := g.Task(j.task("after")).Priority(graph.High)
		first.Precede(after, g.Task(j.task("last")))
		g.Task(j.task("high")).Priority(graph.High)
		for range 3 {
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, []string{"high", "first", "after", "second", "last", "low"}, j.take())
			require.Zero(t, graph.LeftInRanks(g))
		}

		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for range testkit.Scale(100) {
			s := randomSketch(rng, 100)
			var ran []int
			g := s.graph(func(task int) error { ran = append(ran, task); return nil })
			require.NoError(t, g.Validate())
			if !graph.IsRanked(g) {
				continue // of one task, or all the same by chance
			}
			for range 2 {
				ran = nil
				require.NoError(t, run(t, ex, t.Context(), g))
				require.Equal(t, s.order(), ran)
			}
		}
	})
}

// Tasks that one worker makes ready begin on another in the same order, though all tickets are in the first's deque.
func TestPriorityAcrossWorkers(t *testing.T) {
	everyExecutor(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			busy, done := make(chan struct{}), make(chan struct{})
			var ran []string
			g := graph.New("g")
			g.Task(func(context.Context) error { close(busy); <-done; return nil }).Priority(graph.High)
			start := g.Task(func(context.Context) error { <-busy; return nil })
			for _, p := range priorities {
				for i := range 2 {
					start.Precede(g.Task(func(context.Context) error {
						if ran = append(ran, fmt.Sprint(p, i)); len(ran) == 6 {
							close(done)
						}
						return nil
					}).Priority(p))
				}
			}
			require.NoError(t, run(t, ex, t.Context(), g))
			// The eighth take is Normal's: none is left.
			require.Equal(t, []string{"high 0", "high 1", "normal 0", "normal 1", "low 0", "low 1"}, ran)
		}
	})
}

// As long as a task of high priority is always ready, one of sixteen tasks is of Normal and one of Low.
func TestPriorityTurns(t *testing.T) {
	require.Equal(t, 16, graph.TakesPerTurn, "Task.Priority promises it")
	oneAfterTheOther(t, func(t *testing.T, ex *executor.Executor) {
		for _, lower := range [][]graph.Priority{{graph.Low}, {graph.Normal}, {graph.Low, graph.Normal}} {
			const each = 5
			begun := 0
			at := make(map[graph.Priority][]int)
			g := graph.New("g")
			start := g.Task(func(context.Context) error { begun = 1; clear(at); return nil })
			stream := g.Condition(func(context.Context) (int, error) {
				if begun++; begun < 1000 {
					return 0, nil
				}
				return -1, nil
			}).Priority(graph.High)
			start.Precede(stream)
			stream.Precede(stream)
			for _, p := range lower {
				for range each {
					start.Precede(g.Task(func(context.Context) error {
						begun++
						at[p] = append(at[p], begun)
						return nil
					}).Priority(p))
				}
			}
			for range 2 {
				require.NoError(t, run(t, ex, t.Context(), g))
				for _, p := range lower {
					turn := map[graph.Priority]int{graph.Normal: 8, graph.Low: 16}[p]
					require.Equal(t, []int{turn, turn + 16, turn + 32, turn + 48, turn + 64}, at[p], "%v of %v", p,
						lower)
				}
			}
		}
	})
}

// In whichever order tasks become ready, one with k of its priority before it is among the next 16·(k+1) to begin.
func TestPriorityBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Scale(50) {
		const tasks = 2000
		levels := make([]graph.Priority, tasks)
		mix := rng.IntN(8) // so many in ten are not of High
		for i := range levels {
			levels[i] = graph.High
			if rng.IntN(10) < mix {
				levels[i] = priorities[rng.IntN(2)]
			}
		}
		add, take := graph.Ranks(levels)
		type due struct{ task, latest int }
		ready := make(map[graph.Priority][]due)
		added, takes, burst := 0, 0, 2+rng.IntN(40)
		for takes < tasks {
			for range min(rng.IntN(burst), tasks-added) {
				p := levels[added]
				ready[p] = append(ready[p], due{added, takes + graph.TakesPerTurn*(len(ready[p])+1)})
				add(uint32(added))
				added++
			}
			for range rng.IntN(burst) {
				if takes == added {
					break
				}
				i := int(take())
				takes++
				oldest := ready[levels[i]][0]
				ready[levels[i]] = ready[levels[i]][1:]
				require.Equal(t, oldest.task, i)
				require.LessOrEqual(t, takes, oldest.latest)
			}
		}
	}
}

// A module begins and ends by the priority of its task; its tasks have their own, also of a module in a module.
func TestPriorityOfModules(t *testing.T) {
	oneAfterTheOther(t, func(t *testing.T, ex *executor.Executor) {
		var j journal
		inner := graph.New("inner")
		inner.Task(j.task("inner low")).Priority(graph.Low)
		inner.Task(j.task("inner high")).Priority(graph.High)
		middle := graph.New("middle")
		middle.Module(inner)
		middle.Task(j.task("middle"))
		g := graph.New("g")
		m := g.Module(middle).Priority(graph.High)
		m.Precede(g.Task(j.task("after")).Priority(graph.High))
		g.Task(j.task("low")).Priority(graph.Low)
		for range 2 {
			require.NoError(t, run(t, ex, t.Context(), g))
			// low was ready before inner low, and the module has not ended before that.
			require.Equal(t, []string{"inner high", "middle", "low", "inner low", "after"}, j.take())
		}

		// The successors of a module of high priority do not wait for other ready tasks.
		empty := graph.New("empty")
		g = graph.New("g")
		start := g.Task(nothing)
		m = g.Module(empty).Priority(graph.High)
		start.Precede(m, g.Task(j.task("normal")))
		m.Precede(g.Task(j.task("after")).Priority(graph.High))
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, []string{"after", "normal"}, j.take())

		// A change of the module takes effect.
		middle.Task(j.task("new")).Priority(graph.High)
		g = graph.New("g")
		g.Module(middle)
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, []string{"new", "inner high", "middle", "inner low"}, j.take())
	})
}

// Tasks that waited for permits are in the order of the others when they are asked again.
func TestPriorityOfLimited(t *testing.T) {
	elsewhere := newExecutor(t, executor.Config{Workers: 1})
	everyExecutor(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		s := graph.NewSemaphore(3)
		held, free, aside := make(chan struct{}), make(chan struct{}), make(chan struct{})
		holder := graph.New("holder")
		holder.Task(func(context.Context) error { close(held); <-free; return nil }).Hold(s, s, s)
		var j journal
		g := graph.New("g")
		for _, p := range priorities {
			g.Task(j.task(fmt.Sprint("limited ", p))).Priority(p).Hold(s)
		}
		last := g.Task(func(context.Context) error { // after all limited ones were put aside
			close(aside)
			close(free)
			for graph.WaitingFor(s) > 0 || ex.Stats().Gauges.Injected < len(priorities) { // all are ready again
				runtime.Gosched()
			}
			return nil
		}).Priority(graph.Low)
		last.Precede(g.Task(j.task("low")).Priority(graph.Low))
		within(t, ex, func() {
			h := elsewhere.Start(t.Context(), holder)
			<-held
			require.NoError(t, ex.Run(t.Context(), g))
			<-aside
			require.NoError(t, h.Wait())
		})
		lines := j.take()
		require.Equal(t, []string{"limited high", "limited normal"}, lines[:2])
		require.ElementsMatch(t, []string{"limited low", "low"}, lines[2:])
		require.EqualValues(t, 5, ex.Stats().Total.Tasks, "tickets are counted for the tasks that they were for")
		require.Zero(t, graph.LeftInRanks(g))
	})
}

// A graph whose tasks all have the same priority runs as without priorities.
func TestPriorityOneLevel(t *testing.T) {
	for _, p := range priorities {
		sub := graph.New("sub")
		inSub := sub.Task(nothing).Priority(p)
		g := graph.New("g")
		a := g.Task(nothing).Priority(p)
		a.Precede(g.Module(sub).Priority(p))
		require.NoError(t, g.Validate())
		require.False(t, graph.IsRanked(g), "all are %v", p)
		for _, other := range priorities {
			inSub.Priority(other)
			require.NoError(t, g.Validate())
			require.Equal(t, other != p, graph.IsRanked(g), "%v, and %v in the module", p, other)
			inSub.Priority(p)
			a.Priority(other)
			require.NoError(t, g.Validate())
			require.Equal(t, other != p, graph.IsRanked(g), "%v, and one %v", p, other)
			a.Priority(p)
		}
	}
}

func TestPriorityMistakes(t *testing.T) {
	g := graph.New("g")
	a := g.Task(nothing).Named("a")
	require.PanicsWithValue(t, `graph "g": Priority(2) of task a: there are Low, Normal and High`,
		func() { a.Priority(2) })
	require.PanicsWithValue(t, `graph "g": Priority(-2) of task a: there are Low, Normal and High`,
		func() { a.Priority(-2) })
	require.Panics(t, func() { graph.Task{}.Priority(graph.High) })
	require.Equal(t, "[low normal high]", fmt.Sprint(priorities))
	require.Zero(t, graph.Normal)

	ex := newExecutor(t, executor.Config{Workers: 1})
	b := g.Task(func(context.Context) error { a.Priority(graph.High); return nil })
	var panicked *executor.PanicError
	require.ErrorAs(t, run(t, ex, t.Context(), g), &panicked, "changed during a run")

	// Between runs it may be changed.
	var j journal
	g = graph.New("g")
	a, b = g.Task(j.task("a")), g.Task(j.task("b"))
	for range 2 {
		a.Priority(graph.Low)
		b.Priority(graph.High)
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, []string{"b", "a"}, j.take())
		a.Priority(graph.High)
		b.Priority(graph.Normal)
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, []string{"a", "b"}, j.take())
	}
}

// Drawings show priorities, those of modules too.
func TestPriorityDOT(t *testing.T) {
	sub := graph.New("sub")
	sub.Task(nothing).Priority(graph.Low)
	g := graph.New("g")
	g.Condition(func(context.Context) (int, error) { return 0, nil }).Named("c").Priority(graph.High)
	g.Task(nothing).Named("n").Priority(graph.Normal)
	g.Module(sub)
	var out bytes.Buffer
	require.NoError(t, g.WriteDOT(&out))
	require.Contains(t, out.String(), `
	n0 [label="c" shape=diamond style=bold];
	n1 [label="n"];
	n2 [label="sub#2"];
	n3 [label="sub#2/#0" style=dotted];
`)
}

// A rerun with several priorities allocates a constant amount too; for one priority there is TestAllocations.
func TestPriorityAllocations(t *testing.T) {
	for name, build := range shapes {
		for _, w := range []int{1, 2} {
			for _, n := range []int{10, large(20_000)} {
				t.Run(fmt.Sprintf("%s/W=%d/n=%d", name, w, n), func(t *testing.T) {
					ex := newExecutor(t, executor.Config{Workers: w})
					g := graph.New(name)
					build(g, n)
					g.Task(nothing).Priority(graph.High)
					rerun := func() {
						if err := ex.Run(context.Background(), g); err != nil {
							panic(err)
						}
					}
					within(t, ex, func() {
						for range 20 {
							rerun()
						}
					})
					require.True(t, graph.IsRanked(g))
					requireAllocations(t, ex, 2.5, rerun)
				})
			}
		}
	}
}

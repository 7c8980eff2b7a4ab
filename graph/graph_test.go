package graph_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g := graph.New("smoke")
		var order []string
		task := func(name string) graph.Task {
			return g.Task(func(context.Context) error { order = append(order, name); return nil }).Named(name)
		}
		c, b, a := task("c"), task("b"), task("a")
		a.Precede(b)
		c.Succeed(b)
		for range 3 {
			order = nil
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, []string{"a", "b", "c"}, order)
		}
	})
}

// The zero Graph is a graph without a name, that can be built, run, and be a module.
func TestZeroGraph(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	var g graph.Graph
	require.NoError(t, run(t, ex, t.Context(), &g), "no tasks yet")
	ran := 0
	g.Task(func(context.Context) error { ran++; return nil }).Precede(g.Task(nothing))
	require.NoError(t, run(t, ex, t.Context(), &g))
	around := graph.New("around")
	around.Module(&g)
	require.NoError(t, run(t, ex, t.Context(), around))
	require.Equal(t, 2, ran)
	require.Empty(t, g.Name())
}

// panicText returns the text of f's panic. It fails the test if f does not panic, or not with a text.
func panicText(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		v := recover()
		require.NotNil(t, v, "no panic")
		text = v.(string)
	}()
	f()
	return ""
}

func TestProgrammerFaultsPanic(t *testing.T) {
	other := graph.New("other")
	stranger := other.Task(nothing).Named("stranger")
	var zero graph.Task
	for _, c := range []struct {
		name string
		do   func(g *graph.Graph, load graph.Task)
		want string
	}{
		{"nil function", func(g *graph.Graph, _ graph.Task) { g.Task(nil) },
			`graph "etl": the function of task 1 is nil`},
		{"zero task Precede", func(_ *graph.Graph, load graph.Task) { zero.Precede(load) },
			`graph: Precede called on a zero Task: make tasks with Graph.Task`},
		{"zero task Succeed", func(_ *graph.Graph, load graph.Task) { zero.Succeed(load) },
			`graph: Succeed called on a zero Task: make tasks with Graph.Task`},
		{"zero task Named", func(*graph.Graph, graph.Task) { zero.Named("x") },
			`graph: Named called on a zero Task: make tasks with Graph.Task`},
		{"Precede zero task", func(_ *graph.Graph, load graph.Task) { load.Precede(load, zero) },
			`graph "etl": Precede of task load was given a zero Task: make tasks with Graph.Task`},
		{"Succeed zero task", func(_ *graph.Graph, load graph.Task) { load.Succeed(zero) },
			`graph "etl": Succeed of task load was given a zero Task: make tasks with Graph.Task`},
		{"Precede foreign task", func(_ *graph.Graph, load graph.Task) { load.Precede(stranger) },
			`graph "etl": Precede of task load was given a task of graph "other": edges stay within a graph`},
		{"Succeed foreign task", func(_ *graph.Graph, load graph.Task) { load.Succeed(stranger) },
			`graph "etl": Succeed of task load was given a task of graph "other": edges stay within a graph`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New("etl")
			load := g.Task(nothing).Named("load")
			require.Equal(t, c.want, panicText(t, func() { c.do(g, load) }))
		})
	}
	require.NoError(t, other.Validate(), "a refused edge must not reach the other graph")
}

// TestFaultLeavesGraphUsable: a panic at the call loses nothing that was built before.
func TestFaultLeavesGraphUsable(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("etl")
	ran := 0
	a := g.Task(func(context.Context) error { ran++; return nil })
	require.Panics(t, func() { g.Task(nil) })
	require.Panics(t, func() { a.Precede(graph.Task{}) })
	require.Equal(t, 1, g.Len())
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, 1, ran)
}

func TestCycles(t *testing.T) {
	type edge [2]int
	for _, c := range []struct {
		name  string
		tasks int
		edges []edge
		path  []string // nil: there is no cycle
	}{
		{"none", 3, []edge{{0, 1}, {1, 2}, {0, 2}}, nil},
		{"backward edges only", 3, []edge{{2, 1}, {1, 0}, {2, 0}}, nil},
		{"diamond both ways", 4, []edge{{3, 1}, {3, 2}, {1, 0}, {2, 0}, {3, 0}}, nil},
		{"self", 1, []edge{{0, 0}}, []string{"t0"}},
		{"self among others", 3, []edge{{0, 1}, {1, 1}, {1, 2}}, []string{"t1"}},
		{"pair", 2, []edge{{0, 1}, {1, 0}}, []string{"t0", "t1"}},
		{"behind a source", 4, []edge{{0, 1}, {1, 2}, {2, 3}, {3, 1}}, []string{"t1", "t2", "t3"}},
		{"sink behind it", 4, []edge{{0, 1}, {1, 0}, {1, 2}, {2, 3}}, []string{"t0", "t1"}},
		{"doubled edges", 3, []edge{{0, 1}, {0, 1}, {1, 2}, {1, 2}, {2, 1}}, []string{"t1", "t2"}},
		{"all around", 5, []edge{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, []string{"t0", "t1", "t2", "t3", "t4"}},
		{"against the order of tasks", 4, []edge{{3, 2}, {2, 1}, {1, 3}, {3, 0}}, []string{"t1", "t3", "t2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			g := graph.New("c")
			ran := new(atomic.Int64)
			tasks := make([]graph.Task, c.tasks)
			for i := range tasks {
				tasks[i] = g.Task(func(context.Context) error { ran.Add(1); return nil }).Named("t" + strconv.Itoa(i))
			}
			edges := make(map[[2]string]bool)
			for i, e := range c.edges {
				if i%2 == 0 {
					tasks[e[0]].Precede(tasks[e[1]])
				} else {
					tasks[e[1]].Succeed(tasks[e[0]])
				}
				edges[[2]string{"t" + strconv.Itoa(e[0]), "t" + strconv.Itoa(e[1])}] = true
			}
			if c.path == nil {
				require.NoError(t, g.Validate())
				require.NoError(t, run(t, ex, t.Context(), g))
				require.EqualValues(t, c.tasks, ran.Load())
				return
			}
			for range 2 { // the second time the result is known
				for _, err := range []error{g.Validate(), run(t, ex, t.Context(), g)} {
					var cycle *graph.CycleError
					require.ErrorAs(t, err, &cycle)
					require.Equal(t, "c", cycle.Graph)
					require.ElementsMatch(t, c.path, cycle.Path)
					for i, from := range cycle.Path {
						to := cycle.Path[(i+1)%len(cycle.Path)]
						require.True(t, edges[[2]string{from, to}], "%s does not precede %s in %v", from, to,
							cycle.Path)
					}
				}
			}
			require.Zero(t, ran.Load(), "no task of an invalid graph may run")
		})
	}
}

func TestCycleMessage(t *testing.T) {
	ring := func(n int) error {
		g := graph.New("ring")
		first := g.Task(nothing)
		last := first
		for range n - 1 {
			next := g.Task(nothing)
			last.Precede(next)
			last = next
		}
		last.Precede(first)
		return g.Validate()
	}
	require.EqualError(t, ring(1), `graph "ring": cycle: #0 → #0: remove one of these edges`)
	require.EqualError(t, ring(3), `graph "ring": cycle: #0 → #1 → #2 → #0: remove one of these edges`)
	require.EqualError(t, ring(12), `graph "ring": cycle: `+
		`#0 → #1 → #2 → #3 → #4 → #5 → #6 → #7 → #8 → #9 → #10 → #11 → #0: remove one of these edges`)
	require.EqualError(t, ring(1000), `graph "ring": cycle: `+
		`#0 → #1 → #2 → #3 → #4 → #5 → … 988 more … → #994 → #995 → #996 → #997 → #998 → #999 → #0: `+
		`remove one of these edges`)

	var cycle *graph.CycleError
	require.ErrorAs(t, ring(1000), &cycle)
	require.Len(t, cycle.Path, 1000, "only the message is cut")
}

// mutations are all ways to change a graph.
var mutations = map[string]func(g *graph.Graph, a, b graph.Task){
	"Task":    func(g *graph.Graph, _, _ graph.Task) { g.Task(nothing) },
	"Reserve": func(g *graph.Graph, _, _ graph.Task) { g.Reserve(10, 10) },
	"Named":   func(_ *graph.Graph, a, _ graph.Task) { a.Named("x") },
	"Precede": func(_ *graph.Graph, a, b graph.Task) { a.Precede(b) },
	"Succeed": func(_ *graph.Graph, a, b graph.Task) { b.Succeed(a) },
}

const changedWhileRunning = `graph "busy": changed while a run is in progress: wait for the run, or build another graph`

func TestChangeWhileRunning(t *testing.T) {
	for name, change := range mutations {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			g := graph.New("busy")
			started, release := make(chan struct{}, 1), make(chan struct{})
			a := g.Task(func(context.Context) error { started <- struct{}{}; <-release; return nil })
			b := g.Task(nothing)
			r := ex.Start(t.Context(), g)
			<-started
			text := panicText(t, func() { change(g, a, b) })
			// Reading is allowed.
			require.NoError(t, g.Validate())
			require.NoError(t, g.WriteDOT(io.Discard))
			require.Equal(t, 2, g.Len())
			close(release)
			within(t, ex, func() { require.NoError(t, r.Wait()) })
			require.Equal(t, changedWhileRunning, text)

			change(g, a, b) // now nothing runs
			require.NoError(t, run(t, ex, t.Context(), g))
			change(g, a, b)
		})
	}
}

// TestChangeInTask: the panic is the task's, as any other would be.
func TestChangeInTask(t *testing.T) {
	for name, change := range mutations {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			g := graph.New("busy")
			var a, b graph.Task
			a = g.Task(func(context.Context) error { change(g, a, b); return nil })
			b = g.Task(nothing)
			for range 2 {
				err := run(t, ex, t.Context(), g)
				require.Equal(t, []string{"#0"}, failedTasks(err))
				var panicked *executor.PanicError
				require.ErrorAs(t, err, &panicked)
				require.Equal(t, changedWhileRunning, panicked.Value)
				require.Equal(t, 2, g.Len())
			}
		})
	}
}

// TestChangeDuringOneOfTwoRuns: a run that has ended does not make the graph free while another is in progress.
func TestChangeDuringOneOfTwoRuns(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("busy")
	type gate struct{}
	g.Task(func(ctx context.Context) error { <-ctx.Value(gate{}).(chan struct{}); return nil })
	first, second := make(chan struct{}), make(chan struct{})
	r1 := ex.Start(context.WithValue(t.Context(), gate{}, first), g)
	r2 := ex.Start(context.WithValue(t.Context(), gate{}, second), g)
	close(first)
	within(t, ex, func() { require.NoError(t, r1.Wait()) })
	text := panicText(t, func() { g.Task(nothing) })
	close(second)
	within(t, ex, func() { require.NoError(t, r2.Wait()) })
	require.Equal(t, changedWhileRunning, text)
	g.Task(nothing)
	require.Equal(t, 2, g.Len())
}

func TestEmptyGraph(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("empty")
	require.Equal(t, "empty", g.Name())
	require.Zero(t, g.Len())
	require.NoError(t, g.Validate())
	for range 2 {
		require.NoError(t, run(t, ex, t.Context(), g))
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(t, ex, cancelled, g), context.Canceled)

	ran := false // and it can still be built
	g.Task(func(context.Context) error { ran = true; return nil })
	require.NoError(t, run(t, ex, t.Context(), g))
	require.True(t, ran)
}

// TestDuplicateEdges: an edge that is added several times delays its successor no more than one that is added once,
// also if the task then has as many successors as a span.
func TestDuplicateEdges(t *testing.T) {
	everyExecutor(t, []int{1, 4}, func(t *testing.T, ex *executor.Executor) {
		for times := 1; times <= 20; times++ {
			g := graph.New("double")
			var order []string
			a := g.Task(func(context.Context) error { order = append(order, "a"); return nil })
			b := g.Task(func(context.Context) error { order = append(order, "b"); return nil })
			c := g.Task(func(context.Context) error { order = append(order, "c"); return nil })
			for range times {
				a.Precede(b)
				c.Succeed(b, a)
			}
			for range 3 {
				order = nil
				require.NoError(t, run(t, ex, t.Context(), g))
				require.Equal(t, []string{"a", "b", "c"}, order)
			}
		}
	})
}

// TestWidths goes through the numbers of successors at which a task's releases change their form: none, few, many, a
// span; with successors that wait for nothing else and with ones that wait for a second task.
func TestWidths(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for width := range 20 {
			for _, joined := range []int{0, 1, width} { // how many of the successors have a second predecessor
				g := graph.New("width")
				var fired, second atomic.Bool
				var early, ran atomic.Int64
				a := g.Task(func(context.Context) error { fired.Store(true); return nil })
				b := g.Task(func(context.Context) error { second.Store(true); return nil })
				for i := range width {
					s := g.Task(func(context.Context) error {
						if !fired.Load() || i < joined && !second.Load() {
							early.Add(1)
						}
						ran.Add(1)
						return nil
					})
					a.Precede(s)
					if i < joined {
						b.Precede(s)
					}
				}
				for range 3 {
					fired.Store(false)
					second.Store(false)
					ran.Store(0)
					require.NoError(t, run(t, ex, t.Context(), g))
					require.EqualValues(t, width, ran.Load())
				}
				require.Zero(t, early.Load())
			}
		}
	})
}

// TestChangeBetweenRuns: tasks can be added to a graph that has run, and its old tasks stay.
func TestChangeBetweenRuns(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("growing")
	var order []int
	var last graph.Task
	for i := range 30 {
		next := g.Task(func(context.Context) error { order = append(order, i); return nil })
		if i > 0 {
			last.Precede(next)
		}
		last = next
		if i%7 == 0 {
			g.Reserve(2*i, 2*i)
		}
		for range 2 {
			order = nil
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Len(t, order, i+1)
			require.IsIncreasing(t, append([]int{-1}, order...))
		}
	}
	first := graph.New("").Task(nothing)
	require.Panics(t, func() { last.Precede(first) })
	require.NoError(t, run(t, ex, t.Context(), g))
}

// TestCycleMadeLater: Validate reports on the graph as it is, not as it was.
func TestCycleMadeLater(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	a, b := g.Task(nothing).Named("a"), g.Task(nothing).Named("b")
	a.Precede(b)
	require.NoError(t, run(t, ex, t.Context(), g))
	b.Precede(a)
	var cycle *graph.CycleError
	require.ErrorAs(t, run(t, ex, t.Context(), g), &cycle)
	a.Named("z") // a change that does not remove the cycle
	require.EqualError(t, g.Validate(), `graph "g": cycle: z → b → z: remove one of these edges`)
}

func TestNames(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("named")
	fails := g.Task(func(context.Context) error { return errTask })
	g.Task(nothing).Named("other")

	require.EqualError(t, run(t, ex, t.Context(), g), `graph "named": task #0: the task's own error`)
	require.Equal(t, fails, fails.Named("fails"), "Named returns its task")
	require.EqualError(t, run(t, ex, t.Context(), g), `graph "named": task fails: the task's own error`)
	fails.Named("renamed")
	require.EqualError(t, run(t, ex, t.Context(), g), `graph "named": task renamed: the task's own error`)
}

func TestTasksCompare(t *testing.T) {
	g, h := graph.New("g"), graph.New("h")
	a, b, c := g.Task(nothing), g.Task(nothing), h.Task(nothing)
	require.True(t, a == a.Named("a"))
	require.False(t, a == b)
	require.False(t, a == c, "the first tasks of two graphs differ")
	require.Len(t, map[graph.Task]bool{a: true, b: true, c: true, {}: true}, 4)
}

func TestReserveKeepsTasks(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("reserve")
	g.Reserve(0, 0)
	g.Reserve(-1, -1)
	ran := 0
	a := g.Task(func(context.Context) error { ran++; return nil })
	b := g.Task(func(context.Context) error { ran++; return nil })
	a.Precede(b)
	g.Reserve(1, 1) // less than there is
	g.Reserve(1000, 1000)
	require.Equal(t, 2, g.Len())
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, 2, ran)
}

// TestAcrossExecutors: a graph belongs to no executor, and a run state from one serves another with more workers.
func TestAcrossExecutors(t *testing.T) {
	g, sum := graph.New("shared"), new(atomic.Int64)
	source := g.Task(nothing)
	for range 100 {
		source.Precede(g.Task(func(context.Context) error { sum.Add(1); return nil }))
	}
	for _, w := range []int{1, 8, 2, 4, 1} {
		ex := newExecutor(t, executor.Config{Workers: w})
		sum.Store(0)
		require.NoError(t, run(t, ex, t.Context(), g))
		require.EqualValues(t, 100, sum.Load())
	}
	closed, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, closed.Run(t.Context(), g), executor.ErrClosed)
	g.Task(nothing) // the refused run did not take hold of the graph
	require.NoError(t, g.Validate())
}

// TestRefusedRunLeavesGraphFree: a run that cannot start is not a run in progress.
func TestRefusedRunLeavesGraphFree(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	a := g.Task(nothing)
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errTask)
	err := run(t, ex, cancelled, g)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, errTask)
	a.Precede(a)
	require.Error(t, run(t, ex, t.Context(), g))
	b := g.Task(nothing)
	b.Precede(a)
	var cycle *graph.CycleError
	require.True(t, errors.As(g.Validate(), &cycle))
	require.Equal(t, []string{"#0"}, cycle.Path)
}

// An empty name is none.
func TestNamedEmpty(t *testing.T) {
	g := graph.New("g")
	require.Equal(t, "#0", g.Task(nothing).Named("").Name())
	require.Equal(t, "#1", g.Task(nothing).Named("x").Named("").Name())
}

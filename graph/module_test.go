package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A journal notes the tasks that run.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) task(name string) func(context.Context) error {
	return func(context.Context) error {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, name)
		return nil
	}
}

// take returns the notes and clears them.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// A chain of nested graphs runs in its order, again and again, and a graph in two places runs twice.
func TestModule(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: workers})
			var j journal
			inner := graph.New("inner")
			a := inner.Task(j.task("a"))
			a.Precede(inner.Task(j.task("b")))
			middle := graph.New("middle")
			first, second := middle.Module(inner), middle.Module(inner)
			between := middle.Task(j.task("between"))
			first.Precede(between)
			between.Precede(second)
			empty := middle.Module(graph.New("empty"))
			empty.Precede(first)
			outer := graph.New("outer")
			begin, m, end := outer.Task(j.task("begin")), outer.Module(middle), outer.Task(j.task("end"))
			begin.Precede(m)
			m.Precede(end)
			require.Equal(t, 3, outer.Len())
			want := []string{"begin", "a", "b", "between", "a", "b", "end"}
			for range 3 {
				require.NoError(t, run(t, ex, t.Context(), outer))
				require.Equal(t, want, j.take())
			}
			require.NoError(t, run(t, ex, t.Context(), inner))
			require.Equal(t, []string{"a", "b"}, j.take(), "by itself")

			// A change deep inside takes effect, and so does one of the whole.
			a.Succeed(inner.Task(j.task("0")))
			require.NoError(t, run(t, ex, t.Context(), outer))
			require.Equal(t, []string{"begin", "0", "a", "b", "between", "0", "a", "b", "end"}, j.take())
			end.Precede(outer.Task(j.task("after")))
			require.NoError(t, run(t, ex, t.Context(), outer))
			require.Equal(t, []string{"begin", "0", "a", "b", "between", "0", "a", "b", "end", "after"}, j.take())
		})
	}
}

// All tasks of a wide module begin after the predecessors of the module, and end before its successors.
func TestModuleOrder(t *testing.T) {
	for _, workers := range []int{1, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		wide := graph.New("wide")
		var j journal
		for i := range 20 {
			wide.Task(j.task(fmt.Sprint(i)))
		}
		g := graph.New("g")
		before, m, after := g.Task(j.task("before")), g.Module(wide), g.Task(j.task("after"))
		m.Succeed(before)
		after.Succeed(m)
		for range testkit.Scale(100) {
			require.NoError(t, run(t, ex, t.Context(), g))
			lines := j.take()
			require.Len(t, lines, 22)
			require.Equal(t, "before", lines[0])
			require.Equal(t, "after", lines[21])
		}
	}
}

func TestModuleErrors(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	sub := graph.New("sub")
	sub.Task(func(context.Context) error { return nil }).
		Precede(sub.Task(func(context.Context) error { return errTask }).Named("bad"))
	g := graph.New("g")
	g.Module(sub).Precede(g.Task(func(context.Context) error { t.Error("not skipped"); return nil }))
	err := run(t, ex, t.Context(), g)
	var failed *graph.TaskError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, &graph.TaskError{Run: "g", Graph: "g", Task: "sub#0",
		Err: &graph.TaskError{Graph: "sub", Task: "bad", Err: errTask}}, failed)

	require.PanicsWithValue(t, `graph "g": the graph of module 2 is nil`, func() { g.Module(nil) })
	require.PanicsWithValue(t, `graph "g": module "g" contains this graph: a graph cannot be a part of itself`,
		func() { g.Module(g) })
	require.PanicsWithValue(t, `graph "sub": module "g" contains this graph: a graph cannot be a part of itself`,
		func() { sub.Module(g) })

	round := graph.New("round")
	x, y := round.Task(nothing), round.Task(nothing)
	x.Precede(y)
	y.Precede(x)
	g2 := graph.New("g2")
	g2.Module(round)
	var cycle *graph.CycleError
	require.ErrorAs(t, g2.Validate(), &cycle)
	require.Equal(t, "round", cycle.Graph)

	// A module that was copied before one with a fault was found is discarded.
	half := graph.New("half")
	half.Module(sub)
	half.Module(round)
	require.Error(t, half.Validate())
	require.PanicsWithValue(t,
		`graph "half": Precede of task #2 was given a task of graph "round": edges stay within a graph`,
		func() { half.Task(nothing).Precede(x) })

	g3 := graph.New("g3")
	m, z := g3.Module(sub), g3.Task(nothing)
	m.Precede(z)
	z.Precede(m)
	require.ErrorAs(t, g3.Validate(), &cycle)
	require.Contains(t, cycle.Path, "sub#0/bad")

	var drawing bytes.Buffer
	require.NoError(t, g.WriteDOT(&drawing))
	require.Contains(t, drawing.String(), `"sub#0/bad"`)
}

// A module must not be changed while a graph that contains it runs; after that it may.
func TestModuleIsPinned(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	sub := graph.New("sub")
	begun, free := make(chan struct{}), make(chan struct{})
	var runs atomic.Int32
	sub.Task(func(context.Context) error {
		if runs.Add(1) == 1 {
			close(begun)
			<-free
		}
		return nil
	})
	middle := graph.New("middle")
	middle.Module(sub)
	g := graph.New("g")
	g.Module(middle)
	r := ex.Start(t.Context(), g)
	<-begun
	for _, other := range []*graph.Graph{g, middle, sub} { // the first still holds them
		require.NoError(t, run(t, ex, t.Context(), other))
		require.NoError(t, other.Validate())
	}
	require.Panics(t, func() { sub.Task(nothing) })
	require.Panics(t, func() { middle.Task(nothing) })
	close(free)
	require.NoError(t, r.Wait())
	sub.Task(nothing)
	middle.Task(nothing)
}

// Runs of graphs that share a module share no state.
func TestModuleShared(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 4})
	sub := graph.New("sub")
	for range 5 {
		sub.Task(nothing).Precede(sub.Task(nothing))
	}
	graphs := make([]*graph.Graph, 4)
	for i := range graphs {
		graphs[i] = graph.New(fmt.Sprint(i))
		graphs[i].Module(sub).Precede(graphs[i].Module(sub))
	}
	within(t, ex, func() {
		var wg sync.WaitGroup
		for _, g := range append(graphs, sub) {
			wg.Go(func() {
				for range testkit.Scale(200) {
					if err := ex.Run(t.Context(), g); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// Two modules of one graph have different names, and so do their tasks: in errors, in drawings and for observers.
func TestModuleTwiceNames(t *testing.T) {
	guests.None(t)
	for name, c := range map[string]struct {
		sub   string
		given []string // names of the modules; "" for none
		path  []string // of the cycle
	}{
		"none given":  {"m", []string{"", ""}, []string{"m#0", "m#0/#0", "m#1", "m#1/#0"}},
		"one given":   {"m", []string{"", "x"}, []string{"m#0", "m#0/#0", "x", "x/#0"}},
		"both given":  {"m", []string{"x", "y"}, []string{"x", "x/#0", "y", "y/#0"}},
		"of no name":  {"", []string{"", ""}, []string{"#0", "#0/#0", "#1", "#1/#0"}},
		"of a number": {"#1", []string{"", ""}, []string{"#1#0", "#1#0/#0", "#1#1", "#1#1/#0"}},
	} {
		sub := graph.New(c.sub)
		g := graph.New("g")
		var modules []graph.Task
		for i, given := range c.given {
			m := g.Module(sub)
			if given != "" {
				m.Named(given)
			}
			require.Equal(t, c.path[2*i], m.Name(), name)
			modules = append(modules, m)
		}
		inner := sub.Task(func(context.Context) error { return errTask })
		modules[0].Precede(modules[1])
		modules[1].Precede(modules[0])
		var cycle *graph.CycleError
		require.ErrorAs(t, g.Validate(), &cycle, name)
		require.ElementsMatch(t, c.path, cycle.Path, name)

		modules[1].Unprecede(modules[0])
		var drawing strings.Builder
		require.NoError(t, g.WriteDOT(&drawing))
		for _, task := range c.path {
			require.Contains(t, drawing.String(), fmt.Sprintf("label=%q", task), name)
		}
		inner.Named("t")
		var mu sync.Mutex
		var told []string
		ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{{
			TaskBegin: func(e *executor.Event) {
				task := e.Task
				mu.Lock()
				defer mu.Unlock()
				told = append(told, task.Name)
			},
		}}})
		require.EqualError(t, run(t, ex, t.Context(), g),
			fmt.Sprintf(`graph "g": task %s: graph %q: task t: %v`, c.path[0], c.sub, errTask), name)
		require.Equal(t, []string{c.path[0], c.path[0] + "/t"}, told, name)
	}
}

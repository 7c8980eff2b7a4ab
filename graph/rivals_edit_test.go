package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// What the test suites and issues of other libraries try with graphs that are walked, changed, joined and written.

// A diary has the names of the tasks that have run, in order. Only one task writes at a time.
type diary []string

// add adds a task with that name to g.
func (d *diary) add(g *graph.Graph, name string) graph.Task {
	return g.Task(func(context.Context) error { *d = append(*d, name); return nil }).Named(name)
}

// read runs g with one worker, which runs tasks that are not ordered in some order, and returns what was written.
func (d *diary) read(t *testing.T, g *graph.Graph) []string {
	*d = nil
	require.NoError(t, run(t, newExecutor(t, executor.Config{Workers: 1}), t.Context(), g))
	return *d
}

// Taskflow, for_each_task, for_each_successor and for_each_predecessor: a tree tells its own shape.
func TestRivalsWalk(t *testing.T) {
	g := graph.New("tree")
	const n = 127
	var tasks []graph.Task
	for i := range n {
		tasks = append(tasks, g.Task(nothing).Named(fmt.Sprint(i)))
		if i > 0 {
			tasks[(i-1)/2].Precede(tasks[i])
		}
	}
	require.Equal(t, tasks, slices.Collect(g.Tasks()))
	leaves := 0
	for task := range g.Tasks() {
		for child := range task.Successors() {
			require.Equal(t, task.Index(), (child.Index()-1)/2)
			require.Equal(t, []graph.Task{task}, slices.Collect(child.Predecessors()))
		}
		if task.NumSuccessors() == 0 {
			leaves++
		}
	}
	require.Equal(t, (n+1)/2, leaves)
	require.Zero(t, tasks[0].NumPredecessors())
}

// taskflow#489 and taskflow#705: two systems run one beside the other between a start and an end, until one is made to
// come after the other, and until that is undone.
func TestRivalsRemoveDependency(t *testing.T) {
	var d diary
	g := graph.New("systems")
	start, end := d.add(g, "start"), d.add(g, "end")
	one, two := d.add(g, "one"), d.add(g, "two")
	start.Precede(one, two)
	end.Succeed(one, two)
	for range 3 {
		for _, order := range [][]graph.Task{{one, two}, {two, one}} {
			first, second := order[0], order[1]
			start.Unprecede(second)
			first.Unprecede(end)
			first.Precede(second)
			require.Equal(t, []string{"start", first.Name(), second.Name(), "end"}, d.read(t, g))
			first.Unprecede(second)
			first.Precede(end)
			start.Precede(second)
			require.ElementsMatch(t, []string{"one", "two"}, d.read(t, g)[1:3])
		}
	}
}

// taskflow#341: tasks are erased from a line, and their neighbours are joined.
func TestRivalsErase(t *testing.T) {
	var d diary
	g := graph.New("line")
	var tasks []graph.Task
	for i := range 10 {
		tasks = append(tasks, d.add(g, fmt.Sprint(i)))
		if i > 0 {
			tasks[i-1].Precede(tasks[i])
		}
	}
	for i := 1; i < 9; i += 2 {
		tasks[i].Remove()
		tasks[i-1].Precede(tasks[i+1])
	}
	require.Equal(t, 6, g.Len())
	require.Equal(t, strings.Fields("0 2 4 6 8 9"), d.read(t, g))
}

// Taskflow, compositions: a part is composed into a whole twice, once as a module and once as copies, between which an
// edge says the order.
func TestRivalsCompose(t *testing.T) {
	var d diary
	part := graph.New("part")
	a, b := d.add(part, "a"), d.add(part, "b")
	a.Precede(b)
	whole := graph.New("whole")
	copies := whole.Append(part)
	copies.Task(b).Precede(whole.Module(part))
	require.Equal(t, strings.Fields("a b a b"), d.read(t, whole))
	part.Clear()
	require.Equal(t, strings.Fields("a b"), d.read(t, whole))
}

// taskflow#658, dumps in JSON: a program writes its graph, another reads it and finds the functions by name. The two
// graphs look and run alike.
func TestRivalsDump(t *testing.T) {
	var d diary
	g := graph.New("loop")
	rounds := 0
	again := func(context.Context) (int, error) { rounds++; return rounds / 3, nil }
	choose := g.Condition(again).Named("again")
	begin, body := d.add(g, "begin"), d.add(g, "body")
	begin.Precede(body)
	body.Precede(choose)
	choose.Precede(body, d.add(g, "end"))
	text, err := g.MarshalJSON()
	require.NoError(t, err)

	read, err := graph.FromJSON(text, graph.Functions{
		Task: func(name string) func(context.Context) error {
			return func(context.Context) error { d = append(d, name); return nil }
		},
		Condition: func(string) func(context.Context) (int, error) { return again },
	})
	require.NoError(t, err)
	dumps := make([]strings.Builder, 2)
	for i, g := range []*graph.Graph{g, read} {
		require.NoError(t, g.WriteDOT(&dumps[i]))
		rounds = 0
		require.Equal(t, strings.Fields("begin body body body end"), d.read(t, g))
	}
	require.Equal(t, dumps[0].String(), dumps[1].String())
}

package graph_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A bindable is a task in front of another, which it makes run, and which can be bound again. Its functions count their
// calls in what they are given.
type bindable struct {
	add    func(g *graph.Graph, calls *int) graph.Task
	method string
	rebind func(t graph.Task, calls *int)
}

// bindables has one for each kind, by its name.
var bindables = map[string]bindable{
	"task": {
		func(g *graph.Graph, calls *int) graph.Task { return g.Task(counts(calls)) },
		"Rebind", func(t graph.Task, calls *int) { t.Rebind(counts(calls)) },
	},
	"retried task": {
		func(g *graph.Graph, calls *int) graph.Task {
			return g.Retry(graph.RetryPolicy{Tries: 3}, counts(calls))
		},
		"Rebind", func(t graph.Task, calls *int) {
			t.Rebind(func(context.Context) error { // the policy stays
				if *calls++; *calls%3 != 0 {
					return errTask
				}
				return nil
			})
		},
	},
	"condition": {
		func(g *graph.Graph, calls *int) graph.Task { return g.Condition(countsAndChooses(calls)) },
		"RebindCondition", func(t graph.Task, calls *int) { t.RebindCondition(countsAndChooses(calls)) },
	},
	"multi-condition": {
		func(g *graph.Graph, calls *int) graph.Task { return g.MultiCondition(countsAndChoosesSome(calls)) },
		"RebindMultiCondition", func(t graph.Task, calls *int) { t.RebindMultiCondition(countsAndChoosesSome(calls)) },
	},
	"subflow": {
		func(g *graph.Graph, calls *int) graph.Task { return g.Subflow(builds(counts(calls))) },
		"RebindSubflow", func(t graph.Task, calls *int) { t.RebindSubflow(builds(counts(calls))) },
	},
	"detached subflow": {
		func(g *graph.Graph, calls *int) graph.Task { return g.DetachedSubflow(builds(counts(calls))) },
		"RebindSubflow", func(t graph.Task, calls *int) { t.RebindSubflow(builds(counts(calls))) },
	},
	"external task": {
		func(g *graph.Graph, calls *int) graph.Task { return g.External(countsAndEnds(calls)) },
		"RebindExternal", func(t graph.Task, calls *int) { t.RebindExternal(countsAndEnds(calls)) },
	},
}

func counts(calls *int) func(context.Context) error {
	return func(context.Context) error { *calls++; return nil }
}

func countsAndChooses(calls *int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { *calls++; return 0, nil }
}

func countsAndChoosesSome(calls *int) func(context.Context) ([]int, error) {
	return func(context.Context) ([]int, error) { *calls++; return []int{0}, nil }
}

func countsAndEnds(calls *int) func(context.Context, func(error)) error {
	return func(_ context.Context, done func(error)) error { *calls++; done(nil); return nil }
}

// TestRebindKinds: a task of each kind calls another function from the next run on, in its graph and where that is a
// module, but not in a copy. It needs no new run state, and keeps its kind.
func TestRebindKinds(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	for name, b := range bindables {
		t.Run(name, func(t *testing.T) {
			var old, now, after int
			g := graph.New("g")
			x := b.add(g, &old)
			x.Precede(g.Task(counts(&after)))
			around := graph.New("around")
			around.Module(g)
			copied, _ := g.Clone("copy")
			for _, each := range []*graph.Graph{g, around, copied} {
				require.NoError(t, run(t, ex, t.Context(), each))
			}
			require.Equal(t, 3, old)
			kind := x.Kind()

			b.rebind(x, &now)
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, 3, old)
			one := now
			require.Equal(t, name == "retried task", one == 3, "calls")
			require.NoError(t, run(t, ex, t.Context(), around))
			require.Equal(t, []int{3, 2 * one}, []int{old, now})
			require.NoError(t, run(t, ex, t.Context(), copied))
			require.Equal(t, []int{4, 2 * one}, []int{old, now})
			require.Equal(t, 6, after)
			require.Equal(t, kind, x.Kind())
			require.Equal(t, name, kind.String())
			require.Equal(t, 1, graph.IdleStates(g))

			x.Precede(g.Task(nothing)) // an edit beside it
			b.rebind(x, &old)
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, 2*one, now)
			require.Greater(t, old, 4)
		})
	}
}

// TestRebindValues: a task that makes a value makes another, also one that ends when somebody says so.
func TestRebindValues(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	made := graph.Source(g, func(context.Context) (int, error) { return 1, nil })
	told := graph.SourceExternal(g, func(_ context.Context, done func(string, error)) error { done("a", nil); return nil })
	var got string
	both := graph.Sink2(made, told, func(_ context.Context, n int, s string) error { got = fmt.Sprint(n, s); return nil })
	check := func(want string) {
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, want, got)
	}
	check("1a")
	require.Equal(t, made, made.Rebind(func(context.Context) (int, error) { return 2, nil }))
	check("2a")
	told.RebindExternal(func(_ context.Context, done func(string, error)) error { done("b", nil); return nil })
	check("2b")
	require.Equal(t, 1, graph.IdleStates(g))

	ends := countsAndEnds(new(int))
	makes := func(context.Context) (string, error) { return "", nil }
	tells := func(context.Context, func(int, error)) error { return nil }
	const useValue, useExternal = "use Value.Rebind", "use Value.RebindExternal"
	for want, f := range map[string]func(){
		"Rebind of task #0, whose kind is value task: " + useValue:               func() { made.Task().Rebind(nothing) },
		"Rebind of task #1, whose kind is external task: " + useExternal:         func() { told.Task().Rebind(nothing) },
		"Rebind of task #2, whose kind is value task: remove it and add another": func() { both.Rebind(nothing) },
		"RebindExternal of task #1, whose kind is external task: " + useExternal: func() { told.Task().RebindExternal(ends) },
		"Value.Rebind of task #1, whose kind is external task: " + useExternal:   func() { told.Rebind(makes) },
		"Value.RebindExternal of task #0, whose kind is value task: " + useValue: func() { made.RebindExternal(tells) },
		"Value.Rebind of task #0 to a nil function":                              func() { made.Rebind(nil) },
		"Value.RebindExternal of task #1 to a nil function":                      func() { told.RebindExternal(nil) },
	} {
		require.PanicsWithValue(t, `graph "g": `+want, f)
	}
	check("2b")
}

// TestRebindMisuse: each method is for its kinds only, and says for others which one is.
func TestRebindMisuse(t *testing.T) {
	g := graph.New("g")
	var calls int
	tasks := map[string]graph.Task{"module": g.Module(graph.New("sub"))}
	for name, b := range bindables {
		tasks[name] = b.add(g, &calls)
	}
	for name, x := range tasks {
		x.Named("x")
		how := "remove it and add another"
		own, can := bindables[name]
		if can {
			how = "use " + own.method
		}
		for _, b := range bindables {
			if can && b.method == own.method {
				continue
			}
			require.PanicsWithValue(t, fmt.Sprintf(`graph "g": %s of task x, whose kind is %s: %s`, b.method, name, how),
				func() { b.rebind(x, &calls) })
		}
	}
	for method, f := range map[string]func(x graph.Task){
		"Rebind":               func(x graph.Task) { x.Rebind(nil) },
		"RebindCondition":      func(x graph.Task) { x.RebindCondition(nil) },
		"RebindMultiCondition": func(x graph.Task) { x.RebindMultiCondition(nil) },
		"RebindSubflow":        func(x graph.Task) { x.RebindSubflow(nil) },
		"RebindExternal":       func(x graph.Task) { x.RebindExternal(nil) },
	} {
		require.PanicsWithValue(t, fmt.Sprintf(`graph "g": %s of task x to a nil function`, method),
			func() { f(tasks["task"]) })
		require.PanicsWithValue(t, fmt.Sprintf(`graph: %s called on a zero Task: make tasks with Graph.Task`, method),
			func() { f(graph.Task{}) })
	}

	// During a run nothing changes.
	ex := newExecutor(t, executor.Config{Workers: 1})
	busy := graph.New("busy")
	var x graph.Task
	x = busy.Condition(func(context.Context) (int, error) { bindables["condition"].rebind(x, &calls); return 0, nil })
	require.ErrorContains(t, run(t, ex, t.Context(), busy), `graph "busy": changed while a run is in progress`)
}

package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// noted guards what tasks of noting note. A run may have tasks of several calls, with a semaphore each.
var noted sync.Mutex

// noting returns tasks that note their names when they run, those of a call one at a time.
func noting(g *graph.Graph, ran *[]string, names ...string) (tasks []graph.Task) {
	one := graph.NewSemaphore(1)
	for _, name := range names {
		tasks = append(tasks, g.Task(func(context.Context) error {
			noted.Lock()
			defer noted.Unlock()
			*ran = append(*ran, name)
			return nil
		}).Named(name).Hold(one))
	}
	return tasks
}

func names(tasks func(func(graph.Task) bool)) (all []string) {
	for t := range tasks {
		all = append(all, t.Name())
	}
	return all
}

func TestUnprecede(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	var ran []string
	g := graph.New("g")
	x := noting(g, &ran, "a", "b", "c")
	x[2].Precede(x[1])
	x[1].Precede(x[0])
	x[1].Precede(x[0])
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"c", "b", "a"}, ran)
	x[1].Unprecede(x[0], x[2])
	x[1].Unprecede()
	require.Zero(t, x[1].NumSuccessors())
	x[0].Precede(x[2])
	ran = nil
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"a", "c", "b"}, ran)
	require.Panics(t, func() { graph.Task{}.Unprecede() })
	require.PanicsWithValue(t, `graph "g": Unprecede of task a was given a zero Task: make tasks with Graph.Task`,
		func() { x[0].Unprecede(x[2], graph.Task{}) })
	require.Equal(t, []string{"c"}, names(x[0].Successors()), "nothing was removed")
}

// TestUnprecedeOfCondition: the indices of the successors that are left close up.
func TestUnprecedeOfCondition(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	for _, frozen := range []bool{false, true} {
		var ran []string
		g := graph.New("g")
		c := g.Condition(func(context.Context) (int, error) { return 1, nil })
		x := noting(g, &ran, "x", "y", "z")
		c.Precede(x[0], x[1], x[0], x[2])
		if frozen {
			require.NoError(t, run(t, ex, t.Context(), g))
			require.Equal(t, []string{"y"}, ran)
		}
		ran = nil
		c.Unprecede(x[0])
		require.Equal(t, []string{"y", "z"}, names(c.Successors()))
		x[0].Remove()
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, []string{"z"}, ran)
		c.Unprecede(x[2])
		ran = nil
		require.NoError(t, run(t, ex, t.Context(), g))
		require.Equal(t, []string{"z"}, ran, "no condition chooses it any more, so it has no predecessor")
	}
}

func TestRemove(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	var tasks []graph.Task
	for range 4 {
		tasks = append(tasks, g.Task(nothing))
	}
	tasks[1].Named("one").Priority(graph.High).Hold(graph.NewSemaphore(1))
	tasks[0].Precede(tasks[1])
	tasks[1].Precede(tasks[2])
	tasks[2].Precede(tasks[3])
	require.NoError(t, run(t, ex, t.Context(), g))
	old := tasks[1]
	old.Remove()
	require.Equal(t, 3, g.Len())
	require.Equal(t, []string{"#0", "#2", "#3"}, names(g.Tasks()))
	require.NoError(t, run(t, ex, t.Context(), g))
	require.EqualValues(t, 4+3, ex.Stats().Total.Tasks)
	require.Equal(t, 3, strings.Count(dot(t, g), "label"), "a removed task is not drawn")

	again := g.Task(func(context.Context) error { return errTask })
	require.Equal(t, 1, again.Index(), "it has the number that is free")
	require.NotEqual(t, old, again)
	require.Equal(t, graph.Normal, again.PriorityLevel())
	require.Empty(t, again.NumPredecessors())
	require.EqualError(t, run(t, ex, t.Context(), g), `graph "g": task #1: the task's own error`)

	const removed = `graph "g": %s called on task #1, which was removed`
	for name, use := range map[string]func(){
		"Named":      func() { old.Named("x") },
		"Precede":    func() { old.Precede(again) },
		"Succeed":    func() { old.Succeed(again) },
		"Unprecede":  func() { old.Unprecede(again) },
		"Remove":     func() { old.Remove() },
		"Rebind":     func() { old.Rebind(nothing) },
		"Hold":       func() { old.Hold(graph.NewSemaphore(1)) },
		"Priority":   func() { old.Priority(graph.Low) },
		"Successors": func() { old.Successors() },
		"Kind":       func() { old.Kind() },
	} {
		require.PanicsWithValue(t, fmt.Sprintf(removed, name), use)
	}
	require.PanicsWithValue(t, `graph "g": Precede of task #0 was given task #1, which was removed`,
		func() { tasks[0].Precede(old) })
	for _, all := range [][]graph.Task{{tasks[0], again}, {tasks[3], tasks[2]}} {
		for _, x := range all {
			x.Remove()
		}
	}
	require.Zero(t, g.Len())
	require.NoError(t, run(t, ex, t.Context(), g), "a graph without tasks")
}

func dot(t *testing.T, g *graph.Graph) string {
	var b strings.Builder
	require.NoError(t, g.WriteDOT(&b))
	return b.String()
}

// TestRemoveHub: the edges of all other tasks change.
func TestRemoveHub(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for _, frozen := range []bool{false, true} {
		g := graph.New("g")
		in, hub, out := g.Task(nothing), g.Task(nothing), g.Task(nothing)
		for range 1000 {
			x := g.Task(nothing)
			x.Succeed(in)
			x.Precede(hub, out)
		}
		if frozen {
			require.NoError(t, run(t, ex, t.Context(), g))
		}
		before := ex.Stats().Total.Tasks
		hub.Remove()
		require.NoError(t, run(t, ex, t.Context(), g))
		require.EqualValues(t, 1002, ex.Stats().Total.Tasks-before)
		require.Equal(t, 1000, out.NumPredecessors())
		in.Remove()
		require.Zero(t, slices.Collect(out.Predecessors())[999].NumPredecessors())
	}
}

// TestRemoveOfValues: no task may be left without a value that it takes.
func TestRemoveOfValues(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	v := graph.Source(g, func(context.Context) (int, error) { return 7, nil }).Named("maker")
	got := 0
	taker := graph.Sink(v, func(_ context.Context, n int) error { got = n; return nil }).Named("taker")
	require.PanicsWithValue(t, `graph "g": Remove of task maker, whose value task taker takes: remove that task first`,
		v.Task().Remove)
	require.PanicsWithValue(t, `graph "g": Unprecede of task maker was given task taker, which takes its value: `+
		`remove that task`, func() { v.Task().Unprecede(taker) })
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, 7, got)
	taker.Remove()
	other := g.Task(nothing)
	v.Task().Precede(other)
	v.Task().Unprecede(other)
	v.Task().Remove()
	require.PanicsWithValue(t, `graph "g": Sink called on task #0, which was removed`,
		func() { graph.Sink(v, func(context.Context, int) error { return nil }) })
	require.NoError(t, run(t, ex, t.Context(), g))
}

func TestRemoveOfModule(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	var ran []string
	sub, g := graph.New("sub"), graph.New("g")
	noting(sub, &ran, "in")
	m := g.Module(sub)
	last := g.Task(nothing)
	m.Precede(last)
	require.Equal(t, graph.KindModule, m.Kind())
	require.Same(t, sub, m.ModuleGraph())
	require.NoError(t, run(t, ex, t.Context(), g))
	m.Remove()
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"in"}, ran)
	require.Nil(t, last.ModuleGraph())
	again := g.Module(sub)
	require.Equal(t, 0, again.Index())
	again.Precede(last)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"in", "in"}, ran)

	for _, x := range slices.Collect(sub.Tasks()) {
		x.Remove()
	}
	require.NoError(t, run(t, ex, t.Context(), g), "the module is empty")
}

// TestRebind: the run state is used again, and nothing else changes.
func TestRebind(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	var tasks []graph.Task
	for range 1000 {
		tasks = append(tasks, g.Task(nothing))
	}
	calls := 0
	count := func(context.Context) error { calls++; return nil }
	tasks[3].Rebind(count)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, 1, calls)
	ctx := context.Background()
	want := 1
	testkit.Fits(t, func() string { // others in the process allocate a little, too
		each := testing.AllocsPerRun(20, func() {
			tasks[5].Rebind(count)
			_ = ex.Run(ctx, g)
		})
		want += 2 * 21
		require.Equal(t, want, calls)
		if each >= 20 {
			return fmt.Sprintf("%v allocations", each)
		}
		return ""
	})
	require.Equal(t, 1, graph.IdleStates(g))
	tasks[3].Rebind(nothing).Precede(tasks[5])
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, want+1, calls)

	require.PanicsWithValue(t, `graph "g": Rebind of task #3 to a nil function`, func() { tasks[3].Rebind(nil) })
	c := g.Condition(func(context.Context) (int, error) { return 0, nil })
	require.PanicsWithValue(t,
		`graph "g": Rebind of task #1000, whose kind is condition: use RebindCondition`, func() { c.Rebind(nothing) })
}

// TestEditKeepsState: a run after an edit needs no new run state.
func TestEditKeepsState(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	a, b := g.Task(nothing), g.Task(nothing)
	require.NoError(t, run(t, ex, t.Context(), g))
	for range 3 {
		a.Precede(b)
		require.NoError(t, g.Validate())
		require.Equal(t, 1, graph.IdleStates(g))
		require.NoError(t, run(t, ex, t.Context(), g))
		b.Precede(a)
		require.Error(t, g.Validate())
		b.Unprecede(a)
		a.Unprecede(b)
		require.NoError(t, run(t, ex, t.Context(), g))
	}
}

func TestClear(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	var ran []string
	sub, g := graph.New("sub"), graph.New("g")
	old := noting(sub, &ran, "a", "b")
	g.Module(sub)
	require.NoError(t, run(t, ex, t.Context(), g))
	sub.Clear()
	require.Zero(t, sub.Len())
	require.Equal(t, "sub", sub.Name())
	noting(sub, &ran, "c")
	require.PanicsWithValue(t, `graph "sub": Name called on task #0, which was removed`, func() { old[0].Name() })
	ran = nil
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"c"}, ran)
	g.Clear()
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"c"}, ran)
	g.Clear()
}

// TestEditDuringRun: a graph must not be changed while it runs, but may be walked.
func TestEditDuringRun(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	sub, g := graph.New("sub"), graph.New("g")
	inner := sub.Task(nothing)
	var a, b graph.Task
	const wrong = `graph "%s": changed while a run is in progress: wait for the run, or build another graph`
	a = g.Task(func(context.Context) error {
		for _, edit := range []func(){
			func() { a.Unprecede(b) }, b.Remove, func() { b.Rebind(nothing) }, g.Clear, func() { g.Append(sub) },
		} {
			require.PanicsWithValue(t, fmt.Sprintf(wrong, "g"), edit)
		}
		require.PanicsWithValue(t, fmt.Sprintf(wrong, "sub"), inner.Remove)
		require.Equal(t, 3, g.Len())
		for x := range g.Tasks() {
			require.Equal(t, x == b, x.NumPredecessors() == 1)
		}
		require.Equal(t, []graph.Task{b}, slices.Collect(a.Successors()))
		copied, _ := g.Clone("copy")
		require.Equal(t, 3, copied.Len())
		return nil
	})
	b = g.Task(nothing)
	g.Module(sub)
	a.Precede(b)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.NoError(t, run(t, ex, t.Context(), g))
}

// TestWalkInLoop: a loop over tasks or successors may change what it goes over.
func TestWalkInLoop(t *testing.T) {
	g := graph.New("g")
	root := g.Task(nothing)
	for range 6 {
		g.Task(nothing).Succeed(root)
	}
	seen := 0
	for s := range root.Successors() {
		seen++
		root.Unprecede(s)
		g.Task(nothing).Succeed(root)
	}
	require.Equal(t, 6, seen)
	require.Equal(t, 6, root.NumSuccessors())
	require.Equal(t, 13, g.Len())
	seen = 0
	for s := range root.Successors() {
		seen++
		for other := range root.Successors() {
			if other != s {
				other.Remove()
				g.Task(nothing) // has the number, and is not a successor
			}
		}
	}
	require.Equal(t, 1, seen)
	for x := range g.Tasks() {
		x.Remove()
	}
	require.Zero(t, g.Len())
	for range g.Tasks() {
		t.Fatal("there is no task")
	}
}

// TestWalkCostsNothingUnused: a graph that is only run has no more than its plan.
func TestWalkCostsNothingUnused(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("g")
	a, b := g.Task(nothing), g.Task(nothing)
	a.Precede(b)
	require.NoError(t, run(t, ex, t.Context(), g))
	forward, _ := graph.HasTopology(g)
	require.False(t, forward)
	for range graph.ScansBeforeReverse {
		require.Equal(t, 1, b.NumPredecessors())
	}
	_, back := graph.HasTopology(g)
	require.False(t, back)
	require.Equal(t, 1, b.NumPredecessors())
	_, back = graph.HasTopology(g)
	require.True(t, back)
}

func TestAppend(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	var ran []string
	sub, g := graph.New("part"), graph.New("g")
	gone := sub.Task(nothing)
	x := noting(sub, &ran, "b", "c")
	x[1].Precede(x[0])
	v := graph.Source(sub, func(context.Context) (int, error) { return 5, nil })
	var got atomic.Int64
	graph.Sink(v, func(_ context.Context, n int) error { got.Add(int64(n)); return nil })
	gone.Remove()
	first := noting(g, &ran, "a")[0]
	c := g.Append(sub)
	require.Equal(t, 5, g.Len())
	first.Precede(c.Task(x[1]))
	all := slices.Collect(g.Tasks())
	graph.Sink(v.In(c), func(_ context.Context, n int) error { got.Add(int64(100 * n)); return nil }).Succeed(all...)
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Equal(t, []string{"a", "c", "b"}, ran)
	require.EqualValues(t, 505, got.Load())
	require.Equal(t, g, c.Task(x[0]).Graph())

	const later = `graph "part": Copies.Task was given task #0, which was added after the copying`
	again := sub.Task(nothing)
	require.PanicsWithValue(t, later, func() { c.Task(again) })
	require.PanicsWithValue(t, `graph "part": Copies.Task called on task #0, which was removed`, func() { c.Task(gone) })
	require.PanicsWithValue(t, `graph "g": Copies.Task was given task a, which is not of the graph that was copied`,
		func() { c.Task(first) })
	require.PanicsWithValue(t, `graph "g": Append of a nil graph`, func() { g.Append(nil) })
	outer := graph.New("outer")
	outer.Module(g)
	require.PanicsWithValue(t, `graph "g": module "g" of the appended graph "outer" contains this graph: `+
		`a graph cannot be a part of itself`, func() { g.Append(outer) })

	ran = nil
	got.Store(0)
	g.Append(g)
	require.Equal(t, 12, g.Len())
	require.NoError(t, run(t, ex, t.Context(), g))
	require.Len(t, ran, 6)
	require.EqualValues(t, 2*505, got.Load())
	copied, at := g.Clone("copy")
	require.Equal(t, first.Index(), at.Task(first).Index())
	require.NoError(t, run(t, ex, t.Context(), copied))
	require.EqualValues(t, 4*505, got.Load())
	at.Task(first).Remove()
	require.Equal(t, "a", first.Name())
}

// TestAppendFreeNumbers: after tasks were removed, tasks added to a copy get the numbers that they would in the
// original.
func TestAppendFreeNumbers(t *testing.T) {
	part, g := graph.New("part"), graph.New("g")
	var tasks []graph.Task
	for range 5 {
		tasks = append(tasks, part.Task(nothing))
	}
	for _, i := range []int{3, 0, 2} {
		tasks[i].Remove()
	}
	g.Task(nothing).Remove()
	g.Append(part)
	copied, _ := part.Clone("copy")
	for _, want := range []int{2, 0, 3, 5} {
		require.Equal(t, want, part.Task(nothing).Index())
		require.Equal(t, want, copied.Task(nothing).Index())
	}
	for _, want := range []int{3, 1, 4, 0, 6} {
		require.Equal(t, want, g.Task(nothing).Index())
	}
}

// TestRemoveLeavesOnePriority: the number of a removed task has none.
func TestRemoveLeavesOnePriority(t *testing.T) {
	g := graph.New("g")
	a, b, c := g.Task(nothing), g.Task(nothing).Priority(graph.High), g.Task(nothing).Priority(graph.High)
	a.Precede(b, c)
	require.NoError(t, g.Validate())
	require.True(t, graph.IsRanked(g))
	a.Remove()
	require.NoError(t, g.Validate())
	require.False(t, graph.IsRanked(g))
}

func TestKindString(t *testing.T) {
	require.Equal(t, "multi-condition", graph.KindMultiCondition.String())
	require.Equal(t, "retried task", graph.KindRetry.String())
	require.Equal(t, "Kind(99)", graph.Kind(99).String())
}

// TestEditAfterCancel: a cancellation that comes to the semaphores of a run after its end does not meet the changes
// that follow.
func TestEditAfterCancel(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	var tasks []graph.Task
	for range 10 {
		tasks = append(tasks, g.Task(func(context.Context) error { return nil }).Hold(graph.NewSemaphore(1)))
	}
	for i := range testkit.Scale(2000) {
		r := ex.Start(t.Context(), g)
		go r.Cancel(nil)
		_ = r.Wait()
		tasks[i%10].Remove()
		tasks[i%10] = g.Task(func(context.Context) error { return nil }).Hold(graph.NewSemaphore(1))
	}
}

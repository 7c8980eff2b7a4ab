package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// An editing is a sketch of a graph under edits, in its plainest form, beside the graph itself.
type editing struct {
	t     *testing.T
	rng   *rand.Rand
	g     *graph.Graph
	tasks map[int]*edited // by an identity of the sketch, in the order of adding
	next  int
	subs  []*graph.Graph
	sems  []*graph.Semaphore
	stale []graph.Task // removed
}

// ordered are the tasks in the order of their numbers in the graph.
func (k *editing) ordered() []*edited {
	return slices.SortedFunc(maps.Values(k.tasks), func(a, b *edited) int { return a.task.Index() - b.task.Index() })
}

// pick draws a task, or returns nil.
func (k *editing) pick() *edited {
	if len(k.tasks) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(k.tasks))
	return k.tasks[ids[k.rng.IntN(len(ids))]]
}

// fresh builds the graph anew.
func (k *editing) fresh() *graph.Graph {
	g := graph.New(k.g.Name())
	at := make(map[int]graph.Task)
	for _, s := range k.ordered() {
		at[s.id] = s.addTo(g)
		s.label(at[s.id])
	}
	for _, s := range k.ordered() {
		for _, to := range s.succ {
			at[s.id].Precede(at[to])
		}
	}
	return g
}

func (k *editing) add(kind graph.Kind) *edited {
	s := &edited{id: k.next, kind: kind, named: true}
	k.next++
	if kind == graph.KindModule {
		s.sub = k.subs[k.rng.IntN(len(k.subs))]
	}
	if kind == graph.KindValue {
		k.addValue(s)
	} else {
		s.task = s.addTo(k.g)
	}
	k.tasks[s.id] = s
	s.label(s.task)
	return s
}

// addValue adds a task that makes a value, its number, and takes those of others.
func (k *editing) addValue(s *edited) {
	var takes []graph.Value[int]
	for _, id := range slices.Sorted(maps.Keys(k.tasks)) {
		if k.tasks[id].kind == graph.KindValue && k.rng.IntN(3) == 0 && len(takes) < 3 {
			s.takes = append(s.takes, id)
			takes = append(takes, k.tasks[id].value)
			k.tasks[id].succ = append(k.tasks[id].succ, s.id)
		}
	}
	run := body(s.name(), 0)
	if len(takes) == 0 {
		s.value = graph.Source(k.g, func(ctx context.Context) (int, error) { return s.id, run(ctx) })
	} else {
		s.value = graph.MapAll(takes, func(ctx context.Context, got []int) (int, error) {
			for i, made := range got {
				// A task of rounds that overlap may run before the value is made, see Graph.Condition.
				if made != s.takes[i] && !(made == 0 && k.chooses()) {
					return 0, fmt.Errorf("took %v, want %v", got, s.takes)
				}
			}
			return s.id, run(ctx)
		})
	}
	s.task = s.value.Task()
}

func (k *editing) takers(id int) (all []int) {
	for _, s := range k.tasks {
		if slices.Contains(s.takes, id) {
			all = append(all, s.id)
		}
	}
	return all
}

// edit makes one random change of the graph and of the sketch.
func (k *editing) edit(kinds []graph.Kind) {
	a, b := k.pick(), k.pick()
	which := k.rng.IntN(40)
	if a == nil || len(k.tasks) < 3 {
		which = 0
	}
	switch {
	case which < 8:
		k.add(kinds[k.rng.IntN(len(kinds))])
	case which < 20:
		if a.id > b.id && k.rng.IntN(12) != 0 || a == b && k.rng.IntN(30) != 0 {
			a, b = b, a
		}
		if a == b && k.rng.IntN(30) != 0 {
			return
		}
		a.succ = append(a.succ, b.id)
		if k.rng.IntN(2) == 0 {
			a.task.Precede(b.task)
		} else {
			b.task.Succeed(a.task)
		}
	case which < 27:
		if len(a.succ) > 0 && k.rng.IntN(8) != 0 {
			b = k.tasks[a.succ[k.rng.IntN(len(a.succ))]]
		}
		if slices.Contains(b.takes, a.id) {
			require.PanicsWithValue(k.t, fmt.Sprintf("graph \"sketch\": Unprecede of task %s was given task %s, "+
				"which takes its value: remove that task", a.task.Name(), b.task.Name()), func() { a.task.Unprecede(b.task) })
			return
		}
		a.task.Unprecede(b.task)
		a.succ = slices.DeleteFunc(a.succ, func(id int) bool { return id == b.id })
	case which < 33:
		if takers := k.takers(a.id); takers != nil {
			require.Panics(k.t, a.task.Remove)
			return
		}
		a.task.Remove()
		k.stale = append(k.stale, a.task)
		delete(k.tasks, a.id)
		for _, s := range k.tasks {
			s.succ = slices.DeleteFunc(s.succ, func(id int) bool { return id == a.id })
		}
	case which < 35:
		a.rebind(k.t)
	case which == 35:
		a.priority = graph.Priority(k.rng.IntN(3) - 1)
		a.task.Priority(a.priority)
	case which == 36:
		s := k.sems[k.rng.IntN(len(k.sems))]
		if !slices.Contains(a.limits, s) {
			a.limits = append(a.limits, s)
			a.task.Hold(s)
		}
	case which == 37:
		inner := k.subs[k.rng.IntN(len(k.subs))]
		for t := range inner.Tasks() {
			inner.Task(body("inner", inner.Len())).Succeed(t)
			if inner.Len() > 4 {
				t.Remove()
			}
			break
		}
	case which == 38 && k.rng.IntN(6) == 0:
		k.g.Clear()
		for _, s := range k.tasks {
			k.stale = append(k.stale, s.task)
		}
		clear(k.tasks)
	}
}

// checkWalk compares what a walk finds with the sketch.
func (k *editing) checkWalk() {
	t := k.t
	require.Equal(t, len(k.tasks), k.g.Len())
	walked := slices.Collect(k.g.Tasks())
	require.Len(t, walked, len(k.tasks))
	byTask := make(map[graph.Task]*edited)
	preds := make(map[int][]graph.Task)
	for i, s := range k.ordered() {
		require.Equal(t, s.task, walked[i])
		byTask[s.task] = s
		for _, to := range s.succ {
			preds[to] = append(preds[to], s.task)
		}
	}
	for _, s := range k.ordered() {
		var succ []int
		for to := range s.task.Successors() {
			succ = append(succ, byTask[to].id)
		}
		require.True(t, slices.Equal(s.succ, succ), "%v %v", s.succ, succ)
		require.Equal(t, len(succ), s.task.NumSuccessors())
		require.Equal(t, s.kind, s.task.Kind())
		require.Equal(t, s.sub, s.task.ModuleGraph())
		require.Equal(t, s.priority, s.task.PriorityLevel())
		require.Equal(t, k.g, s.task.Graph())
		if s.named {
			require.Equal(t, s.name(), s.task.Name())
		}
		var limits []*graph.Semaphore
		for sem, n := range s.task.Acquires() {
			limits = append(limits, slices.Repeat([]*graph.Semaphore{sem}, n)...)
		}
		require.True(t, slices.Equal(s.limits, limits))
	}
	for n := k.rng.IntN(1 + 3*len(k.tasks)); n > 0; n-- { // few by a scan, many by an index
		s := k.pick()
		require.Equal(t, preds[s.id], slices.Collect(s.task.Predecessors()))
		require.Equal(t, len(preds[s.id]), s.task.NumPredecessors())
	}
	for _, old := range k.stale {
		require.PanicsWithValue(t, fmt.Sprintf("graph \"sketch\": Name called on task #%s, which was removed", number(old)),
			func() { old.Name() })
	}
}

// number is the number of a removed task, which has no method that may be called.
func number(t graph.Task) (n string) {
	defer func() {
		_, _ = fmt.Sscanf(fmt.Sprint(recover()), "graph \"sketch\": Index called on task #%s which", &n)
		n = n[:len(n)-1] // the comma
	}()
	return fmt.Sprint(t.Index())
}

// runs runs a graph and returns the tally.
func (k *editing) runs(ex *executor.Executor, g *graph.Graph) *tallied {
	y := &tallied{count: make(map[string]int), at: make(map[string]int)}
	require.NoError(k.t, ex.Run(context.WithValue(context.Background(), talliedKey{}, y), g))
	return y
}

func (k *editing) hasKind(kind graph.Kind) bool {
	for _, s := range k.tasks {
		if s.kind == kind {
			return true
		}
	}
	return false
}

func (k *editing) chooses() bool {
	return k.hasKind(graph.KindCondition) || k.hasKind(graph.KindMultiCondition)
}

// functions are those of the tasks, for a graph that is read.
func (k *editing) functions() graph.Functions {
	byName := make(map[string]*edited)
	for _, s := range k.tasks {
		byName[s.name()] = s
	}
	run := func(name string) func(context.Context) error { return body(name, byName[name].version) }
	return graph.Functions{
		Task: run,
		Condition: func(name string) func(context.Context) (int, error) {
			return oneOf(byName[name].id%3, run(name))
		},
		MultiCondition: func(name string) func(context.Context) ([]int, error) {
			return some(byName[name].id%3, run(name))
		},
		Subflow: func(name string) func(context.Context, *graph.Graph) error {
			return func(_ context.Context, sub *graph.Graph) error { sub.Task(run(name)); return nil }
		},
		Module: func(name, sub string) *graph.Graph { return byName[name].sub },
	}
}

// check compares the graph with one that is built anew, by their texts, their validity and their runs.
func (k *editing) check(ex *executor.Executor) (ran bool) {
	t := k.t
	fresh := k.fresh()
	want, got := fresh.Validate(), k.g.Validate()
	if want != nil {
		require.EqualError(t, got, want.Error())
		require.Error(t, ex.Run(context.Background(), k.g))
		return false
	}
	require.NoError(t, got)
	graphs := []*graph.Graph{k.g, k.g}
	if k.rng.IntN(3) == 0 {
		copied, _ := k.g.Clone("copy")
		graphs = append(graphs, copied)
	}
	if !k.hasKind(graph.KindValue) {
		text, err := json.Marshal(k.g)
		require.NoError(t, err)
		again, err := json.Marshal(fresh)
		require.NoError(t, err)
		require.Equal(t, string(again), string(text))
		read, err := graph.FromJSON(text, k.functions())
		require.NoError(t, err)
		again, err = json.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, string(again), string(text))
		graphs = append(graphs, read)
	}
	expected := k.runs(ex, fresh)
	for _, g := range graphs {
		y := k.runs(ex, g)
		if expected.total >= endless && y.total >= endless {
			continue
		}
		require.Equal(t, expected.count, y.count)
		if k.chooses() {
			continue
		}
		for _, s := range k.tasks {
			for _, to := range s.succ {
				if s.kind != graph.KindModule && s.kind != graph.KindDetachedSubflow && k.tasks[to].kind != graph.KindModule {
					require.Less(t, y.at[s.name()], y.at[k.tasks[to].name()])
				}
			}
		}
	}
	return true
}

// TestRandomEdits: after any sequence of edits and runs, a graph looks, is judged and runs as one that is built anew.
func TestRandomEdits(t *testing.T) {
	seed := testkit.Seed(t)
	mixes := [][]graph.Kind{
		{graph.KindTask},
		{graph.KindTask, graph.KindTask, graph.KindValue},
		{graph.KindTask, graph.KindTask, graph.KindTask, graph.KindCondition, graph.KindMultiCondition},
		{graph.KindTask, graph.KindTask, graph.KindModule, graph.KindSubflow, graph.KindDetachedSubflow},
		{graph.KindTask, graph.KindTask, graph.KindCondition, graph.KindMultiCondition, graph.KindSubflow,
			graph.KindDetachedSubflow, graph.KindModule, graph.KindValue},
	}
	runs, refused := 0, 0
	everyExecutor(t, []int{1, 4}, func(t *testing.T, ex *executor.Executor) {
		for n := range testkit.Scale(10) {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			k := &editing{t: t, rng: rng, g: graph.New("sketch"), tasks: make(map[int]*edited)}
			for range 2 {
				sub := graph.New("sub")
				sub.Task(body("inner", 0))
				k.subs = append(k.subs, sub)
				k.sems = append(k.sems, graph.NewSemaphore(1+rng.IntN(2)))
			}
			kinds := mixes[rng.IntN(len(mixes))]
			within(t, ex, func() {
				for range 25 {
					most := 3
					if rng.IntN(6) == 0 {
						most = 80
					}
					for range rng.IntN(most) {
						k.edit(kinds)
						if rng.IntN(40) == 0 {
							k.checkWalk()
						}
					}
					if rng.IntN(3) == 0 {
						k.checkWalk()
					}
					if k.check(ex) {
						runs++
					} else {
						refused++
					}
				}
			})
		}
	})
	testkit.Proved(t, runs, "runs of edited graphs")
	testkit.Proved(t, refused, "edited graphs that cannot run")
}

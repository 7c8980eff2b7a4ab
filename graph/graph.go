package graph

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Graph is a set of tasks and of edges between them, each from a task to one that comes after it. Build it from one
// goroutine, then run it any number of times, also at the same time: runs of one graph share no state. Between runs it
// may be changed; changing it while a run is in progress panics.
type Graph struct {
	name       string
	funcs      []plan.Func
	edges      []plan.Edge       // dropped by the freeze, restored by the next change, unless there are modules
	names      map[uint32]string // of the tasks that have one
	backward   bool              // some edge leads to the same or an earlier task; otherwise there is no cycle
	modules    []module          // ascending
	special    map[uint32]special
	chooses    bool // some of the special tasks choose
	limits     map[uint32][]limit
	priorities map[uint32]Priority // of the tasks that were given one

	// Guarded by heights.
	height   int  // greater than those of the modules
	isModule bool // of another graph

	mu      xsync.Mutex // guards the fields below: runs may begin on several goroutines
	holds   int         // number of runs in progress, and of held graphs that have this one as a module
	frozen  bool        // held since the last change; set under mu
	edition uint64      // changes with every change of the graph or its modules
	uses    []use       // the graphs of the modules, once each
	size    int         // see unfoldedSize
	layout              // this and the fields below are reset when the edition changes
	plan    *plan.Plan  // nil if there is none yet
	levels  []Priority  // of the plan's tasks; nil if all have the same
	fault   error       // the result of Validate
	states  []*runState
}

// maxIdleStates is the number of run states that a graph keeps for later runs. Runs that follow each other need one;
// more than a few would only hold memory.
const maxIdleStates = 4

func init() {
	plan.Of = func(g any) (*plan.Plan, error) { return g.(*Graph).freeze() }
}

// New returns an empty graph. The name stands in errors, dumps and drawings.
func New(name string) *Graph { return &Graph{name: name} }

// Name returns the name given to New.
func (g *Graph) Name() string { return g.name }

// Len returns the number of tasks.
func (g *Graph) Len() int { return len(g.funcs) }

// Reserve makes room for that many tasks and edges in all. It saves the copies and the spare capacity of growth, which
// pays from some hundred thousand tasks on.
func (g *Graph) Reserve(tasks, edges int) {
	g.change()
	if tasks > cap(g.funcs) {
		g.funcs = append(hugepage.MakeCap[plan.Func](tasks), g.funcs...)
	}
	if edges > cap(g.edges) {
		g.edges = append(hugepage.MakeCap[plan.Edge](edges), g.edges...)
	}
}

// A Task is a task of a graph: a small value that may be copied and compared. The zero Task belongs to no graph.
type Task struct {
	graph *Graph
	index uint32
}

// Task adds a task that runs fn. The context given to fn is the run's: it is cancelled when the caller's is, when
// another task fails, and at the end of the run. If fn returns an error, panics or calls runtime.Goexit, the run fails.
// Task panics if fn is nil.
func (g *Graph) Task(fn func(context.Context) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	g.change()
	g.funcs = append(g.funcs, fn)
	return Task{g, uint32(len(g.funcs) - 1)}
}

func (g *Graph) nilFunction() {
	panic(fmt.Sprintf("graph %q: the function of task %d is nil", g.name, len(g.funcs)))
}

// Named gives the task a name for errors and drawings. A task without a name is called by its number, as in #3.
func (t Task) Named(name string) Task {
	g := t.owner("Named")
	g.change()
	if g.names == nil {
		g.names = make(map[uint32]string)
	}
	g.names[t.index] = name
	return t
}

// Precede makes t come before each of the others. Repeating an edge is harmless. If t is a condition, it may choose
// among the others, and they do not wait for it. Precede panics if a task belongs to another graph.
func (t Task) Precede(others ...Task) {
	g := t.owner("Precede")
	g.change()
	for _, o := range others {
		if o.graph != g {
			g.foreign(t, o, "Precede")
		}
		g.addEdge(t.index, o.index)
	}
}

// Succeed makes t come after each of the others: it is the reverse of [Task.Precede].
func (t Task) Succeed(others ...Task) {
	g := t.owner("Succeed")
	g.change()
	for _, o := range others {
		if o.graph != g {
			g.foreign(t, o, "Succeed")
		}
		g.addEdge(o.index, t.index)
	}
}

func (g *Graph) addEdge(from, to uint32) {
	if from >= to {
		g.backward = true
	}
	g.edges = append(g.edges, plan.Edge{From: from, To: to})
}

func (t Task) owner(method string) *Graph {
	if t.graph == nil {
		panic(fmt.Sprintf("graph: %s called on a zero Task: make tasks with Graph.Task", method))
	}
	return t.graph
}

func (g *Graph) foreign(t, other Task, method string) {
	if other.graph == nil {
		panic(fmt.Sprintf("graph %q: %s of task %s was given a zero Task: make tasks with Graph.Task",
			g.name, method, g.taskName(t.index)))
	}
	panic(fmt.Sprintf("graph %q: %s of task %s was given a task of graph %q: edges stay within a graph",
		g.name, method, g.taskName(t.index), other.graph.name))
}

// change prepares g for a change. Only a frozen graph needs preparation; a graph with a run in progress is frozen.
func (g *Graph) change() {
	if g.frozen {
		g.thaw()
	}
}

func (g *Graph) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds != 0 {
		panic(fmt.Sprintf("graph %q: changed while a run is in progress: wait for the run, or build another graph",
			g.name))
	}
	if g.modules == nil && g.plan != nil {
		g.edges = g.plan.EdgeList()
	}
	g.forgetPlan()
	g.frozen = false
}

func (g *Graph) forgetPlan() {
	g.plan, g.levels, g.fault, g.states = nil, nil, nil, nil
	g.layout = layout{}
}

// freeze returns the graph's plan, or an error that says what is wrong with the graph.
func (g *Graph) freeze() (*plan.Plan, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holdLocked()
	defer g.releaseLocked()
	return g.freezeLocked()
}

// freezeHeld is freeze for a caller that holds g.
func (g *Graph) freezeHeld() (*plan.Plan, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.freezeLocked()
}

// freezeLocked is freeze for a caller that holds g and has locked mu.
func (g *Graph) freezeLocked() (*plan.Plan, error) {
	if g.plan != nil {
		return g.plan, g.fault
	}
	u := &unfolding{
		layout: layout{special: g.special, limits: g.limits, priorities: g.priorities},
		funcs:  g.funcs,
		edges:  g.edges,
	}
	if g.modules != nil {
		var err error
		if u, err = g.unfold(); err != nil {
			return nil, err
		}
	}
	p, err := plan.Freeze(u.funcs, u.edges, g.choosers(len(u.funcs)))
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.name, err)
	}
	g.plan, g.layout = p, u.layout
	g.levels = g.layout.levelsOf(p.Len())
	if g.modules == nil {
		g.edges = nil
	}
	if g.backward {
		if path := p.Cycle(); path != nil {
			g.fault = g.newCycleError(path)
		}
	}
	if g.fault == nil && p.Chooses != nil {
		g.fault = g.checkChoices()
	}
	return g.plan, g.fault
}

// Validate returns an error if the graph cannot run: a [*CycleError], or an error that names a task that a condition
// would start too early or that could never run, or that names the module with such a mistake. Run does the same
// checks. Their result is kept until the graph is changed. A task that waits for several branches of a condition is
// valid: in a loop all of the branches may be chosen in the end.
func (g *Graph) Validate() error {
	_, err := g.freeze()
	return err
}

// taskName returns the name of task i of the plan, after the name of its module if it has one.
func (g *Graph) taskName(i uint32) string {
	owner, i := g.origin(i)
	if owner != g {
		return owner.name + "/" + owner.ownName(i)
	}
	return g.ownName(i)
}

func (g *Graph) ownName(i uint32) string {
	if name, ok := g.names[i]; ok {
		return name
	}
	return fmt.Sprintf("#%d", i)
}

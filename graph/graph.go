package graph

import (
	"context"
	"fmt"
	"strconv"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Graph is a set of tasks and of edges between them, each from a task to one that comes after it. Build it from one
// goroutine, then run it any number of times, also at the same time: runs of one graph share no state. Between runs it
// may be changed; changing it while a run is in progress panics. The zero Graph is an empty one without a name.
type Graph struct {
	name       string
	funcs      []plan.Func
	edges      []plan.Edge       // dropped by the freeze, unless there are modules; see topology
	names      map[uint32]string // of the tasks that have one
	sealed     bool              // the graph of a subflow that is built, see seal
	backward   bool              // some edge leads to the same or an earlier task; otherwise there is no cycle
	chooses    bool              // some of the special tasks choose
	isModule   bool              // of another graph; guarded by heights
	frozen     bool              // held since the last change; guarded by mu to write
	modules    []module          // ascending
	special    specials
	limits     map[uint32][]limit
	priorities map[uint32]Priority // of the tasks that were given one
	takers     map[uint32][]uint32 // of the values that a task makes
	removals   removals

	height int // greater than those of the modules; guarded by heights

	mu       xsync.Mutex // guards the fields below: runs may begin on several goroutines
	holds    int32       // number of runs in progress, and of held graphs that have this one as a module
	size     uint32      // see unfoldedSize
	edition  uint64      // changes with every change of the graph or its modules
	uses     []use       // the graphs of the modules, once each
	topology *topology   // if not nil it has the edges, and edges is the same or nil
	layout               // this and the fields below are reset when the edition changes
	plan     *plan.Plan  // nil if there is none yet
	levels   []Priority  // of the plan's tasks; nil if all have the same
	fault    error       // the result of Validate
	states   []*runState
	spans    *spanItem         // free spans, beside those of run states
	tasks    *executor.TaskSet // of the plan; nil if none was needed yet
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
func (g *Graph) Name() string {
	g.mustBe()
	return g.name
}

// mustBe panics if g is nil.
func (g *Graph) mustBe() {
	if g == nil {
		panic("graph: a nil Graph is used: make one with New")
	}
}

// Len returns the number of tasks.
func (g *Graph) Len() int {
	g.mustBe()
	return len(g.funcs) - len(g.removals.free)
}

// Reserve makes room for that many tasks and edges in all. It saves the copies and the spare capacity of growth, which
// pays from some hundred thousand tasks on.
func (g *Graph) Reserve(tasks, edges int) {
	g.change()
	if tasks > cap(g.funcs) {
		g.funcs = append(hugepage.MakeCap[plan.Func](tasks), g.funcs...)
	}
	if edges > cap(g.edges) {
		g.listEdges()
		g.edges = append(hugepage.MakeCap[plan.Edge](edges), g.edges...)
	}
}

// A Task is a task of a graph: a small value that may be copied and compared. The zero Task belongs to no graph.
type Task struct {
	graph      *Graph
	index      uint32
	generation uint32 // of the tasks that have had this index
}

// Task adds a task that runs fn. The context given to fn is the run's: it is cancelled when the caller's is, when
// another task fails, and at the end of the run. If fn returns an error, panics or calls runtime.Goexit, the run fails.
// Task panics if fn is nil.
func (g *Graph) Task(fn func(context.Context) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	g.change()
	if len(g.removals.free) > 0 {
		return g.taskAgain(fn)
	}
	g.funcs = append(g.funcs, fn)
	return Task{g, uint32(len(g.funcs) - 1), g.removals.cleared}
}

func (g *Graph) nilFunction() {
	g.mustBe()
	panic(fmt.Sprintf("graph %q: the function of task %d is nil", g.name, len(g.funcs)))
}

// Named gives the task a name for errors, drawings and JSON. Errors and drawings call a task without a name by its
// number, as in #3, and a [Graph.Module] by the name of its graph and the number, as in sub#3. An empty name is
// none. For JSON see [Graph.MarshalJSON].
func (t Task) Named(name string) Task {
	g := t.owner("Named")
	g.change()
	if g.names == nil {
		g.names = make(map[uint32]string)
	}
	if name == "" {
		delete(g.names, t.index)
	} else {
		g.names[t.index] = name
	}
	return t
}

// Precede makes t come before each of the others. Repeating an edge is harmless. If t is a condition, it may choose
// among the others, and they do not wait for it. Precede panics if a task belongs to another graph.
func (t Task) Precede(others ...Task) {
	g := t.owner("Precede")
	g.change()
	for _, o := range others {
		if !g.has(o) {
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
		if !g.has(o) {
			g.foreign(t, o, "Succeed")
		}
		g.addEdge(o.index, t.index)
	}
}

func (g *Graph) addEdge(from, to uint32) {
	if from >= to {
		g.backward = true
	}
	if g.topology != nil {
		g.addEdgeToTopology(from, to)
		return
	}
	g.edges = append(g.edges, plan.Edge{From: from, To: to})
}

func (t Task) owner(method string) *Graph {
	if t.graph == nil {
		panic(fmt.Sprintf("graph: %s called on a zero Task: make tasks with Graph.Task", method))
	}
	if !t.graph.has(t) {
		panic(fmt.Sprintf("graph %q: %s called on task #%d, which was removed", t.graph.name, method, t.index))
	}
	return t.graph
}

func (g *Graph) foreign(t, other Task, method string) {
	if other.graph == nil {
		panic(fmt.Sprintf("graph %q: %s of task %s was given a zero Task: make tasks with Graph.Task",
			g.name, method, g.taskName(t.index)))
	}
	if other.graph == g {
		panic(fmt.Sprintf("graph %q: %s of task %s was given task #%d, which was removed",
			g.name, method, g.taskName(t.index), other.index))
	}
	panic(fmt.Sprintf("graph %q: %s of task %s was given a task of graph %q: edges stay within a graph",
		g.name, method, g.taskName(t.index), other.graph.name))
}

// change prepares g for a change. A graph that was never frozen nor walked needs no preparation; a graph with a run in
// progress is frozen.
func (g *Graph) change() {
	g.mustBe()
	if g.frozen || g.topology != nil {
		g.edit()
	}
}

func (g *Graph) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checkSealed()
	if g.holds != 0 {
		panic(fmt.Sprintf("graph %q: changed while a run is in progress: wait for the run, or build another graph",
			g.name))
	}
	if g.modules == nil && g.plan != nil {
		g.keepFrozen()
	}
	g.forgetPlan()
	g.frozen = false
}

func (g *Graph) forgetPlan() {
	g.plan, g.levels, g.fault, g.states, g.tasks = nil, nil, nil, nil, nil
	g.layout = layout{}
}

// freeze returns the graph's plan, or an error that says what is wrong with the graph.
func (g *Graph) freeze() (*plan.Plan, error) {
	g.mustBe()
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
	if g.topology != nil {
		if g.modules == nil {
			return g.freezeEdited()
		}
		g.topology.last = nil
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
	g.levels = g.layout.levelsOf(p)
	if g.modules == nil {
		g.edges = nil
	}
	g.fault = g.check(p.Cycle)
	return g.plan, g.fault
}

// check returns what is wrong with the plan, of which cycle returns a cycle if there is one.
func (g *Graph) check(cycle func() []uint32) error {
	if g.backward {
		if path := cycle(); path != nil {
			return g.newCycleError(path)
		}
	}
	if g.plan.Chooses != nil {
		if err := g.checkChoices(); err != nil {
			return err
		}
		if err := g.checkJoins(); err != nil {
			return err
		}
	}
	return g.checkPermits()
}

// Validate returns an error if the graph cannot run: a [*CycleError], or an error that names a task that a condition
// would start too early or that could never run, or that names the module with such a mistake. Run does the same
// checks. Their result is kept until the graph is changed.
//
// A task that waits for several of the tasks among which one condition chooses could never run, unless a loop comes to
// the condition again. Validate finds most such tasks, but not those that wait for the others only through tasks with
// several predecessors of their own.
//
// For a semaphore whose permits tasks [Task.Acquire], Validate looks at the paths between the first and the last task
// that use it, unless it has permits for all of them. After 2²⁵ tasks and edges of such paths, some tenths of a second,
// it looks at no other semaphore: a task that can never get its permits then waits until its run is stopped.
func (g *Graph) Validate() error {
	_, err := g.freeze()
	return err
}

// taskName returns the name of task i of the plan, after the name of its module if it has one.
func (g *Graph) taskName(i uint32) string {
	owner, own := g.origin(i)
	if owner != g {
		return g.moduleName(g.moduleOf(i)) + "/" + owner.ownName(own)
	}
	return g.ownName(own)
}

// moduleName returns the name of the module with task i of the plan, without that of the module around it.
func (g *Graph) moduleName(i uint32) string {
	owner, i := g.origin(i)
	return owner.ownName(i)
}

// ownName returns the name that g's own task i was given. Without one it is the number, behind the name of the graph if
// the task is a module.
func (g *Graph) ownName(i uint32) string {
	name, ok := g.names[i]
	if ok {
		return name
	}
	if m := g.moduleAt(i); m >= 0 {
		name = g.modules[m].graph.name
	}
	return name + "#" + strconv.Itoa(int(i))
}

package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/graph"
)

// Run runs the graph on an executor of this process, with functions from reg, and waits. The results are those that any
// other run of the graph has. Values pass from call to call as they are, without a [Codec], but for those of [Value],
// and stay in memory until the run ends.
//
// The first call that fails ends the run. Its error is a [graph.TaskError] with the names of the graph and of the call,
// or several, joined. A panic is an [executor.PanicError]. A function that is missing is a [*MissingError]. ex may be
// nil, see [executor.Default].
func Run(ctx context.Context, ex *executor.Executor, reg *Registry, g *Graph) (*Results, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	e := newExecution(g, reg, "local-"+rand.Text())
	tasks := graph.New(g.name)
	if err := e.bind(tasks, g.all(), g.choices(), nil); err != nil {
		return nil, err
	}
	if err := orDefault(ctx, ex).Run(ctx, tasks); err != nil {
		return nil, err
	}
	return e.results(), nil
}

// orDefault returns the executor that a nil one stands for.
func orDefault(ctx context.Context, ex *executor.Executor) *executor.Executor {
	if ex != nil {
		return ex
	}
	if own, ok := executor.FromContext(ctx); ok {
		return own
	}
	return executor.Default()
}

// An execution is one run of some calls of a graph on an executor.
type execution struct {
	graph     *Graph
	registry  *Registry
	run       string
	keys      string      // what the keys of its calls begin with
	functions []*function // by prototype; nil if no call needs it

	tasks *graph.Graph
	steps []step       // in ascending order of their indices
	added []graph.Task // of the steps
	outer map[int32]*outer
	index *port // of what calls choose by
}

// A step is one call of an execution. It is written by its task, and read by those after it.
type step struct {
	in    *execution
	index int32 // of the call
	pack  bool  // the result is needed by other partitions, or by the submitter

	value  any
	absent bool
	packed wire.Value // if pack is set
}

// An outer is a result of another partition.
type outer struct {
	port   *port // nil if only the order counts
	packed wire.Value
	value  any
	task   graph.Task
}

func newExecution(g *Graph, reg *Registry, run string) *execution {
	return &execution{graph: g, registry: reg, run: run, keys: run, functions: make([]*function, len(g.prototypes))}
}

// bind adds a task for each of the calls to tasks, and the edges between them. choices are those of the graph. outer
// has the calls of other partitions before them.
func (e *execution) bind(tasks *graph.Graph, calls []int32, choices map[int32][]choice, outer map[int32]*outer) error {
	e.tasks, e.outer = tasks, outer
	if err := e.find(calls); err != nil {
		return err
	}
	e.steps = make([]step, len(calls))
	e.added = make([]graph.Task, len(calls))
	held := e.semaphores()
	if len(choices) > 0 {
		e.index = portOf[int](e.registry, "Choose")
	}
	tasks.Reserve(len(calls)+len(outer), 0)
	for k, i := range calls {
		e.steps[k] = step{in: e, index: i}
	}
	for k, i := range calls {
		s := &e.steps[k]
		e.added[k] = e.add(s, choices[i]).Named(e.graph.label(i))
		for _, h := range e.graph.said(i).hold {
			e.added[k].Hold(held[h])
		}
	}
	for k, i := range calls {
		for before, role := range e.graph.before(i, choices[i]) {
			in, err := e.port(i, before, role)
			if err != nil {
				return err
			}
			if from := e.at(before); from >= 0 {
				e.added[from].Precede(e.added[k])
			} else if err := e.decode(before, in, e.added[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode has the result of a call of another partition decoded before a task that takes it.
func (e *execution) decode(i int32, in *port, taker graph.Task) error {
	o := e.outer[i]
	switch {
	case in == nil || o != nil && o.packed.Absent:
		return nil
	case o == nil:
		return fmt.Errorf("cluster: graph %q: the result of call %s is missing", e.graph.name, e.graph.label(i))
	case o.port == nil:
		o.port = in
		o.task = e.tasks.Task(func(context.Context) (err error) {
			o.value, err = in.unpack(o.packed)
			return err
		}).Named("input " + e.graph.label(i))
	}
	o.task.Precede(taker)
	return nil
}

// find finds the functions of the calls in the registry.
func (e *execution) find(calls []int32) error {
	if e.registry == nil {
		return errors.New("cluster: the registry is nil")
	}
	var missing []error
	seen := make([]bool, len(e.functions))
	for _, i := range calls {
		f := e.graph.calls[i].function
		if seen[f] {
			continue
		}
		seen[f] = true
		found, err := e.registry.find(&e.graph.prototypes[f])
		if err != nil {
			missing = append(missing, err)
		}
		e.functions[f] = found
	}
	return errors.Join(missing...)
}

func (e *execution) semaphores() []*graph.Semaphore {
	held := make([]*graph.Semaphore, len(e.graph.semaphores))
	for i, s := range e.graph.semaphores {
		held[i] = graph.NewSemaphore(s.permits)
	}
	return held
}

// add adds the task of a step.
func (e *execution) add(s *step, choices []choice) graph.Task {
	f := e.functions[e.graph.calls[s.index].function]
	run := func(ctx context.Context) error { return s.run(ctx, f, choices) }
	retries := e.graph.said(s.index).retries
	switch {
	case f.spawn != nil:
		return e.tasks.Subflow(func(ctx context.Context, sub *graph.Graph) error { return s.spawn(ctx, f, choices, sub) })
	case retries > 0:
		policy := graph.RetryPolicy{Tries: retries + 1, Pause: firstPause, MaxPause: longestPause, Jitter: 0.5}
		return e.tasks.Retry(policy, run)
	}
	return e.tasks.Task(run)
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// port returns the port by which call i takes the result of another, or nil if it does not.
func (e *execution) port(i, before int32, r role) (*port, error) {
	switch r {
	case byOrder:
		return nil, nil
	case byChoice:
		if e.graph.prototypes[e.graph.calls[before].function].returns != e.index.hash {
			return nil, fmt.Errorf("cluster: graph %q: call %s chooses, and does not return an int", e.graph.name,
				e.graph.label(before))
		}
		return e.index, nil
	}
	return e.functions[e.graph.calls[i].function].input(int(r)), nil
}

// at returns where call i is in steps, or -1 if it is in another partition.
func (e *execution) at(i int32) int {
	if int(i) < len(e.steps) && e.steps[i].index == i { // in a whole graph
		return int(i)
	}
	// Not slices.BinarySearchFunc: it would copy steps that other tasks write to.
	k := sort.Search(len(e.steps), func(k int) bool { return e.steps[k].index >= i })
	if k == len(e.steps) || e.steps[k].index != i {
		return -1
	}
	return k
}

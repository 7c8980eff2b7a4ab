package graph_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// An edited is a task of an editing, whose functions count their ends in a tallied.
type edited struct {
	id, version int
	task        graph.Task
	kind        graph.Kind
	sub         *graph.Graph
	named       bool
	priority    graph.Priority
	limits      []*graph.Semaphore // once for each permit
	succ        []int
	takes       []int
	value       graph.Value[int] // if it makes one
}

// A tallied has the number of ends of tasks in one run, and the order in which they came.
type tallied struct {
	mu    sync.Mutex
	count map[string]int
	at    map[string]int
	total int
}

// endless is the number of ends after which conditions choose nothing, so that loops end. What runs until then depends
// on the order of the tasks.
const endless = 1000

// goesOn reports whether conditions choose.
func goesOn(ctx context.Context) bool {
	y := ctx.Value(talliedKey{}).(*tallied)
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.total < endless
}

// oneOf is the function of a condition, and some that of a multi-condition, that also do what run does.
func oneOf(choice int, run func(context.Context) error) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if err := run(ctx); err != nil || !goesOn(ctx) {
			return -1, err
		}
		return choice, nil
	}
}

func some(choice int, run func(context.Context) error) func(context.Context) ([]int, error) {
	return func(ctx context.Context) ([]int, error) {
		if err := run(ctx); err != nil || !goesOn(ctx) {
			return nil, err
		}
		return []int{0, choice}, nil
	}
}

type talliedKey struct{}

func (s *edited) name() string { return fmt.Sprintf("t%d", s.id) }

// body counts the task under its name and version.
func body(name string, version int) func(context.Context) error {
	return func(ctx context.Context) error {
		y := ctx.Value(talliedKey{}).(*tallied)
		y.mu.Lock()
		defer y.mu.Unlock()
		y.count[fmt.Sprintf("%s.%d", name, version)]++
		y.at[name] = len(y.at)
		y.total++
		return nil
	}
}

// builds is the function of a subflow of a task that does run.
func builds(run func(context.Context) error) func(context.Context, *graph.Graph) error {
	return func(_ context.Context, sub *graph.Graph) error { sub.Task(run); return nil }
}

// addTo adds the task to a graph, without edges. A value task is added as an ordinary one.
func (s *edited) addTo(g *graph.Graph) graph.Task {
	run := body(s.name(), s.version)
	choice := s.id % 3
	switch s.kind {
	case graph.KindCondition:
		return g.Condition(oneOf(choice, run))
	case graph.KindMultiCondition:
		return g.MultiCondition(some(choice, run))
	case graph.KindSubflow:
		return g.Subflow(builds(run))
	case graph.KindDetachedSubflow:
		return g.DetachedSubflow(builds(run))
	case graph.KindModule:
		return g.Module(s.sub)
	}
	return g.Task(run)
}

// rebind gives the task the function of its next version, if its kind can be bound again.
func (s *edited) rebind(t *testing.T) {
	run := body(s.name(), s.version+1)
	choice := s.id % 3
	switch {
	case s.kind == graph.KindTask:
		s.task.Rebind(run)
	case s.kind == graph.KindCondition:
		s.task.RebindCondition(oneOf(choice, run))
	case s.kind == graph.KindMultiCondition:
		s.task.RebindMultiCondition(some(choice, run))
	case s.kind == graph.KindSubflow, s.kind == graph.KindDetachedSubflow:
		s.task.RebindSubflow(builds(run))
	case s.kind == graph.KindValue && s.takes == nil:
		s.value.Rebind(func(ctx context.Context) (int, error) { return s.id, run(ctx) })
	default:
		require.Panics(t, func() { s.task.Rebind(run) })
		return
	}
	s.version++
}

func (s *edited) label(t graph.Task) {
	if s.named {
		t.Named(s.name())
	}
	if s.priority != graph.Normal {
		t.Priority(s.priority)
	}
	t.Hold(s.limits...)
}

package graph

import (
	"context"
	"fmt"
)

// Rebind makes the task call fn from the next run on, and changes nothing else: the graph runs again without any
// preparation. It is for tasks made by [Graph.Task], and for those made by [Graph.Retry], which keep their policy.
//
// Each method that binds a task again panics if fn is nil, and if the task was made by another method than those that
// it is for. A [Graph.Module] cannot be bound again, nor can a task that takes values: remove it and add another.
func (t Task) Rebind(fn func(context.Context) error) Task {
	g := t.owner("Rebind")
	if was, ok := g.special.of(t.index).(retried); ok {
		return rebind(t, "Rebind", fn == nil, retried{was.RetryPolicy, fn})
	}
	t.toRebind("Rebind", fn == nil, t.Kind() == KindTask)
	g.funcs[t.index] = fn
	if e := g.topology; e != nil && e.last != nil {
		e.last.bound = append(e.last.bound, t.index)
	}
	return t
}

// RebindCondition is [Task.Rebind] for a task of [Graph.Condition].
func (t Task) RebindCondition(fn func(context.Context) (int, error)) Task {
	return rebind(t, "RebindCondition", fn == nil, oneOf(fn))
}

// RebindMultiCondition is [Task.Rebind] for a task of [Graph.MultiCondition].
func (t Task) RebindMultiCondition(fn func(context.Context) ([]int, error)) Task {
	return rebind(t, "RebindMultiCondition", fn == nil, someOf(fn))
}

// RebindSubflow is [Task.Rebind] for a task of [Graph.Subflow] or [Graph.DetachedSubflow].
func (t Task) RebindSubflow(fn func(ctx context.Context, sub *Graph) error) Task {
	const method = "RebindSubflow"
	if _, ok := t.owner(method).special.of(t.index).(detached); ok {
		return rebind(t, method, fn == nil, detached(fn))
	}
	return rebind(t, method, fn == nil, subflow(fn))
}

// RebindExternal is [Task.Rebind] for a task of [Graph.External].
func (t Task) RebindExternal(fn func(ctx context.Context, done func(error)) error) Task {
	return rebind(t, "RebindExternal", fn == nil, newExternal(fn))
}

// Rebind is [Task.Rebind] for a task of [Source].
func (v Value[T]) Rebind(fn func(context.Context) (T, error)) Value[T] {
	return Value[T]{rebind(v.task, "Value.Rebind", fn == nil, newMaker(fn))}
}

// RebindExternal is [Task.Rebind] for a task of [SourceExternal].
func (v Value[T]) RebindExternal(fn func(ctx context.Context, done func(T, error)) error) Value[T] {
	return Value[T]{rebind(v.task, "Value.RebindExternal", fn == nil, newExternalMaker(fn))}
}

// rebind gives t other work of the same kind, on behalf of method. The last frozen form and its run states share the
// specials with the graph.
func rebind[S special](t Task, method string, isNil bool, does S) Task {
	g := t.owner(method)
	_, isFor := g.special.of(t.index).(S)
	t.toRebind(method, isNil, isFor)
	g.special[t.index] = does
	return t
}

// toRebind prepares t's graph for another function of t. It panics if the function is nil, or if method is not for t.
func (t Task) toRebind(method string, isNil, isFor bool) {
	g := t.graph
	if isNil {
		panic(fmt.Sprintf("graph %q: %s of task %s to a nil function", g.name, method, g.taskName(t.index)))
	}
	if !isFor {
		panic(fmt.Sprintf("graph %q: %s of task %s, whose kind is %v: %s",
			g.name, method, g.taskName(t.index), t.Kind(), t.howToRebind()))
	}
	if g.frozen {
		g.thaw()
	}
}

// howToRebind says how t can be given another function.
func (t Task) howToRebind() string {
	switch t.graph.special.of(t.index).(type) {
	case oneOf:
		return "use RebindCondition"
	case someOf:
		return "use RebindMultiCondition"
	case subflow, detached:
		return "use RebindSubflow"
	case external:
		return "use RebindExternal"
	case valueMaker:
		return "use Value.Rebind"
	case externalMaker:
		return "use Value.RebindExternal"
	case retried:
		return "use Rebind"
	}
	if t.Kind() == KindTask {
		return "use Rebind"
	}
	return "remove it and add another"
}

package graph

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Value is a result that a task makes and other tasks take. Each run has values of its own, so that runs at the same
// time do not mix them up. The compiler checks the types:
//
//	words := graph.Source(g, func(ctx context.Context) ([]string, error) { … })
//	count := graph.Map(words, func(ctx context.Context, w []string) (int, error) { return len(w), nil })
//	graph.Sink2(words, count, func(ctx context.Context, w []string, n int) error { … })
//
// A task comes after the tasks whose values it takes, which are of the same graph. [Value.Task] is for other edges. In
// a loop each round makes the values anew; [Graph.Condition] tells which value a task takes if rounds overlap.
type Value[T any] struct{ task Task }

// Task returns the task that makes the value.
func (v Value[T]) Task() Task { return v.task }

// Named names the task that makes the value.
func (v Value[T]) Named(name string) Value[T] {
	v.task.Named(name)
	return v
}

// Source adds a task that makes a value. It panics if fn is nil, as Map, MapAll, Sink and the others do.
func Source[T any](g *Graph, fn func(context.Context) (T, error)) Value[T] {
	mustBe(g, fn != nil)
	return Value[T]{g.addSpecial(newMaker(fn))}
}

func newMaker[T any](fn func(context.Context) (T, error)) valueMaker {
	return func(ctx context.Context) (any, error) { return boxed(fn(ctx)) }
}

// Map adds a task that makes a value from another.
func Map[A, T any](a Value[A], fn func(context.Context, A) (T, error)) Value[T] {
	g := a.task.owner("Map")
	mustBe(g, fn != nil)
	return Value[T]{g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		return boxed(fn(ctx, of(a, made)))
	}, a.task)}
}

// Map2 adds a task that makes a value from two others. It panics if these are of different graphs, as Map3, MapAll,
// Sink2 and Sink3 do.
func Map2[A, B, T any](a Value[A], b Value[B], fn func(context.Context, A, B) (T, error)) Value[T] {
	g := a.task.owner("Map2")
	mustBe(g, fn != nil)
	return Value[T]{g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		return boxed(fn(ctx, of(a, made), of(b, made)))
	}, a.task, b.task)}
}

// Map3 adds a task that makes a value from three others.
func Map3[A, B, C, T any](
	a Value[A], b Value[B], c Value[C], fn func(context.Context, A, B, C) (T, error),
) Value[T] {
	g := a.task.owner("Map3")
	mustBe(g, fn != nil)
	return Value[T]{g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		return boxed(fn(ctx, of(a, made), of(b, made), of(c, made)))
	}, a.task, b.task, c.task)}
}

// MapAll adds a task that makes a value from any number of others of one type, in their order. It panics if there is
// none.
func MapAll[A, T any](all []Value[A], fn func(context.Context, []A) (T, error)) Value[T] {
	if len(all) == 0 {
		panic("graph: MapAll of no values: to which graph should the task belong?")
	}
	g := all[0].task.owner("MapAll")
	mustBe(g, fn != nil)
	all = append([]Value[A](nil), all...)
	before := make([]Task, len(all))
	for i, a := range all {
		before[i] = a.task
	}
	return Value[T]{g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		values := make([]A, len(all))
		for i, a := range all {
			values[i] = of(a, made)
		}
		return boxed(fn(ctx, values))
	}, before...)}
}

// Sink adds a task that takes a value and makes none.
func Sink[A any](a Value[A], fn func(context.Context, A) error) Task {
	g := a.task.owner("Sink")
	mustBe(g, fn != nil)
	return g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		return nil, fn(ctx, of(a, made))
	}, a.task)
}

// Sink2 adds a task that takes two values and makes none.
func Sink2[A, B any](a Value[A], b Value[B], fn func(context.Context, A, B) error) Task {
	g := a.task.owner("Sink2")
	mustBe(g, fn != nil)
	return g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		return nil, fn(ctx, of(a, made), of(b, made))
	}, a.task, b.task)
}

// Sink3 adds a task that takes three values and makes none.
func Sink3[A, B, C any](a Value[A], b Value[B], c Value[C], fn func(context.Context, A, B, C) error) Task {
	g := a.task.owner("Sink3")
	mustBe(g, fn != nil)
	return g.addValue(func(ctx context.Context, made []madeValue) (any, error) {
		return nil, fn(ctx, of(a, made), of(b, made), of(c, made))
	}, a.task, b.task, c.task)
}

func mustBe(g *Graph, ok bool) {
	if !ok {
		g.nilFunction()
	}
}

func boxed[T any](v T, err error) (any, error) { return v, err }

// A madeValue is the value that a task has made, nil if the task has not ended yet. It is an atomic pointer because a
// task may overlap with itself: it may make a value while others take the last.
type madeValue = xatomic.Pointer[any]

// of returns the value that a's task has made last in the run, or the zero value if it has made none. A nil of an
// interface type is boxed as a nil any, for which the zero value is right as well.
func of[A any](a Value[A], made []madeValue) (v A) {
	if last := made[a.task.index].Load(); last != nil {
		v, _ = (*last).(A)
	}
	return v
}

// A valueMaker makes a value and takes none.
type valueMaker func(context.Context) (any, error)

func (fn valueMaker) run(ctx context.Context, _ *executor.Worker, r *runState, i uint32) error {
	made, err := fn(ctx)
	return r.keepMade(i, made, err)
}

// A valueTask is called with the values of its graph, by the index of the task that made them.
type valueTask func(ctx context.Context, made []madeValue) (any, error)

func (g *Graph) addValue(fn valueTask, before ...Task) Task {
	for _, b := range before {
		if b.graph != g {
			panic(fmt.Sprintf("graph %q: a task takes the value of a task of another graph: "+
				"values stay within a graph", g.name))
		}
	}
	t := g.addSpecial(fn)
	t.Succeed(before...)
	g.addTaker(t, before)
	return t
}

func (fn valueTask) run(ctx context.Context, _ *executor.Worker, r *runState, i uint32) error {
	// The tasks of a module's copy lie side by side.
	_, own := r.graph.origin(i)
	made, err := fn(ctx, r.values[i-own:])
	return r.keepMade(i, made, err)
}

// keepMade keeps the value that task i has made, unless the task has failed. It returns err.
func (r *runState) keepMade(i uint32, made any, err error) error {
	if err == nil {
		r.values[i].Store(&made)
	}
	return err
}

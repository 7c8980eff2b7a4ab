package cluster

import (
	"context"
	"fmt"
)

// A Func0 is a registered function without inputs.
type Func0[R any] struct{ f *function }

// A Func is a registered function of one input.
type Func[A, R any] struct{ f *function }

// A Func2 is a registered function of two inputs.
type Func2[A, B, R any] struct{ f *function }

// A Func3 is a registered function of three inputs.
type Func3[A, B, C, R any] struct{ f *function }

// A FuncAll is a registered function of any number of inputs of one type.
type FuncAll[A, R any] struct{ f *function }

// Register0 registers a function without inputs.
func Register0[R any](reg *Registry, name string, fn func(context.Context) (R, error)) Func0[R] {
	mustBe(name, fn != nil)
	return Func0[R]{reg.add(name, &function{
		out:  portOf[R](reg, name),
		call: func(ctx context.Context, _ []any) (any, error) { return boxed(fn(ctx)) },
	})}
}

// Register registers a function of one input. A function of several kinds of input takes a struct, or see [Register2].
//
// fn may be called at the same time by several calls. It must not change its input: a result that several calls take is
// one value, shared by all of them on one executor. It must be idempotent: it may be called again for a call after a
// failure, of a machine too. [Key] is the same then.
//
// Register panics, as its siblings do, if fn is nil, if the name is "", too long or taken, or if the codec cannot
// encode a type.
func Register[A, R any](reg *Registry, name string, fn func(context.Context, A) (R, error)) Func[A, R] {
	mustBe(name, fn != nil)
	return Func[A, R]{reg.add(name, &function{
		in:   []*port{portOf[A](reg, name)},
		out:  portOf[R](reg, name),
		call: func(ctx context.Context, in []any) (any, error) { return boxed(fn(ctx, as[A](in[0]))) },
	})}
}

// Register2 registers a function of two inputs.
func Register2[A, B, R any](reg *Registry, name string, fn func(context.Context, A, B) (R, error)) Func2[A, B, R] {
	mustBe(name, fn != nil)
	return Func2[A, B, R]{reg.add(name, &function{
		in:   []*port{portOf[A](reg, name), portOf[B](reg, name)},
		out:  portOf[R](reg, name),
		call: func(ctx context.Context, in []any) (any, error) { return boxed(fn(ctx, as[A](in[0]), as[B](in[1]))) },
	})}
}

// Register3 registers a function of three inputs.
func Register3[A, B, C, R any](
	reg *Registry, name string, fn func(context.Context, A, B, C) (R, error),
) Func3[A, B, C, R] {
	mustBe(name, fn != nil)
	return Func3[A, B, C, R]{reg.add(name, &function{
		in:  []*port{portOf[A](reg, name), portOf[B](reg, name), portOf[C](reg, name)},
		out: portOf[R](reg, name),
		call: func(ctx context.Context, in []any) (any, error) {
			return boxed(fn(ctx, as[A](in[0]), as[B](in[1]), as[C](in[2])))
		},
	})}
}

// RegisterAll registers a function of any number of inputs of one type. The function may change the slice, but not what
// is in it.
func RegisterAll[A, R any](reg *Registry, name string, fn func(context.Context, []A) (R, error)) FuncAll[A, R] {
	mustBe(name, fn != nil)
	return FuncAll[A, R]{reg.add(name, &function{
		prototype: prototype{all: true},

		in:  []*port{portOf[A](reg, name)},
		out: portOf[R](reg, name),
		call: func(ctx context.Context, in []any) (any, error) {
			all := make([]A, len(in))
			for i, v := range in {
				all[i] = as[A](v)
			}
			return boxed(fn(ctx, all))
		},
	})}
}

// RegisterSub registers a function that adds calls to a graph of its own, sub, which run when the function has returned
// without an error. The result of its call is that of the call that it returns, or a [Value]. All calls that are added
// run on the executor that runs the function, before the calls that come after it: they are never sent to others. If
// one fails, the call fails. The functions that they call must be in the same registry.
//
// To the graph that calls it, it is a [Func] like others, and a worker may have it registered by [Register].
// [Call.Retries] has no effect on a call of the function. The calls that the function adds may have retries.
func RegisterSub[A, R any](
	reg *Registry, name string, fn func(ctx context.Context, sub *Graph, in A) (Arg[R], error),
) Func[A, R] {
	mustBe(name, fn != nil)
	return Func[A, R]{reg.add(name, &function{
		in:  []*port{portOf[A](reg, name)},
		out: portOf[R](reg, name),
		spawn: func(ctx context.Context, sub *Graph, in []any) (source, error) {
			result, err := fn(ctx, sub, as[A](in[0]))
			if err == nil && result == nil {
				err = fmt.Errorf("function %q has returned neither a call nor a value", name)
			}
			return result, err
		},
	})}
}

// Call adds a call of the function to g.
func (f Func0[R]) Call(g *Graph) Call[R] { return newCall[R](g, f.f) }

// Call adds a call of the function to g. The input is a [Value], or the result of an earlier [Call] of g. Call panics
// if it is of another graph.
func (f Func[A, R]) Call(g *Graph, a Arg[A]) Call[R] { return newCall[R](g, f.f, a) }

// Call adds a call of the function to g, as [Func.Call] does.
func (f Func2[A, B, R]) Call(g *Graph, a Arg[A], b Arg[B]) Call[R] { return newCall[R](g, f.f, a, b) }

// Call adds a call of the function to g, as [Func.Call] does.
func (f Func3[A, B, C, R]) Call(g *Graph, a Arg[A], b Arg[B], c Arg[C]) Call[R] {
	return newCall[R](g, f.f, a, b, c)
}

// Call adds a call of the function to g, as [Func.Call] does. There may be no input.
func (f FuncAll[A, R]) Call(g *Graph, all ...Arg[A]) Call[R] {
	sources := make([]source, len(all))
	for i, a := range all {
		sources[i] = a
	}
	return newCall[R](g, f.f, sources...)
}

// Signature returns the signature of the function.
func (f Func0[R]) Signature() Signature { return f.f.signature }

// Signature returns the signature of the function.
func (f Func[A, R]) Signature() Signature { return f.f.signature }

// Signature returns the signature of the function.
func (f Func2[A, B, R]) Signature() Signature { return f.f.signature }

// Signature returns the signature of the function.
func (f Func3[A, B, C, R]) Signature() Signature { return f.f.signature }

// Signature returns the signature of the function.
func (f FuncAll[A, R]) Signature() Signature { return f.f.signature }

func mustBe(name string, ok bool) {
	if !ok {
		panic(fmt.Sprintf("cluster: function %q is nil", name))
	}
}

func boxed[T any](v T, err error) (any, error) { return v, err }

// as returns v as an A. v is nil if it is the zero value of an interface type, or absent.
func as[A any](v any) A {
	a, _ := v.(A)
	return a
}

package cluster

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Results are the results of a run that has ended without an error: those of calls whose result no other call takes,
// and of [Call.Keep]. [Call.Result] and [ResultOf] read them.
type Results struct {
	run    string
	graph  *Graph
	same   atomic.Pointer[Graph] // the last other graph that was found to be equal
	values map[int32]result
}

// A result is a value that is encoded, or as a function has returned it.
type result struct {
	packed wire.Value
	value  any
	port   *port // of value; nil if it is encoded or absent
}

// Run returns the ID of the run.
func (r *Results) Run() string { return r.run }

// results returns the results of a run of a whole graph.
func (e *execution) results() *Results {
	r := &Results{run: e.run, graph: e.graph, values: map[int32]result{}}
	taken := e.graph.taken()
	for i := range e.steps {
		s := &e.steps[i]
		switch {
		case !e.graph.kept(s.index, taken):
		case s.absent:
			r.values[s.index] = result{packed: wire.Value{Absent: true}}
		default:
			r.values[s.index] = result{value: s.value, port: e.functions[e.graph.calls[s.index].function].out}
		}
	}
	return r
}

// newResults returns the results that the outputs of a run have.
func newResults(ctx context.Context, objects objects, run string, g *Graph, outputs []wire.Output) (*Results, error) {
	r := &Results{run: run, graph: g, values: map[int32]result{}}
	taken := g.taken()
	for _, o := range outputs {
		for i, v := range o.Values {
			if i < 0 || i >= len(g.calls) || !g.kept(int32(i), taken) {
				continue
			}
			v, err := fetch(ctx, objects, v)
			if err != nil {
				return nil, fmt.Errorf("cluster: result of call %s of graph %q: %w", g.label(int32(i)), g.name, err)
			}
			r.values[int32(i)] = result{packed: v}
		}
	}
	return r, nil
}

// Result returns the result of the call in a run of its graph, or of one that is equal: the graph that a program builds
// again after a restart, for example. The error is [ErrAbsent] or [ErrNotKept], or one of the codec.
//
// A result of a local run is the value that the function has returned, each time.
func (c Call[R]) Result(r *Results) (R, error) {
	var zero R
	if err := r.checkGraph(c.place.g); err != nil {
		return zero, err
	}
	return read[R](r, c.place.i, c.out)
}

// checkGraph returns an error if the results are those of another graph.
func (r *Results) checkGraph(g *Graph) error {
	if g == r.graph || g == r.same.Load() {
		return nil
	}
	if g == nil {
		return fmt.Errorf("cluster: results of graph %q: the call belongs to no graph", r.graph.name)
	}
	own, err := r.graph.Hash()
	if err != nil {
		return err
	}
	other, err := g.Hash()
	if err != nil {
		return err
	}
	if own != other {
		return fmt.Errorf("cluster: the results are those of graph %q, with hash %s, and the call is one of %q, with %s",
			r.graph.name, own, g.name, other)
	}
	r.same.Store(g)
	return nil
}

// ResultOf returns the result of the call that was named so, for a program that has not built the graph. T must be
// encoded like the type that the function returns, with the codecs of reg. Its errors are those of [Call.Result].
func ResultOf[T any](r *Results, reg *Registry, name string) (T, error) {
	var zero T
	for i := range r.graph.calls {
		if r.graph.said(int32(i)).name == name && name != "" {
			return read[T](r, int32(i), portOf[T](reg, "ResultOf"))
		}
	}
	return zero, fmt.Errorf("cluster: results of graph %q: no call is named %q", r.graph.name, name)
}

func read[T any](r *Results, i int32, p *port) (T, error) {
	var zero T
	failed := func(err error) (T, error) {
		return zero, fmt.Errorf("result of call %s of graph %q: %w", r.graph.label(i), r.graph.name, err)
	}
	found, ok := r.values[i]
	proto := &r.graph.prototypes[r.graph.calls[i].function]
	var v any
	var err error
	switch {
	case !ok && !r.graph.kept(i, r.graph.taken()):
		return failed(ErrNotKept)
	case !ok:
		return failed(fmt.Errorf("cluster: it is missing"))
	case found.packed.Absent:
		return failed(ErrAbsent)
	case proto.returns != p.hash:
		return failed(fmt.Errorf("cluster: it is not encoded like a %v", p.typ))
	case found.port != nil:
		v, err = p.convert(found.value, found.port)
	default:
		v, err = p.unpack(found.packed)
	}
	if err != nil {
		return failed(err)
	}
	return as[T](v), nil
}

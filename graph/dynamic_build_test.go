package graph_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/graph"
)

// A built program has the graphs of a program: one for each block that is a module, and one for the whole.
type built struct {
	*program
	graphs     map[*block]*graph.Graph
	semaphores []*graph.Semaphore
}

// A parcel is the value of a maker.
type parcel struct {
	from  *firing
	value uint64
}

func (p *program) build() *built {
	b := &built{program: p, graphs: make(map[*block]*graph.Graph)}
	for _, n := range p.permits {
		b.semaphores = append(b.semaphores, graph.NewSemaphore(n))
	}
	b.graph(p.root)
	for _, v := range p.vertices { // also those of flows, before anything runs
		if v.does == stands {
			b.graph(v.child)
		}
	}
	return b
}

func (b *built) graph(of *block) *graph.Graph {
	g := b.graphs[of]
	if g == nil {
		g = graph.New(of.name)
		b.graphs[of] = g
		b.fill(g, of, nil)
	}
	return g
}

// fill adds the block's tasks to g, which the firing of a flow has built, if any.
func (b *built) fill(g *graph.Graph, of *block, flow *firing) {
	tasks := make([]graph.Task, len(of.vertices))
	values := make(map[*vertex]graph.Value[parcel])
	for i, v := range of.vertices {
		tasks[i] = b.add(g, v, flow, values)
		if v.priority != graph.Normal {
			tasks[i].Priority(v.priority)
		}
		for _, s := range v.limits {
			tasks[i].Hold(b.semaphores[s])
		}
		if v.name != "" && v.does != stands {
			tasks[i].Named(v.name)
		}
	}
	for _, v := range of.vertices {
		for _, s := range v.succ {
			if v.does != makes || s.does != makes { // else it takes the value
				tasks[v.index].Precede(tasks[s.index])
			}
		}
	}
}

// add adds a vertex.
func (b *built) add(g *graph.Graph, v *vertex, flow *firing, values map[*vertex]graph.Value[parcel]) graph.Task {
	switch v.does {
	case stands:
		sub := b.graph(v.child)
		return g.Module(sub).Named(sub.Name())
	case flows:
		return g.Subflow(func(ctx context.Context, sub *graph.Graph) error {
			f := begin(ctx, v, flow)
			b.fill(sub, v.child, f)
			f.built(sub)
			return f.ends()
		})
	case chooses:
		return g.Condition(func(ctx context.Context) (int, error) {
			f := begin(ctx, v, flow)
			f.chosen = []int{f.pick()}
			return f.chosen[0], f.ends()
		})
	case choosesMany:
		return g.MultiCondition(func(ctx context.Context) ([]int, error) {
			f := begin(ctx, v, flow)
			f.chosen = v.picks
			if v.route != nil {
				f.chosen = []int{f.pick()}
			}
			return f.chosen, f.ends()
		})
	case makes:
		return b.maker(g, v, flow, values)
	}
	return g.Task(func(ctx context.Context) error { return begin(ctx, v, flow).ends() })
}

// maker adds a maker, in one of the ways there are.
func (b *built) maker(g *graph.Graph, v *vertex, flow *firing, values map[*vertex]graph.Value[parcel]) graph.Task {
	do := func(ctx context.Context, taken ...parcel) (parcel, error) {
		f := begin(ctx, v, flow)
		f.taken = taken
		made := parcel{f, mix(uint64(v.id))}
		for _, t := range taken {
			made.value = mix(made.value, t.value)
		}
		if made.value != v.value && !b.overlaps { // else a taker may begin before all that it takes was made
			f.x.complain(fmt.Errorf("task %d has made %#x, not %#x, of %v", v.id, made.value, v.value, taken))
		}
		return made, f.ends()
	}
	var all []graph.Value[parcel]
	for _, t := range v.takes {
		all = append(all, values[t])
	}
	last := !slices.ContainsFunc(v.succ, func(s *vertex) bool { return s.does == makes })
	switch {
	case len(all) == 0:
		values[v] = graph.Source(g, func(ctx context.Context) (parcel, error) { return do(ctx) })
	case len(all) == 1 && last:
		return graph.Sink(all[0], func(ctx context.Context, a parcel) error { _, err := do(ctx, a); return err })
	case len(all) == 1:
		values[v] = graph.Map(all[0], func(ctx context.Context, a parcel) (parcel, error) { return do(ctx, a) })
	case len(all) == 2 && last:
		return graph.Sink2(all[0], all[1],
			func(ctx context.Context, a, b parcel) error { _, err := do(ctx, a, b); return err })
	case len(all) == 2:
		values[v] = graph.Map2(all[0], all[1],
			func(ctx context.Context, a, b parcel) (parcel, error) { return do(ctx, a, b) })
	default:
		values[v] = graph.MapAll(all,
			func(ctx context.Context, all []parcel) (parcel, error) { return do(ctx, all...) })
	}
	return values[v].Task()
}

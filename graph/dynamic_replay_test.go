package graph_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A rerun is the oracle's state of one run of an execution: the tasks that may begin by the documentation.
type rerun struct {
	ctx     context.Context
	root    *block  // what it is a run of
	flow    *firing // that has built that; nil of a module that runs by itself, and of the whole
	firings []*firing
	ready   map[*vertex]int
	joined  map[*vertex]int
	copies  map[*block]int // tasks that copies of modules end with, that have ended
	failed  bool           // one of its tasks, or of what flows of it have built
	claimed bool           // its result is that of a task of another
}

// A pass lets one task behind a flow or a module begin.
type pass struct {
	run *rerun  // nil of a module that runs by itself: whose it is cannot be told
	of  *vertex // a flow
	mod *block
}

// A replay goes through the events of an execution in their order.
type replay struct {
	x      *execution
	runs   []*rerun // in the order in which they began
	of     map[context.Context]*rerun
	passes map[pass]int
	starts map[*block]int   // modules to be run by themselves
	flows  map[*firing]bool // whose graphs are to be run
	takers map[taker]bool
	claims []func() // to take back what was found to be told
}

// A taker is a vertex that has taken the value of another.
type taker struct {
	v    *vertex
	from *firing
}

// A moment is the beginning or the end of a firing, or the end of a run.
type moment struct {
	at   int64
	f    *firing
	over *rerun
}

func (x *execution) replay() (*replay, error) {
	r := &replay{x: x, of: make(map[context.Context]*rerun), passes: make(map[pass]int), starts: make(map[*block]int),
		flows: make(map[*firing]bool), takers: make(map[taker]bool)}
	r.starts[x.root] = 1
	var all []moment
	for _, f := range x.log {
		run := r.of[f.ctx]
		if run == nil {
			run = &rerun{ctx: f.ctx, root: f.v.block, flow: f.flow, ready: make(map[*vertex]int),
				joined: make(map[*vertex]int), copies: make(map[*block]int)}
			r.of[f.ctx] = run
			r.runs = append(r.runs, run)
		}
		run.firings = append(run.firings, f)
		all = append(all, moment{at: f.start, f: f}, moment{at: f.end, f: f})
	}
	for _, run := range r.runs {
		last := slices.MaxFunc(run.firings, func(a, b *firing) int { return cmp.Compare(a.end, b.end) })
		all = append(all, moment{at: last.end, over: run})
	}
	for _, run := range slices.Backward(r.runs) {
		run.failed = run.failed || slices.ContainsFunc(run.firings, func(f *firing) bool { return f.fate.isFailure() })
		if run.failed && run.flow != nil {
			r.of[run.flow.ctx].failed = true
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	for _, m := range all {
		switch {
		case m.over != nil:
			r.over(m.over)
		case m.at == m.f.start:
			if err := r.begin(m.f); err != nil {
				return r, fmt.Errorf("task %d, at %d: %w", m.f.v.id, m.at, err)
			}
		case m.f.fate == well:
			r.end(m.f)
		}
	}
	return r, nil
}

// place makes v or its module's tasks ready, and the successors of these as soon as there is a pass.
func (r *replay) place(run *rerun, v *vertex) {
	if v.does != stands {
		run.ready[v]++
		return
	}
	run.ready[v.succ[0]]++
	switch {
	case len(v.child.vertices) == 0:
		r.passes[v.passIn(run)]++
	case !v.isCopied():
		r.starts[v.child]++
	default:
		for _, s := range v.child.sources {
			r.place(run, s)
		}
	}
}

// passIn returns the pass that lets the successors of v begin in a run.
func (v *vertex) passIn(run *rerun) pass {
	switch {
	case v.does == flows:
		return pass{run: run, of: v}
	case v.isCopied():
		return pass{run: run, mod: v.child}
	}
	return pass{mod: v.child}
}

// begin checks that f may begin.
func (r *replay) begin(f *firing) error {
	run := r.of[f.ctx]
	if f == run.firings[0] {
		switch {
		case f.flow != nil:
			if !r.flows[f.flow] {
				return fmt.Errorf("a run of what flow %d has not built", f.flow.v.id)
			}
			delete(r.flows, f.flow)
		case r.starts[run.root] == 0:
			return fmt.Errorf("a run of %s, which nothing has begun", run.root.name)
		default:
			r.starts[run.root]--
		}
		for _, s := range run.root.sources {
			r.place(run, s)
		}
	}
	if run.ready[f.v] == 0 {
		return fmt.Errorf("it was not its turn")
	}
	run.ready[f.v]--
	if f.v.after != nil {
		p := f.v.after.passIn(run)
		if r.passes[p] == 0 {
			return fmt.Errorf("what it comes after had not ended well")
		}
		r.passes[p]--
	}
	for _, t := range f.taken {
		if t.from == nil && r.x.overlaps {
			continue
		}
		key := taker{f.v, t.from}
		again := r.takers[key] && !f.v.takesTwice(t.from.v) && !r.x.overlaps // else it may be the last that was made
		if again || t.from.ctx != f.ctx || t.from.end > f.start {
			return fmt.Errorf("it took what task %d made at %d in another run, or for another", t.from.v.id, t.from.end)
		}
		r.takers[key] = true
	}
	return nil
}

func (v *vertex) takesTwice(other *vertex) bool {
	n := 0
	for _, t := range v.takes {
		if t == other {
			n++
		}
	}
	return n > 1
}

// end makes the successors of f ready.
func (r *replay) end(f *firing) {
	run := r.of[f.ctx]
	v := f.v
	switch {
	case v.does == chooses || v.does == choosesMany:
		for _, s := range v.chosen(f.chosen) {
			r.place(run, s)
		}
		return
	case v.does == flows:
		if len(v.child.vertices) == 0 {
			r.passes[v.passIn(run)]++
		} else {
			r.flows[f] = true
		}
	}
	for _, s := range v.succ {
		if run.joined[s]++; run.joined[s] == s.joins {
			run.joined[s] = 0
			r.place(run, s)
		}
	}
	if b := v.block; b != run.root && slices.Contains(b.sinks, v) {
		if run.copies[b]++; run.copies[b]%len(b.sinks) == 0 {
			r.passes[pass{run: run, mod: b}]++
		}
	}
}

// over notes the end of a nested run.
func (r *replay) over(run *rerun) {
	if run.failed {
		return
	}
	if run.flow != nil {
		r.passes[run.flow.v.passIn(r.of[run.flow.ctx])]++
	} else {
		r.passes[pass{mod: run.root}]++
	}
}

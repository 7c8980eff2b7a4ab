package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/magpie-go/magpie/graph"
)

// A sketch is a block under construction, of parts after and beside each other. Each part begins with one task, which
// has at most one predecessor, and ends with one task.
type sketch struct {
	*block
	p     *program
	rng   *rand.Rand
	depth int // of blocks that may still be inside
	rush  int // how many rushes around what is drawn
}

// Limits on the size of programs.
const (
	mostVertices = 60  // at which no further part is begun
	mostTasks    = 700 // in one run
)

// randomProgram draws a program.
func randomProgram(rng *rand.Rand) *program {
	for {
		p := &program{expected: make(map[*vertex]int)}
		for range rng.IntN(4) {
			p.permits = append(p.permits, 1+rng.IntN(3))
		}
		p.root = p.randomBlock(rng, 0, rng.IntN(4))
		if p.tasks = p.count(p.root, 1); p.tasks <= mostTasks {
			return p
		}
	}
}

// randomBlock draws one to three parts side by side.
func (p *program) randomBlock(rng *rand.Rand, level, depth int) *block {
	d := &sketch{block: &block{level: level, chooses: rng.IntN(2) == 0}, p: p, rng: rng, depth: depth}
	for range 1 + rng.IntN(3)*rng.IntN(2) {
		in, out := d.part(2+rng.IntN(2), true)
		d.sources = append(d.sources, in)
		if out != nil {
			d.sinks = append(d.sinks, out)
		}
	}
	d.chooses = slices.ContainsFunc(d.vertices,
		func(v *vertex) bool { return v.does == chooses || v.does == choosesMany })
	d.arrange()
	d.name = fmt.Sprintf("block %d", len(p.blocks))
	p.blocks = append(p.blocks, d.block)
	d.survey()
	return d.block
}

func (d *sketch) add(does work) *vertex {
	v := &vertex{id: len(d.p.vertices), block: d.block, does: does}
	if d.rng.IntN(2) == 0 {
		v.name = fmt.Sprintf("task %d", v.id)
	}
	d.p.vertices = append(d.p.vertices, v)
	d.vertices = append(d.vertices, v)
	return v
}

func (d *sketch) edge(from, to *vertex) {
	from.succ = append(from.succ, to)
	if from.does != chooses && from.does != choosesMany {
		to.joins++
	}
}

// part draws a part with that many levels. Only a part that runs once in a run of the block may stop before its end;
// out is nil if it never gets there.
func (d *sketch) part(levels int, once bool) (in, out *vertex) {
	if levels == 0 || len(d.p.vertices) >= mostVertices {
		return d.leaf()
	}
	kinds := 4
	switch {
	case d.chooses && d.rush > 0:
		kinds = 7 // of several at once on one route it is left open where each turns
	case d.chooses:
		kinds = 11
	}
	switch d.rng.IntN(kinds) {
	case 0:
		return d.leaf()
	case 1:
		in, out = d.part(levels-1, once)
		for range 1 + d.rng.IntN(2) {
			if out == nil {
				break
			}
			next, end := d.part(levels-1, once)
			d.edge(out, next)
			out = end
		}
		return in, out
	case 2, 3:
		return d.net(levels)
	case 4, 5:
		return d.fan(levels, once)
	case 6:
		return d.overlap(levels)
	}
	return d.walk(levels, once)
}

// leaf draws a task, with what it needs around it.
func (d *sketch) leaf() (in, out *vertex) {
	does := plain
	if d.depth > 0 {
		does = [...]work{plain, plain, plain, flows, stands}[d.rng.IntN(5)]
	}
	v := d.add(does)
	in, out = v, v
	if does != plain {
		v.child = d.inner()
		out = d.add(plain)
		out.after = v
		d.edge(v, out)
	}
	if does == stands {
		in = d.add(plain)
		d.edge(in, v)
	}
	d.limit(v)
	d.rank(v)
	return in, out
}

// limit makes the task need permits. A task that holds a permit while it waits for other tasks uses only the first
// semaphore of its block, and those tasks use later ones.
func (d *sketch) limit(v *vertex) {
	last := len(d.p.permits)
	if v.child != nil {
		last = min(last, d.level+1)
	}
	if d.level >= last || d.rng.IntN(3) > 0 {
		return
	}
	need := make(map[int]int)
	for range 1 + d.rng.IntN(3) {
		if s := d.level + d.rng.IntN(last-d.level); need[s] < d.p.permits[s] {
			need[s]++
			v.limits = append(v.limits, s)
		}
	}
}

// rank gives the task a priority, as one in eight has.
func (d *sketch) rank(v *vertex) {
	if d.rng.IntN(8) == 0 {
		v.priority = graph.High - graph.Priority(d.rng.IntN(3))
	}
}

// inner returns a block inside this one: a new block, one that is also used elsewhere, or none.
func (d *sketch) inner() *block {
	if d.rng.IntN(2) == 0 {
		for _, b := range d.p.blocks {
			if b.level > d.level && d.rng.IntN(2) == 0 {
				return b
			}
		}
	}
	if d.rng.IntN(10) == 0 {
		b := &block{name: fmt.Sprintf("block %d", len(d.p.blocks)), level: d.level + 1} // empty
		d.p.blocks = append(d.p.blocks, b)
		return b
	}
	return d.p.randomBlock(d.rng, d.level+1, d.depth-1)
}

// net draws tasks with random edges between them. Some tasks make values and take those of others.
func (d *sketch) net(levels int) (in, out *vertex) {
	preds := randomModel(d.rng, 1+d.rng.IntN(4*levels)).preds
	begins, ends := make([]*vertex, len(preds)), make([]*vertex, len(preds))
	in = d.add(plain)
	var draw func(i int)
	draw = func(i int) {
		if begins[i] != nil {
			return
		}
		for _, p := range preds[i] {
			draw(p)
		}
		var v *vertex
		if d.rng.IntN(3) == 0 {
			v = d.add(makes)
			d.limit(v)
			d.rank(v)
			begins[i], ends[i] = v, v
		} else {
			begins[i], ends[i] = d.leaf()
		}
		for _, p := range preds[i] {
			if v != nil && ends[p].does == makes {
				v.takes = append(v.takes, ends[p])
			}
			d.edge(ends[p], begins[i])
		}
		if v != nil {
			v.value = mix(uint64(v.id))
			for _, t := range v.takes {
				v.value = mix(v.value, t.value)
			}
		}
	}
	for i := range preds {
		draw(i)
		if len(preds[i]) == 0 {
			d.edge(in, begins[i])
		}
	}
	out = d.add(plain)
	for _, v := range ends {
		if len(v.succ) == 0 {
			d.edge(v, out)
		}
	}
	return in, out
}

// fan draws a choice of several parts at once: of all, with a task after them, or of some that have no successors.
func (d *sketch) fan(levels int, once bool) (in, out *vertex) {
	in = d.add(choosesMany)
	d.limit(in)
	d.rank(in)
	all := !once || d.rng.IntN(2) == 0
	n := 1 + d.rng.IntN(4)
	if all {
		out = d.add(plain)
	}
	for i := range n {
		begin, end := d.part(levels-1, once && !all)
		d.edge(in, begin)
		if all {
			d.edge(end, out)
		}
		if all || d.rng.IntN(2) == 0 {
			in.picks = append(in.picks, i)
		}
	}
	for range d.rng.IntN(3) {
		in.picks = append(in.picks, d.rng.IntN(2*n+4)-n-4) // none, or one again
		if last := len(in.picks) - 1; !all && in.picks[last] >= 0 {
			in.picks[last] = n
		}
	}
	d.rng.Shuffle(len(in.picks), func(i, k int) { in.picks[i], in.picks[k] = in.picks[k], in.picks[i] })
	return in, out
}

// overlap draws a part that is begun several times at once, and a choice that goes on when the part has ended as often.
func (d *sketch) overlap(levels int) (in, out *vertex) {
	d.rush++
	defer func() { d.rush-- }()
	d.p.overlaps = true
	n := 2 + d.rng.IntN(3)
	in = d.add(choosesMany)
	begin, end := d.part(levels-1, false)
	for i := range n {
		c := d.add(choosesMany)
		d.edge(in, c)
		d.edge(c, begin)
		in.picks, c.picks = append(in.picks, i), []int{0}
	}
	gather := d.choice(&route{id: d.p.routes, steps: n - 1})
	d.p.routes++
	out = d.add(plain)
	gather.route.exit = out
	d.edge(end, gather)
	d.edge(gather, d.add(plain))
	d.edge(gather, out)
	return in, out
}

// walk draws parts with a choice after each, which goes on to another part or the same, in loops.
func (d *sketch) walk(levels int, once bool) (in, out *vertex) {
	r := &route{id: d.p.routes, steps: 1 + d.rng.IntN(5)}
	d.p.routes++
	if d.rng.IntN(2) == 0 {
		in = d.add(plain)
	} else {
		in = d.choice(r)
	}
	var begins, choices []*vertex
	for range 1 + d.rng.IntN(3) {
		c := d.choice(r)
		begin := c
		if d.rng.IntN(3) > 0 {
			var end *vertex
			begin, end = d.part(levels-1, false)
			d.edge(end, c)
		}
		begins, choices = append(begins, begin), append(choices, c)
	}
	to := slices.Clone(begins)
	if !once || d.rng.IntN(4) > 0 {
		out = d.add(plain)
		r.exit = out
		to = append(to, out)
	}
	if in.does == plain {
		d.edge(in, begins[0])
	} else {
		choices = append(choices, in)
	}
	for _, c := range choices {
		for range d.rng.IntN(3) {
			d.edge(c, to[d.rng.IntN(len(to))]) // twice
		}
		for _, i := range d.rng.Perm(len(to)) {
			d.edge(c, to[i])
		}
	}
	return in, out
}

func (d *sketch) choice(r *route) *vertex {
	does := chooses
	if d.rng.IntN(4) == 0 {
		does = choosesMany
	}
	c := d.add(does)
	c.route = r
	d.limit(c)
	d.rank(c)
	return c
}

// arrange puts the block's tasks in a random order, with makers before the tasks that take their values.
func (d *sketch) arrange() {
	all := d.vertices
	d.rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	d.vertices = nil
	placed := make(map[*vertex]bool)
	var place func(v *vertex)
	place = func(v *vertex) {
		if placed[v] {
			return
		}
		placed[v] = true
		for _, t := range v.takes {
			place(t)
		}
		v.index = len(d.vertices)
		d.vertices = append(d.vertices, v)
	}
	for _, v := range all {
		place(v)
	}
}

// survey runs the block in sequence, by the documented rules of edges and choices only, to find out how often each task
// runs. The numbers must be the same in any order.
func (d *sketch) survey() {
	before := make(map[*vertex]int)
	for range 2 {
		joined := make(map[*vertex]int)
		decided := make(map[*route]int)
		ready := slices.Clone(d.sources)
		for _, v := range d.vertices {
			before[v], v.often = v.often, 0
		}
		for len(ready) > 0 {
			last := len(ready) - 1
			if d.rng.IntN(2) == 0 {
				k := d.rng.IntN(last + 1)
				ready[k], ready[last] = ready[last], ready[k]
			}
			v := ready[last]
			ready = ready[:last]
			v.often++
			switch {
			case v.route != nil:
				ready = append(ready, v.chosen([]int{v.route.pick(v, decided[v.route])})...)
				decided[v.route]++
			case v.does == choosesMany:
				ready = append(ready, v.chosen(v.picks)...)
			default:
				for _, s := range v.succ {
					if joined[s]++; joined[s] == s.joins {
						joined[s] = 0
						ready = append(ready, s)
					}
				}
			}
		}
	}
	for _, v := range d.vertices {
		if before[v] != v.often {
			panic(fmt.Sprintf("the program leaves open whether task %d runs %d times or %d\n%v", v.id, before[v],
				v.often, d.p))
		}
	}
}

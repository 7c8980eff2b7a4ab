package dag

import (
	"math"
	"math/rand/v2"
)

// A Shape is a kind of forms.
type Shape struct {
	Name string
	draw func(d *drawing, n int)
}

// Draw draws a form of n tasks. In half of the forms all edges are turned round, with the order of the tasks: a tree
// grows out of its root or into it.
func (s Shape) Draw(rng *rand.Rand, n int) *Form {
	d := &drawing{Rand: rng, form: &Form{Shape: s.Name, Tasks: n}, turned: rng.IntN(2) == 0}
	s.draw(d, n)
	return d.form
}

// A drawing is a form under construction.
type drawing struct {
	*rand.Rand
	form   *Form
	turned bool
}

func (d *drawing) edge(a, b int) {
	if last := d.form.Tasks - 1; d.turned {
		a, b = last-b, last-a
	}
	d.form.Edges = append(d.form.Edges, Edge{a, b})
}

// Shapes are the shapes of forms. Any number of tasks will do for each, also none.
var Shapes = []Shape{
	{"loose", func(*drawing, int) {}},
	{"chains", func(d *drawing, n int) { // side by side
		chains := 1 + d.IntN(4)
		for b := chains; b < n; b++ {
			d.edge(b-chains, b)
		}
	}},
	{"tree", func(d *drawing, n int) {
		arms := 1 + d.IntN(3)
		for b := 1; b < n; b++ {
			d.edge((b-1)/arms, b)
		}
	}},
	{"fans of fans", func(d *drawing, n int) { // a tree with few inner nodes
		for b := 1; b < n; b++ {
			d.edge(d.IntN(1+b/20), b)
		}
	}},
	// Fans that end in a sink each, some with chains in between. Narrow ones are diamonds. Or one fan of all tasks.
	{"fans", func(d *drawing, n int) {
		widest := [...]int{2, 40, n}[d.IntN(3)]
		for at := 0; at < n-2; {
			width := n - at - 2
			if widest < n {
				width = min(1+d.IntN(widest), width)
			}
			chained := d.IntN(3) == 0
			for i := range width {
				if chained && i > 0 && i%3 != 0 {
					d.edge(at+i, at+i+1) // goes on with the task before it
				} else {
					d.edge(at, at+i+1)
				}
				d.edge(at+i+1, at+width+1)
			}
			at += width + 1
		}
	}},
	{"sources and sinks", func(d *drawing, n int) { // each of the former before each of the latter; others are alone
		sources, sinks := 1+d.IntN(4), 1+d.IntN(12)
		for a := range min(sources, n) {
			for b := sources; b < min(sources+sinks, n); b++ {
				d.edge(a, b)
			}
		}
	}},
	{"layers", func(d *drawing, n int) { // each task after a few of the layer before
		widest, least := 1+d.IntN(1+min(n, 2000)), d.IntN(2)
		for at, before := 0, 0; at < n; {
			width := min(1+d.IntN(widest), n-at)
			for b := at; b < at+width; b++ {
				for range min(at-before, least+d.IntN(5-least)) {
					d.edge(before+d.IntN(at-before), b) // also twice the same
				}
			}
			before, at = at, at+width
		}
	}},
	{"sparse", func(d *drawing, n int) { // each task after up to four others, in some forms of the hundred before it
		reach := []int{100, n}[d.IntN(2)]
		for b := 1; b < n; b++ {
			for range d.IntN(5) {
				d.edge(b-1-d.IntN(min(b, reach)), b) // also twice the same
			}
		}
	}},
	{"dense", func(d *drawing, n int) { // any density, but few enough edges
		const most = 100_000
		pairs := float64(n) * float64(n-1) / 2
		density := min(math.Pow(d.Float64(), 3), most/max(pairs, 1))
		for a, b := d.skipped(density, n), 1; b < n; b++ {
			for ; a < b; a += 1 + d.skipped(density, n) {
				d.edge(a, b)
			}
			a -= b
		}
	}},
}

// skipped returns how many pairs of tasks have no edge before the next that has one, if each has one with the given
// probability. There are less than n² pairs.
func (d *drawing) skipped(density float64, n int) int {
	skipped := math.Log(1-d.Float64()) / math.Log1p(-density)
	if most := float64(n) * float64(n); !(skipped < most) { // or neither number is one: the density is zero
		skipped = most
	}
	return int(skipped)
}

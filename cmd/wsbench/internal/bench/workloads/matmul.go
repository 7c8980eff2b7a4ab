package workloads

import (
	"context"
	"fmt"
	"math"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// matmul is numerical work in tasks of some size: here the schedule must not matter.
//
// Its graph has one task for each row of the two factors, which initialises the row, an empty task that joins them, and
// one task for each row of the product: 2n+1+n tasks and 3n edges. With an edge for each pair of rows there would be
// 2n².
var matmul = &Workload{
	Name:    "matmul",
	About:   "product of two n×n float64 matrices, a task for each row: real work in coarse tasks",
	Size:    "rows",
	Default: 2048,
	Tour:    384,
	Shape: func(n int) Shape {
		s := GraphShape(3*float64(n)+1, 3*float64(n), 2*float64(n))
		s.Data = 3 * 8 * float64(n) * float64(n)
		return s
	},
	Make: func(n int, seed uint64) Work {
		m := &matmulWork{n: n, seed: seed}
		m.a, m.b, m.c = make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		return m
	},
}

type matmulWork struct {
	n       int
	seed    uint64
	a, b, c []float64
}

// Build adds the rows of a as tasks 0 to n-1, the rows of b as n to 2n-1, the join as 2n, the rows of c as 2n+1 to 3n.
func (m *matmulWork) Build(g *graph.Graph, body func(int) plan.Func) {
	g.Reserve(3*m.n+1, 3*m.n)
	rows := make([]graph.Task, 2*m.n)
	for i := range rows {
		rows[i] = g.Task(body(i))
	}
	join := g.Task(body(2 * m.n))
	join.Succeed(rows...)
	for i := range m.n {
		join.Precede(g.Task(body(2*m.n + 1 + i)))
	}
}

func (m *matmulWork) Body(i int) plan.Func {
	switch n := m.n; {
	case i < n:
		return m.rowTask(m.fill, m.a, i)
	case i < 2*n:
		return m.rowTask(m.fill, m.b, i-n)
	case i == 2*n:
		return empty
	default:
		return m.rowTask(m.multiply, m.c, i-2*n-1)
	}
}

func (m *matmulWork) rowTask(do func(x []float64, row int), x []float64, row int) plan.Func {
	return func(context.Context) error {
		do(x, row)
		return nil
	}
}

func (m *matmulWork) row(x []float64, i int) []float64 { return x[i*m.n : (i+1)*m.n] }

// fill initialises a row of x with numbers in [-1, 1).
func (m *matmulWork) fill(x []float64, row int) {
	rng := splitmix64(m.seed + uint64(row))
	if &x[0] == &m.b[0] {
		rng = ^rng
	}
	out := m.row(x, row)
	for j := range out {
		out[j] = float64(int64(rng.next())) / (1 << 63)
	}
}

// multiply computes a row of c in the order i-k-j, which walks all three matrices along their rows.
func (m *matmulWork) multiply(c []float64, row int) {
	out := m.row(c, row)
	clear(out)
	for k, a := range m.row(m.a, row) {
		factors := m.row(m.b, k)
		out := out[:len(factors)] // spares a bounds check for each product
		for j, b := range factors {
			out[j] += a * b
		}
	}
}

// Reset fills the matrices with NaN, which no task leaves behind.
func (m *matmulWork) Reset() {
	for _, x := range [][]float64{m.a, m.b, m.c} {
		for i := range x {
			x[i] = math.NaN()
		}
	}
}

// Verify computes one entry of each row of the product directly, those of two corners among them.
func (m *matmulWork) Verify() error {
	rng := splitmix64(m.seed)
	for i := range m.n {
		j := int(rng.next() % uint64(m.n))
		if i == 0 || i == m.n-1 {
			j = i
		}
		want := 0.0
		for k := range m.n {
			want += m.a[i*m.n+k] * m.b[k*m.n+j]
		}
		got := m.c[i*m.n+j]
		// The sum has n terms of magnitude at most 1; a NaN differs from everything.
		if diff := math.Abs(got - want); !(diff <= 1e-12*float64(m.n)) {
			return fmt.Errorf("entry %d,%d of the product is %g, computed directly it is %g", i, j, got, want)
		}
	}
	return nil
}

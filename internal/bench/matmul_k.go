package bench

import (
	"fmt"
	"math"
	"sync"
)

// matmulK is document 001's matrix multiplication, in which each task has a range of the innermost index.
//
// As the document prints it, all tasks add into the same entries at once, and the loop over k increments i. Here a task
// computes a row of its partial product in memory of its own and adds it to the row of the product under a lock of that
// row. Tasks begin at different rows, so they seldom meet.
var matmulK = &Workload{
	Name:    "matmul-k",
	About:   "product of two n×n matrices in ranges of the inner index; partial products are added row by row",
	Size:    "rows",
	Default: 1000,
	Parts:   40,
	Most:    1 << 15,
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Data: 3 * 8 * float64(n) * float64(n)}
	},
	Division: func() Division { return new(matmulKDivision) },
}

// matmulKDivision has matrices of small integers: all sums are exact, in whatever order they are added.
type matmulKDivision struct {
	n       int
	seed    uint64
	a, b, c []float64
	rows    []sync.Mutex // of c
	buffers sync.Pool
}

// Inputs implements Division.
func (m *matmulKDivision) Inputs(n int, seed uint64, _ Values) {
	m.n, m.seed, m.rows = n, seed, make([]sync.Mutex, n)
	rng := splitmix64(seed)
	draw := func() []float64 {
		x := make([]float64, n*n)
		for i := range x {
			x[i] = float64(rng.next()%17) - 8
		}
		return x
	}
	m.a, m.b, m.c = draw(), draw(), make([]float64, n*n)
	m.buffers.New = func() any { return new([]float64) }
}

// Tasks implements Division.
func (m *matmulKDivision) Tasks(count int) []Part { return cut(m.n, count) }

// Work implements Division. The order of its loops is i-k-j, which walks the matrices along their rows.
func (m *matmulKDivision) Work(p Part) bool {
	n := m.n
	buffer := m.buffers.Get().(*[]float64)
	defer m.buffers.Put(buffer)
	if len(*buffer) != n {
		*buffer = make([]float64, n)
	}
	partial := *buffer
	for row := range n {
		i := (row + p.From) % n
		clear(partial)
		for k := p.From; k < p.To; k++ {
			a := m.a[i*n+k]
			factors := m.b[k*n : (k+1)*n]
			partial := partial[:len(factors)] // spares a bounds check for each product
			for j, b := range factors {
				partial[j] += a * b
			}
		}
		m.add(i, partial)
	}
	return false
}

// add adds part of row i of the product.
func (m *matmulKDivision) add(i int, partial []float64) {
	m.rows[i].Lock()
	defer m.rows[i].Unlock()
	row := m.c[i*m.n : (i+1)*m.n]
	for j, x := range partial {
		row[j] += x
	}
}

// Reset implements Division.
func (m *matmulKDivision) Reset() { clear(m.c) }

// Verify implements Division. It multiplies the product, and the factors one after the other, by a vector of positive
// integers (Freivalds 1977). All sums are below 2⁵³, so they are equal if the product is right. A single wrong entry
// always makes them differ; others escape with a probability of 2⁻¹⁶ at most.
func (m *matmulKDivision) Verify() error {
	n := m.n
	rng := splitmix64(m.seed + 1)
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(1 + rng.next()%(1<<16))
	}
	times := func(m, v []float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			for j, a := range m[i*n : (i+1)*n] {
				out[i] += a * v[j]
			}
		}
		return out
	}
	got, want := times(m.c, x), times(m.a, times(m.b, x))
	for i := range got {
		if got[i] != want[i] || math.IsNaN(got[i]) {
			return fmt.Errorf("row %d of the product times a vector is %g, that of the factors %g", i, got[i], want[i])
		}
	}
	return nil
}

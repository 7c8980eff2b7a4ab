package workloads

import (
	"errors"
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
	Params:  []*Param{matmulInput},
	Most:    freivaldsMost,
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Data: 3 * 8 * float64(n) * float64(n)}
	},
	Division: func() Division { return new(matmulKDivision) },
}

// matmulInput says what the first matrix has: the document supposes that skewed numbers or a sparse matrix make the
// work uneven. The work depends on numbers only as far as zeros are skipped, so skewed input has its zeros on one side:
// the tasks of that side have next to no work.
var matmulInput = NewParam("input", "I", "dense", "the first matrix of matmul-k: dense, skewed or sparse",
	func(s string) (string, error) {
		if s != "dense" && s != "skewed" && s != "sparse" {
			return "", errors.New("choose dense, skewed or sparse")
		}
		return s, nil
	})

// isZero reports whether an entry of the first matrix is made 0. Of a sparse matrix nine in ten are.
func isZero(input string, column, n int, rng *splitmix64) bool {
	switch input {
	case "skewed":
		return rng.next()%uint64(n) >= uint64(column)
	case "sparse":
		return rng.next()%10 != 0
	}
	return false
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
func (m *matmulKDivision) Inputs(n int, seed uint64, v Values) {
	m.n, m.seed, m.rows = n, seed, make([]sync.Mutex, n)
	rng := splitmix64(seed)
	m.a, m.b, m.c = smallIntegers(n, &rng), smallIntegers(n, &rng), make([]float64, n*n)
	for i := range m.a {
		if isZero(value[string](v, matmulInput), i%n, n, &rng) {
			m.a[i] = 0
		}
	}
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
			if a == 0 {
				continue
			}
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

// Verify implements Division.
func (m *matmulKDivision) Verify() error { return checkProduct(m.c, m.a, m.b, m.n, m.seed) }

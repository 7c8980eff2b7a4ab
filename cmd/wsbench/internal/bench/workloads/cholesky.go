package workloads

import (
	"fmt"
	"math"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
)

// cholesky is the sparse Cholesky factorization of document 003, an example program of Cilk. A quad tree has the lower
// triangle of a symmetric positive definite matrix, and becomes the factor: a lower triangular matrix whose product
// with its transpose is the matrix. The factor has many more entries. All engines have the same code, for teams.
//
// The terms of each entry are added in the order of the columns, whatever the engine. So the factors are equal bit for
// bit.
var cholesky = &Workload{
	Name:     "cholesky",
	About:    "Cholesky factor of a random sparse n×n matrix of -nonzeros entries, a quad tree; figures are per row",
	Size:     "rows (the paper: 2048)",
	Default:  2048,
	Small:    60,
	Params:   []*Param{nonzerosParam},
	Profiles: true,
	Shape: func(n int) Shape {
		rows := float64(n)
		blocks := math.Ceil(rows / quadBlock)
		// The input and two factors have about half of all entries each at most.
		return Shape{Tasks: rows, Width: min(blocks*blocks, choleskyAlive), Data: 3 * 8 * rows * (rows + quadBlock) / 2}
	},
	Program: func(n int, seed uint64, v Values) (Program, error) {
		z, ok := v.byName[nonzerosParam.Name].(int)
		if !ok {
			z = max(n, min(n*(n+1)/2, n*choleskyNonzeros/choleskyRows))
		}
		if all := n * (n + 1) / 2; z < n || z > all {
			return nil, input.Errorf("-nonzeros %d: cholesky with n=%d has %d, on the diagonal, to %d", z, n, n, all)
		}
		return newCholesky(n, z, seed)
	},
}

// nonzerosParam has no default value, because the default depends on the size.
var nonzerosParam = NewParam("nonzeros", "Z", "",
	fmt.Sprintf("entries of cholesky's matrix, the lower triangle (default: %d for %d rows)",
		choleskyNonzeros, choleskyRows),
	IntFrom(1, MostTasks))

const (
	// choleskyRows and choleskyNonzeros are the document's matrix.
	choleskyRows, choleskyNonzeros = 2048, 10000
	// choleskyAlive bounds the number of goroutines. It is arbitrary.
	choleskyAlive = 1 << 12
)

type choleskyProgram struct {
	n      int
	levels int
	seed   uint64
	matrix *quad
	factor *quad // of a run
	want   *quad // the factor as Serial leaves it
}

func newCholesky(n, nonzeros int, seed uint64) (*choleskyProgram, error) {
	p := &choleskyProgram{n: n, levels: quadLevels(n), seed: seed}
	p.matrix = randomMatrix(n, nonzeros, p.levels, seed)
	p.Reset()
	p.Serial()
	p.want = p.factor
	return p, p.residual()
}

// randomMatrix returns a matrix whose diagonal entries exceed the sum of the others in their rows, so it is positive
// definite. From row n on it is the identity.
func randomMatrix(n, nonzeros, levels int, seed uint64) *quad {
	m := newQuad(levels)
	rows := quadBlock << levels
	diagonal := make([]float64, rows)
	for i := range diagonal {
		diagonal[i] = 1
	}
	rng := splitmix64(seed)
	for left := nonzeros - n; left > 0; {
		i, j := int(rng.next()%uint64(n)), int(rng.next()%uint64(n))
		x := 2*rng.float() - 1
		if i < j {
			i, j = j, i
		}
		entry := m.entry(levels, i, j)
		if i == j || x == 0 || *entry != 0 {
			continue
		}
		*entry = x
		diagonal[i] += math.Abs(x)
		diagonal[j] += math.Abs(x)
		left--
	}
	for i, x := range diagonal {
		*m.entry(levels, i, i) = x
	}
	return m
}

func (p *choleskyProgram) RunOn(t Team) { p.factor.factorize(t, p.levels) }

func (p *choleskyProgram) Serial() { p.RunOn(inTurn{}) }

func (p *choleskyProgram) Goroutines(int) { p.RunOn(onGoroutines{&spawner{most: choleskyAlive}}) }

func (p *choleskyProgram) Magpie(ex *executor.Executor) error { return RunOn(ex, p, nil) }

// Reset makes the factor the matrix.
func (p *choleskyProgram) Reset() { p.factor = p.matrix.clone() }

// Verify compares the factor with that of Serial, bit for bit, and checks that it is one.
func (p *choleskyProgram) Verify() error {
	if i, j, differ := p.factor.firstDifference(p.want, p.levels); differ {
		return fmt.Errorf("entry %d,%d of the factor is not that of a serial run", i, j)
	}
	return p.residual()
}

// residual returns an error unless the factor times its transpose is the matrix. Both are multiplied by a random
// vector.
//
// By the theory of rounding errors the entries of the product differ from those of the matrix by at most (n+1)·ε/2
// times the product of the absolute values (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3). The
// three multiplications here add as much each at most.
func (p *choleskyProgram) residual() error {
	rows := quadBlock << p.levels
	rng := splitmix64(p.seed + 1)
	x := make([]float64, rows)
	for i := range x {
		x[i] = 1 + rng.float()
	}
	y, sizeY := make([]float64, rows), make([]float64, rows)
	p.factor.visit(p.levels, 0, 0, func(i, j int, l float64) {
		y[j] += l * x[i]
		sizeY[j] += math.Abs(l) * x[i]
	})
	got, size := make([]float64, rows), make([]float64, rows)
	p.factor.visit(p.levels, 0, 0, func(i, j int, l float64) {
		got[i] += l * y[j]
		size[i] += math.Abs(l) * sizeY[j]
	})
	want := make([]float64, rows)
	p.matrix.visit(p.levels, 0, 0, func(i, j int, a float64) {
		want[i] += a * x[j]
		if i != j {
			want[j] += a * x[i]
		}
	})
	const epsilon = 0x1p-52
	for i := range want {
		tolerance := 4 * float64(rows+1) * (epsilon / 2) * size[i]
		if diff := math.Abs(got[i] - want[i]); !(diff <= tolerance) { // as NaN differs from everything
			return fmt.Errorf("row %d of the factor times its transpose times a vector is %g, that of the matrix %g",
				i, got[i], want[i])
		}
	}
	return nil
}

// Properties implements [Propertied]: how sparse the matrix and its factor are.
func (p *choleskyProgram) Properties() []Property {
	count := func(q *quad) (n float64) {
		q.visit(p.levels, 0, 0, func(i, _ int, _ float64) {
			if i < p.n {
				n++
			}
		})
		return n
	}
	return []Property{{"matrix-entries", count(p.matrix)}, {"factor-entries", count(p.want)}}
}

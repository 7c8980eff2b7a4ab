package workloads

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
)

// mi is MI of document 004. Each step has a part that one worker does alone, and ends when all rows are done: many
// workers gain little.
var mi = &Workload{
	Name:    "mi",
	About:   "inverse of an n×n float64 matrix, n steps with forks over the rows; figures are per row and step",
	Size:    "rows (the paper: 500)",
	Default: 800,
	Most:    1 << 14, // 16384 steps over a matrix of 2 GiB take hours
	Small:   50,
	Shape: func(n int) Shape {
		rows := float64(n)
		return Shape{Tasks: rows * rows, Width: math.Ceil(rows / miGrain), Data: 3*8*rows*rows + 32*rows}
	},
	Program: newInversion,
}

// miGrain is the most rows of a task. With the default size a task takes some 5 µs.
const miGrain = 16

// A miProgram inverts a matrix in place by Gauss and Jordan's method with partial pivoting. Whatever the engine, the
// same operations make each entry, so all results are equal bit for bit.
type miProgram struct {
	n     int
	a     []float64   // the matrix
	cells []float64   // of rows
	rows  [][]float64 // at first those of a, in the end those of the inverse
	pivot []int       // by step k: the row that changed places with row k
	want  []float64   // the inverse as Serial leaves it, whose residual is known
}

func newInversion(n int, seed uint64, _ Values) (Program, error) {
	m := &miProgram{
		n: n, a: make([]float64, n*n), cells: make([]float64, n*n),
		rows: make([][]float64, n), pivot: make([]int, n),
	}
	rng := splitmix64(seed)
	for i := range m.a {
		m.a[i] = float64(int64(rng.next())) / (1 << 63)
	}
	m.Reset()
	m.Serial()
	m.want = make([]float64, 0, n*n)
	for _, row := range m.rows {
		m.want = append(m.want, row...)
	}
	if r := m.residual(); !(r <= 1) {
		return nil, input.Errorf("the matrix of mi with n=%d and seed %d is nearly singular: choose another seed", n, seed)
	}
	return m, nil
}

// residual returns the largest entry of |A·X-I|, where X is the inverse that is wanted, divided by n·ε·‖A‖·‖X‖. The
// norm is the largest sum of magnitudes in a row, and ε is 2⁻⁵².
func (m *miProgram) residual() float64 {
	norm := func(x []float64) (most float64) {
		for i := range m.n {
			sum := 0.0
			for _, v := range x[i*m.n : (i+1)*m.n] {
				sum += math.Abs(v)
			}
			most = max(most, sum)
		}
		return most
	}
	worst := 0.0
	row := make([]float64, m.n)
	for i := range m.n {
		clear(row)
		row[i] = -1
		for k, a := range m.a[i*m.n : (i+1)*m.n] {
			for j, x := range m.want[k*m.n : (k+1)*m.n] {
				row[j] += a * x
			}
		}
		for _, v := range row {
			worst = max(worst, math.Abs(v))
		}
	}
	return worst / (float64(m.n) * 0x1p-52 * norm(m.a) * norm(m.want))
}

// begin is the part of step k that one worker does: it puts the row with the largest entry of column k in row k, and
// divides the row by that entry.
func (m *miProgram) begin(k int) {
	best := k
	for i := k + 1; i < m.n; i++ {
		if math.Abs(m.rows[i][k]) > math.Abs(m.rows[best][k]) {
			best = i
		}
	}
	m.pivot[k] = best
	m.rows[k], m.rows[best] = m.rows[best], m.rows[k]
	row := m.rows[k]
	factor := 1 / row[k]
	row[k] = 1 // the column of the identity that takes the place of column k
	for j := range row {
		row[j] *= factor
	}
}

// eliminate is step k for the rows lo to hi-1.
func (m *miProgram) eliminate(k, lo, hi int) {
	from := m.rows[k]
	for i := lo; i < hi; i++ {
		if i == k {
			continue
		}
		row := m.rows[i][:len(from)]
		factor := row[k]
		row[k] = 0
		for j, x := range from {
			row[j] -= factor * x
		}
	}
}

// finish puts the entries of the rows lo to hi-1 in order: as rows of the matrix changed places, columns of the inverse
// do.
func (m *miProgram) finish(_, lo, hi int) {
	for _, row := range m.rows[lo:hi] {
		for k := m.n - 1; k >= 0; k-- {
			row[k], row[m.pivot[k]] = row[m.pivot[k]], row[k]
		}
	}
}

// Reset restores the matrix, and the order of its rows.
func (m *miProgram) Reset() {
	copy(m.cells, m.a)
	for i := range m.rows {
		m.rows[i] = m.cells[i*m.n : (i+1)*m.n]
	}
}

func (m *miProgram) Verify() error {
	for i, row := range m.rows {
		for j, x := range row {
			if want := m.want[i*m.n+j]; math.Float64bits(x) != math.Float64bits(want) {
				return fmt.Errorf("entry %d,%d of the inverse is %g, that of the serial program %g", i, j, x, want)
			}
		}
	}
	return nil
}

// invert does the work. each calls do(k, lo, hi) for ranges of rows that together are all, and waits for the calls.
func (m *miProgram) invert(each func(do func(k, lo, hi int), k int)) {
	for k := range m.n {
		m.begin(k)
		each(m.eliminate, k)
	}
	each(m.finish, m.n)
}

func (m *miProgram) Serial() { m.invert(func(do func(k, lo, hi int), k int) { do(k, 0, m.n) }) }

// Goroutines starts a goroutine for each task but the last of a step.
func (m *miProgram) Goroutines(int) {
	m.invert(func(do func(k, lo, hi int), k int) {
		var wg sync.WaitGroup
		last := (m.n - 1) / miGrain * miGrain
		for lo := 0; lo < last; lo += miGrain {
			wg.Go(func() { do(k, lo, lo+miGrain) })
		}
		do(k, last, m.n)
		wg.Wait()
	})
}

func (m *miProgram) Magpie(ex *executor.Executor) error {
	_, err := executor.Call(context.Background(), ex, miFork, m)
	return err
}

func miFork(s *executor.Scope, m *miProgram) (none struct{}) {
	m.invert(func(do func(k, lo, hi int), k int) { rowsFork(s, miRows{do, k, 0, m.n}) })
	return none
}

// miRows are the rows lo to hi-1 in step k.
type miRows struct {
	do        func(k, lo, hi int)
	k, lo, hi int
}

// rowsFork halves the rows until a task is left, as a loop of Cilk does.
func rowsFork(s *executor.Scope, r miRows) (none struct{}) {
	if r.hi-r.lo <= miGrain {
		r.do(r.k, r.lo, r.hi)
		return none
	}
	left, right := r, r
	left.hi = r.lo + (r.hi-r.lo)/2
	right.lo = left.hi
	f := executor.Fork(s, rowsFork, right)
	rowsFork(s, left)
	return f.Join(s)
}

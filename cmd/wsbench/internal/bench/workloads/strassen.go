package workloads

import (
	"math"
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// strassen is Strassen's multiplication: seven products of quarters instead of eight, down to matrices of less than 64
// rows, as in document 003. A product is a call. It adds its operands up itself, and the caller adds the seven products
// up: no addition is divided, so the additions are on the critical path. All engines have the same code, for teams.
//
// The entries are small integers, so all sums are exact, and the result is that of an ordinary multiplication.
var strassen = &Workload{
	Name: "strassen",
	About: "product of two n×n float64 matrices by Strassen's algorithm, down to less than 64 rows; figures are per " +
		"product of those",
	Size:     "rows (the paper: 1024)",
	Default:  1024,
	Most:     strassenMost,
	Small:    70,
	Profiles: true,
	Shape: func(n int) Shape {
		products := math.Pow(7, float64(strassenLevels(n)))
		return Shape{Tasks: products, Width: min(products, strassenAlive), Data: 12 * 8 * float64(n) * float64(n)}
	},
	Program: func(n int, seed uint64, _ Values) (Program, error) { return newStrassen(n, seed), nil },
}

const (
	// strassenCut is the number of rows from which on a matrix is quartered.
	strassenCut = 64
	// strassenMost is a size up to which all sums are exact, here and in checkProduct. After l quarterings a product is
	// one of n/2ˡ rows whose factors have entries of at most 8·2ˡ. So its own are at most 64·2ˡ·n, which is less than
	// 2³², and four of them are added.
	strassenMost = freivaldsMost
	// strassenAlive bounds the number of goroutines, each of which has up to three matrices. It is arbitrary.
	strassenAlive = 1 << 8
)

// strassenLevels returns how often matrices of n rows are quartered.
func strassenLevels(n int) (levels int) {
	for ; n >= strassenCut; n = n/2 + n%2 {
		levels++
	}
	return levels
}

type strassenProgram struct {
	n       int
	seed    uint64
	levels  int
	a, b, c square    // with rows and columns of zeros, if n cannot be halved that often
	spare   []squares // by level: matrices out of use
}

func newStrassen(n int, seed uint64) *strassenProgram {
	p := &strassenProgram{n: n, seed: seed, levels: strassenLevels(n)}
	p.spare = make([]squares, p.levels)
	leaf := n
	for range p.levels {
		leaf = leaf/2 + leaf%2
	}
	side := leaf << p.levels
	rng := splitmix64(seed)
	p.a, p.b, p.c = newSquare(side), newSquare(side), newSquare(side)
	for _, x := range []square{p.a, p.b} {
		entries := smallIntegers(n, &rng)
		for i := range n {
			copy(x.row(i), entries[i*n:(i+1)*n])
		}
	}
	return p
}

// A square is a square matrix, or a part of one.
type square struct {
	entries []float64
	n       int // rows
	stride  int // from row to row
}

func newSquare(n int) square { return square{make([]float64, n*n), n, n} }

func (s square) row(i int) []float64 { return s.entries[i*s.stride:][:s.n] }

// quarter returns one of the quarters, which are numbered by rows.
func (s square) quarter(i int) square {
	half := s.n / 2
	return square{s.entries[i/2*half*s.stride+i%2*half:], half, s.stride}
}

// whole returns the entries of the first n rows and columns, row by row.
func (s square) whole(n int) []float64 {
	all := make([]float64, 0, n*n)
	for i := range n {
		all = append(all, s.row(i)[:n]...)
	}
	return all
}

// squares are matrices of one size that are out of use.
type squares struct {
	mu   sync.Mutex
	free []square
}

// take returns a matrix of n rows with any entries.
func (s *squares) take(n int) square {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return newSquare(n)
	}
	x := s.free[last]
	s.free = s.free[:last]
	return x
}

func (s *squares) put(x square) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, x)
}

// A sum is a quarter of a factor, or the sum or difference of two.
type sum struct {
	first, second int
	sign          float64 // of second; 0: there is no second
}

// strassenProducts are the operands of the seven products.
var strassenProducts = [7]struct{ left, right sum }{
	{sum{0, 3, 1}, sum{0, 3, 1}},
	{sum{2, 3, 1}, sum{0, 0, 0}},
	{sum{0, 0, 0}, sum{1, 3, -1}},
	{sum{3, 0, 0}, sum{2, 0, -1}},
	{sum{0, 1, 1}, sum{3, 0, 0}},
	{sum{2, 0, -1}, sum{0, 1, 1}},
	{sum{1, 3, -1}, sum{2, 3, 1}},
}

// multiply sets c to a·b, which are to be quartered levels times.
func (p *strassenProgram) multiply(t Team, c, a, b square, levels int) {
	if levels == 0 {
		multiplySquares(c, a, b)
		t.Did(c.n * c.n * c.n)
		return
	}
	half, spare := c.n/2, &p.spare[levels-1]
	var m [7]square
	t.Each(len(m), func(t Team, i int) {
		m[i] = spare.take(half)
		operand := func(x square, s sum) square {
			first := x.quarter(s.first)
			if s.sign == 0 {
				return first
			}
			added := spare.take(half)
			addSquares(added, first, x.quarter(s.second), s.sign)
			t.Did(half * half)
			return added
		}
		of := &strassenProducts[i]
		left, right := operand(a, of.left), operand(b, of.right)
		p.multiply(t, m[i], left, right, levels-1)
		if of.left.sign != 0 {
			spare.put(left)
		}
		if of.right.sign != 0 {
			spare.put(right)
		}
	})
	for i := range half {
		m0, m1, m2, m3 := m[0].row(i), m[1].row(i), m[2].row(i), m[3].row(i)
		m4, m5, m6 := m[4].row(i), m[5].row(i), m[6].row(i)
		c0, c1, c2, c3 := c.quarter(0).row(i), c.quarter(1).row(i), c.quarter(2).row(i), c.quarter(3).row(i)
		for j := range m0 {
			c0[j] = m0[j] + m3[j] - m4[j] + m6[j]
			c1[j] = m2[j] + m4[j]
			c2[j] = m1[j] + m3[j]
			c3[j] = m0[j] - m1[j] + m2[j] + m5[j]
		}
	}
	t.Did(8 * half * half)
	for _, x := range m {
		spare.put(x)
	}
}

// addSquares sets out to a + sign·b.
func addSquares(out, a, b square, sign float64) {
	for i := range out.n {
		o, x, y := out.row(i), a.row(i), b.row(i)
		for j := range o {
			o[j] = x[j] + sign*y[j]
		}
	}
}

// multiplySquares sets c to a·b in the ordinary way, four products for each look at an entry of c.
func multiplySquares(c, a, b square) {
	for i := range c.n {
		out, x := c.row(i), a.row(i)
		clear(out)
		k := 0
		for ; k+4 <= len(x); k += 4 {
			x0, x1, x2, x3 := x[k], x[k+1], x[k+2], x[k+3]
			y := func(k int) []float64 { return b.row(k)[:len(out)] }
			y0, y1, y2, y3 := y(k), y(k+1), y(k+2), y(k+3)
			for j := range out {
				out[j] += x0*y0[j] + x1*y1[j] + x2*y2[j] + x3*y3[j]
			}
		}
		for ; k < len(x); k++ {
			for j, y := range b.row(k) {
				out[j] += x[k] * y
			}
		}
	}
}

func (p *strassenProgram) RunOn(t Team) { p.multiply(t, p.c, p.a, p.b, p.levels) }

func (p *strassenProgram) Serial() { p.RunOn(inTurn{}) }

func (p *strassenProgram) Goroutines(int) { p.RunOn(onGoroutines{&spawner{most: strassenAlive}}) }

func (p *strassenProgram) Magpie(ex *executor.Executor) error { return RunOn(ex, p, nil) }

// Reset fills the product with NaN, which no run leaves behind.
func (p *strassenProgram) Reset() {
	for i := range p.c.entries {
		p.c.entries[i] = math.NaN()
	}
}

func (p *strassenProgram) Verify() error {
	return checkProduct(p.c.whole(p.n), p.a.whole(p.n), p.b.whole(p.n), p.n, p.seed)
}

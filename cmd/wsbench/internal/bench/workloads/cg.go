package workloads

import (
	"fmt"
	"math"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor"
)

// cg is the NAS parallel benchmark CG: many short loops one after the other, each of which waits for all of the one
// before.
var cg = &Workload{
	Name:    "cg",
	About:   "NAS benchmark CG: an eigenvalue of a sparse matrix, in many short loops; figures are per row multiplied",
	Size:    "rows: 1400, 7000, 14000 or 75000, the classes S, W, A and B",
	Default: 7000,
	Sizes:   []int{1400, 7000, 14000, 75000},
	Small:   cgSmall,
	Shape: func(n int) Shape {
		class := cgClasses[n]
		rows, products := float64(n), float64(class.iterations)*(cgSteps+1)
		elements := rows * float64(class.nonzeros+1) * float64(class.nonzeros+1) // at most
		vectors := 2 * 16 * rows * float64(class.nonzeros+1)                     // twice, while the matrix is made
		return Shape{Tasks: rows * products, Width: executor.MaxWorkers, Data: 12*elements + vectors + 10*8*rows}
	},
	Program: func(n int, _ uint64, _ Values) (Program, error) {
		class, ok := cgClasses[n]
		if !ok {
			return nil, input.Errorf("cg has no class with n=%d", n)
		}
		c := newCG(n, class)
		if c.want = class.zeta; c.want == 0 {
			c.Reset()
			c.Serial()
			c.want = c.zeta
		}
		return c, nil
	},
}

// A cgClass has the parameters of a class, and its official result.
type cgClass struct {
	nonzeros   int     // of each random vector
	iterations int     // of the power method
	shift      float64 // of the eigenvalues
	zeta       float64 // the result; 0: that of a loop
}

// cgSmall is the size of an instance for tests, which is no class of the benchmark.
const cgSmall = 600

// cgClasses has the classes by n.
var cgClasses = map[int]cgClass{
	cgSmall: {nonzeros: 3, iterations: 2, shift: 10},
	1400:    {7, 15, 10, 8.5971775078648},
	7000:    {8, 15, 12, 10.362595087124},
	14000:   {11, 15, 20, 17.130235054029},
	75000:   {13, 75, 60, 22.712745482631},
}

const (
	// cgSteps is the number of steps of each solution of a linear system, as in the benchmark.
	cgSteps = 25
	// cgTolerance bounds the relative error of the result, as in the benchmark, and the last residual.
	cgTolerance = 1e-10
	// cgRows and cgElements are the sizes of the tasks: rows in a product, elements in other loops. Sums are those of
	// such blocks, added up in their order: they are the same for any number of workers.
	cgRows     = 64
	cgElements = 512
)

// A cgProgram finds the eigenvalue nearest to the shift, by the inverse power method.
type cgProgram struct {
	cgClass
	matrix     *cgMatrix
	x          []float64 // the eigenvector
	z, p, q, r []float64 // of the solution of Az = x: the estimate, the direction, Ap, the residual
	sums       []cgSums  // by block
	zeta       float64
	residual   float64 // the length of x-Az of the last solution
	want       float64

	alpha, beta, scale float64 // arguments of loops
}

// cgSums are the sums that a loop makes; most make only the first.
type cgSums struct{ a, b float64 }

func newCG(n int, class cgClass) *cgProgram {
	vector := func() []float64 { return make([]float64, n) }
	return &cgProgram{
		cgClass: class, matrix: newCGMatrix(n, class.nonzeros, class.shift),
		x: vector(), z: vector(), p: vector(), q: vector(), r: vector(),
		sums: make([]cgSums, cgBlocks(n, min(cgRows, cgElements))),
	}
}

// cgBlocks returns into how many blocks of at most size indices n indices are divided.
func cgBlocks(n, size int) int { return (n + size - 1) / size }

// Reset implements Program.
func (c *cgProgram) Reset() {
	for i := range c.x {
		c.x[i] = 1
	}
	c.zeta, c.residual = math.NaN(), math.NaN()
}

// Verify implements Program.
func (c *cgProgram) Verify() error {
	if !(math.Abs(c.zeta-c.want) <= cgTolerance*c.want) { // a NaN is wrong, too
		return fmt.Errorf("zeta is %.13g, not %.13g", c.zeta, c.want)
	}
	if !(c.residual <= cgTolerance) {
		return fmt.Errorf("the residual of the last system is %g, more than %g", c.residual, cgTolerance)
	}
	return nil
}

// Serial implements Program: loops over whole vectors.
func (c *cgProgram) Serial() {
	x, z, p, q, r := c.x, c.z, c.p, c.q, c.r
	for range c.iterations {
		clear(z)
		copy(r, x)
		copy(p, x)
		rho := dot(r, r)
		for range cgSteps {
			c.matrix.multiply(q, p, 0, len(q))
			alpha := rho / dot(p, q)
			for i := range z {
				z[i] += alpha * p[i]
				r[i] -= alpha * q[i]
			}
			before := rho
			rho = dot(r, r)
			beta := rho / before
			for i := range p {
				p[i] = r[i] + beta*p[i]
			}
		}
		c.matrix.multiply(r, z, 0, len(r))
		sum := 0.0
		for i := range r {
			d := x[i] - r[i]
			sum += d * d
		}
		c.residual = math.Sqrt(sum)
		c.zeta = c.shift + 1/dot(x, z)
		scale := 1 / math.Sqrt(dot(z, z))
		for i := range x {
			x[i] = scale * z[i]
		}
	}
}

// dot returns the product of two vectors.
func dot(x, y []float64) (sum float64) {
	y = y[:len(x)]
	for i, a := range x {
		sum += a * y[i]
	}
	return sum
}

// Magpie implements Program. A loop is a run nested in one run for all.
func (c *cgProgram) Magpie(ex *executor.Executor) error { return workerLoops(ex, "cg", 1, c.power) }

// Goroutines implements Program.
func (c *cgProgram) Goroutines(workers int) { goroutineLoops(workers, 1, c.power) }

// power does as Serial does, in loops over blocks.
func (c *cgProgram) power(each loop) error {
	l := &cgLoops{cgProgram: c, each: each}
	for range c.iterations {
		rho := l.elements(c.begin).a
		for range cgSteps {
			c.alpha = rho / l.rows(c.multiply).a
			before := rho
			rho = l.elements(c.advance).a
			c.beta = rho / before
			l.elements(c.turn)
		}
		c.residual = math.Sqrt(l.rows(c.check).a)
		s := l.elements(c.measure)
		c.zeta, c.scale = c.shift+1/s.a, 1/math.Sqrt(s.b)
		l.elements(c.normalise)
	}
	return l.err
}

// cgLoops runs the loops of a program until one fails.
type cgLoops struct {
	*cgProgram
	each loop
	err  error
}

// rows runs a loop over blocks of rows.
func (l *cgLoops) rows(body func(lo, hi int) cgSums) cgSums { return l.run(cgRows, body) }

// elements runs a loop over blocks of elements of vectors.
func (l *cgLoops) elements(body func(lo, hi int) cgSums) cgSums { return l.run(cgElements, body) }

// run calls body for all blocks and adds up its results.
func (l *cgLoops) run(size int, body func(lo, hi int) cgSums) (s cgSums) {
	if l.err != nil {
		return s
	}
	n := len(l.x)
	l.err = l.each(cgBlocks(n, size), func(lo, hi int) {
		for block := lo; block < hi; block++ {
			l.sums[block] = body(block*size, min(n, (block+1)*size))
		}
	})
	for _, b := range l.sums[:cgBlocks(n, size)] {
		s.a += b.a
		s.b += b.b
	}
	return s
}

// begin starts the solution of Az = x with z = 0. It returns the square of the residual's length.
func (c *cgProgram) begin(lo, hi int) cgSums {
	x := c.x[lo:hi]
	clear(c.z[lo:hi])
	copy(c.r[lo:hi], x)
	copy(c.p[lo:hi], x)
	return cgSums{a: dot(x, x)}
}

// multiply computes q = Ap. It returns the product of p and q.
func (c *cgProgram) multiply(lo, hi int) cgSums {
	c.matrix.multiply(c.q, c.p, lo, hi)
	return cgSums{a: dot(c.p[lo:hi], c.q[lo:hi])}
}

// advance goes in the direction p as far as the residual becomes shorter. It returns the square of its length.
func (c *cgProgram) advance(lo, hi int) (s cgSums) {
	z, p, q, r := c.z[lo:hi], c.p[lo:hi], c.q[lo:hi], c.r[lo:hi]
	for i := range z {
		z[i] += c.alpha * p[i]
		r[i] -= c.alpha * q[i]
		s.a += r[i] * r[i]
	}
	return s
}

// turn chooses the next direction.
func (c *cgProgram) turn(lo, hi int) (none cgSums) {
	p, r := c.p[lo:hi], c.r[lo:hi]
	for i := range p {
		p[i] = r[i] + c.beta*p[i]
	}
	return none
}

// check returns the square of the length of x-Az.
func (c *cgProgram) check(lo, hi int) (s cgSums) {
	c.matrix.multiply(c.r, c.z, lo, hi)
	for i, x := range c.x[lo:hi] {
		d := x - c.r[lo+i]
		s.a += d * d
	}
	return s
}

// measure returns the product of x and z, and the square of the length of z.
func (c *cgProgram) measure(lo, hi int) cgSums {
	z := c.z[lo:hi]
	return cgSums{dot(c.x[lo:hi], z), dot(z, z)}
}

// normalise sets x to z divided by its length.
func (c *cgProgram) normalise(lo, hi int) (none cgSums) {
	for i, z := range c.z[lo:hi] {
		c.x[lo+i] = c.scale * z
	}
	return none
}

package workloads

import (
	"context"
	"math"
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// mm is the matrix multiplication among the examples of Cilk, MM in document 004: it halves the longest side of the
// problem until a block is left. Unlike matmul it is no graph, and the parts of one sum come one after the other.
var mm = &Workload{
	Name:    "mm",
	About:   "product of two n×n float64 matrices by halving the longest side down to 32; figures are per 32×32×32",
	Size:    "rows (the paper: 1600)",
	Default: 1000,
	Most:    freivaldsMost,
	Small:   100,
	Shape: func(n int) Shape {
		blocks := math.Ceil(float64(n) / mmBlock)
		return Shape{
			Tasks: blocks * blocks * blocks, Width: blocks * blocks,
			Data: 3 * 8 * float64(n) * float64(n),
		}
	},
	Program: func(n int, seed uint64, _ Values) (Program, error) {
		rng := splitmix64(seed)
		return &mmProgram{
			n: n, seed: seed,
			a: smallIntegers(n, &rng), b: smallIntegers(n, &rng), c: make([]float64, n*n),
		}, nil
	},
}

// mmBlock is the side of a block. The blocks of three matrices, 24 KiB, fit the innermost cache.
const mmBlock = 32

type mmProgram struct {
	n       int
	seed    uint64
	a, b, c []float64
}

// An mmPart adds to rows i and columns j of c the products of columns k of a and rows k of b.
type mmPart struct {
	*mmProgram
	i, j, k blocks
}

// blocks are the indices from·mmBlock to to·mmBlock-1 of one side, those below n.
type blocks struct{ from, to int }

func (b blocks) size() int { return b.to - b.from }

func (b blocks) halves() (left, right blocks) {
	mid := b.from + b.size()/2
	return blocks{b.from, mid}, blocks{mid, b.to}
}

// indices returns the indices lo to hi-1 below n.
func (b blocks) indices(n int) (lo, hi int) { return b.from * mmBlock, min(n, b.to*mmBlock) }

// whole returns the part that is the whole product.
func (m *mmProgram) whole() mmPart {
	all := blocks{0, (m.n + mmBlock - 1) / mmBlock}
	return mmPart{m, all, all, all}
}

// isBlock reports whether p is a single block, which is not halved.
func (p mmPart) isBlock() bool { return max(p.i.size(), p.j.size(), p.k.size()) <= 1 }

// halves cuts the longest side of p in two. If sum is true, both halves add to the same entries, and the right one
// must begin after the end of the left one.
func (p mmPart) halves() (left, right mmPart, sum bool) {
	left, right = p, p
	switch max(p.i.size(), p.j.size(), p.k.size()) {
	case p.i.size():
		left.i, right.i = p.i.halves()
	case p.j.size():
		left.j, right.j = p.j.halves()
	default:
		left.k, right.k = p.k.halves()
		sum = true
	}
	return left, right, sum
}

// multiply computes a block, four products for each look at an entry of c. The first block of a sum clears the entries.
func (p mmPart) multiply() {
	n := p.n
	iLo, iHi := p.i.indices(n)
	jLo, jHi := p.j.indices(n)
	kLo, kHi := p.k.indices(n)
	for i := iLo; i < iHi; i++ {
		out := p.c[i*n+jLo : i*n+jHi]
		if kLo == 0 {
			clear(out)
		}
		a := p.a[i*n : (i+1)*n]
		factors := func(k int) []float64 { return p.b[k*n+jLo:][:len(out)] }
		k := kLo
		for ; k+4 <= kHi; k += 4 {
			a0, a1, a2, a3 := a[k], a[k+1], a[k+2], a[k+3]
			b0, b1, b2, b3 := factors(k), factors(k+1), factors(k+2), factors(k+3)
			for j := range out {
				out[j] += a0*b0[j] + a1*b1[j] + a2*b2[j] + a3*b3[j]
			}
		}
		for ; k < kHi; k++ {
			a0, b0 := a[k], factors(k)
			for j := range out {
				out[j] += a0 * b0[j]
			}
		}
	}
}

// Reset fills the product with NaN, which no run leaves behind.
func (m *mmProgram) Reset() {
	for i := range m.c {
		m.c[i] = math.NaN()
	}
}

func (m *mmProgram) Verify() error { return checkProduct(m.c, m.a, m.b, m.n, m.seed) }

func (m *mmProgram) Serial() { mmSerial(m.whole()) }

func mmSerial(p mmPart) {
	if p.isBlock() {
		p.multiply()
		return
	}
	left, right, _ := p.halves()
	mmSerial(left)
	mmSerial(right)
}

func (m *mmProgram) Goroutines(int) { mmGoroutines(&spawner{most: CallsAlive}, m.whole()) }

func mmGoroutines(g *spawner, p mmPart) {
	if p.isBlock() {
		p.multiply()
		return
	}
	left, right, sum := p.halves()
	if sum {
		mmGoroutines(g, left)
		mmGoroutines(g, right)
		return
	}
	var wg sync.WaitGroup
	g.start(&wg, func() { mmGoroutines(g, right) })
	mmGoroutines(g, left)
	wg.Wait()
}

func (m *mmProgram) Magpie(ex *executor.Executor) error {
	_, err := executor.Call(context.Background(), ex, mmFork, m.whole())
	return err
}

func mmFork(s *executor.Scope, p mmPart) (none struct{}) {
	if p.isBlock() {
		p.multiply()
		return none
	}
	left, right, sum := p.halves()
	if sum {
		mmFork(s, left)
		return mmFork(s, right)
	}
	f := executor.Fork(s, mmFork, right)
	mmFork(s, left)
	return f.Join(s)
}

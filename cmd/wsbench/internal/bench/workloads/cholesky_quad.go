package workloads

import (
	"math"
	"math/bits"
)

// quadBlock is the number of rows of a block.
const quadBlock = 8

// A quad is a square matrix as a tree: it has four quarters, or at level 0 a block. A nil *quad is zero. Of a lower
// triangular matrix only the lower triangle is used, in the blocks on the diagonal, too.
type quad struct {
	quarters [2][2]*quad // by row and column
	block    *block
}

type block [quadBlock][quadBlock]float64

// quadLevels returns the level of a matrix of n rows.
func quadLevels(n int) int { return bits.Len(uint((n - 1) / quadBlock)) }

// newQuad returns a matrix of zeros that is not nil.
func newQuad(level int) *quad {
	if level > 0 {
		return new(quad)
	}
	leaf := new(struct {
		quad
		block
	})
	leaf.quad.block = &leaf.block
	return &leaf.quad
}

// entry returns the entry in row i and column j.
func (q *quad) entry(level, i, j int) *float64 {
	if level == 0 {
		return &q.block[i][j]
	}
	half := quadBlock << (level - 1)
	part := &q.quarters[i/half][j/half]
	if *part == nil {
		*part = newQuad(level - 1)
	}
	return (*part).entry(level-1, i%half, j%half)
}

func (q *quad) clone() *quad {
	if q == nil {
		return nil
	}
	if q.block != nil {
		c := newQuad(0)
		*c.block = *q.block
		return c
	}
	c := new(quad)
	for i := range q.quarters {
		for j, part := range q.quarters[i] {
			c.quarters[i][j] = part.clone()
		}
	}
	return c
}

// visit calls f for each entry that is not zero. The first entry of q is in row i and column j.
func (q *quad) visit(level, i, j int, f func(i, j int, x float64)) {
	if q == nil {
		return
	}
	if level == 0 {
		for di := range q.block {
			for dj, x := range q.block[di] {
				if x != 0 {
					f(i+di, j+dj, x)
				}
			}
		}
		return
	}
	half := quadBlock << (level - 1)
	for di := range q.quarters {
		for dj, part := range q.quarters[di] {
			part.visit(level-1, i+di*half, j+dj*half, f)
		}
	}
}

// firstDifference returns the place of an entry in which q and other differ.
func (q *quad) firstDifference(other *quad, level int) (i, j int, differ bool) {
	if q == nil || other == nil {
		return 0, 0, q != other
	}
	if level == 0 {
		for i := range q.block {
			for j, x := range q.block[i] {
				if math.Float64bits(x) != math.Float64bits(other.block[i][j]) {
					return i, j, true
				}
			}
		}
		return 0, 0, false
	}
	half := quadBlock << (level - 1)
	for di := range q.quarters {
		for dj, part := range q.quarters[di] {
			if i, j, differ = part.firstDifference(other.quarters[di][dj], level-1); differ {
				return i + di*half, j + dj*half, true
			}
		}
	}
	return 0, 0, false
}

// The following count a unit of work for each operation with blocks.

// factorize makes q, a symmetric matrix, its Cholesky factor.
func (q *quad) factorize(t Team, level int) {
	if level == 0 {
		q.block.factorize()
		t.Did(1)
		return
	}
	first, second := q.quarters[0][0], q.quarters[1][1]
	first.factorize(t, level-1)
	if below := q.quarters[1][0]; below != nil {
		below.solve(t, first, level-1)
		second.subtract(t, below, below, level-1, true)
	}
	second.factorize(t, level-1)
}

// solve makes q the matrix X with X·Lᵀ = Q, where l is lower triangular. The rows of X do not depend on each other.
func (q *quad) solve(t Team, l *quad, level int) {
	if level == 0 {
		q.block.solve(l.block)
		t.Did(1)
		return
	}
	var rows [2]*[2]*quad
	n := 0
	for i := range q.quarters {
		if row := &q.quarters[i]; row[0] != nil || row[1] != nil {
			rows[n] = row
			n++
		}
	}
	split(t, n, func(t Team, i int) {
		row := rows[i]
		if row[0] != nil {
			row[0].solve(t, l.quarters[0][0], level-1)
			if part := l.quarters[1][0]; part != nil {
				row[1] = row[1].subtract(t, row[0], part, level-1, false)
			}
		}
		if row[1] != nil {
			row[1].solve(t, l.quarters[1][1], level-1)
		}
	})
}

// subtract subtracts a·bᵀ from q and returns q, or a new matrix if q was zero. If lower is true, only the lower
// triangle is computed.
func (q *quad) subtract(t Team, a, b *quad, level int, lower bool) *quad {
	if level == 0 {
		if q == nil {
			q = newQuad(0)
		}
		if lower {
			q.block.subtractLower(a.block, b.block)
		} else {
			q.block.subtract(a.block, b.block)
		}
		t.Did(1)
		return q
	}
	var parts [4][2]int
	n := 0
	for i := range 2 {
		for j := range 2 {
			isSome := a.quarters[i][0] != nil && b.quarters[j][0] != nil ||
				a.quarters[i][1] != nil && b.quarters[j][1] != nil
			if isSome && (!lower || j <= i) {
				parts[n] = [2]int{i, j}
				n++
			}
		}
	}
	if n == 0 {
		return q
	}
	if q == nil {
		q = new(quad)
	}
	split(t, n, func(t Team, at int) {
		i, j := parts[at][0], parts[at][1]
		for k := range 2 {
			if x, y := a.quarters[i][k], b.quarters[j][k]; x != nil && y != nil {
				q.quarters[i][j] = q.quarters[i][j].subtract(t, x, y, level-1, lower && i == j)
			}
		}
	})
	return q
}

// split is each without a fork for a single call.
func split(t Team, n int, f func(t Team, i int)) {
	switch n {
	case 0:
	case 1:
		f(t, 0)
	default:
		t.Each(n, f)
	}
}

// factorize is that of quad.
func (b *block) factorize() {
	for j := range b {
		for k := range j {
			b[j][j] -= b[j][k] * b[j][k]
		}
		b[j][j] = math.Sqrt(b[j][j])
		for i := j + 1; i < len(b); i++ {
			for k := range j {
				b[i][j] -= b[i][k] * b[j][k]
			}
			b[i][j] /= b[j][j]
		}
	}
}

// solve is that of quad.
func (b *block) solve(l *block) {
	for i := range b {
		for j := range l {
			x := b[i][j]
			for k := range j {
				x -= b[i][k] * l[j][k]
			}
			b[i][j] = x / l[j][j]
		}
	}
}

// subtract is that of quad.
func (b *block) subtract(x, y *block) {
	for i := range b {
		b.subtractRow(x, y, i, len(b))
	}
}

// subtractLower is subtract for a block on the diagonal.
func (b *block) subtractLower(x, y *block) {
	for i := range b {
		b.subtractRow(x, y, i, i+1)
	}
}

// subtractRow computes the first n entries of row i.
func (b *block) subtractRow(x, y *block, i, n int) {
	out, left := &b[i], &x[i]
	for j := range n {
		right := &y[j]
		out[j] -= left[0]*right[0] + left[1]*right[1] + left[2]*right[2] + left[3]*right[3] +
			left[4]*right[4] + left[5]*right[5] + left[6]*right[6] + left[7]*right[7]
	}
}

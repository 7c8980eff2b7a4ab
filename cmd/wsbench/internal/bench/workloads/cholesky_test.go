package workloads

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/internal/testkit"
)

// dense returns the first n rows of q, a matrix of the given level, with zeros above the diagonal.
func dense(q *quad, level, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	q.visit(level, 0, 0, func(i, j int, x float64) {
		if i < n && j <= i {
			rows[i][j] = x
		}
	})
	return rows
}

// TestCholesky compares factors with those of the definition, of sparse and of dense matrices.
func TestCholesky(t *testing.T) {
	for _, size := range [][2]int{
		{1, 1}, {2, 2}, {2, 3}, {quadBlock, 20}, {quadBlock + 1, 30}, {50, 50}, {50, 80}, {50, 400}, {50, 1275},
	} {
		n, nonzeros := size[0], size[1]
		p, err := newCholesky(n, nonzeros, 7)
		require.NoError(t, err)
		a := dense(p.matrix, p.levels, n)
		entries := 0
		for i := range n {
			others := 0.0
			for j := range n {
				if a[i][j] != 0 {
					entries++
				}
				if j != i {
					others += math.Abs(a[max(i, j)][min(i, j)])
				}
			}
			require.Greater(t, a[i][i], others, "n=%d, row %d", n, i)
		}
		require.Equal(t, nonzeros, entries)
		require.Equal(t, Property{"matrix-entries", float64(nonzeros)}, p.Properties()[0])
		require.GreaterOrEqual(t, p.Properties()[1].Value, float64(nonzeros))

		l := dense(p.factor, p.levels, n)
		for i := range n {
			for j := range i + 1 {
				want := a[i][j]
				for k := range j {
					want -= l[i][k] * l[j][k]
				}
				if i == j {
					want = math.Sqrt(want)
				} else {
					want /= l[j][j]
				}
				require.InDelta(t, want, l[i][j], 1e-13, "n=%d, entry %d,%d", n, i, j)
			}
		}
	}
}

// TestCholeskyResidual: the check of the factor alone finds an error of a millionth in any of its rows.
func TestCholeskyResidual(t *testing.T) {
	const n = 40
	p, err := newCholesky(n, 150, 3)
	require.NoError(t, err)
	for i := range n {
		entry := p.factor.entry(p.levels, i, i)
		right := *entry
		*entry *= 1 + 1e-6
		require.Error(t, p.residual(), "row %d", i)
		*entry = right
		require.NoError(t, p.residual())
	}
}

// TestCholeskyDefault: the default number of entries is possible for every size, and that of the document for its size.
func TestCholeskyDefault(t *testing.T) {
	for n := 1; n < 30; n++ {
		_, err := cholesky.Program(n, 1, valuesFor(t, cholesky, ""))
		require.NoError(t, err, "n=%d", n)
	}
	if testkit.Quick() {
		t.Skip("the document's size takes a second: MAGPIE_TESTS=long")
	}
	p, err := cholesky.Program(cholesky.Default, 1, valuesFor(t, cholesky, ""))
	require.NoError(t, err)
	require.Equal(t, 10000.0, p.(*choleskyProgram).Properties()[0].Value)
}

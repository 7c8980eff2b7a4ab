package workloads

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMM compares whole products with the definition, and counts the blocks.
func TestMM(t *testing.T) {
	for _, n := range []int{1, 2, mmBlock - 1, mmBlock, mmBlock + 1, 3*mmBlock + 5} {
		p, err := mm.Program(n, 7, Values{})
		require.NoError(t, err)
		m := p.(*mmProgram)
		m.Reset()
		m.Serial()
		for i := range n {
			for j := range n {
				want := 0.0
				for k := range n {
					want += m.a[i*n+k] * m.b[k*n+j]
				}
				if got := m.c[i*n+j]; got != want {
					t.Fatalf("n=%d: entry %d,%d is %v, not %v", n, i, j, got, want)
				}
			}
		}
		var count func(p mmPart) float64
		count = func(p mmPart) float64 {
			if p.isBlock() {
				return 1
			}
			left, right, _ := p.halves()
			return count(left) + count(right)
		}
		require.Equal(t, mm.Shape(n).Tasks, count(m.whole()), "n=%d", n)
	}
}

// TestCheckProductIsExact: the largest sums of the largest matrices are below 2⁵³.
func TestCheckProductIsExact(t *testing.T) {
	const n, entry, factor = freivaldsMost, 8, 1 << 16
	require.LessOrEqual(t, float64(n)*(float64(n)*entry*entry)*factor, float64(1<<53))
}

// TestCheckProduct: entries that are wrong and make up for each other in their row are found, too.
func TestCheckProduct(t *testing.T) {
	const n = 20
	rng := splitmix64(1)
	a, b := smallIntegers(n, &rng), smallIntegers(n, &rng)
	for _, x := range a {
		require.LessOrEqual(t, x*x, 64.0)
	}
	m := &mmProgram{n: n, a: a, b: b, c: make([]float64, n*n)}
	for i := range n * n {
		m.Serial()
		require.NoError(t, checkProduct(m.c, a, b, n, 3))
		m.c[i]++
		require.Error(t, checkProduct(m.c, a, b, n, 3))
		m.c[i/n*n+(i+7)%n]--
		require.Error(t, checkProduct(m.c, a, b, n, 3))
	}
}

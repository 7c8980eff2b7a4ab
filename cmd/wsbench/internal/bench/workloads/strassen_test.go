package workloads

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStrassen compares products with the definition.
func TestStrassen(t *testing.T) {
	for _, n := range []int{1, 2, 7, 63, 64, 65, 127, 128, 131} {
		p := newStrassen(n, 9)
		p.Reset()
		p.Serial()
		require.NoError(t, p.Verify())
		a, b := p.a.whole(n), p.b.whole(n)
		for i := range n {
			for j := range n {
				want := 0.0
				for k := range n {
					want += a[i*n+k] * b[k*n+j]
				}
				if got := p.c.row(i)[j]; got != want {
					t.Fatalf("n=%d: entry %d,%d is %v, not %v", n, i, j, got, want)
				}
			}
		}
	}
	for n, levels := range map[int]int{1: 0, 63: 0, 64: 1, 127: 2, 128: 2, 1024: 5} {
		require.Equal(t, levels, strassenLevels(n), "n=%d", n)
	}
}

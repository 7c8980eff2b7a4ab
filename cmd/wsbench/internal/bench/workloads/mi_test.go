package workloads

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMI: matrices of many sizes and seeds are inverted with the residual that is stated, and small ones that need
// their rows exchanged exactly.
func TestMI(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for seed := range uint64(10) {
			p, err := mi.Program(n, seed, Values{})
			require.NoError(t, err, "n=%d, seed %d", n, seed)
			require.LessOrEqual(t, p.(*miProgram).residual(), 1.0)
		}
	}
	p, err := mi.Program(3, 1, Values{})
	require.NoError(t, err)
	m := p.(*miProgram)
	copy(m.a, []float64{0, 2, 0, 0, 0, 4, 8, 0, 0})
	copy(m.want, []float64{0, 0, 0.125, 0.5, 0, 0, 0, 0.25, 0})
	require.Zero(t, m.residual())
	m.Reset()
	m.Serial()
	require.NoError(t, m.Verify())
	require.Equal(t, []int{2, 2, 2}, m.pivot)

	m.want[4] = 1e-9
	require.Greater(t, m.residual(), 1.0)
	m.want[4] = math.NaN()
	require.False(t, m.residual() <= 1)
}

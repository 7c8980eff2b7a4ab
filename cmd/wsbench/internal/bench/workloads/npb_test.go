package workloads

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/internal/testkit"
)

// npbByHalves computes 5¹³x mod 2⁴⁶ as the benchmarks do: with floating-point numbers, of which halves of 23 bits are
// multiplied.
func npbByHalves(x float64) float64 {
	const half, whole = 1 << 23, 1 << 46
	const factorHigh, factorLow = npbFactor / half, npbFactor % half
	high := math.Floor(x / half)
	low := x - half*high
	middle := factorHigh*low + factorLow*high
	middle -= half * math.Floor(middle/half)
	sum := half*middle + factorLow*low
	return sum - whole*math.Floor(sum/whole)
}

// TestNPBRandom compares the generator with the benchmarks' arithmetic, and jumps with single steps.
func TestNPBRandom(t *testing.T) {
	for _, seed := range []npbRandom{1, epSeed, cgSeed, npbMask} {
		rng, x := seed, float64(seed)
		for i := range uint64(5000) {
			require.Equal(t, rng, seed.after(i), "seed %d, after %d numbers", seed, i)
			x = npbByHalves(x)
			require.Equal(t, x*0x1p-46, rng.next(), "seed %d, number %d", seed, i)
		}
	}
	// Jumps add up, and the period is 2⁴⁴.
	rng := npbRandom(epSeed)
	for _, n := range []uint64{1, 1 << 17, 3<<30 + 5, 1<<41 - 1} {
		for _, m := range []uint64{0, 7, 1 << 40} {
			require.Equal(t, rng.after(n+m), rng.after(n).after(m))
		}
		require.Equal(t, rng.after(n), rng.after(n+1<<44))
	}
	require.NotEqual(t, rng, rng.after(1<<43))
}

// classes returns the classes that a test runs: the smallest, or none if tests are quick, or
// with MAGPIE_TESTS=all those that take at most a minute.
func classes(sizes ...int) []int {
	switch {
	case testkit.Quick():
		return nil
	case testkit.All():
		return sizes
	}
	return sizes[:1]
}

// workersFor returns the numbers of workers for an instance: only one number for a class, which takes long.
func workersFor(n, small int) []int {
	if n == small {
		return []int{1, 2, 4}
	}
	return []int{2}
}

// TestEPClasses compares results with the official ones, and the counts of class S with those of the benchmark's
// programs.
func TestEPClasses(t *testing.T) {
	for _, n := range append([]int{epBatch + 2}, classes(24, 25, 28)...) {
		program, err := ep.Program(n, 0, Values{})
		require.NoError(t, err)
		p := program.(*epProgram)
		everyEngine(t, p, workersFor(n, epBatch+2), func() any { return p.got })
		if n == 24 {
			require.Equal(t, [10]uint64{6140517, 5865300, 1100361, 68546, 1648, 17}, p.got.counts)
		}
	}
}

// TestCGClasses compares results with the official ones, and the numbers of elements with those of the benchmark's
// matrices.
func TestCGClasses(t *testing.T) {
	elements := map[int]int{1400: 78148, 7000: 508402, 14000: 1853104, 75000: 13708072}
	for _, n := range append([]int{cgSmall}, classes(1400, 7000, 14000)...) {
		program, err := cg.Program(n, 0, Values{})
		require.NoError(t, err)
		p := program.(*cgProgram)
		if n != cgSmall {
			require.Len(t, p.matrix.values, elements[n])
		}
		require.LessOrEqual(t, 12*float64(len(p.matrix.values)), cg.Shape(n).Data)
		everyEngine(t, p, workersFor(n, cgSmall), func() any { return [2]float64{p.zeta, p.residual} })
	}
	_, err := cg.Program(1401, 0, Values{})
	require.ErrorContains(t, err, "n=1401")
}

// TestCGMatrix adds up the outer products in a full matrix: the result is the same to the last bit.
func TestCGMatrix(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 65, 200} {
		nonzeros := min(5, n)
		const shift = 10
		full := make([][]float64, n)
		for i := range full {
			full[i] = make([]float64, n)
		}
		weight, ratio := 1.0, math.Pow(cgCondition, 1/float64(n))
		for i, v := range cgVectors(n, nonzeros) {
			hit := false
			for _, row := range v {
				for _, column := range v {
					value := column.value * (weight * row.value)
					if row.at == column.at && int(row.at) == i {
						require.Equal(t, 0.5, row.value)
						value += cgCondition - shift
						hit = true
					}
					full[row.at][column.at] += value
				}
			}
			require.True(t, hit)
			require.GreaterOrEqual(t, len(v), nonzeros)
			require.LessOrEqual(t, len(v), nonzeros+1)
			weight *= ratio
		}
		m := newCGMatrix(n, nonzeros, shift)
		require.Len(t, m.first, n+1)
		for i := range n {
			begin, end := m.first[i], m.first[i+1]
			got := make([]float64, n)
			for k := begin; k < end; k++ {
				require.True(t, k == begin || m.columns[k-1] < m.columns[k], "row %d", i)
				got[m.columns[k]] = m.values[k]
			}
			require.Equal(t, full[i], got, "row %d", i)
		}
	}
}

package workloads

import "fmt"

const (
	// freivaldsMost bounds the matrices of checkProduct: up to it all sums are integers of less than 2⁵³, exact in
	// whatever order they are added.
	freivaldsMost = 1 << 15
	// freivaldsVectors is how many vectors there are. One escapes with a probability of 2⁻¹⁶ at most.
	freivaldsVectors = 3
)

// smallIntegers returns an n×n matrix of integers from -8 to 8.
func smallIntegers(n int, rng *splitmix64) []float64 {
	x := make([]float64, n*n)
	for i := range x {
		x[i] = float64(rng.next()%17) - 8
	}
	return x
}

// checkProduct returns an error if c is not the product of a and b, which have [smallIntegers]. It multiplies c, and
// the factors one after the other, by vectors of positive integers (Freivalds 1977). A single wrong entry always makes
// the results differ.
func checkProduct(c, a, b []float64, n int, seed uint64) error {
	rng := splitmix64(seed + 1)
	x := make([]float64, n)
	times := func(m, v []float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			for j, a := range m[i*n : (i+1)*n] {
				out[i] += a * v[j]
			}
		}
		return out
	}
	for range freivaldsVectors {
		for i := range x {
			x[i] = float64(1 + rng.next()%(1<<16))
		}
		got, want := times(c, x), times(a, times(b, x))
		for i := range got {
			if got[i] != want[i] { // as NaN differs from everything
				return fmt.Errorf("row %d of the product times a vector is %g, that of the factors %g",
					i, got[i], want[i])
			}
		}
	}
	return nil
}

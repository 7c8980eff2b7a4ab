package workloads

// The random numbers of the NAS parallel benchmarks (Bailey and others, RNR-94-007, section 2.3).
const (
	npbFactor = 1220703125 // 5¹³
	npbMask   = 1<<46 - 1
)

// npbRandom is the state of a generator: x ← 5¹³x mod 2⁴⁶. The benchmarks compute it with floating-point numbers, in
// halves; the result is exact there, too, so the numbers are the same.
type npbRandom uint64

// next returns the next number, which is more than 0 and less than 1.
func (r *npbRandom) next() float64 {
	*r = *r * npbFactor & npbMask
	return float64(int64(*r)) * 0x1p-46
}

// after returns the state after n further numbers.
func (r npbRandom) after(n uint64) npbRandom {
	// Products are taken mod 2⁶⁴, a multiple of 2⁴⁶.
	for factor := npbRandom(npbFactor); n > 0; n >>= 1 {
		if n&1 != 0 {
			r *= factor
		}
		factor *= factor
	}
	return r & npbMask
}

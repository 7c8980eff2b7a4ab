package workloads

import (
	"math"
	"slices"
)

// A cgMatrix is a sparse matrix, row by row.
type cgMatrix struct {
	first   []int // by row: where its elements begin; one more than rows
	columns []int32
	values  []float64
}

// multiply sets rows lo, …, hi-1 of dst to those of the product of the matrix and src.
func (m *cgMatrix) multiply(dst, src []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		columns := m.columns[m.first[i]:m.first[i+1]]
		values := m.values[m.first[i]:][:len(columns)]
		sum := 0.0
		for k, column := range columns {
			sum += values[k] * src[column]
		}
		dst[i] = sum
	}
}

// A cgElement is an element of a sparse vector.
type cgElement struct {
	at    int32
	value float64
}

const (
	// cgSeed is the state of the random numbers before the first, which the benchmark leaves out.
	cgSeed = 314159265
	// cgCondition is the ratio of the weights of the last and the first vector, and the least eigenvalue before the
	// shift.
	cgCondition = 0.1
)

// newCGMatrix returns the matrix of the benchmark: the sum of the outer products of n random sparse vectors with
// themselves, with weights that fall from 1 to cgCondition, and with cgCondition-shift added to the diagonal.
//
// The benchmark adds the products one after the other. Here row after row is made from the vectors that have an element
// in it, in the same order, so the sums are the same to the last bit.
func newCGMatrix(n, nonzeros int, shift float64) *cgMatrix {
	vectors := cgVectors(n, nonzeros)

	// inRow lists the vectors that have an element in a row, from first[row] on.
	first := make([]int, n+1)
	total := 0
	for _, v := range vectors {
		for _, e := range v {
			first[e.at+1]++
		}
		total += len(v) * len(v)
	}
	for i := range n {
		first[i+1] += first[i]
	}
	type share struct {
		vector int32
		value  float64 // with the weight of the vector
	}
	inRow := make([]share, first[n])
	end := slices.Clone(first[:n])
	weight, ratio := 1.0, math.Pow(cgCondition, 1/float64(n))
	for i, v := range vectors {
		for _, e := range v {
			inRow[end[e.at]] = share{int32(i), weight * e.value}
			end[e.at]++
		}
		weight *= ratio
	}

	m := &cgMatrix{first: make([]int, n+1), columns: make([]int32, 0, total), values: make([]float64, 0, total)}
	sums := make([]float64, n) // of a row, by column
	seen := make([]int, n)     // by column: the last row with an element in it, plus 1
	for row := range n {
		begin := len(m.columns)
		for _, s := range inRow[first[row]:first[row+1]] {
			for _, e := range vectors[s.vector] {
				value := e.value * s.value
				if int(e.at) == row && int(s.vector) == row {
					value += cgCondition - shift
				}
				if seen[e.at] != row+1 {
					seen[e.at] = row + 1
					sums[e.at] = 0
					m.columns = append(m.columns, e.at)
				}
				sums[e.at] += value
			}
		}
		slices.Sort(m.columns[begin:])
		for _, column := range m.columns[begin:] {
			m.values = append(m.values, sums[column])
		}
		m.first[row+1] = len(m.columns)
	}
	return m
}

// cgVectors draws n vectors with as many nonzeros each. Element i of vector i is 0.5, drawn or not.
func cgVectors(n, nonzeros int) [][]cgElement {
	rng := npbRandom(cgSeed)
	rng.next()
	power := 2
	for power < n {
		power *= 2
	}
	all := make([]cgElement, 0, n*(nonzeros+1))
	vectors := make([][]cgElement, n)
	for i := range vectors {
		begin := len(all)
		has := func(at int32) *cgElement {
			for k := range all[begin:] {
				if all[begin+k].at == at {
					return &all[begin+k]
				}
			}
			return nil
		}
		for len(all)-begin < nonzeros {
			value := rng.next()
			at := int32(float64(power) * rng.next())
			if int(at) < n && has(at) == nil {
				all = append(all, cgElement{at, value})
			}
		}
		if e := has(int32(i)); e != nil {
			e.value = 0.5
		} else {
			all = append(all, cgElement{int32(i), 0.5})
		}
		vectors[i] = all[begin:]
	}
	return vectors
}

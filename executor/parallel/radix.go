package parallel

import (
	"cmp"
	"math/bits"
)

// A word holds a number of a sort by radix, whatever its type is.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// A coding turns words into unsigned keys that have the order of the numbers.
type coding[K word] struct {
	top  uint // the number of the highest bit
	sign K    // the bits that are inverted in every word: the sign, if the type has one
	rest K    // the bits that are inverted besides if the highest is set: those of a negative float
}

func (c coding[K]) key(x K) K { return x ^ (-(x>>(c.top&63))&c.rest | c.sign) }

// word returns the word with that key.
func (c coding[K]) word(key K) K { return key ^ ((key>>(c.top&63)-1)&c.rest | c.sign) }

func (c coding[K]) compare(a, b K) int { return cmp.Compare(c.key(a), c.key(b)) }

// A radix sort cuts an array by the highest bits in which its elements differ, and then each part again. It goes from
// one array to another and back.
const (
	// radixWidth is how many bits an array is cut by at most. With more the counters exceed the first-level cache.
	radixWidth = 11
	// radixWide is radixWidth for arrays larger than the second-level cache: each place that is written to takes a
	// line, and an entry of the TLB.
	radixWide = 8
	// radixLarge is the number of elements from which on radixWide holds.
	radixLarge = 1 << 17
	// radixSmall is up to how many elements are sorted by insertion.
	radixSmall = 24
)

// Counters are how many elements have which bits, and then where the next such element goes.
type counters interface {
	[1 << 6]uint32 | [1 << radixWidth]uint32
}

// radixSort sorts the elements of s. It leaves the result in s if home is set, and else in other, which is as long as
// s.
func radixSort[K word](c coding[K], s, other []K, home bool) {
	switch {
	case len(s) >= 1<<9:
		radixCut[K, [1 << radixWidth]uint32](c, s, other, home)
	case len(s) > radixSmall:
		radixCut[K, [1 << 6]uint32](c, s, other, home) // clearing more counters would take longer than the rest
	case home:
		insertionSort(c, s, s)
	default:
		insertionSort(c, other, s)
	}
}

// radixCut is radixSort for many elements. C has room for cutFor of their number.
func radixCut[K word, C counters](c coding[K], s, other []K, home bool) {
	width := uint(bits.Len64(uint64(c.differing(s[0], s))))
	if width == 0 {
		if !home {
			copy(other, s)
		}
		return
	}
	cut := min(cutFor(len(s)), width)
	shift := width - cut
	var at C
	mask := K(1)<<cut - 1
	for _, x := range s {
		at[c.key(x)>>(shift&63)&mask]++
	}
	if shift == 0 { // words with the same digit are the same
		key := c.key(s[0]) &^ mask
		if !home {
			s = other[:len(s)]
		}
		for digit := range 1 << cut {
			word := c.word(key | K(digit))
			for range at[digit] {
				s[0], s = word, s[1:]
			}
		}
		return
	}
	sum := uint32(0)
	for i := range 1 << cut {
		at[i], sum = sum, sum+at[i]
	}
	other = other[:len(s)]
	for _, x := range s {
		place := &at[c.key(x)>>(shift&63)&mask]
		other[*place] = x
		*place++
	}
	lo := uint32(0)
	for i := range 1 << cut {
		hi := at[i] // the end of the part
		if lo < hi {
			radixSort(c, other[lo:hi], s[lo:hi], !home)
		}
		lo = hi
	}
}

// cutFor returns the number of bits by which n elements are cut.
func cutFor(n int) uint {
	if n > radixLarge {
		return radixWide
	}
	return uint(min(bits.Len(uint(n))-3, radixWidth)) // parts of some eight elements suit the insertion that follows
}

// differing returns the bits in which keys of s differ from that of first.
func (c coding[K]) differing(first K, s []K) (bits K) {
	for _, x := range s {
		bits |= c.key(first) ^ c.key(x)
	}
	return bits
}

// insertionSort sorts s into dst, which is as long, and may be s.
func insertionSort[K word](c coding[K], dst, s []K) {
	dst = dst[:len(s)]
	for i, x := range s {
		key, j := c.key(x), i
		for ; j > 0 && c.key(dst[j-1]) > key; j-- {
			dst[j] = dst[j-1]
		}
		dst[j] = x
	}
}

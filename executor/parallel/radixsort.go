package parallel

import (
	"context"
	"math/bits"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

const (
	// radixLeast is up to how many numbers Sort does not sort by radix: package slices takes as long, and no memory.
	radixLeast = 1 << 8
	// radixMost is the largest number: counters have 32 bits.
	radixMost uint64 = 1<<32 - 1
	// radixGrain is up to how many elements one worker sorts by itself, and how many it cuts at a time.
	radixGrain = 1 << 15
	// radixLeastGrain is the smallest grain: a piece has a kilobyte of counters.
	radixLeastGrain = 1 << 11
)

// A radixSorter is a sort by radix in which all workers take part.
type radixSorter[K word] struct {
	job
	coding[K]
	floats  bool // some may be NaNs
	grain   int
	scratch *scratch[K]
}

// sortWords sorts the numbers of s, whose order is that of the keys of c, except that NaNs come first.
func sortWords[K word](ctx context.Context, o Options, s []K, c coding[K], floats bool, scratch *scratch[K]) error {
	r := &radixSorter[K]{coding: c, floats: floats, grain: o.Grain, scratch: scratch}
	if r.grain == 0 {
		r.grain = radixGrain
	}
	r.grain = max(r.grain, radixLeastGrain)
	_, err := run(ctx, o, "Sort", func(scope *executor.Scope) nothing {
		return radixWhole(scope, radixing[K]{r, s, nil, true})
	})
	return err
}

// A radixing is a part of a sort: the elements of s, which go to other unless home is set.
type radixing[K word] struct {
	*radixSorter[K]
	s, other []K
	home     bool
}

func radixWhole[K word](s *executor.Scope, p radixing[K]) (none nothing) {
	found := p.ordering(s)
	switch {
	case p.stopped(s):
		return
	case found.nans:
		p.s = p.s[p.nansFirst(p.s):]
	case mend(p.s, found, p.compare), p.few(s):
		return
	}
	p.other = p.scratch.take(len(p.s))
	radixPart(s, p)
	p.scratch.giveBack(p.other)
	return
}

// radixPart sorts p. If it is stopped, the elements are where they were to go, in no order.
func radixPart[K word](s *executor.Scope, p radixing[K]) (none nothing) {
	if p.stopped(s) {
		p.stay()
		return
	}
	if len(p.s) <= max(p.grain, radixSmall) {
		radixSort(p.coding, p.s, p.other, p.home)
		return
	}
	width := uint(bits.Len64(uint64(p.differing(s))))
	switch {
	case width == 0 || p.stopped(s):
		p.stay()
		return
	case width <= radixWidth:
		p.count(s, 1<<width)
		return
	}
	starts := p.cut(s, width-radixWide, 1<<radixWide)
	if p.stopped(s) {
		p.stay()
		return
	}
	return radixParts(s, radixCutting[K]{p, starts})
}

// stay leaves the elements in the order that they have.
func (p *radixing[K]) stay() {
	if !p.home {
		copy(p.other, p.s)
	}
}

// A radixCutting is parts of p that lie side by side: part i begins at starts[i], and the last start is the end. All
// elements are in p.other.
type radixCutting[K word] struct {
	p      radixing[K]
	starts []int
}

// radixParts sorts parts.
func radixParts[K word](s *executor.Scope, c radixCutting[K]) (none nothing) {
	n := len(c.starts) - 1
	switch lo, hi := c.starts[0], c.starts[n]; {
	case lo == hi:
	case n == 1:
		radixPart(s, radixing[K]{c.p.radixSorter, c.p.other[lo:hi], c.p.s[lo:hi], !c.p.home})
	default:
		right := executor.Fork(s, radixParts[K], radixCutting[K]{c.p, c.starts[n/2:]})
		radixParts(s, radixCutting[K]{c.p, c.starts[:n/2+1]})
		right.Join(s)
	}
	return
}

// cut moves the elements from s to other, ordered by n digits of their keys, and returns where those with each digit
// begin. If it is stopped, s has them still.
func (p *radixing[K]) cut(s *executor.Scope, shift uint, n int) (starts []int) {
	c, mask := p.coding, K(n-1)
	places := make([][1 << radixWide]uint32, p.pieces()) // by piece: the number of elements, then the next place
	p.each(s, func(i int, s []K) {
		at := &places[i]
		for _, x := range s {
			at[c.key(x)>>(shift&63)&mask]++
		}
	})
	starts = make([]int, n+1)
	sum := uint32(0)
	for digit := range n {
		starts[digit] = int(sum)
		for i := range places {
			at := &places[i][digit]
			*at, sum = sum, sum+*at
		}
	}
	starts[n] = len(p.s)
	p.each(s, func(i int, s []K) {
		at, other := &places[i], p.other
		for _, x := range s {
			place := &at[c.key(x)>>(shift&63)&mask]
			other[*place] = x
			*place++
		}
	})
	return starts
}

// ordering looks at the elements as far as they are in order, and for NaNs.
func (p *radixing[K]) ordering(s *executor.Scope) ordering {
	found := make([]ordering, p.pieces())
	inPieces(s, &p.job, len(p.s), p.grain, func(i, lo, hi int) {
		o := orderingOf(lo, hi,
			func(lo, hi int) breaks { return p.falls(p.s, lo, hi, 0) },
			func(lo, hi int) breaks { return p.falls(p.s, lo, hi, ^K(0)) },
			func(i, j int) bool { return p.s[i] == p.s[j] },
		)
		o.nans = p.floats && slices.ContainsFunc(p.s[lo:hi], p.isNaN)
		found[i] = o
	})
	return allOf(found)
}

// falls returns where a key is less than the one before it. With ^0 as reversed it is where one is greater.
func (c coding[K]) falls(s []K, lo, hi int, reversed K) (b breaks) {
	before := s[max(lo-1, 0)]
	s = s[lo:hi]
	if c.rest != 0 {
		last := c.key(before) ^ reversed
		for i, x := range s {
			k := c.key(x) ^ reversed
			if k < last && b.add(lo+i) {
				break
			}
			last = k
		}
		return b
	}
	reversed ^= c.sign
	last := before ^ reversed
	for i := 0; i < len(s); {
		if i+4 <= len(s) { // four at a time: sorted input costs as much as memory takes
			four := s[i : i+4]
			k0, k1, k2, k3 := four[0]^reversed, four[1]^reversed, four[2]^reversed, four[3]^reversed
			if last <= k0 && k0 <= k1 && k1 <= k2 && k2 <= k3 {
				last = k3
				i += 4
				continue
			}
		}
		k := s[i] ^ reversed
		if k < last && b.add(lo+i) {
			break
		}
		last = k
		i++
	}
	return b
}

// differing returns the bits in which the keys differ.
func (p *radixing[K]) differing(s *executor.Scope) (bits K) {
	c, first := p.coding, p.s[0]
	found := make([]K, p.pieces())
	p.each(s, func(i int, s []K) { found[i] = c.differing(first, s) })
	for _, f := range found {
		bits |= f
	}
	return bits
}

// isNaN reports whether the word of a float is that of a NaN.
func (c coding[K]) isNaN(x K) bool {
	x &= c.rest
	return x > c.infinity()
}

// infinity is the word of the positive infinity.
func (c coding[K]) infinity() K {
	mantissa := uint(52)
	if c.top == 31 {
		mantissa = 23
	}
	return c.rest >> mantissa << mantissa
}

// nansFirst moves the NaNs to the front, and returns their number.
func (c coding[K]) nansFirst(s []K) (n int) {
	for i, x := range s {
		if c.isNaN(x) {
			s[i], s[n] = s[n], x
			n++
		}
	}
	return n
}

// pieces is the number of pieces of the part's elements, each of at most grain elements.
func (p *radixing[K]) pieces() int { return countPieces(len(p.s), p.grain) }

// each calls do for every piece, in parallel. Once the sorter is stopped it leaves out the rest.
func (p *radixing[K]) each(s *executor.Scope, do func(i int, s []K)) {
	inPieces(s, &p.job, len(p.s), p.grain, func(i, lo, hi int) { do(i, p.s[lo:hi]) })
}

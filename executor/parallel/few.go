package parallel

import (
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// fewWords is up to how many distinct numbers are sorted by counting them: it takes no memory.
const fewWords = 16

// few sorts p if its words are few distinct ones that a sample has. Otherwise, or if it is stopped, it returns false
// and leaves p as it was.
func (p *radixing[K]) few(s *executor.Scope) (sorted bool) {
	var room [samples]K
	sample := takeSample(&room, p.s)
	slices.SortFunc(sample, p.compare)
	sample = slices.Compact(sample)
	if len(sample) > fewWords {
		return false
	}
	var words, keys [fewWords]K
	for i := range words {
		words[i] = sample[min(i, len(sample)-1)]
		keys[i] = p.key(words[i])
	}
	counts := make([][fewWords]int, p.pieces())
	p.each(s, func(i int, s []K) {
		for _, x := range s {
			at := placeOf(&keys, p.key(x))
			if words[at] != x {
				return
			}
			counts[i][at]++
		}
	})
	var ends [fewWords]int
	sum := 0
	for at := range ends {
		for i := range counts {
			sum += counts[i][at]
		}
		ends[at] = sum
	}
	if sum != len(p.s) || p.stopped(s) {
		return false
	}
	p.fill(s, p.s, ends[:], func(at int) K { return words[at] })
	return true
}

// count sorts p, whose keys differ in the lowest digits only, of which there are n: words with the same digits are the
// same, so they need not be moved. If it is stopped, the elements are where they were to go, in no order.
func (p *radixing[K]) count(s *executor.Scope, n int) {
	mask := K(n - 1)
	counts := make([][1 << radixWidth]uint32, p.pieces())
	p.each(s, func(i int, s []K) {
		at, c := &counts[i], p.coding
		for _, x := range s {
			at[c.key(x)&mask]++
		}
	})
	if p.stopped(s) {
		p.stay()
		return
	}
	ends := make([]int, n)
	sum := 0
	for digit := range ends {
		for i := range counts {
			sum += int(counts[i][digit])
		}
		ends[digit] = sum
	}
	to := p.s
	if !p.home {
		to = p.other
	}
	key := p.key(p.s[0]) &^ mask
	p.fill(s, to, ends, func(digit int) K { return p.word(key | K(digit)) })
}

// fill writes words in order: word i up to ends[i]. It is not stopped, for the words in place of which it writes would be
// lost.
func (p *radixing[K]) fill(s *executor.Scope, to []K, ends []int, word func(i int) K) {
	inPieces(s, nil, len(to), p.grain, func(_, lo, hi int) {
		first, _ := slices.BinarySearch(ends, lo+1)
		for i := first; lo < hi; i++ {
			part := to[lo:min(ends[i], hi)]
			for at, x := 0, word(i); at < len(part); at++ {
				part[at] = x
			}
			lo += len(part)
		}
	})
}

// placeOf returns the last index of keys, which ascend, whose key is at most the given one, or 0.
func placeOf[K word](keys *[fewWords]K, key K) (at uint) {
	at = atMost(keys[8], key) << 3
	at += atMost(keys[(at+4)%fewWords], key) << 2
	at += atMost(keys[(at+2)%fewWords], key) << 1
	return at + atMost(keys[(at+1)%fewWords], key)
}

// atMost returns 1 if a is at most b, without a branch: no order of the elements is foreseen.
func atMost[K word](a, b K) (yes uint) {
	if a <= b {
		yes = 1
	}
	return yes
}

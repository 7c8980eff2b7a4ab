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
	inPieces(s, nil, len(p.s), p.grain, func(_, lo, hi int) {
		for at, end := range ends {
			end = min(end, hi)
			for ; lo < end; lo++ {
				p.s[lo] = words[at]
			}
		}
	})
	return true
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

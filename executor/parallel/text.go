package parallel

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor"
)

const (
	// textLeast is up to how many strings Sort does not sort by radix: one worker does that as fast, without memory.
	textLeast = sortGrain
	// textBytes is how many bytes of its string a key has.
	textBytes = 7
	// textMore is the last byte of the key of a string that goes on after the bytes of the key.
	textMore = textBytes + 1
	// textVain is how often a part may keep more than half of its strings after a sort by a key. Strings that have
	// little but long prefixes in common are sorted by comparisons then.
	textVain = 1
	// textLevels is how many keys of a sample may be equal.
	textLevels = 4
	// textWidth is by how many bits strings are cut at most, also those that all keys have in common.
	textWidth = 11
)

// A text stands for a string in a sort by radix. Key is the next textBytes bytes of the string, zeros after its end,
// and then the number of bytes that are left, at most textMore. So keys have the order of the strings, and strings with
// equal keys are equal unless they go on.
type text struct {
	key uint64
	at  uint32 // which string it is
}

// textKey returns the key of what is left of a string.
func textKey(s string) uint64 {
	switch n := len(s); {
	case n >= 8:
		return (uint64(word32(s))<<32|uint64(word32(s[4:])))&^0xff | textMore
	case n >= 4:
		return uint64(word32(s))<<32 | uint64(word32(s[n-4:])<<(64-8*n)) | uint64(n)
	case n >= 2:
		return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[n-1])<<(64-8*n) | uint64(n)
	case n == 1:
		return uint64(s[0])<<56 | 1
	}
	return 0
}

// word32 returns the first four bytes of s as a number that has their order.
func word32(s string) uint32 {
	_ = s[3]
	return uint32(s[3]) | uint32(s[2])<<8 | uint32(s[1])<<16 | uint32(s[0])<<24
}

// A textSorter is a sort of strings by radix. The strings stay where they are until their order is known.
type textSorter struct {
	job
	all   []string
	grain int
}

// sortTexts sorts strings. If it is stopped, all keeps its strings, in no order.
func sortTexts(ctx context.Context, o Options, all []string) error {
	t := &textSorter{all: all, grain: o.Grain}
	if t.grain == 0 {
		t.grain = radixGrain
	}
	t.grain = max(t.grain, radixLeastGrain)
	_, err := run(ctx, o, "Sort", t.whole)
	return err
}

func (t *textSorter) whole(s *executor.Scope) (none nothing) {
	found := t.ordering(s)
	switch {
	case t.stopped(s), mend(t.all, found, strings.Compare):
		return
	case inVain(t.all):
		return sortTextsByOrder(s, t.all)
	}
	n := len(t.all)
	room, out := scratchTexts.take(2*n), scratchStrings.take(n)
	p := texts{t, room[:n], room[n:], out, n, 0, textVain}
	inPieces(s, nil, n, t.grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			p.s[i].at = uint32(i)
		}
	})
	textGroup(s, p)
	if !t.stopped(s) {
		inPieces(s, nil, n, t.grain, func(_, lo, hi int) { copy(t.all[lo:hi], out[lo:hi]) })
	}
	scratchTexts.giveBack(room)
	scratchStrings.giveBack(out)
	return
}

// ordering looks at the strings as far as they are in order.
func (t *textSorter) ordering(s *executor.Scope) ordering {
	found := make([]ordering, countPieces(len(t.all), t.grain))
	inPieces(s, &t.job, len(t.all), t.grain, func(i, lo, hi int) {
		found[i] = orderingOf(lo, hi, t.falls, t.rises, func(i, j int) bool { return t.all[i] == t.all[j] })
	})
	return allOf(found)
}

// falls returns where a string is less than the one before it.
func (t *textSorter) falls(lo, hi int) (b breaks) {
	last := t.all[max(lo-1, 0)]
	for i, x := range t.all[lo:hi] {
		if x < last && b.add(lo+i) {
			break
		}
		last = x
	}
	return b
}

// rises returns where a string is greater than the one before it.
func (t *textSorter) rises(lo, hi int) (b breaks) {
	last := t.all[max(lo-1, 0)]
	for i, x := range t.all[lo:hi] {
		if last < x && b.add(lo+i) {
			break
		}
		last = x
	}
	return b
}

// inVain reports whether a sort by radix would take longer than one by comparisons. It would if many strings are equal,
// or have prefixes in common of which only a few bytes at a time are those of more strings.
func inVain(s []string) bool {
	var room [samples]string
	sample := takeSample(&room, s)
	slices.Sort(sample)
	return countVain(sample, 0, textLevels) > len(sample)/3
}

// countVain returns how many strings of a sorted sample differ from no others after a number of keys.
func countVain(sample []string, depth, keys int) (n int) {
	switch {
	case len(sample) < 2:
		return 0
	case keys == 0:
		return len(sample)
	}
	depth += commonPrefix(sample[0][depth:], sample[len(sample)-1][depth:])
	for len(sample) > 0 {
		key, end := textKey(sample[0][depth:]), 1
		for end < len(sample) && textKey(sample[end][depth:]) == key {
			end++
		}
		switch {
		case end > 1 && key&0xff < textMore: // all are equal
			n += end
		case end > 1:
			n += countVain(sample[:end], depth+textBytes, keys-1)
		}
		sample = sample[end:]
	}
	return n
}

// sortTextsByOrder sorts strings by comparisons.
func sortTextsByOrder(s *executor.Scope, all []string) nothing {
	by := &sorter[string]{
		order: cmp.Compare[string],
		rest:  slices.Sort[[]string],
		cut:   cutOrdered[string],
		same:  sameOrdered[string],
		grain: sortGrain,
	}
	return sortPart(s, sorting[string]{by, all, 2 * bits.Len(uint(len(all))), nil})
}

// Texts are a part of a sort: strings that go to out, in their order. Other is room for as many.
type texts struct {
	*textSorter
	s, other []text
	out      []string
	parent   int // the number of strings of the part that was last sorted by a key
	depth    int // how many bytes the strings have in common
	vain     int // how many more keys may be in vain
}

// textGroup sorts strings, whose keys are out of date. If it is stopped, out is incomplete, as with textPart.
func textGroup(s *executor.Scope, p texts) (none nothing) {
	if p.stopped(s) {
		return
	}
	if len(p.s) <= p.grain {
		p.group()
		return
	}
	if p.inVain() {
		inPieces(s, &p.job, len(p.s), p.grain, func(_, lo, hi int) { p.gather(lo, hi) })
		return sortTextsByOrder(s, p.out)
	}
	found := make([]int, countPieces(len(p.s), p.grain))
	inPieces(s, &p.job, len(p.s), p.grain, func(i, lo, hi int) { found[i] = p.common(lo, hi) })
	p.depth += slices.Min(found)
	inPieces(s, &p.job, len(p.s), p.grain, func(_, lo, hi int) { p.load(lo, hi) })
	return textPart(s, p)
}

// textPart sorts strings that have keys.
func textPart(s *executor.Scope, p texts) (none nothing) {
	if p.stopped(s) {
		return
	}
	if len(p.s) <= p.grain {
		p.radix()
		return
	}
	found := make([]uint64, countPieces(len(p.s), p.grain))
	inPieces(s, &p.job, len(p.s), p.grain, func(i, lo, hi int) { found[i] = p.differing(lo, hi) })
	differing := uint64(0)
	for _, f := range found {
		differing |= f
	}
	switch {
	case p.stopped(s):
		return
	case differing != 0:
		return textParts(s, p.cut(s, differing))
	case p.ended():
		inPieces(s, &p.job, len(p.s), p.grain, func(_, lo, hi int) { p.gather(lo, hi) })
		return
	}
	p.depth += textBytes
	return textGroup(s, p)
}

// A textCutting is parts of p that lie side by side: part i begins at starts[i], and the last start is the end. All of
// them are in p.other.
type textCutting struct {
	p      texts
	starts []uint32
}

// textParts sorts parts. It has none if the cut was stopped.
func textParts(s *executor.Scope, c textCutting) (none nothing) {
	n := len(c.starts) - 1
	if n < 1 || c.starts[0] == c.starts[n] {
		return
	}
	if n == 1 {
		return textPart(s, c.p.part(c.starts[0], c.starts[1]))
	}
	right := executor.Fork(s, textParts, textCutting{c.p, c.starts[n/2:]})
	textParts(s, textCutting{c.p, c.starts[:n/2+1]})
	right.Join(s)
	return
}

// cut moves all to other, ordered by the highest bits in which keys differ.
func (p *texts) cut(s *executor.Scope, differing uint64) (c textCutting) {
	shift, width := textCutFor(differing, len(p.s), textWidth)
	places := make([][1 << textWidth]uint32, countPieces(len(p.s), p.grain)) // as those of radixing.cut
	from, other, mask := p.s, p.other, uint64(1)<<width-1
	inPieces(s, &p.job, len(p.s), p.grain, func(i, lo, hi int) {
		at := &places[i]
		for j := range from[lo:hi] {
			at[from[lo+j].key>>(shift&63)&mask&(1<<textWidth-1)]++
		}
	})
	starts := make([]uint32, 1<<width+1)
	sum := uint32(0)
	for digit := range 1 << width {
		starts[digit] = sum
		for i := range places {
			at := &places[i][digit]
			*at, sum = sum, sum+*at
		}
	}
	starts[1<<width] = sum
	inPieces(s, &p.job, len(p.s), p.grain, func(i, lo, hi int) {
		at := &places[i]
		for _, x := range from[lo:hi] {
			place := &at[x.key>>(shift&63)&mask&(1<<textWidth-1)]
			other[*place] = x
			*place++
		}
	})
	if p.stopped(s) {
		return
	}
	return textCutting{*p, starts}
}

// part returns the part of p that a cut has moved to other[lo:hi].
func (p *texts) part(lo, hi uint32) texts {
	return texts{p.textSorter, p.other[lo:hi], p.s[lo:hi], p.out[lo:hi], p.parent, p.depth, p.vain}
}

// textCutFor returns by which bits of the keys n strings are cut: at most width, of which few enough differ.
func textCutFor(differing uint64, n int, most uint) (shift, width uint) {
	top := uint(bits.Len64(differing))
	for cut := cutFor(n); width < min(most, top) && cut > 0; width++ {
		cut -= uint(differing >> (top - width - 1) & 1)
	}
	return top - width, width
}

// inVain reports whether the strings must be sorted by comparisons. It is called once for each sort by a key.
func (p *texts) inVain() bool {
	if p.depth > 0 && len(p.s) > p.parent/2 {
		p.vain--
	}
	p.parent = len(p.s)
	return p.vain < 0
}

// common returns how many more bytes some strings have in common with the first, or 0 if fewer than a key has.
func (p *texts) common(lo, hi int) int {
	first := p.all[p.s[0].at][p.depth:]
	for _, x := range p.s[lo:hi] {
		if s := p.all[x.at][p.depth:]; len(s) < len(first) || s[:len(first)] != first {
			first = first[:commonPrefix(s, first)]
			if len(first) < textBytes {
				return 0
			}
		}
	}
	return len(first)
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// load gives keys to the strings.
func (p *texts) load(lo, hi int) {
	for i := range p.s[lo:hi] {
		x := &p.s[lo+i]
		x.key = textKey(p.all[x.at][p.depth:])
	}
}

// differing returns the bits in which some keys differ from the first.
func (p *texts) differing(lo, hi int) (bits uint64) {
	first := p.s[0].key
	for i := range p.s[lo:hi] {
		bits |= p.s[lo+i].key ^ first
	}
	return bits
}

// ended reports whether strings whose keys are equal are equal themselves.
func (p *texts) ended() bool { return p.s[0].key&0xff < textMore }

// gather moves strings to out.
func (p *texts) gather(lo, hi int) {
	out := p.out[lo:hi]
	for i, x := range p.s[lo:hi] {
		out[i] = p.all[x.at]
	}
}

// group is textGroup on one worker.
func (p *texts) group() {
	n := len(p.s)
	switch {
	case n == 1:
		p.out[0] = p.all[p.s[0].at]
		return
	case n > radixSmall && p.inVain():
		p.gather(0, n)
		slices.Sort(p.out)
		return
	case n > radixSmall:
		p.depth += p.common(0, n)
	}
	p.load(0, n)
	p.radix()
}

// radix is textPart on one worker.
func (p *texts) radix() {
	n := len(p.s)
	if n <= radixSmall {
		p.insert()
		p.gather(0, n)
		return
	}
	switch differing := p.differing(0, n); {
	case differing != 0 && n >= 1<<9:
		textCut[[1 << textWidth]uint32](p, differing, textWidth)
	case differing != 0:
		textCut[[1 << 6]uint32](p, differing, 6)
	case p.ended():
		p.gather(0, n)
	default:
		p.depth += textBytes
		p.group()
	}
}

// textCut cuts p by at most the given number of bits, and sorts the parts. C has room for so many.
func textCut[C counters](p *texts, differing uint64, most uint) {
	shift, width := textCutFor(differing, len(p.s), most)
	var at C
	mask := uint64(1)<<width - 1
	for i := range p.s {
		at[p.s[i].key>>(shift&63)&mask]++
	}
	sum := uint32(0)
	for i := range 1 << width {
		at[i], sum = sum, sum+at[i]
	}
	other := p.other[:len(p.s)]
	for _, x := range p.s {
		place := &at[x.key>>(shift&63)&mask]
		other[*place] = x
		*place++
	}
	lo := uint32(0)
	for i := range 1 << width {
		hi := at[i] // the end of the part
		if lo+1 == hi {
			p.out[lo] = p.all[other[lo].at]
		} else if lo < hi {
			part := p.part(lo, hi)
			part.radix()
		}
		lo = hi
	}
}

// insert sorts a few strings.
func (p *texts) insert() {
	s := p.s
	for i, x := range s {
		j := i
		for ; j > 0 && (x.key < s[j-1].key || x.key == s[j-1].key && p.precedes(x, s[j-1])); j-- {
			s[j] = s[j-1]
		}
		s[j] = x
	}
}

// precedes reports whether a precedes b. Their keys are equal.
func (p *texts) precedes(a, b text) bool {
	depth := p.depth + textBytes
	return a.key&0xff == textMore && p.all[a.at][depth:] < p.all[b.at][depth:]
}

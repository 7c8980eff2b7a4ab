package parallel

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// Sort sorts s in ascending order, as [slices.Sort] does. More than 256 numbers, or 2048 strings, are sorted by radix,
// which takes a fraction of the time. Sort then needs memory: for numbers as much as s takes, and for strings three times
// as much, 48 bytes for each on a 64-bit machine. The next Sort of about as many may use it again, unless the garbage
// collector runs in between. It needs no memory if all but a few elements are in order, forwards or backwards, nor if a
// sample has few distinct numbers, or strings that are equal or differ only after long prefixes of many lengths: such
// strings are sorted by comparisons.
func Sort[T cmp.Ordered](ctx context.Context, o Options, s []T) error {
	o = o.check(ctx, "Sort", false)
	if n := uint64(len(s)); n > radixLeast && n <= radixMost {
		if sorted, err := sortByRadix(ctx, o, s); sorted {
			return err
		}
	}
	return sortBy(ctx, o, "Sort", s, &sorter[T]{
		order: cmp.Compare[T],
		rest:  slices.Sort[[]T],
		cut:   cutOrdered[T],
		same:  sameOrdered[T],
	})
}

// SortFunc sorts s by order, as [slices.SortFunc] does. The sort is not stable.
func SortFunc[T any](ctx context.Context, o Options, s []T, order func(T, T) int) error {
	o = o.check(ctx, "SortFunc", order == nil)
	return sortBy(ctx, o, "SortFunc", s, &sorter[T]{
		order: order,
		rest:  func(s []T) { sortFew(s, order, 2*bits.Len(uint(len(s)))) },
		cut:   cutFunc[T],
		same:  sameFunc[T],
		mends: true,
	})
}

// sortGrain is up to how many elements one worker sorts by itself. It takes 60 µs for numbers, 120 µs if a function
// compares them (Xeon, November 2026).
const sortGrain = 1 << 11

// A sorter is a Quicksort. Package slices sorts parts that are small, or that result from too many cuts.
type sorter[T any] struct {
	job
	order func(a, b T) int
	rest  func([]T)
	cut   func(scope *executor.Scope, by *sorter[T], s []T, pivot T) (hi int) // what is less comes first
	same  func(scope *executor.Scope, by *sorter[T], s []T, pivot T) (hi int) // what is not greater comes first
	grain int
	mends bool // elements that are in order already are looked for
}

type sorting[T any] struct {
	*sorter[T]
	s     []T
	left  int // how many more times the part may be cut
	least *T  // if not nil, no element is less
}

func sortBy[T any](ctx context.Context, o Options, name string, s []T, by *sorter[T]) error {
	by.grain = o.Grain
	if by.grain == 0 {
		by.grain = sortGrain
	}
	p := sorting[T]{by, s, 2 * bits.Len(uint(len(s))), nil}
	_, err := run(ctx, o, name, func(s *executor.Scope) (none nothing) {
		if by.mends && len(p.s) > by.grain && mend(p.s, by.ordering(s, p.s), by.order) {
			return
		}
		return sortPart(s, p)
	})
	return err
}

// ordering looks at elements until neither order holds but for a few. If it is stopped, none does.
func (by *sorter[T]) ordering(scope *executor.Scope, s []T) (o ordering) {
	for i := 1; i < len(s) && (o.falls.n <= mendable || o.rises.n <= mendable); i++ {
		if by.stopped(scope) {
			o.falls.n, o.rises.n = mendable+1, mendable+1
			break
		}
		switch c := by.order(s[i-1], s[i]); {
		case c > 0:
			o.falls.add(i)
		case c < 0:
			o.rises.add(i)
		}
	}
	return o
}

func sortPart[T any](s *executor.Scope, p sorting[T]) (none nothing) {
	if p.stopped(s) {
		return
	}
	ok := false
	defer p.end(&ok)
	if len(p.s) <= p.grain || p.left == 0 {
		p.rest(p.s)
	} else {
		pivot := pivot(p.s, p.rest)
		// Where the pivot is the least element, those that equal it are sorted no further.
		same := p.least != nil && p.order(*p.least, pivot) >= 0
		cut := p.cut
		if same {
			cut = p.same
		}
		hi := cut(s, p.sorter, p.s, pivot)
		right := executor.Fork(s, sortPart[T], sorting[T]{p.sorter, p.s[hi:], p.left - 1, &pivot})
		if !same {
			sortPart(s, sorting[T]{p.sorter, p.s[:hi], p.left - 1, p.least})
		}
		right.Join(s)
	}
	ok = true
	return
}

// samples is the number of elements of a large part whose median is the pivot. With so many, each side has half of the
// elements to within some percent, and all workers have about the same work.
const samples = 127

// pivot returns an element near the median.
func pivot[T any](s []T, sort func([]T)) T {
	var room [samples]T
	sample := takeSample(&room, s)
	sort(sample)
	return sample[len(sample)/2]
}

// takeSample copies elements of s to room.
func takeSample[T any](room *[samples]T, s []T) []T {
	sample := room[:min(samples, 1+len(s)/64)]
	step := len(s) / len(sample)
	for i := range sample {
		// The distances vary: the elements may have a period.
		sample[i] = s[i*step+int(uint32(i)*2654435761>>8)%step]
	}
	return sample
}

// cutOrdered moves the elements that are less than p, which is one of s, to s[:hi]. NaNs are less than other values.
func cutOrdered[T cmp.Ordered](scope *executor.Scope, by *sorter[T], s []T, p T) (hi int) {
	if p != p { // about half of the elements are NaNs
		return cutFunc(scope, by, s, p)
	}
	j := len(s)
	for {
		for hi < j && !(s[hi] >= p) { // NaNs too
			hi++
		}
		for hi < j && s[j-1] >= p {
			j--
		}
		if hi >= j || by.stopped(scope) {
			return hi
		}
		j--
		s[hi], s[j] = s[j], s[hi]
		hi++
	}
}

// sameOrdered moves the elements that are not greater than p to s[:hi].
func sameOrdered[T cmp.Ordered](scope *executor.Scope, by *sorter[T], s []T, p T) (hi int) {
	if p != p {
		return sameFunc(scope, by, s, p)
	}
	j := len(s)
	for {
		for hi < j && !(p < s[hi]) {
			hi++
		}
		for hi < j && p < s[j-1] {
			j--
		}
		if hi >= j || by.stopped(scope) {
			return hi
		}
		j--
		s[hi], s[j] = s[j], s[hi]
		hi++
	}
}

// cutFunc is cutOrdered for any order. It ends early when the sorter is stopped.
func cutFunc[T any](scope *executor.Scope, by *sorter[T], s []T, p T) (hi int) {
	for lo := 0; lo < len(s) && !by.stopped(scope); lo += stride {
		hi = cutStride(s, p, hi, lo, min(lo+stride, len(s)), by.order)
	}
	return hi
}

// cutStride moves those of the elements lo, …, end-1 of s that are less than p to s[hi], s[hi+1] and so on. It returns
// the index after these. No branch depends on the order: it would be foreseen half of the time.
func cutStride[T any](s []T, p T, hi, lo, end int, order func(T, T) int) int {
	for i := lo; i < end; i++ {
		less := 0
		if order(s[i], p) < 0 {
			less = 1
		}
		s[i], s[hi] = s[hi], s[i]
		hi += less
	}
	return hi
}

// sameFunc is sameOrdered for any order. It ends early when the sorter is stopped.
func sameFunc[T any](scope *executor.Scope, by *sorter[T], s []T, p T) (hi int) {
	for lo := 0; lo < len(s) && !by.stopped(scope); lo += stride {
		hi = sameStride(s, p, hi, lo, min(lo+stride, len(s)), by.order)
	}
	return hi
}

// sameStride is cutStride for the elements that are not greater than p.
func sameStride[T any](s []T, p T, hi, lo, end int, order func(T, T) int) int {
	for i := lo; i < end; i++ {
		same := 0
		if order(p, s[i]) >= 0 {
			same = 1
		}
		s[i], s[hi] = s[hi], s[i]
		hi += same
	}
	return hi
}

// sortFew sorts on one worker, with at most left cuts of a part and the parts of it. Package slices sorts parts that
// are small, or that result from too many cuts.
func sortFew[T any](s []T, order func(T, T) int, left int) {
	for ; len(s) > 2*stableSmall && left > 0; left-- {
		n := len(s)
		three := [3]T{s[n/4], s[n/2], s[n-1-n/4]}
		slices.SortFunc(three[:], order)
		hi := cutStride(s, three[1], 0, 0, n, order)
		if hi == 0 {
			hi = sameStride(s, three[1], 0, 0, n, order)
		} else {
			sortFew(s[:hi], order, left-1)
		}
		s = s[hi:]
	}
	slices.SortFunc(s, order)
}

// SortStableFunc sorts s by order and keeps equal elements in their original order, as [slices.SortStableFunc] does. It
// allocates as much memory as s takes. If order panics, s may have some elements twice and lack others.
func SortStableFunc[T any](ctx context.Context, o Options, s []T, order func(T, T) int) error {
	o = o.check(ctx, "SortStableFunc", order == nil)
	m := &merger[T]{order: order, grain: mergeGrain}
	p := stable[T]{merger: m, s: s, grain: o.Grain}
	if p.grain == 0 {
		p.grain = sortGrain
	}
	if len(s) > min(p.grain, stableSmall) {
		p.other = make([]T, len(s))
	}
	_, err := run(ctx, o, "SortStableFunc", func(s *executor.Scope) bool { return stablePart(s, p) })
	return err
}

type stable[T any] struct {
	*merger[T]
	s, other []T
	there    bool // the result goes to other, not to s
	grain    int
}

// stablePart sorts p. It returns true if the elements were in order: they are in s then in any case.
func stablePart[T any](s *executor.Scope, p stable[T]) (inOrder bool) {
	ok := false
	defer p.end(&ok)
	switch stopped := p.stopped(s); {
	case stopped:
		p.stay()
	case len(p.s) <= p.grain:
		inOrder = p.sort()
	default:
		left, right := p.halves()
		f := executor.Fork(s, stablePart[T], right)
		a := stablePart(s, left)
		if b := f.Join(s); p.stopped(s) || !p.areInOrder(a, b) {
			mergePart(s, p.merging(a, b))
		} else {
			inOrder = true
		}
	}
	ok = true
	return inOrder
}

// stay leaves the elements in the order that they have.
func (p *stable[T]) stay() {
	if p.there {
		copy(p.other, p.s)
	}
}

func (p *stable[T]) halves() (left, right stable[T]) {
	left, right = *p, *p
	mid := len(p.s) / 2
	left.s, left.other = p.s[:mid], p.other[:mid]
	right.s, right.other = p.s[mid:], p.other[mid:]
	left.there, right.there = !p.there, !p.there
	return left, right
}

// areInOrder reports whether p is in order, where a and b say whether its halves are.
func (p *stable[T]) areInOrder(a, b bool) bool {
	mid := len(p.s) / 2
	return a && b && p.order(p.s[mid-1], p.s[mid]) <= 0
}

// merging returns the merge of the halves. a and b say whether they were in order: they have not been moved then.
func (p *stable[T]) merging(a, b bool) merging[T] {
	mid := len(p.s) / 2
	from, to := p.other, p.s
	if p.there {
		from, to = to, from
	} else {
		if a {
			copy(from[:mid], p.s)
		}
		if b {
			copy(from[mid:], p.s[mid:])
		}
	}
	return merging[T]{p.merger, to, from[:mid], from[mid:]}
}

// stableSmall is up to how many elements are sorted by insertion.
const stableSmall = 12

// sort is stablePart on one worker.
func (p *stable[T]) sort() (inOrder bool) {
	if len(p.s) <= stableSmall {
		if inOrder = p.insert(); !inOrder {
			p.stay()
		}
		return inOrder
	}
	left, right := p.halves()
	a, b := left.sort(), right.sort()
	if p.areInOrder(a, b) {
		return true
	}
	m := p.merging(a, b)
	mergeInto(m.dst, m.a, m.b, p.order)
	return false
}

// insert sorts s by insertion, and reports whether it was in order.
func (p *stable[T]) insert() (inOrder bool) {
	s := p.s
	inOrder = true
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && p.order(s[j], s[j-1]) < 0; j-- {
			s[j], s[j-1] = s[j-1], s[j]
			inOrder = false
		}
	}
	return inOrder
}

package parallel

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// Sort sorts s in ascending order, as [slices.Sort] does.
func Sort[T cmp.Ordered](ctx context.Context, on On, s []T) error {
	return sortBy(ctx, on, s, sorter[T]{
		less: cmp.Less[T],
		rest: func(s []T) { slices.Sort(s) },
		cut:  cutOrdered[T],
	})
}

// SortFunc sorts s by order, as [slices.SortFunc] does: equal elements may change places.
func SortFunc[T any](ctx context.Context, on On, s []T, order func(T, T) int) error {
	return sortBy(ctx, on, s, sorter[T]{
		less: func(a, b T) bool { return order(a, b) < 0 },
		rest: func(s []T) { slices.SortFunc(s, order) },
	})
}

// sortGrain is how many elements are sorted by one worker: 60 µs for numbers, 120 µs if they are compared
// by a function (Xeon, November 2026).
const sortGrain = 1 << 11

// A sorter is Quicksort until a part is small or has been cut badly too often; slices sorts that.
type sorter[T any] struct {
	less  func(a, b T) bool
	rest  func([]T)
	cut   func(s []T) (lo, hi int) // nil: cutFunc
	grain int
}

type sorting[T any] struct {
	*sorter[T]
	s    []T
	left int // cuts, before it is given up
}

func sortBy[T any](ctx context.Context, on On, s []T, by sorter[T]) error {
	by.grain = on.Grain
	if by.grain == 0 {
		by.grain = sortGrain
	}
	if by.cut == nil {
		by.cut = func(s []T) (int, int) { return cutFunc(s, by.less) }
	}
	_, err := call(ctx, on, len(s), sortPart[T], sorting[T]{&by, s, 2 * bits.Len(uint(len(s)))})
	return err
}

func sortPart[T any](s *executor.Scope, p sorting[T]) nothing {
	if s.Stopped() {
		return nothing{}
	}
	if len(p.s) <= p.grain || p.left == 0 || s.Executor().Workers() == 1 {
		p.rest(p.s)
		return nothing{}
	}
	lo, hi := p.cut(p.s)
	right := executor.Fork(s, sortPart[T], sorting[T]{p.sorter, p.s[hi:], p.left - 1})
	sortPart(s, sorting[T]{p.sorter, p.s[:lo], p.left - 1})
	return right.Join(s)
}

// samples is how many elements the pivot is the median of: with so many, both sides are within some percent of a half, and
// all workers have as much to do.
const samples = 127

// pivot returns an element of about the middle.
func pivot[T any](s []T, sort func([]T)) T {
	var room [samples]T
	sample := room[:min(samples, 1+len(s)/16)]
	step := len(s) / len(sample)
	for i := range sample {
		// Not the same distance each time: the elements may have a period.
		sample[i] = s[i*step+int(uint32(i)*2654435761>>8)%step]
	}
	sort(sample)
	return sample[len(sample)/2]
}

// cutOrdered arranges s so that nothing in s[:lo] is greater than anything behind it, nothing in s[hi:] less than anything
// before it, and s[lo:hi] is where it belongs. NaNs are less than all others.
func cutOrdered[T cmp.Ordered](s []T) (lo, hi int) {
	p := pivot(s, func(sample []T) { slices.Sort(sample) })
	if p != p { // half of them are NaNs
		return cutFunc(s, cmp.Less[T])
	}
	i, j := 0, len(s)-1
	for {
		for s[i] < p || s[i] != s[i] {
			i++
		}
		for p < s[j] {
			j--
		}
		if i >= j {
			break
		}
		s[i], s[j] = s[j], s[i]
		i++
		j--
	}
	return i, j + 1
}

// cutFunc is cutOrdered for any order.
func cutFunc[T any](s []T, less func(a, b T) bool) (lo, hi int) {
	p := pivot(s, func(sample []T) {
		slices.SortFunc(sample, func(a, b T) int {
			switch {
			case less(a, b):
				return -1
			case less(b, a):
				return 1
			}
			return 0
		})
	})
	// p itself stops both scans, unless less is no order: then what comes out is none either, but has all elements.
	i, j := 0, len(s)-1
	for {
		for i < len(s)-1 && less(s[i], p) {
			i++
		}
		for j > 0 && less(p, s[j]) {
			j--
		}
		if i >= j {
			break
		}
		s[i], s[j] = s[j], s[i]
		i++
		j--
	}
	if i == j {
		return i, i + 1
	}
	return i, i
}

// SortStable sorts s by order and leaves equal elements in the order in which they are, as [slices.SortStableFunc] does. It
// takes as much memory again as s. If order panics, s is left with some elements twice and others missing.
func SortStable[T any](ctx context.Context, on On, s []T, order func(T, T) int) error {
	grain := on.Grain
	if grain == 0 {
		grain = sortGrain
	}
	if on.Executor != nil && on.Executor.Workers() == 1 {
		grain = len(s)
	}
	p := stable[T]{s: s, order: order, grain: grain}
	if len(s) > grain {
		p.other = make([]T, len(s))
	}
	_, err := call(ctx, on, len(s), stablePart[T], p)
	return err
}

type stable[T any] struct {
	s, other []T
	there    bool // the result goes to other
	order    func(T, T) int
	grain    int
}

func stablePart[T any](s *executor.Scope, p stable[T]) nothing {
	if len(p.s) <= p.grain {
		if !s.Stopped() {
			slices.SortStableFunc(p.s, p.order)
		}
		if p.there {
			copy(p.other, p.s)
		}
		return nothing{}
	}
	mid := len(p.s) / 2
	left, right := p, p
	left.s, left.other = p.s[:mid], p.other[:mid]
	right.s, right.other = p.s[mid:], p.other[mid:]
	left.there, right.there = !p.there, !p.there
	f := executor.Fork(s, stablePart[T], right)
	stablePart(s, left)
	f.Join(s)
	from, to := p.other, p.s
	if p.there {
		from, to = p.s, p.other
	}
	if s.Stopped() {
		copy(to, from) // no order, but all elements
		return nothing{}
	}
	return mergePart(s, merging[T]{to, from[:mid], from[mid:], p.order, mergeGrain})
}

package parallel

import (
	"slices"
	"sort"
)

// mendable is how many elements may be out of place for Sort to look for their places, as package slices does.
const mendable = 5

// An ordering is what is known of the order of some elements: where one is less, and where it is greater, than the one
// before it.
type ordering struct {
	falls, rises breaks
	nans         bool
}

// Breaks are indices. They are complete if there are at most mendable.
type breaks struct {
	at [mendable]int
	n  int
}

// add adds an index, and reports whether there are more than mendable.
func (b *breaks) add(at int) (many bool) {
	if b.n < mendable {
		b.at[b.n] = at
	}
	b.n++
	return b.n > mendable
}

// join adds the breaks of the elements that follow.
func (b *breaks) join(next breaks) {
	for i := range min(next.n, mendable) {
		b.add(next.at[i])
	}
	if next.n > mendable {
		b.n = mendable + 1
	}
}

// orderingOf looks at the elements lo, …, hi-1 of s, until neither order holds but for a few. Falls and rises return
// the breaks of a range. Equal reports whether two elements are.
func orderingOf(lo, hi int, falls, rises func(lo, hi int) breaks, equal func(i, j int) bool) (o ordering) {
	o.falls = falls(lo, hi)
	if o.falls.n > 0 || !equal(max(lo-1, 0), hi-1) {
		o.rises = rises(lo, hi)
	}
	return o
}

// allOf returns the ordering of all elements from those of pieces that lie side by side.
func allOf(found []ordering) ordering {
	sum := found[0]
	for _, o := range found[1:] {
		sum.falls.join(o.falls)
		sum.rises.join(o.rises)
		sum.nans = sum.nans || o.nans
	}
	return sum
}

// mend sorts s if it is sorted but for few elements, in either direction, and else returns false. Before, it may have
// moved some elements.
func mend[T any](s []T, o ordering, compare func(T, T) int) (sorted bool) {
	falls := o.falls
	if falls.n > mendable {
		if falls = o.rises; falls.n > mendable {
			return false
		}
		reverse(s)
		slices.Reverse(falls.at[:falls.n])
		for i := range falls.n {
			falls.at[i] = len(s) - falls.at[i]
		}
	}
	steps := 0
	for i, at := range falls.at[:falls.n] {
		end := len(s)
		if i+1 < falls.n {
			end = falls.at[i+1]
		}
		// s[:at] and s[at:end] are sorted. Each step moves one element of either to its place in the other.
		for ; compare(s[at], s[at-1]) < 0; steps++ {
			if steps == mendable {
				return false
			}
			less, more := s[at], s[at-1]
			from := sort.Search(at-1, func(i int) bool { return compare(less, s[i]) < 0 })
			to := at + sort.Search(end-at-1, func(i int) bool { return compare(s[at+1+i], more) >= 0 })
			copy(s[from+1:at], s[from:at-1])
			copy(s[at:to], s[at+1:to+1])
			s[from], s[to] = less, more
		}
	}
	return true
}

// reverse is slices.Reverse with four elements of either end at a time: 0.33 instead of 0.53 ns for each of 10 million
// integers, which are not in the caches (AMD EPYC, 2026-11-25).
func reverse[T any](s []T) {
	for len(s) >= 8 {
		lo, hi := (*[4]T)(s), (*[4]T)(s[len(s)-4:])
		a, b, c, d := lo[0], lo[1], lo[2], lo[3]
		lo[0], lo[1], lo[2], lo[3] = hi[3], hi[2], hi[1], hi[0]
		hi[3], hi[2], hi[1], hi[0] = a, b, c, d
		s = s[4 : len(s)-4]
	}
	slices.Reverse(s)
}

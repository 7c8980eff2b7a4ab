package parallel

import (
	"cmp"
	"context"
)

// Reduce combines the elements of s, in their order, with op, which must be associative. Of one element it returns
// that, of none the zero value of T. op must not change its arguments if that changes elements of s: see [Fold].
//
// Floating-point addition is not quite associative: with a Grain the result is always the same.
func Reduce[T any](ctx context.Context, on On, s []T, op func(T, T) T) (T, error) {
	return MapReduce(ctx, on, s, func(x T) T { return x }, op)
}

// MapReduce is Reduce of what f makes of the elements. op is given every result, of f or its own, once: it may change
// both its arguments, and return one of them, if f never returns anything twice that can be changed.
func MapReduce[T, R any](ctx context.Context, on On, s []T, f func(T) R, op func(R, R) R) (R, error) {
	return walkAll(ctx, on, 0, len(s), &walk[R]{
		join: op,
		begin: func(lo int) (r R, next int) {
			if lo == len(s) {
				return r, lo
			}
			return f(s[lo]), lo + 1
		},
		piece: func(acc R, p strides) (R, int) {
			lo, hi := p.first()
			for ; lo < hi; lo, hi = hi, p.next(hi) {
				for _, x := range s[lo:hi] {
					acc = op(acc, f(x))
				}
			}
			return acc, lo
		},
	})
}

// Fold adds the elements of s, in their order, to accumulators, and combines these in the order of what they have taken
// up: add returns acc with x added, join returns left with right added. Of no elements it returns zero().
//
// Every accumulator begins as a result of zero, and is in one place at a time: add may change acc, and join both its
// arguments, and return what it has changed. So zero must return something new each time, if it returns anything that
// can be changed, such as a map.
//
// How many accumulators there are depends on the number of workers and, without a Grain, on time. So the result is only
// defined if a zero value changes nothing: an initial value that does, such as a sum to start from, is to be added to
// the result instead.
func Fold[T, R any](ctx context.Context, on On, s []T, zero func() R, add func(acc R, x T) R, join func(left, right R) R) (R, error) {
	return walkAll(ctx, on, 0, len(s), &walk[R]{
		join:  join,
		begin: func(lo int) (R, int) { return zero(), lo },
		piece: func(acc R, p strides) (R, int) {
			lo, hi := p.first()
			for ; lo < hi; lo, hi = hi, p.next(hi) {
				for _, x := range s[lo:hi] {
					acc = add(acc, x)
				}
			}
			return acc, lo
		},
	})
}

// MinMax returns the least and the greatest element of s, the first of equal ones, or zeros if s is empty. As for package
// slices, a NaN is both.
func MinMax[T cmp.Ordered](ctx context.Context, on On, s []T) (least, greatest T, err error) {
	type both struct{ least, greatest T }
	b, err := walkAll(ctx, on, 0, len(s), &walk[both]{
		join: func(a, b both) both { return both{min(a.least, b.least), max(a.greatest, b.greatest)} },
		begin: func(lo int) (b both, next int) {
			if lo < len(s) {
				b = both{s[lo], s[lo]}
			}
			return b, lo
		},
		piece: func(acc both, p strides) (both, int) {
			lo, hi := p.first()
			for ; lo < hi; lo, hi = hi, p.next(hi) {
				for _, x := range s[lo:hi] {
					acc.least, acc.greatest = min(acc.least, x), max(acc.greatest, x)
				}
			}
			return acc, lo
		},
	})
	return b.least, b.greatest, err
}

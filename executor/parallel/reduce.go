package parallel

import (
	"cmp"
	"context"
)

// Reduce combines the elements of s, in their order, with op, which must be associative. For one element it returns
// that element, for none the zero value of T. op must not change its arguments if that changes elements of s: see
// [Fold].
//
// Floating-point addition is not associative, so the result may differ from run to run, unless there is a Grain.
func Reduce[T any](ctx context.Context, on On, s []T, op func(T, T) T) (T, error) {
	return MapReduce(ctx, on, s, func(x T) T { return x }, op)
}

// MapReduce is Reduce for the results of f for the elements. op is given every result of f and of op once. So op may
// change both its arguments, and return one of them, if f returns a new value each time.
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

// Fold adds the elements of s, in their order, to accumulators, and combines the accumulators in the order of their
// elements. add returns acc with x added. join returns left with right added. For no elements Fold returns zero().
//
// Every accumulator begins as a result of zero, and is used by one call at a time. So add may change acc, and join both
// its arguments, and return a changed argument. zero must then return a new value each time, if it is one that can be
// changed, such as a map.
//
// The number of accumulators depends on the number of workers and, without a Grain, on time. So the result of zero must
// be neutral: an initial value that is not, such as a sum to start from, has to be added to the result of Fold instead.
func Fold[T, R any](
	ctx context.Context, on On, s []T, zero func() R, add func(acc R, x T) R, join func(left, right R) R,
) (R, error) {
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

// MinMax returns the least and the greatest element of s, the first of equal ones, or zeros if s is empty. As in
// [slices.Min] and [slices.Max], if any element is a NaN both results are NaN.
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

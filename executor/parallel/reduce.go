package parallel

import (
	"cmp"
	"context"
)

// Reduce combines the elements of s, in their order, with op, which must be associative and for which zero must change
// nothing. Floating-point addition is not quite associative: give a Grain, and the result is always the same.
func Reduce[T any](ctx context.Context, on On, s []T, zero T, op func(T, T) T) (T, error) {
	return MapReduce(ctx, on, s, zero, func(x T) T { return x }, op)
}

// MapReduce is Reduce of what f makes of the elements.
func MapReduce[T, R any](ctx context.Context, on On, s []T, zero R, f func(T) R, op func(R, R) R) (R, error) {
	return walkAll(ctx, on, 0, len(s), walk[R]{first: zero, join: op, piece: func(acc R, lo, hi int) R {
		for _, x := range s[lo:hi] {
			acc = op(acc, f(x))
		}
		return acc
	}})
}

// MinMax returns the least and the greatest element of s, the first of equal ones, or zeros if s is empty. As for package
// slices, a NaN is both.
func MinMax[T cmp.Ordered](ctx context.Context, on On, s []T) (least, greatest T, err error) {
	if len(s) == 0 {
		return least, greatest, ctx.Err()
	}
	type both struct{ least, greatest T }
	join := func(a, b both) both { return both{min(a.least, b.least), max(a.greatest, b.greatest)} }
	b, err := walkAll(ctx, on, 0, len(s), walk[both]{first: both{s[0], s[0]}, join: join, piece: func(acc both, lo, hi int) both {
		for _, x := range s[lo:hi] {
			acc = join(acc, both{x, x})
		}
		return acc
	}})
	return b.least, b.greatest, err
}

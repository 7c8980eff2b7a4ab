package parallel

import (
	"cmp"
	"context"
)

// MinMax returns the least and the greatest element of s, or zeros if s is empty. They are those of [slices.Min] and
// [slices.Max]: if any element is a NaN both are NaN, and a negative zero is less than a positive one.
func MinMax[T cmp.Ordered](ctx context.Context, o Options, s []T) (least, greatest T, err error) {
	o = o.check(ctx, "MinMax", false)
	type both struct{ least, greatest T }
	first := func(_ context.Context, i int) (both, error) { return both{s[i], s[i]}, nil }
	add := func(_ context.Context, acc both, lo, hi int) (both, error) {
		for _, x := range s[lo:hi] {
			acc.least, acc.greatest = min(acc.least, x), max(acc.greatest, x)
		}
		return acc, nil
	}
	join := func(_ context.Context, a, b both) (both, error) {
		return both{min(a.least, b.least), max(a.greatest, b.greatest)}, nil
	}
	b, err := reduce(ctx, o, "MinMax", 0, len(s), first, add, join)
	return b.least, b.greatest, err
}

// MinFunc returns the first of the least elements of s by order, as [slices.MinFunc] does, or the zero value of T if s
// is empty.
func MinFunc[T any](ctx context.Context, o Options, s []T, order func(a, b T) int) (T, error) {
	o = o.check(ctx, "MinFunc", order == nil)
	i, err := best(ctx, o, "MinFunc", s, func(x, than T) bool { return order(x, than) < 0 })
	return at(s, i), err
}

// MaxFunc returns the first of the greatest elements of s by order, as [slices.MaxFunc] does, or the zero value of T if
// s is empty.
func MaxFunc[T any](ctx context.Context, o Options, s []T, order func(a, b T) int) (T, error) {
	o = o.check(ctx, "MaxFunc", order == nil)
	i, err := best(ctx, o, "MaxFunc", s, func(x, than T) bool { return order(x, than) > 0 })
	return at(s, i), err
}

// at returns s[i], or the zero value if i is -1.
func at[T any](s []T, i int) (x T) {
	if i >= 0 {
		x = s[i]
	}
	return x
}

// MinIndex returns the index of the least element of s, the first of equal ones, or -1 if s is empty. If there are NaNs
// it returns the index of the first: [slices.Min] returns a NaN then.
func MinIndex[T cmp.Ordered](ctx context.Context, o Options, s []T) (int, error) {
	o = o.check(ctx, "MinIndex", false)
	return best(ctx, o, "MinIndex", s, cmp.Less[T])
}

// MaxIndex returns the index of the greatest element of s, the first of equal ones, or -1 if s is empty. If there are
// NaNs it returns the index of the first: [slices.Max] returns a NaN then.
func MaxIndex[T cmp.Ordered](ctx context.Context, o Options, s []T) (int, error) {
	o = o.check(ctx, "MaxIndex", false)
	return best(ctx, o, "MaxIndex", s, func(x, than T) bool { return x > than || x != x && than == than })
}

// MinIndexFunc returns the index of the first of the least elements of s by order, or -1 if s is empty.
func MinIndexFunc[T any](ctx context.Context, o Options, s []T, order func(a, b T) int) (int, error) {
	o = o.check(ctx, "MinIndexFunc", order == nil)
	return best(ctx, o, "MinIndexFunc", s, func(x, than T) bool { return order(x, than) < 0 })
}

// MaxIndexFunc returns the index of the first of the greatest elements of s by order, or -1 if s is empty.
func MaxIndexFunc[T any](ctx context.Context, o Options, s []T, order func(a, b T) int) (int, error) {
	o = o.check(ctx, "MaxIndexFunc", order == nil)
	return best(ctx, o, "MaxIndexFunc", s, func(x, than T) bool { return order(x, than) > 0 })
}

// best returns the index of the first element of s than which none is better, or -1.
func best[T any](ctx context.Context, o Options, name string, s []T, better func(x, than T) bool) (int, error) {
	first := func(_ context.Context, i int) (int, error) { return i, nil }
	add := func(_ context.Context, acc, lo, hi int) (int, error) {
		for i := lo; i < hi; i++ {
			if better(s[i], s[acc]) {
				acc = i
			}
		}
		return acc, nil
	}
	join := func(_ context.Context, left, right int) (int, error) {
		if better(s[right], s[left]) {
			return right, nil
		}
		return left, nil
	}
	i, err := reduce(ctx, o, name, 0, len(s), first, add, join)
	if len(s) == 0 || err != nil {
		return -1, err
	}
	return i, nil
}

package parallel

import "context"

// Reduce combines the elements of s, in their order, with op, which must be associative. For one element it returns
// that element, for none the zero value of T. op must not change its arguments if that changes elements of s: see
// [Fold].
//
// Floating-point addition is not associative, so the result may differ from run to run, unless there is a Grain.
func Reduce[T any](ctx context.Context, o Options, s []T, op func(T, T) T) (T, error) {
	o = o.check(ctx, "Reduce", op == nil)
	first := func(_ context.Context, i int) (T, error) { return s[i], nil }
	add := func(_ context.Context, acc T, lo, hi int) (T, error) {
		for _, x := range s[lo:hi] {
			acc = op(acc, x)
		}
		return acc, nil
	}
	return reduce(ctx, o, "Reduce", 0, len(s), first, add, sure2(op))
}

// ReduceErr is [Reduce] with an operation that may fail.
func ReduceErr[T any](
	ctx context.Context, o Options, s []T, op func(ctx context.Context, a, b T) (T, error),
) (T, error) {
	o = o.check(ctx, "ReduceErr", op == nil)
	first := func(_ context.Context, i int) (T, error) { return s[i], nil }
	add := func(ctx context.Context, acc T, lo, hi int) (T, error) {
		for _, x := range s[lo:hi] {
			var err error
			if acc, err = op(ctx, acc, x); err != nil {
				return acc, err
			}
		}
		return acc, nil
	}
	return reduce(ctx, o, "ReduceErr", 0, len(s), first, add, op)
}

// MapReduce is [Reduce] for the results of f for the elements. op is given every result of f and of op once. So op may
// change both its arguments, and return one of them, if f returns a new value each time.
func MapReduce[T, R any](ctx context.Context, o Options, s []T, f func(T) R, op func(R, R) R) (R, error) {
	o = o.check(ctx, "MapReduce", f == nil || op == nil)
	first := func(_ context.Context, i int) (R, error) { return f(s[i]), nil }
	add := func(_ context.Context, acc R, lo, hi int) (R, error) {
		for _, x := range s[lo:hi] {
			acc = op(acc, f(x))
		}
		return acc, nil
	}
	return reduce(ctx, o, "MapReduce", 0, len(s), first, add, sure2(op))
}

// MapReduceErr is [MapReduce] with functions that may fail.
func MapReduceErr[T, R any](
	ctx context.Context, o Options, s []T,
	f func(ctx context.Context, x T) (R, error), op func(ctx context.Context, a, b R) (R, error),
) (R, error) {
	o = o.check(ctx, "MapReduceErr", f == nil || op == nil)
	first := func(ctx context.Context, i int) (R, error) { return f(ctx, s[i]) }
	add := func(ctx context.Context, acc R, lo, hi int) (R, error) {
		for _, x := range s[lo:hi] {
			y, err := f(ctx, x)
			if err == nil {
				acc, err = op(ctx, acc, y)
			}
			if err != nil {
				return acc, err
			}
		}
		return acc, nil
	}
	return reduce(ctx, o, "MapReduceErr", 0, len(s), first, add, op)
}

// ReduceFor combines f(lo), …, f(hi-1), in this order, with op, which must be associative. If lo is not less than hi it
// returns the zero value of R. op is given every result of f and of op once, as in [MapReduce].
func ReduceFor[R any](ctx context.Context, o Options, lo, hi int, f func(i int) R, op func(R, R) R) (R, error) {
	o = o.check(ctx, "ReduceFor", f == nil || op == nil)
	add := func(_ context.Context, acc R, lo, hi int) (R, error) {
		for ; lo < hi; lo++ {
			acc = op(acc, f(lo))
		}
		return acc, nil
	}
	return reduce(ctx, o, "ReduceFor", lo, hi, sure(f), add, sure2(op))
}

// ReduceForErr is [ReduceFor] with functions that may fail.
func ReduceForErr[R any](
	ctx context.Context, o Options, lo, hi int,
	f func(ctx context.Context, i int) (R, error), op func(ctx context.Context, a, b R) (R, error),
) (R, error) {
	o = o.check(ctx, "ReduceForErr", f == nil || op == nil)
	add := func(ctx context.Context, acc R, lo, hi int) (R, error) {
		for ; lo < hi; lo++ {
			y, err := f(ctx, lo)
			if err == nil {
				acc, err = op(ctx, acc, y)
			}
			if err != nil {
				return acc, err
			}
		}
		return acc, nil
	}
	return reduce(ctx, o, "ReduceForErr", lo, hi, f, add, op)
}

// reduce combines the results of indices lo, …, hi-1. first returns that of one index. add adds those of several to the
// result of the indices before them.
func reduce[R any](
	ctx context.Context, o Options, name string, lo, hi int,
	first func(ctx context.Context, i int) (R, error),
	add func(ctx context.Context, acc R, lo, hi int) (R, error),
	join func(ctx context.Context, left, right R) (R, error),
) (R, error) {
	return walkAll(ctx, o, name, lo, hi, &walk[R]{
		begin: func(ctx context.Context, i int) (acc R, next int, err error) {
			if i >= hi {
				return acc, i, nil
			}
			acc, err = first(ctx, i)
			return acc, i + 1, err
		},
		piece: byStride(add),
		join:  join,
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
	ctx context.Context, o Options, s []T, zero func() R, add func(acc R, x T) R, join func(left, right R) R,
) (R, error) {
	o = o.check(ctx, "Fold", zero == nil || add == nil || join == nil)
	return fold(ctx, o, "Fold", len(s), zero, func(_ context.Context, acc R, lo, hi int) (R, error) {
		for _, x := range s[lo:hi] {
			acc = add(acc, x)
		}
		return acc, nil
	}, sure2(join))
}

// FoldErr is [Fold] with functions add and join that may fail.
func FoldErr[T, R any](
	ctx context.Context, o Options, s []T, zero func() R,
	add func(ctx context.Context, acc R, x T) (R, error), join func(ctx context.Context, left, right R) (R, error),
) (R, error) {
	o = o.check(ctx, "FoldErr", zero == nil || add == nil || join == nil)
	return fold(ctx, o, "FoldErr", len(s), zero, func(ctx context.Context, acc R, lo, hi int) (R, error) {
		for _, x := range s[lo:hi] {
			var err error
			if acc, err = add(ctx, acc, x); err != nil {
				return acc, err
			}
		}
		return acc, nil
	}, join)
}

// fold is reduce for accumulators that begin as zero().
func fold[R any](
	ctx context.Context, o Options, name string, n int, zero func() R,
	add func(ctx context.Context, acc R, lo, hi int) (R, error),
	join func(ctx context.Context, left, right R) (R, error),
) (R, error) {
	return walkAll(ctx, o, name, 0, n, &walk[R]{
		begin: func(_ context.Context, lo int) (R, int, error) { return zero(), lo, nil },
		piece: byStride(add),
		join:  join,
	})
}

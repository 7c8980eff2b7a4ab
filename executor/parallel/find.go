package parallel

import (
	"context"
	"sync/atomic"
)

// Find returns the index of the first element of s for which is returns true, or -1 if there is none. Once such an
// element was found, elements after it are no longer looked at, but some may have been already.
func Find[T any](ctx context.Context, on On, s []T, is func(T) bool) (int, error) {
	var first atomic.Int64
	first.Store(int64(len(s)))
	err := search(ctx, on, s, is, func(lo int) bool { return int64(lo) > first.Load() }, func(i int) {
		for {
			old := first.Load()
			if int64(i) >= old || first.CompareAndSwap(old, int64(i)) {
				return
			}
		}
	})
	if i := int(first.Load()); i < len(s) && err == nil {
		return i, nil
	}
	return -1, err
}

// Any reports whether is returns true for any element of s. Once such an element was found, no more are looked at.
func Any[T any](ctx context.Context, on On, s []T, is func(T) bool) (bool, error) {
	var found atomic.Bool
	err := search(ctx, on, s, is, func(int) bool { return found.Load() }, func(int) { found.Store(true) })
	return found.Load() && err == nil, err
}

// search calls found for the first element in each piece for which is returns true. It looks at no element from lo on
// if stop(lo) returns true.
func search[T any](
	ctx context.Context, on On, s []T, is func(T) bool, stop func(lo int) bool, found func(i int),
) error {
	w := walkEach(func(p strides) int {
		lo, hi := p.first()
		for ; lo < hi && !stop(lo); lo, hi = hi, p.next(hi) {
			for i := lo; i < hi; i++ {
				if is(s[i]) {
					found(i)
					return p.end
				}
			}
		}
		return lo
	})
	w.stop = stop
	_, err := walkAll(ctx, on, 0, len(s), w)
	return err
}

package parallel

import (
	"context"
	"sync/atomic"
)

// IndexFunc returns the index of the first element of s for which is returns true, or -1 if there is none, as
// [slices.IndexFunc] does. Once such an element was found, each worker looks at no more elements after it than the rest
// of 64. A Grain of 1 makes it none. Some may have been looked at already.
func IndexFunc[T any](ctx context.Context, o Options, s []T, is func(T) bool) (int, error) {
	o = o.check(ctx, "IndexFunc", is == nil)
	return index(ctx, o, "IndexFunc", len(s), lookFor(s, is))
}

// IndexFuncErr is [IndexFunc] with a function that may fail. It returns an error if any call fails, also one for an
// element after the first for which is returns true.
func IndexFuncErr[T any](
	ctx context.Context, o Options, s []T, is func(ctx context.Context, x T) (bool, error),
) (int, error) {
	o = o.check(ctx, "IndexFuncErr", is == nil)
	return index(ctx, o, "IndexFuncErr", len(s), lookForErr(s, is))
}

// ContainsFunc reports whether is returns true for any element of s, as [slices.ContainsFunc] does. Once such an
// element was found, each worker looks at no more than the rest of 64. A Grain of 1 makes it none.
func ContainsFunc[T any](ctx context.Context, o Options, s []T, is func(T) bool) (bool, error) {
	o = o.check(ctx, "ContainsFunc", is == nil)
	return contains(ctx, o, "ContainsFunc", len(s), lookFor(s, is))
}

// ContainsFuncErr is [ContainsFunc] with a function that may fail. It returns an error if any call fails.
func ContainsFuncErr[T any](
	ctx context.Context, o Options, s []T, is func(ctx context.Context, x T) (bool, error),
) (bool, error) {
	o = o.check(ctx, "ContainsFuncErr", is == nil)
	return contains(ctx, o, "ContainsFuncErr", len(s), lookForErr(s, is))
}

// A look returns the first index from lo to hi-1 that is searched for, or -1.
type look func(ctx context.Context, lo, hi int) (int, error)

func lookFor[T any](s []T, is func(T) bool) look {
	return func(_ context.Context, lo, hi int) (int, error) {
		for i := lo; i < hi; i++ {
			if is(s[i]) {
				return i, nil
			}
		}
		return -1, nil
	}
}

func lookForErr[T any](s []T, is func(ctx context.Context, x T) (bool, error)) look {
	return func(ctx context.Context, lo, hi int) (int, error) {
		for i := lo; i < hi; i++ {
			if yes, err := is(ctx, s[i]); yes || err != nil {
				return i, err
			}
		}
		return -1, nil
	}
}

func index(ctx context.Context, o Options, name string, n int, at look) (int, error) {
	var first atomic.Int64
	first.Store(int64(n))
	err := search(ctx, o, name, n, at, func(lo int) bool { return int64(lo) > first.Load() }, func(i int) {
		for {
			old := first.Load()
			if int64(i) >= old || first.CompareAndSwap(old, int64(i)) {
				return
			}
		}
	})
	if i := int(first.Load()); i < n && err == nil {
		return i, nil
	}
	return -1, err
}

func contains(ctx context.Context, o Options, name string, n int, at look) (bool, error) {
	var found atomic.Bool
	err := search(ctx, o, name, n, at, func(int) bool { return found.Load() }, func(int) { found.Store(true) })
	return found.Load() && err == nil, err
}

// search calls found for the first index in each piece that is searched for. It begins no stride at lo if stop(lo)
// returns true. A look at each element, even without a call, would take 0.4 to 0.6 ns more than the 1.4 ns that an
// element with a short function takes.
func search(
	ctx context.Context, o Options, name string, n int, at look, stop func(lo int) bool, found func(i int),
) error {
	w := walkEach(func(p strides) int {
		ctx := p.scope.Context()
		lo, hi := p.first()
		for ; lo < hi && !stop(lo); lo, hi = hi, p.next(hi) {
			i, err := at(ctx, lo, hi)
			if err != nil {
				return p.fail(err)
			}
			if i >= 0 {
				found(i)
				return p.end
			}
		}
		return lo
	})
	w.stop = stop
	_, err := walkAll(ctx, o, name, 0, n, w)
	return err
}

package parallel

import "context"

// Map sets dst[i] to f(src[i]) for every i. dst may be the same slice as src. Map panics if it is not as long.
func Map[A, B any](ctx context.Context, o Options, dst []B, src []A, f func(A) B) error {
	o = o.check(ctx, "Map", f == nil)
	sameLength("Map", len(dst), len(src))
	return each(ctx, o, "Map", 0, len(src), func(_ context.Context, lo, hi int) error {
		dst := dst[lo:hi]
		for i, x := range src[lo:hi] {
			dst[i] = f(x)
		}
		return nil
	})
}

// MapErr is [Map] with a function that may fail. dst[i] is not changed if f(src[i]) fails.
func MapErr[A, B any](
	ctx context.Context, o Options, dst []B, src []A, f func(ctx context.Context, x A) (B, error),
) error {
	o = o.check(ctx, "MapErr", f == nil)
	sameLength("MapErr", len(dst), len(src))
	return each(ctx, o, "MapErr", 0, len(src), func(ctx context.Context, lo, hi int) error {
		dst := dst[lo:hi]
		for i, x := range src[lo:hi] {
			y, err := f(ctx, x)
			if err != nil {
				return err
			}
			dst[i] = y
		}
		return nil
	})
}

// Map2 sets dst[i] to f(a[i], b[i]) for every i. dst may be the same as a or b. Map2 panics if the slices differ in
// length.
func Map2[A, B, C any](ctx context.Context, o Options, dst []C, a []A, b []B, f func(A, B) C) error {
	o = o.check(ctx, "Map2", f == nil)
	sameLength("Map2", len(dst), len(a), len(b))
	return each(ctx, o, "Map2", 0, len(dst), func(_ context.Context, lo, hi int) error {
		dst, b := dst[lo:hi], b[lo:hi]
		for i, x := range a[lo:hi] {
			dst[i] = f(x, b[i])
		}
		return nil
	})
}

// Map2Err is [Map2] with a function that may fail. dst[i] is not changed if f(a[i], b[i]) fails.
func Map2Err[A, B, C any](
	ctx context.Context, o Options, dst []C, a []A, b []B, f func(ctx context.Context, x A, y B) (C, error),
) error {
	o = o.check(ctx, "Map2Err", f == nil)
	sameLength("Map2Err", len(dst), len(a), len(b))
	return each(ctx, o, "Map2Err", 0, len(dst), func(ctx context.Context, lo, hi int) error {
		dst, b := dst[lo:hi], b[lo:hi]
		for i, x := range a[lo:hi] {
			y, err := f(ctx, x, b[i])
			if err != nil {
				return err
			}
			dst[i] = y
		}
		return nil
	})
}

// sameLength panics if the slices that the function of that name was given differ in length.
func sameLength(name string, dst int, others ...int) {
	for _, n := range others {
		if n != dst {
			panic("parallel: " + name + " of slices that differ in length")
		}
	}
}

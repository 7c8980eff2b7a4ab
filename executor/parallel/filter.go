package parallel

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// Filter returns the elements of s for which keep returns true, in their order. It returns nil if there are none. s
// stays as it is.
func Filter[T any](ctx context.Context, o Options, s []T, keep func(T) bool) ([]T, error) {
	o = o.check(ctx, "Filter", keep == nil)
	return collect(ctx, o, "Filter", len(s), func(_ context.Context, to []T, lo, hi int) ([]T, error) {
		for _, x := range s[lo:hi] {
			if keep(x) {
				to = append(to, x)
			}
		}
		return to, nil
	})
}

// FilterErr is [Filter] with a function that may fail.
func FilterErr[T any](
	ctx context.Context, o Options, s []T, keep func(ctx context.Context, x T) (bool, error),
) ([]T, error) {
	o = o.check(ctx, "FilterErr", keep == nil)
	return collect(ctx, o, "FilterErr", len(s), func(ctx context.Context, to []T, lo, hi int) ([]T, error) {
		for _, x := range s[lo:hi] {
			yes, err := keep(ctx, x)
			if err != nil {
				return to, err
			}
			if yes {
				to = append(to, x)
			}
		}
		return to, nil
	})
}

// FlatMap returns what f appends for the elements of s, in the order of the elements: any number of values for each. f
// returns to with the values for x appended to it, and must not change what to has already. FlatMap returns nil if f
// appends nothing.
func FlatMap[T, R any](ctx context.Context, o Options, s []T, f func(to []R, x T) []R) ([]R, error) {
	o = o.check(ctx, "FlatMap", f == nil)
	return collect(ctx, o, "FlatMap", len(s), func(_ context.Context, to []R, lo, hi int) ([]R, error) {
		for _, x := range s[lo:hi] {
			to = f(to, x)
		}
		return to, nil
	})
}

// FlatMapErr is [FlatMap] with a function that may fail.
func FlatMapErr[T, R any](
	ctx context.Context, o Options, s []T, f func(ctx context.Context, to []R, x T) ([]R, error),
) ([]R, error) {
	o = o.check(ctx, "FlatMapErr", f == nil)
	return collect(ctx, o, "FlatMapErr", len(s), func(ctx context.Context, to []R, lo, hi int) ([]R, error) {
		for _, x := range s[lo:hi] {
			var err error
			if to, err = f(ctx, to, x); err != nil {
				return to, err
			}
		}
		return to, nil
	})
}

// collect returns what add appends for indices 0, …, n-1. Each piece appends to a list of its own; the lists are copied
// to one at the end.
func collect[R any](
	ctx context.Context, o Options, name string, n int,
	add func(ctx context.Context, to []R, lo, hi int) ([]R, error),
) ([]R, error) {
	// The result of a part is its lists, in order. Pieces append to the last.
	w := &walk[[][]R]{
		begin: func(_ context.Context, lo int) ([][]R, int, error) { return make([][]R, 1), lo, nil },
		piece: byStride(func(ctx context.Context, lists [][]R, lo, hi int) ([][]R, error) {
			last := &lists[len(lists)-1]
			to, err := add(ctx, *last, lo, hi)
			*last = to
			return lists, err
		}),
		join: func(_ context.Context, left, right [][]R) ([][]R, error) { return append(left, right...), nil },
	}
	p := w.over(o, 0, n)
	return run(ctx, o, name, func(s *executor.Scope) []R { return concat(s, w.stopped, whole(s, p)) })
}

// concat returns the elements of all lists, unless it is stopped.
func concat[R any](s *executor.Scope, stopped func(*executor.Scope) bool, lists [][]R) []R {
	lists = slices.DeleteFunc(lists, func(list []R) bool { return len(list) == 0 })
	switch {
	case stopped(s), len(lists) == 0:
		return nil
	case len(lists) == 1:
		return lists[0]
	}
	starts, n := make([]int, len(lists)), 0
	for i, list := range lists {
		starts[i] = n
		n += len(list)
	}
	all := make([]R, n)
	w := walkEach(func(p strides) int {
		copy(all[starts[p.lo]:], lists[p.lo])
		return p.lo + 1
	})
	w.grain, w.least = 1, 1
	whole(s, part[nothing]{w, 0, len(lists)})
	return all
}

package parallel

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// Merge merges a and b, which must be sorted by order, into dst, which must not overlap them. Among equal elements
// those of a come first. If order panics, the contents of dst are undefined. Merge itself panics if dst is not as long
// as a and b together.
func Merge[T any](ctx context.Context, o Options, dst, a, b []T, order func(T, T) int) error {
	o = o.check(ctx, "Merge", order == nil)
	sameLength("Merge", len(dst), len(a)+len(b)) // a sum that overflows is negative, and so differs
	m := &merger[T]{order: order, grain: o.Grain}
	if m.grain == 0 {
		m.grain = mergeGrain
	}
	p := merging[T]{m, dst, a, b}
	_, err := run(ctx, o, "Merge", func(s *executor.Scope) nothing { return mergePart(s, p) })
	return err
}

// mergeGrain is up to how many elements one worker merges by itself. It takes 20 µs for numbers that a function
// compares (Xeon, November 2026).
const mergeGrain = 1 << 12

// A merger has the state that the parts of a merge share.
type merger[T any] struct {
	job
	order func(T, T) int
	grain int
}

type merging[T any] struct {
	*merger[T]
	dst, a, b []T
}

// mergePart merges a and b into dst. If it is stopped, dst has their elements, in no order.
func mergePart[T any](s *executor.Scope, m merging[T]) (none nothing) {
	ok := false
	defer m.end(&ok)
	switch {
	case len(m.a) == 0, len(m.b) == 0, m.stopped(s):
		copy(m.dst[copy(m.dst, m.a):], m.b)
	case len(m.dst) <= max(m.grain, 2):
		mergeInto(m.dst, m.a, m.b, m.order)
	default:
		// The longer slice is cut in the middle, and the other one so that equal elements of a stay before those of b.
		var i, j int
		if len(m.a) >= len(m.b) {
			i = len(m.a) / 2
			j, _ = slices.BinarySearchFunc(m.b, m.a[i], m.order)
		} else {
			j = len(m.b) / 2
			i, _ = slices.BinarySearchFunc(m.a, m.b[j], func(x, y T) int { return notAfter(m.order(x, y)) })
		}
		right := executor.Fork(s, mergePart[T], merging[T]{m.merger, m.dst[i+j:], m.a[i:], m.b[j:]})
		mergePart(s, merging[T]{m.merger, m.dst[:i+j], m.a[:i], m.b[:j]})
		right.Join(s)
	}
	ok = true
	return
}

func notAfter(c int) int {
	if c <= 0 {
		return -1
	}
	return 1
}

// mergeInto merges on one worker. It takes the lesser of two elements without a branch, which would be foreseen half of
// the time.
func mergeInto[T any](dst, a, b []T, order func(T, T) int) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		from, second := &a[i], 0
		if order(a[i], b[j]) > 0 {
			second = 1
		}
		if second != 0 {
			from = &b[j]
		}
		dst[i+j] = *from
		i += 1 - second
		j += second
	}
	copy(dst[i+j:], a[i:])
	copy(dst[len(a)+j:], b[j:])
}

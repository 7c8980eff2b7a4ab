package parallel

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// Scan sets dst[i] to src[0], …, src[i] combined by op, in this order. op must be associative. It must not change its
// arguments, nor values that they refer to: they are elements of src and dst. dst may be the same slice as src. Scan
// panics if it is not as long.
func Scan[T any](ctx context.Context, o Options, dst, src []T, op func(T, T) T) error {
	o = o.check(ctx, "Scan", op == nil)
	return scanOf(op, dst, src).run(ctx, o, "Scan")
}

// ScanErr is [Scan] with an operation that may fail.
func ScanErr[T any](
	ctx context.Context, o Options, dst, src []T, op func(ctx context.Context, a, b T) (T, error),
) error {
	o = o.check(ctx, "ScanErr", op == nil)
	return scanOfErr(op, dst, src).run(ctx, o, "ScanErr")
}

// ExclusiveScan sets dst[i] to first and src[0], …, src[i-1] combined by op, in this order, and so dst[0] to first. op
// must be associative. first need not be neutral: it is used once. op must not change its arguments, nor values that
// they refer to. dst may be the same slice as src. ExclusiveScan panics if it is not as long.
func ExclusiveScan[T any](ctx context.Context, o Options, dst, src []T, first T, op func(T, T) T) error {
	o = o.check(ctx, "ExclusiveScan", op == nil)
	return scanOf(op, dst, src).after(first).run(ctx, o, "ExclusiveScan")
}

// ExclusiveScanErr is [ExclusiveScan] with an operation that may fail.
func ExclusiveScanErr[T any](
	ctx context.Context, o Options, dst, src []T, first T, op func(ctx context.Context, a, b T) (T, error),
) error {
	o = o.check(ctx, "ExclusiveScanErr", op == nil)
	return scanOfErr(op, dst, src).after(first).run(ctx, o, "ExclusiveScanErr")
}

// MapScan is [Scan] of the results of f for the elements of src. f is called once for each. If T and R are the same
// type, dst and src may be the same slice. MapScan panics if they differ in length.
func MapScan[T, R any](ctx context.Context, o Options, dst []R, src []T, f func(T) R, op func(R, R) R) error {
	o = o.check(ctx, "MapScan", f == nil || op == nil)
	sameLength("MapScan", len(dst), len(src))
	return scanOf(op, dst, dst).of(fill(dst, src, f)).run(ctx, o, "MapScan")
}

// MapScanErr is [MapScan] with functions that may fail.
func MapScanErr[T, R any](
	ctx context.Context, o Options, dst []R, src []T,
	f func(ctx context.Context, x T) (R, error), op func(ctx context.Context, a, b R) (R, error),
) error {
	o = o.check(ctx, "MapScanErr", f == nil || op == nil)
	sameLength("MapScanErr", len(dst), len(src))
	return scanOfErr(op, dst, dst).of(fillErr(dst, src, f)).run(ctx, o, "MapScanErr")
}

// ExclusiveMapScan is [ExclusiveScan] of the results of f for the elements of src. f is called once for each. If T and
// R are the same type, dst and src may be the same slice. ExclusiveMapScan panics if they differ in length.
func ExclusiveMapScan[T, R any](
	ctx context.Context, o Options, dst []R, src []T, first R, f func(T) R, op func(R, R) R,
) error {
	o = o.check(ctx, "ExclusiveMapScan", f == nil || op == nil)
	sameLength("ExclusiveMapScan", len(dst), len(src))
	return scanOf(op, dst, dst).of(fill(dst, src, f)).after(first).run(ctx, o, "ExclusiveMapScan")
}

// ExclusiveMapScanErr is [ExclusiveMapScan] with functions that may fail.
func ExclusiveMapScanErr[T, R any](
	ctx context.Context, o Options, dst []R, src []T, first R,
	f func(ctx context.Context, x T) (R, error), op func(ctx context.Context, a, b R) (R, error),
) error {
	o = o.check(ctx, "ExclusiveMapScanErr", f == nil || op == nil)
	sameLength("ExclusiveMapScanErr", len(dst), len(src))
	return scanOfErr(op, dst, dst).of(fillErr(dst, src, f)).after(first).run(ctx, o, "ExclusiveMapScanErr")
}

// A scanner is a scan of src. The functions that are given two slices are never given others than the same part of dst
// and src.
type scanner[R any] struct {
	dst, src []R
	first    *R                                          // of an exclusive scan, else nil
	fill     func(ctx context.Context, lo, hi int) error // sets src[lo:hi] before it is read, if it is not nil
	op       func(ctx context.Context, left, right R) (R, error)
	// add returns sum combined with the elements of src.
	add func(ctx context.Context, sum R, src []R) (R, error)
	// inclusive and exclusive are add, and set dst to the sums after or before each element.
	inclusive, exclusive func(ctx context.Context, sum R, dst, src []R) (R, error)
}

func scanOf[R any](op func(R, R) R, dst, src []R) *scanner[R] {
	return &scanner[R]{
		dst: dst,
		src: src,
		op:  sure2(op),
		add: func(_ context.Context, sum R, src []R) (R, error) {
			for _, x := range src {
				sum = op(sum, x)
			}
			return sum, nil
		},
		inclusive: func(_ context.Context, sum R, dst, src []R) (R, error) {
			for i, x := range src {
				sum = op(sum, x)
				dst[i] = sum
			}
			return sum, nil
		},
		exclusive: func(_ context.Context, sum R, dst, src []R) (R, error) {
			for i, x := range src {
				dst[i] = sum
				sum = op(sum, x)
			}
			return sum, nil
		},
	}
}

func scanOfErr[R any](op func(ctx context.Context, a, b R) (R, error), dst, src []R) *scanner[R] {
	return &scanner[R]{
		dst: dst,
		src: src,
		op:  op,
		add: func(ctx context.Context, sum R, src []R) (_ R, err error) {
			for _, x := range src {
				if sum, err = op(ctx, sum, x); err != nil {
					break
				}
			}
			return sum, err
		},
		inclusive: func(ctx context.Context, sum R, dst, src []R) (_ R, err error) {
			for i, x := range src {
				if sum, err = op(ctx, sum, x); err != nil {
					break
				}
				dst[i] = sum
			}
			return sum, err
		},
		exclusive: func(ctx context.Context, sum R, dst, src []R) (_ R, err error) {
			for i, x := range src {
				dst[i] = sum
				if sum, err = op(ctx, sum, x); err != nil {
					break
				}
			}
			return sum, err
		},
	}
}

// after makes the scan an exclusive one.
func (c *scanner[R]) after(first R) *scanner[R] {
	c.first = &first
	return c
}

// of lets fill set the elements of the scan.
func (c *scanner[R]) of(fill func(ctx context.Context, lo, hi int) error) *scanner[R] {
	c.fill = fill
	return c
}

func fill[T, R any](dst []R, src []T, f func(T) R) func(ctx context.Context, lo, hi int) error {
	return func(_ context.Context, lo, hi int) error {
		dst := dst[lo:hi]
		for i, x := range src[lo:hi] {
			dst[i] = f(x)
		}
		return nil
	}
}

func fillErr[T, R any](
	dst []R, src []T, f func(ctx context.Context, x T) (R, error),
) func(ctx context.Context, lo, hi int) error {
	return func(ctx context.Context, lo, hi int) error {
		dst := dst[lo:hi]
		for i, x := range src[lo:hi] {
			y, err := f(ctx, x)
			if err != nil {
				return err
			}
			dst[i] = y
		}
		return nil
	}
}

// blocksPerWorker is how many blocks there are for each worker: several, since some blocks take longer than others.
const blocksPerWorker = 4

// run goes through src twice. First it computes the sum of each block but the last. Then it scans each block, beginning
// with the sum of the blocks before. With one worker and no Grain there is a single block, and no first pass.
func (c *scanner[R]) run(ctx context.Context, o Options, name string) error {
	sameLength(name, len(c.dst), len(c.src))
	n := len(c.src)
	size := min(o.Grain, n)
	if size == 0 {
		size = n
		if workers := o.workers(); workers > 1 {
			size = 1 + (n-1)/(blocksPerWorker*workers)
		}
	}
	blocks := 0
	if n > 0 {
		blocks = 1 + (n-1)/size
	}
	_, err := run(ctx, o, name, func(s *executor.Scope) (none nothing) {
		sums := make([]R, blocks) // sums[i] is the sum of first and blocks 0 to i-1
		each := func(blocks int, do func(i int, p strides) error) {
			w := walkEach(func(p strides) int {
				lo := p.lo * size
				if err := do(p.lo, p.over(lo, lo+min(size, n-lo))); err != nil {
					return p.fail(err)
				}
				return p.end
			})
			w.grain, w.least = 1, 1
			whole(s, part[nothing]{w, 0, blocks})
		}
		if blocks > 1 {
			each(blocks-1, func(i int, p strides) (err error) {
				sums[i+1], err = c.sum(p)
				return err
			})
		}
		if c.first != nil && blocks > 0 {
			sums[0] = *c.first
		}
		for i := 1; i < blocks && !s.Stopped(); i++ {
			if i > 1 || c.first != nil {
				sum, err := c.op(s.Context(), sums[i-1], sums[i])
				if err != nil {
					new(job).fail(s, err)
				}
				sums[i] = sum
			}
		}
		if !s.Stopped() {
			each(blocks, func(i int, p strides) error { return c.scan(p, sums[i], i == 0, i == blocks-1) })
		}
		return
	})
	return err
}

// sum returns the sum of a block.
func (c *scanner[R]) sum(p strides) (sum R, err error) {
	ctx := p.scope.Context()
	lo, hi := p.first()
	for begin := lo; lo < hi; lo, hi = hi, p.next(hi) {
		if c.fill != nil {
			if err := c.fill(ctx, lo, hi); err != nil {
				return sum, err
			}
		}
		from := lo
		if lo == begin {
			sum = c.src[lo]
			from++
		}
		if sum, err = c.add(ctx, sum, c.src[from:hi]); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// scan sets dst for a block, the first or the last one or both. sum is that of the blocks before.
func (c *scanner[R]) scan(p strides, sum R, isFirst, isLast bool) (err error) {
	ctx := p.scope.Context()
	lo, hi := p.first()
	for ; lo < hi; lo, hi = hi, p.next(hi) {
		if isLast && c.fill != nil { // the other blocks were filled by sum
			if err := c.fill(ctx, lo, hi); err != nil {
				return err
			}
		}
		dst, src := c.dst[lo:hi], c.src[lo:hi]
		switch {
		case c.first == nil && isFirst:
			sum, dst[0] = src[0], src[0]
			sum, err = c.inclusive(ctx, sum, dst[1:], src[1:])
			isFirst = false
		case c.first == nil:
			sum, err = c.inclusive(ctx, sum, dst, src)
		case hi < p.end:
			sum, err = c.exclusive(ctx, sum, dst, src)
		default: // the last element is part of no sum in the block
			last := len(src) - 1
			sum, err = c.exclusive(ctx, sum, dst[:last], src[:last])
			dst[last] = sum
		}
		if err != nil {
			return err
		}
	}
	return nil
}

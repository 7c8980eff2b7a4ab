package parallel

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// Scan sets dst[i] to src[0], …, src[i] combined by op, in this order. op must be associative. It must not change its
// arguments, nor values that they refer to: they are elements of src and dst. dst must be as long as src, and may be
// the same slice.
func Scan[T any](ctx context.Context, on On, dst, src []T, op func(T, T) T) error {
	return scan(ctx, on, dst, src, op, nil)
}

// ExclusiveScan sets dst[i] to first and src[0], …, src[i-1] combined by op, in this order, and so dst[0] to first. op
// must be associative. first need not be neutral: it is used once. op must not change its arguments, nor values that
// they refer to. dst must be as long as src, and may be the same slice.
func ExclusiveScan[T any](ctx context.Context, on On, dst, src []T, first T, op func(T, T) T) error {
	return scan(ctx, on, dst, src, op, &first)
}

// blocksPerWorker is how many blocks there are for each worker: several, since some blocks take longer than others.
const blocksPerWorker = 4

// scan goes through src twice. First it computes the sum of each block but the last. Then it scans each block,
// beginning with the sum of the blocks before. With one worker and no Grain there is a single block, and no first pass.
func scan[T any](ctx context.Context, on On, dst, src []T, op func(T, T) T, first *T) error {
	sameLength(len(dst), len(src))
	on.check()
	n := len(src)
	if n == 0 {
		return ctx.Err()
	}
	size := min(on.Grain, n)
	if size == 0 {
		size = n
		if workers := on.Executor.Workers(); workers > 1 {
			size = 1 + (n-1)/(blocksPerWorker*workers)
		}
	}
	blocks := 1 + (n-1)/size
	return on.Executor.Run(ctx, executor.Func("parallel.Scan", func(s *executor.Scope) error {
		sums := make([]T, blocks) // sums[i] is the sum of first and blocks 0 to i-1
		each := func(blocks int, f func(i int, block strides)) {
			w := walkEach(func(p strides) int {
				lo := p.lo * size
				f(p.lo, p.over(lo, lo+min(size, n-lo)))
				return p.end
			})
			w.grain, w.least = 1, 1
			whole(s, part[nothing]{w, 0, blocks})
		}
		if blocks > 1 {
			each(blocks-1, func(i int, p strides) {
				sum := src[p.lo]
				p = p.over(p.lo+1, p.end)
				lo, hi := p.first()
				for ; lo < hi; lo, hi = hi, p.next(hi) {
					for _, x := range src[lo:hi] {
						sum = op(sum, x)
					}
				}
				sums[i+1] = sum
			})
		}
		if first != nil {
			sums[0] = *first
		}
		for i := 1; i < blocks && !s.Stopped(); i++ {
			if i > 1 || first != nil {
				sums[i] = op(sums[i-1], sums[i])
			}
		}
		if s.Stopped() {
			return context.Cause(s.Context())
		}
		each(blocks, func(i int, p strides) {
			switch sum := sums[i]; {
			case first != nil:
				exclusive(p, dst, src, sum, op)
			case i == 0:
				dst[0] = src[0]
				inclusive(p.over(1, p.end), dst, src, src[0], op)
			default:
				inclusive(p, dst, src, sum, op)
			}
		})
		return nil
	}))
}

func inclusive[T any](p strides, dst, src []T, sum T, op func(T, T) T) {
	lo, hi := p.first()
	for ; lo < hi; lo, hi = hi, p.next(hi) {
		dst := dst[lo:hi]
		for i, x := range src[lo:hi] {
			sum = op(sum, x)
			dst[i] = sum
		}
	}
}

func exclusive[T any](p strides, dst, src []T, sum T, op func(T, T) T) {
	lo, hi := p.first()
	for ; lo < hi; lo, hi = hi, p.next(hi) {
		dst := dst[lo:hi]
		for i, x := range src[lo:hi] {
			dst[i] = sum
			sum = op(sum, x)
		}
	}
}

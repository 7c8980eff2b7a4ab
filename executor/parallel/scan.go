package parallel

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// Scan sets dst[i] to what op makes of src[0], …, src[i], in their order. op must be associative. dst is as long as src, and
// may be the same.
func Scan[T any](ctx context.Context, on On, dst, src []T, op func(T, T) T) error {
	return scan(ctx, on, dst, src, op, nil)
}

// ExclusiveScan sets dst[i] to what op makes of first and src[0], …, src[i-1], in this order, and so dst[0] to first. op must
// be associative. dst is as long as src, and may be the same.
func ExclusiveScan[T any](ctx context.Context, on On, dst, src []T, first T, op func(T, T) T) error {
	return scan(ctx, on, dst, src, op, &first)
}

// blocksPerWorker makes up for blocks that take longer than others.
const blocksPerWorker = 4

// scan goes through src twice: first it sums up blocks, then it scans each from the sum of those before. One worker scans
// at once, and so does another the last block, whose sum nobody needs.
func scan[T any](ctx context.Context, on On, dst, src []T, op func(T, T) T, first *T) error {
	sameLength(len(dst), len(src))
	n := len(src)
	on.check(n)
	if n == 0 {
		return ctx.Err()
	}
	size := min(on.Grain, n)
	if size == 0 {
		blocks := blocksPerWorker * on.Executor.Workers()
		if on.Executor.Workers() == 1 {
			blocks = 1
		}
		size = max(1, (n+blocks-1)/blocks)
	}
	blocks := 1 + (n-1)/size
	block := func(i int) (lo, hi int) { return i * size, min(n, (i+1)*size) }
	return on.Executor.Run(ctx, executor.Func("parallel.Scan", func(s *executor.Scope) error {
		sums := make([]T, blocks) // sums[i]: of blocks 0 to i-1, and first
		each := func(from, to int, f func(i int)) {
			w := &walk[nothing]{grain: 1, least: 1, join: noJoin, piece: func(_ nothing, lo, hi int) nothing {
				for i := lo; i < hi; i++ {
					f(i)
				}
				return nothing{}
			}}
			whole(s, part[nothing]{w, from, to})
		}
		if blocks > 1 {
			each(1, blocks, func(i int) {
				lo, hi := block(i - 1)
				sum := src[lo]
				for _, x := range src[lo+1 : hi] {
					sum = op(sum, x)
				}
				sums[i] = sum
			})
		}
		if s.Stopped() {
			return context.Cause(s.Context())
		}
		if first != nil {
			sums[0] = *first
		}
		for i := 1; i < blocks; i++ {
			if i > 1 || first != nil {
				sums[i] = op(sums[i-1], sums[i])
			}
		}
		each(0, blocks, func(i int) {
			lo, hi := block(i)
			switch {
			case first != nil:
				exclusive(dst[lo:hi], src[lo:hi], sums[i], op)
			case i == 0:
				dst[0] = src[0]
				inclusive(dst[1:hi], src[1:hi], dst[0], op)
			default:
				inclusive(dst[lo:hi], src[lo:hi], sums[i], op)
			}
		})
		return nil
	}))
}

func inclusive[T any](dst, src []T, sum T, op func(T, T) T) {
	for i, x := range src {
		sum = op(sum, x)
		dst[i] = sum
	}
}

func exclusive[T any](dst, src []T, sum T, op func(T, T) T) {
	for i, x := range src {
		dst[i] = sum
		sum = op(sum, x)
	}
}

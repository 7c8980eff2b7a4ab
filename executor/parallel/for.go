package parallel

import (
	"context"
	"iter"

	"github.com/magpie-go/magpie/executor"
)

// nothing is the result of pieces that have none.
type nothing = struct{}

func noJoin(nothing, nothing) nothing { return nothing{} }

// For calls body for lo, …, hi-1.
func For(ctx context.Context, on On, lo, hi int, body func(i int)) error {
	return ForRange(ctx, on, lo, hi, func(lo, hi int) { loop(lo, hi, body) })
}

// loop calls body for lo, …, hi-1. Four at a time make up for what it costs that lo and hi are no constants.
func loop(lo, hi int, body func(i int)) {
	for ; hi-lo >= 4; lo += 4 {
		body(lo)
		body(lo + 1)
		body(lo + 2)
		body(lo + 3)
	}
	for ; lo < hi; lo++ {
		body(lo)
	}
}

// ForRange calls body for ranges that make up lo, …, hi-1. It is for bodies that do little for one index: the loop is theirs.
func ForRange(ctx context.Context, on On, lo, hi int, body func(lo, hi int)) error {
	_, err := walkAll(ctx, on, lo, hi, walk[nothing]{join: noJoin, piece: func(_ nothing, lo, hi int) nothing {
		body(lo, hi)
		return nothing{}
	}})
	return err
}

// ForSlice calls body for every element of s, by its address.
func ForSlice[T any](ctx context.Context, on On, s []T, body func(i int, x *T)) error {
	return ForRange(ctx, on, 0, len(s), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			body(i, &s[i])
		}
	})
}

// Map sets dst[i] to f(src[i]) for every i. dst is as long as src, and may be the same.
func Map[A, B any](ctx context.Context, on On, dst []B, src []A, f func(A) B) error {
	sameLength(len(dst), len(src))
	return ForRange(ctx, on, 0, len(src), func(lo, hi int) {
		dst, src := dst[lo:hi], src[lo:hi]
		for i := range src {
			dst[i] = f(src[i])
		}
	})
}

func sameLength(dst, src int) {
	if dst != src {
		panic("parallel: dst and src differ in length")
	}
}

const (
	// eachBatch is how many elements go to one child if no Grain is given. Arbitrary: a child costs what 5 to 10 short bodies do.
	eachBatch = 16
	// eachRound is how many batches a worker may have to do before no more elements are taken. Arbitrary: it bounds
	// what a long sequence keeps in memory.
	eachRound = 64
)

// ForEach calls body for every element of seq, which one worker goes through, in batches of Grain elements or, if that is 0, of
// sixteen. After 64 batches for each worker it waits until all of them are done. The first error ends it.
func ForEach[T any](ctx context.Context, on On, seq iter.Seq[T], body func(T) error) error {
	on.check(0)
	size := on.Grain
	if size == 0 {
		size = eachBatch
	}
	return on.Executor.Run(ctx, executor.Func("parallel.ForEach", func(s *executor.Scope) error {
		var batch []T
		batches := 0
		flush := func() {
			work := batch
			batch = nil
			s.Go(func(context.Context) error {
				for _, x := range work {
					if err := body(x); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for x := range seq {
			if batch = append(batch, x); len(batch) < size {
				continue
			}
			flush()
			if s.Stopped() {
				break
			}
			if batches++; batches%(eachRound*on.Executor.Workers()) == 0 {
				if s.Wait() != nil {
					break
				}
			}
		}
		if len(batch) > 0 && !s.Stopped() {
			flush()
		}
		return s.Wait()
	}))
}

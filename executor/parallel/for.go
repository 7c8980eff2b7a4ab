package parallel

import (
	"context"
	"iter"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// nothing is the type of the result of pieces without a result.
type nothing = struct{}

func noJoin(nothing, nothing) nothing { return nothing{} }

func fromNothing(lo int) (nothing, int) { return nothing{}, lo }

// walkEach returns a walk without a result. do runs a piece and returns the first index that it has not done.
func walkEach(do func(p strides) int) *walk[nothing] {
	return &walk[nothing]{
		begin: fromNothing,
		join:  noJoin,
		piece: func(_ nothing, p strides) (nothing, int) { return nothing{}, do(p) },
	}
}

// For calls body for lo, …, hi-1.
func For(ctx context.Context, on On, lo, hi int, body func(i int)) error {
	_, err := walkAll(ctx, on, lo, hi, walkEach(func(p strides) int {
		lo, hi := p.first()
		for ; lo < hi; lo, hi = hi, p.next(hi) {
			loop(lo, hi, body)
		}
		return lo
	}))
	return err
}

// loop calls body for lo, …, hi-1. It is unrolled to make up for the cost of bounds that are not constant.
func loop(lo, hi int, body func(i int)) {
	for ; hi-lo >= 8; lo += 8 {
		body(lo)
		body(lo + 1)
		body(lo + 2)
		body(lo + 3)
		body(lo + 4)
		body(lo + 5)
		body(lo + 6)
		body(lo + 7)
	}
	for ; lo < hi; lo++ {
		body(lo)
	}
}

// longRange is the time that ForRange lets a call of body take: the worker looks for demand after each. Measuring the
// time costs 70 ns (Xeon, November 2026), little against longRange. A woken thief waits for about as long as its
// wake-up took.
const longRange = 20 * time.Microsecond

// ForRange calls body for ranges that together are lo, …, hi-1, each of at least one index and at most MaxInt. It is
// for a body that does little for one index, and contains the loop itself. A call is not cut short when ctx ends, nor
// when another worker has nothing to do. If Grain is 0, the ranges become longer while calls take less than 10 µs. If
// fast indices come before slow ones, a Grain bounds the length of a call.
func ForRange(ctx context.Context, on On, lo, hi int, body func(lo, hi int)) error {
	_, err := walkAll(ctx, on, lo, hi, walkEach(func(p strides) int {
		if p.hint == nil {
			body(p.lo, p.end)
			return p.end
		}
		for size := 1; ; {
			lo := p.lo
			p.lo += min(size, p.end-lo)
			start := time.Now()
			body(lo, p.lo)
			if p.lo == p.end || p.ends() {
				return p.lo
			}
			switch took := time.Since(start); {
			case took < longRange/2:
				size *= 2 // at most one more than the number of indices done so far
			case took > longRange && size > 1:
				size /= 2
			}
		}
	}))
	return err
}

// ForSlice calls body with the index and the address of every element of s.
func ForSlice[T any](ctx context.Context, on On, s []T, body func(i int, x *T)) error {
	_, err := walkAll(ctx, on, 0, len(s), walkEach(func(p strides) int {
		lo, hi := p.first()
		for ; lo < hi; lo, hi = hi, p.next(hi) {
			for i := lo; i < hi; i++ {
				body(i, &s[i])
			}
		}
		return lo
	}))
	return err
}

// Map sets dst[i] to f(src[i]) for every i. dst must be as long as src, and may be the same slice.
func Map[A, B any](ctx context.Context, on On, dst []B, src []A, f func(A) B) error {
	sameLength(len(dst), len(src))
	_, err := walkAll(ctx, on, 0, len(src), walkEach(func(p strides) int {
		lo, hi := p.first()
		for ; lo < hi; lo, hi = hi, p.next(hi) {
			for i := lo; i < hi; i++ {
				dst[i] = f(src[i])
			}
		}
		return lo
	}))
	return err
}

func sameLength(dst, src int) {
	if dst != src {
		panic("parallel: dst and src differ in length")
	}
}

const (
	// eachBatch is how many elements go to one child if no Grain is given. Arbitrary: a child costs as much as 5 to 10
	// short bodies.
	eachBatch = 16
	// eachRound is how many batches for each worker are started before ForEach waits for them. Arbitrary: it bounds the
	// memory that a long sequence takes.
	eachRound = 64
)

// ForEach calls body for every element of seq. One worker iterates over seq, and makes batches of Grain elements or, if
// Grain is 0, of 16. After 64 batches for each worker, ForEach waits until these are done. After the first error no
// worker begins another call, and no more elements are taken.
func ForEach[T any](ctx context.Context, on On, seq iter.Seq[T], body func(T) error) error {
	on.check()
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
			s.Spawn(func(s *executor.Scope) error {
				for _, x := range work {
					if s.Stopped() {
						return context.Cause(s.Context())
					}
					if err := body(x); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for x := range seq {
			if s.Stopped() {
				break
			}
			if batch = append(batch, x); len(batch) < size {
				continue
			}
			flush()
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

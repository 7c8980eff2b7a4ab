package parallel

import (
	"context"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/demand"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A job is what all parts of one call share.
type job struct {
	// failed is set when a part panics or ends by Goexit. Its run learns of that only where the part is joined: until
	// then the other parts would go on.
	failed atomic.Bool
}

// stopped reports whether the parts that have not begun are left out: then the call fails.
func (j *job) stopped(s *executor.Scope) bool { return s.Stopped() || j.failed.Load() }

// end is deferred by each part, with whether it has come to its end.
func (j *job) end(ok *bool) {
	if !*ok {
		j.failed.Store(true)
	}
}

// A walk goes through indices in pieces, and combines what they come to in their order.
type walk[R any] struct {
	job
	grain uint // of the pieces; 0: they end when there is demand
	least uint // parts of more are halved at once
	// begin returns the result of no index, or of the index lo, and the first index whose result it is not.
	begin func(lo int) (R, int)
	// piece adds the result of a piece, or of its beginning, to that of the indices before it. It returns the first
	// index that it has not done.
	piece func(acc R, p strides) (R, int)
	join  func(left, right R) R
	// stop, if it is not nil, says that nothing from lo on is needed any more.
	stop func(lo int) bool
}

// A part of a walk is the indices lo, …, hi-1.
type part[R any] struct {
	*walk[R]
	lo, hi int
}

// size is how many indices the part has, which may be more than MaxInt.
func (p *part[R]) size() uint { return uint(p.hi) - uint(p.lo) }

// partsPerWorker is in how many parts for each worker a walk is divided at once. Long calls, whose worker does not look
// for demand, then keep little from others.
const partsPerWorker = 4

// walkAll does a walk as a run of its own.
func walkAll[R any](ctx context.Context, on On, lo, hi int, w *walk[R]) (R, error) {
	on.check()
	p := part[R]{w, lo, max(lo, hi)}
	w.grain, w.least = uint(on.Grain), uint(on.Grain)
	if on.Grain == 0 {
		w.least = p.size()
		if workers := on.Executor.Workers(); workers > 1 {
			w.least = max(1, p.size()/uint(partsPerWorker*workers))
		}
	}
	return executor.Call(ctx, on.Executor, whole[R], p)
}

// whole goes through part p. All halves that it forks are forked by this one frame: so others see all of them, however long
// it is busy with the first piece.
func whole[R any](s *executor.Scope, p part[R]) (acc R) {
	ok := false
	defer p.end(&ok)
	var halves [bits.UintSize]executor.Forked[part[R], R]
	n := 0
	for ; p.size() > p.least && !p.skip(s, p.lo); n++ {
		mid := p.lo + int(p.half())
		halves[n] = executor.Fork(s, whole[R], part[R]{p.walk, mid, p.hi})
		p.hi = mid
	}
	if !p.skip(s, p.lo) {
		acc, p.lo = p.begin(p.lo)
		if p.grain == 0 {
			acc = lazy(s, p, acc)
		} else if p.lo < p.hi && !p.stopped(s) {
			acc, _ = p.piece(acc, p.strides(s))
		}
	}
	for n--; n >= 0; n-- {
		acc = p.combine(s, acc, halves[n].Join(s))
	}
	ok = true
	return acc
}

// half is how many indices stay on the left when p is halved: a multiple of the grain.
func (p *part[R]) half() uint {
	if p.grain == 0 {
		return p.size() / 2
	}
	pieces := 1 + (p.size()-1)/p.grain
	return pieces / 2 * p.grain
}

// right goes through what lazy has forked.
func right[R any](s *executor.Scope, p part[R]) (acc R) {
	ok := false
	defer p.end(&ok)
	if !p.skip(s, p.lo) {
		acc, p.lo = p.begin(p.lo)
		acc = lazy(s, p, acc)
	}
	ok = true
	return acc
}

// lazy goes through p piece by piece, and gives away half of what is left whenever there is demand. It adds to what the
// indices before p have come to, so that a worker that goes through several pieces has nothing to combine.
func lazy[R any](s *executor.Scope, p part[R], acc R) R {
	for p.lo < p.hi && !p.skip(s, p.lo) {
		if p.size() > 1 && demand.Of(s) {
			mid := p.lo + int(p.size()/2)
			half := executor.Fork(s, right[R], part[R]{p.walk, mid, p.hi})
			acc = lazy(s, part[R]{p.walk, p.lo, mid}, acc)
			return p.combine(s, acc, half.Join(s))
		}
		acc, p.lo = p.piece(acc, p.strides(s))
	}
	return acc
}

// combine joins the results of two parts. Those of parts that were left out are none: join is not to see them.
func (w *walk[R]) combine(s *executor.Scope, left, right R) R {
	if w.stopped(s) {
		return left
	}
	return w.join(left, right)
}

// skip reports whether what is from lo on is not to be done.
func (w *walk[R]) skip(s *executor.Scope, lo int) bool {
	return w.stopped(s) || w.stop != nil && w.stop(lo)
}

// stride is after how many elements a worker looks whether it is to go on. What has begun when a run is cancelled goes
// on for at most so many elements. Every 32, a loop over an empty function took 9 % longer than without a look, every
// 64 no longer (Xeon, November 2026).
const stride = 64

// strides go through the indices lo, …, end-1 of a piece, at most MaxInt, in loops of few:
//
//	lo, hi := p.first()
//	for ; lo < hi; lo, hi = hi, p.next(hi) {
//		for i := lo; i < hi; i++ { … }
//	}
//	return acc, lo
type strides struct {
	lo, end int
	scope   *executor.Scope
	job     *job
	hint    *xatomic.Bool // of demand, at which the piece ends; nil if it does not
}

// strides are those of the next piece of p.
func (p *part[R]) strides(s *executor.Scope) strides {
	next := strides{lo: p.lo, end: p.lo + int(min(p.size(), math.MaxInt)), scope: s, job: &p.job}
	if p.grain == 0 {
		next.hint = demand.Hint(s)
	}
	return next
}

// over is p with other indices.
func (p strides) over(lo, end int) strides {
	p.lo, p.end = lo, end
	return p
}

// first is the first stride, which is empty only if the piece is.
func (p *strides) first() (lo, hi int) { return p.lo, p.lo + min(stride, p.end-p.lo) }

// next is the end of the stride that begins at lo. It is lo itself if the piece is at its end, or is to end here.
func (p *strides) next(lo int) int {
	if lo == p.end || p.ends() {
		return lo
	}
	return lo + min(stride, p.end-lo)
}

// ends reports whether the rest of the piece is left out, or left to be shared.
func (p *strides) ends() bool {
	return p.job.stopped(p.scope) || p.hint != nil && p.hint.Load() && demand.Of(p.scope)
}

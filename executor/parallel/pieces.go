package parallel

import (
	"context"
	"math"
	"math/bits"

	"github.com/magpie-go/magpie/executor"
)

// A walk goes through indices in pieces, and combines the results of the pieces in order.
type walk[R any] struct {
	job
	grain uint // size of the pieces; 0: pieces end when there is demand
	least uint // parts larger than this are halved at the start
	alone bool // one worker takes part, and there is no demand
	// begin returns the result of no index and lo, or the result of index lo and lo+1.
	begin func(ctx context.Context, lo int) (R, int, error)
	// piece adds the result of a piece, or of its beginning, to acc, that of the indices before it. It returns the sum
	// and the first index that it has not done. If a function has failed, it returns p.fail of the error as the index.
	piece func(acc R, p strides) (R, int)
	join  func(ctx context.Context, left, right R) (R, error)
	// stop, if it is not nil, reports whether the indices from lo on are no longer needed.
	stop func(lo int) bool
}

// A part of a walk is the indices lo, …, hi-1.
type part[R any] struct {
	*walk[R]
	lo, hi int
}

// size returns the number of indices of the part, which may exceed MaxInt.
func (p *part[R]) size() uint { return uint(p.hi) - uint(p.lo) }

// partsPerWorker is the number of parts, for each worker, into which a walk is divided at the start. During a long call
// a worker does not look for demand, and so keeps at most its own part from the others.
const partsPerWorker = 4

// walkAll runs a walk over lo, …, hi-1 as a run of its own, for the function of that name.
func walkAll[R any](ctx context.Context, o Options, name string, lo, hi int, w *walk[R]) (R, error) {
	p := w.over(o, lo, hi)
	return run(ctx, o, name, func(s *executor.Scope) R { return whole(s, p) })
}

// over returns the part lo, …, hi-1 of w, to be given to whole.
func (w *walk[R]) over(o Options, lo, hi int) part[R] {
	p := part[R]{w, lo, max(lo, hi)}
	w.grain, w.least, w.alone = uint(o.Grain), uint(o.Grain), o.Workers == 1
	if o.Grain == 0 {
		w.least = p.size()
		if workers := o.workers(); workers > 1 {
			w.least = max(1, p.size()/uint(partsPerWorker*workers))
		}
	}
	return p
}

// whole runs part p. This one frame forks all the halves, so that other workers see all of them, however long the first
// piece takes.
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
		acc, p.lo = p.start(s, p.lo)
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

// half returns the number of indices of the left half of p: a multiple of the grain.
func (p *part[R]) half() uint {
	if p.grain == 0 {
		return p.size() / 2
	}
	pieces := 1 + (p.size()-1)/p.grain
	return pieces / 2 * p.grain
}

// right runs a half that lazy has forked.
func right[R any](s *executor.Scope, p part[R]) (acc R) {
	ok := false
	defer p.end(&ok)
	if !p.skip(s, p.lo) {
		acc, p.lo = p.start(s, p.lo)
		acc = lazy(s, p, acc)
	}
	ok = true
	return acc
}

// lazy runs p piece by piece, and forks half of the rest whenever there is demand. acc is the result of the indices
// before p: lazy adds to it, so that a worker that runs several pieces need not combine their results.
func lazy[R any](s *executor.Scope, p part[R], acc R) R {
	for p.lo < p.hi && !p.skip(s, p.lo) {
		if p.size() > 1 && !p.alone && s.Demand() {
			mid := p.lo + int(p.size()/2)
			half := executor.Fork(s, right[R], part[R]{p.walk, mid, p.hi})
			acc = lazy(s, part[R]{p.walk, p.lo, mid}, acc)
			return p.combine(s, acc, half.Join(s))
		}
		acc, p.lo = p.piece(acc, p.strides(s))
	}
	return acc
}

// start is begin on the worker of s.
func (w *walk[R]) start(s *executor.Scope, lo int) (R, int) {
	acc, next, err := w.begin(s.Context(), lo)
	if err != nil {
		w.fail(s, err)
	}
	return acc, next
}

// combine joins the results of two parts. If the walk was stopped, parts may have been left out, and have no results
// for join: combine then does not call it.
func (w *walk[R]) combine(s *executor.Scope, left, right R) R {
	if w.stopped(s) {
		return left
	}
	acc, err := w.join(s.Context(), left, right)
	if err != nil {
		w.fail(s, err)
	}
	return acc
}

// skip reports whether the indices from lo on must be left out.
func (w *walk[R]) skip(s *executor.Scope, lo int) bool {
	return w.stopped(s) || w.stop != nil && w.stop(lo)
}

// stride is after how many elements a worker checks whether to go on. After a run was cancelled, each worker goes on
// for at most so many. A loop over an empty function took 9 % longer with a check every 32 elements than without, and
// no longer with a check every 64 (Xeon, November 2026).
const stride = 64

// strides divide the indices lo, …, end-1 of a piece, at most MaxInt, into short loops:
//
//	lo, hi := p.first()
//	for ; lo < hi; lo, hi = hi, p.next(hi) {
//		for i := lo; i < hi; i++ { … }
//	}
//	return acc, lo
type strides struct {
	lo, end  int
	scope    *executor.Scope
	job      *job
	onDemand bool // the piece ends on demand
	chosen   bool // there is a Grain
}

// strides returns the strides of the next piece of p.
func (p *part[R]) strides(s *executor.Scope) strides {
	return strides{
		lo: p.lo, end: p.lo + int(min(p.size(), math.MaxInt)), scope: s, job: &p.job,
		onDemand: p.grain == 0 && !p.alone, chosen: p.grain > 0,
	}
}

// over returns p with other indices.
func (p strides) over(lo, end int) strides {
	p.lo, p.end = lo, end
	return p
}

// first returns the first stride, which is empty only if the piece is.
func (p *strides) first() (lo, hi int) { return p.lo, p.lo + min(stride, p.end-p.lo) }

// next returns the end of the stride that begins at lo. It returns lo at the end of the piece, or if the piece must end
// here.
func (p *strides) next(lo int) int {
	if lo == p.end || p.ends() {
		return lo
	}
	return lo + min(stride, p.end-lo)
}

// ends reports whether the piece must end here, because the job is stopped or there is demand for the rest.
func (p *strides) ends() bool {
	return p.job.stopped(p.scope) || p.onDemand && p.scope.Demand()
}

// fail ends the call because of err, and returns an index for the piece to return.
func (p *strides) fail(err error) int {
	p.job.fail(p.scope, err)
	return p.end
}

// byStride returns a piece that calls do for each of its strides. do adds the result of indices lo, …, hi-1 to acc.
func byStride[R any](do func(ctx context.Context, acc R, lo, hi int) (R, error)) func(acc R, p strides) (R, int) {
	return func(acc R, p strides) (R, int) {
		ctx := p.scope.Context()
		lo, hi := p.first()
		for ; lo < hi; lo, hi = hi, p.next(hi) {
			var err error
			if acc, err = do(ctx, acc, lo, hi); err != nil {
				return acc, p.fail(err)
			}
		}
		return acc, lo
	}
}

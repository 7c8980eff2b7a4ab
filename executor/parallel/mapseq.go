package parallel

import (
	"context"
	"errors"
	"iter"

	"github.com/magpie-go/magpie/executor"
)

// MapSeq returns a sequence of f(x) for every element x of seq, in their order. Each range over it is a run:
//
//	for page, err := range parallel.MapSeq(ctx, o, urls, fetch) {
//
// The loop's goroutine iterates over seq, and workers call f. So seq is as if the loop ranged over it: a break ends it,
// and a panic in it passes through. After each element the loop gets the results that are next and there. When as many
// elements as MaxAhead says have been taken, it waits for the next result. So the last results before a pause of seq
// come after the pause: [pipeline.Values] is for a loop that must not wait for the source.
//
// If the run fails, the results before the failure that are there come first, and a last pair has the error. Otherwise
// each error is nil. The range statement returns when no call of f is in progress, however the loop is left. Each call
// of f is an item of its own: Grain is not used.
//
// Outside tasks the run counts against [executor.Config.MaxRuns] until the loop ends. A run that seq or the loop's body
// starts needs room beside it, and waits for ever where there is none.
//
// [pipeline.Values]: https://pkg.go.dev/github.com/magpie-go/magpie/executor/pipeline#Values
func MapSeq[A, B any](ctx context.Context, o Options, seq iter.Seq[A], f func(A) B) iter.Seq2[B, error] {
	o = o.check(ctx, "MapSeq", f == nil)
	return mapSeq(ctx, o, "MapSeq", seq, sure(f))
}

// MapSeqErr is [MapSeq] with a function that may fail. After the first error seq is asked for no more elements.
func MapSeqErr[A, B any](
	ctx context.Context, o Options, seq iter.Seq[A], f func(ctx context.Context, x A) (B, error),
) iter.Seq2[B, error] {
	o = o.check(ctx, "MapSeqErr", f == nil)
	return mapSeq(ctx, o, "MapSeqErr", seq, f)
}

// errLeft is why the run of a loop that was left is cancelled. Nobody waits for the run's error.
var errLeft = errors.New("parallel: the loop over MapSeq was left")

func mapSeq[A, B any](
	ctx context.Context, o Options, name string, seq iter.Seq[A], f func(ctx context.Context, x A) (B, error),
) iter.Seq2[B, error] {
	if seq == nil {
		panic("parallel: " + name + " of a nil sequence")
	}
	return func(yield func(B, error) bool) {
		s := newStream(o, name, f)
		run := o.Executor.Start(ctx, executor.With(s, executor.RunOptions{Workers: o.Workers}))
		defer func() {
			run.Cancel(errLeft) // does nothing if the run has ended
			s.release()
			_ = run.Wait()
		}()
		if s.each(seq, yield) {
			s.release()
			if err := run.Wait(); err != nil {
				var none B
				yield(none, err)
			}
		}
	}
}

// each passes the results on. It reports whether the loop goes on.
func (s *stream[A, B]) each(seq iter.Seq[A], yield func(B, error) bool) bool {
	if s.r == nil { // the run has not begun
		return true
	}
	for x := range seq {
		if s.Stopped() {
			break
		}
		s.begin(x)
		if !s.pass(yield, s.isDue) {
			return !s.abandoned
		}
		if s.Stopped() { // before seq is asked for another
			break
		}
	}
	s.pass(yield, s.isLeft)
	return !s.abandoned
}

// pass passes results on while there are such. It reports whether more may come: not if the loop was left, nor after
// the result of a call that was not made or has failed.
func (s *stream[A, B]) pass(yield func(B, error) bool, such func() bool) bool {
	for such() {
		y, ok := s.next()
		if !ok {
			return false
		}
		if s.abandoned = !yield(y, nil); s.abandoned {
			return false
		}
	}
	return true
}

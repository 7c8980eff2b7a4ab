//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// An aborter does what Shutdown does when its context has ended.
type aborter struct {
	done xatomic.Bool
}

func (a *aborter) abort(ex *Executor) {
	ex.refuse()
	ex.abort(ErrShutdown)
	a.done.Store(true)
}

// isAborted checks the error of something that Shutdown has refused or cancelled, or that has ended before.
func isAborted(err error, ran bool) {
	if err == nil {
		model.Assert(ran, "it has not run, and has no error")
		return
	}
	model.Assert(errors.Is(err, ErrShutdown) || !ran && errors.Is(err, ErrClosed), "ran: %v, error %v", ran, err)
}

// TestModelAbortRun: a run begins while Shutdown cancels all work. It is refused, cancelled, or over before.
func TestModelAbortRun(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var a aborter
		join := model.Go(func() { a.abort(ex) })
		j := newJob(func(*Worker) { a.done.Await() })
		err := ex.Run(context.Background(), j)
		model.Assert(err != nil, "the run goes on after abort, and is not cancelled")
		isAborted(err, j.ran > 0)
		join()
		stop(ex)
	})
}

// TestModelAbortNested: the same for a run that a task starts. The task's own run may end without an error before abort
// comes to it.
func TestModelAbortNested(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var a aborter
		inner := newJob(func(*Worker) { a.done.Await() })
		outer := newJob(func(*Worker) {
			err := ex.Run(context.Background(), inner)
			model.Assert(errors.Is(err, ErrShutdown), "the nested run ends with %v", err)
		})
		r := ex.Start(context.Background(), outer)
		join := model.Go(func() { a.abort(ex) })
		isAborted(r.Wait(), outer.ran > 0)
		join()
		stop(ex)
	})
}

// TestModelAbortFuture: a future begins while Shutdown cancels all work. If its function is called, it sees the end of
// its context, by Err or by the channel of Done.
func TestModelAbortFuture(t *testing.T) {
	for _, asksDone := range []bool{false, true} {
		onDefault(t, []int{1}, func(n int, p string) {
			ex := start(n, p)
			var a aborter
			join := model.Go(func() { a.abort(ex) })
			called := false
			f := Async(context.Background(), ex, func(ctx context.Context) (int, error) {
				called = true
				if !asksDone {
					a.done.Await()
					return 0, ctx.Err()
				}
				done := ctx.Done()
				a.done.Await()
				select {
				case <-done:
				default:
					model.Assert(false, "the channel is open after abort")
				}
				return 0, context.Cause(ctx)
			})
			_, err := f.Wait()
			if called && !asksDone {
				model.Assert(errors.Is(err, context.Canceled), "the context has not ended: %v", err)
			} else {
				model.Assert(err != nil, "not called, and no error")
				isAborted(err, called)
			}
			join()
			drained(ex)
		})
	}
}

// TestModelAbortForeign: a future that comes after a future of another executor is cancelled, although that one does
// not end.
func TestModelAbortForeign(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex, other := start(n, p), start(n, p)
		var a aborter
		var over xatomic.Bool
		var before *Future[int]
		model.Calm(func() {
			before = Async(context.Background(), other, func(context.Context) (int, error) {
				over.Await()
				return 7, nil
			})
		})
		join := model.Go(func() { a.abort(ex) })
		f := Async(context.Background(), ex, func(context.Context) (int, error) { panic("called") }, before)
		_, err := f.Wait()
		model.Assert(err != nil, "no error")
		isAborted(err, false)
		join()
		model.Calm(func() {
			over.Store(true)
			isSeven(before)
			death(other)
			death(ex)
		})
	})
}

// TestModelAbortGroup: functions of a group that have not begun when Shutdown cancels all work are skipped, whether
// they wait for their turn or not. Wait tells the cause, or that the second was refused before.
func TestModelAbortGroup(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var a aborter
		g := NewGroup(ex)
		g.SetLimit(1)
		ran := 0
		g.Go(func() error { // it may have begun
			ran++
			a.done.Await()
			return nil
		})
		join := model.Go(func() { a.abort(ex) })
		g.Go(func() error {
			ran++
			model.Assert(!a.done.Load(), "a function begins after abort")
			return nil
		})
		err := g.Wait()
		model.Assert(errors.Is(err, ErrShutdown) || ran < 2 && errors.Is(err, ErrClosed), "%d ran, Wait: %v", ran, err)
		join()
		stop(ex)
	})
}

// TestModelShutdown: Shutdown as a whole, with a run in progress, while its context ends. It returns when the executor
// is closed.
func TestModelShutdown(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		j := newJob(nothing)
		var r *Run
		model.Calm(func() { r = ex.Start(context.Background(), j) })
		ctx := newTerm()
		join := model.Go(ctx.end)
		err := ex.Shutdown(ctx)
		model.Assert(err == nil || errors.Is(err, ErrShutdown) && errors.Is(err, context.DeadlineExceeded),
			"Shutdown: %v", err)
		model.Assert(r.isOver() && j.ran == 1, "closed before the run is over")
		model.Assert(err != nil || r.Wait() == nil, "drained, and the run is cancelled: %v", r.Wait())
		join()
	})
}

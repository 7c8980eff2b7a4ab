//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// countedCall is a function for Async that must be called at most once.
func countedCall(calls *tally) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		times := calls.add()
		model.Assert(times == 1, "called %d times", times)
		return 7, nil
	}
}

func isSeven(f *Future[int]) {
	n, err := f.Wait()
	model.Assert(n == 7 && err == nil, "got %d, %v", n, err)
}

// drained stops the executor and checks that no future is counted any more.
func drained(ex *Executor) {
	stop(ex)
	model.Assert(ex.asyncs.left.Load() == 0, "%d futures are left", ex.asyncs.left.Load())
}

// TestModelAsync: futures from outside are called once each, every waiter sees the result, and Close, which is called
// at once, waits for the one without a waiter.
func TestModelAsync(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var calls [2]tally
		f := Async(context.Background(), ex, countedCall(&calls[0]))
		Async(context.Background(), ex, countedCall(&calls[1]))
		isSeven(f)
		death(ex)
		model.Assert(calls[0].get() == 1 && calls[1].get() == 1, "called %v", calls)
	})
}

// TestModelAsyncInside: a task waits for a future that it has started, on whichever worker the future is called.
func TestModelAsyncInside(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var calls tally
		j := newJob(func(*Worker) { isSeven(Async(context.Background(), ex, countedCall(&calls))) })
		j.ended(ex.Run(context.Background(), j))
		model.Assert(calls.get() == 1, "called %d times", calls.get())
		drained(ex)
	})
}

// TestModelAsyncAfter: a future that comes after two others begins once, when both have ended.
func TestModelAsyncAfter(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var calls [3]tally
		ctx := context.Background()
		a := Async(ctx, ex, countedCall(&calls[0]))
		b := Async(ctx, ex, countedCall(&calls[1]))
		isSeven(Async(ctx, ex, func(ctx context.Context) (int, error) {
			model.Assert(calls[0].get() == 1 && calls[1].get() == 1, "began after %v", calls)
			return countedCall(&calls[2])(ctx)
		}, a, b))
		drained(ex)
	})
}

// TestModelAsyncCancel: a cancelled future was called, or has an error that says that it was not. Waiters are told.
func TestModelAsyncCancel(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var calls tally
		f := Async(context.Background(), ex, countedCall(&calls))
		join := model.Go(func() { f.Cancel(nil) })
		v, err := f.Wait()
		if calls.get() == 1 {
			model.Assert(v == 7 && err == nil, "called, and ends with %d, %v", v, err)
		} else {
			model.Assert(errors.Is(err, context.Canceled), "not called, and ends with %v", err)
		}
		join()
		drained(ex)
	})
}

// TestModelAsyncSleeps: a worker that waits for a future that another worker has begun sleeps, and is woken at the end.
func TestModelAsyncSleeps(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var begun, release xatomic.Bool
		join := model.Go(func() {
			begun.Await()
			release.Store(true)
		})
		j := newJob(func(*Worker) {
			f := Async(context.Background(), ex, func(context.Context) (int, error) {
				begun.Store(true)
				release.Await()
				return 7, nil
			})
			begun.Await() // another worker has it
			isSeven(f)
		})
		j.ended(ex.Run(context.Background(), j))
		join()
		drained(ex)
	})
}

// TestModelOnEnd: a function is given to a run that is about to end, and is called once, after the end.
func TestModelOnEnd(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		j := newJob(nothing)
		r := ex.Start(context.Background(), j)
		var called xatomic.Int32
		join := model.Go(func() {
			r.OnEnd(func(err error) {
				model.Assert(r.isOver() && err == nil, "called before the end, or with %v", err)
				called.Add(1)
			})
		})
		j.ended(r.Wait())
		join()
		stop(ex)
		model.Assert(called.Load() == 1, "called %d times", called.Load())
	})
}

// TestModelAsyncAfterRun: a future comes after a run of its own executor. A task waits for it, with as few workers as
// one.
func TestModelAsyncAfterRun(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		inner := newJob(nothing)
		outer := newJob(func(*Worker) {
			r := ex.Start(context.Background(), inner)
			isSeven(Async(context.Background(), ex, func(context.Context) (int, error) {
				model.Assert(inner.ran == 1, "began after %d items of the run", inner.ran)
				return 7, nil
			}, r))
			inner.ended(r.Wait())
		})
		outer.ended(ex.Run(context.Background(), outer))
		drained(ex)
	})
}

// TestModelAsyncAfterForeignRun: a future comes after a run of another executor, which ends meanwhile.
func TestModelAsyncAfterForeignRun(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex, other := start(n, p), start(n, p)
		j := newJob(nothing)
		r := other.Start(context.Background(), j)
		isSeven(Async(context.Background(), ex, func(context.Context) (int, error) {
			model.Assert(j.ran == 1, "began after %d items of the run", j.ran)
			return 7, nil
		}, r))
		j.ended(r.Wait())
		drained(ex)
		stop(other)
	})
}

// TestModelAfterCancelled: a future is cancelled while what it comes after ends, and another comes after the same. The
// cancelled one is called at most once, the other once.
func TestModelAfterCancelled(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var calls [2]tally
		ctx := context.Background()
		gate := NewPromise[int](ctx, ex)
		f := Async(ctx, ex, countedCall(&calls[0]), gate.Future())
		cancel := model.Go(func() { f.Cancel(nil) })
		resolve := model.Go(func() { gate.Resolve(7) })
		isSeven(Async(ctx, ex, countedCall(&calls[1]), gate.Future()))
		cancel()
		resolve()
		called, err := f.Wait()
		model.Assert(err == nil == (calls[0].get() == 1) && (err != nil || called == 7), "got %d, %v", called, err)
		drained(ex)
	})
}

// A silent context has ended and tells nobody.
type silent struct{ context.Context }

func (silent) Err() error { return context.Canceled }

// TestModelAfterSweep: a future comes after a gate, which another future has come after whose context has ended, and
// which a sweep or the end of the gate ends.
func TestModelAfterSweep(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var calls [2]tally
		gate := NewPromise[int](context.Background(), ex)
		f := Async(silent{context.Background()}, ex, countedCall(&calls[0]), gate.Future())
		resolve := model.Go(func() { gate.Resolve(7) })
		isSeven(Async(context.Background(), ex, countedCall(&calls[1]), gate.Future()))
		resolve()
		_, err := f.Wait()
		model.Assert(errors.Is(err, context.Canceled) && calls[0].get() == 0, "got %v, called %d", err, calls[0].get())
		drained(ex)
	})
}

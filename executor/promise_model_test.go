//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// TestModelPromise: a promise is resolved while a future is to come after it. The future is called once, and Close,
// which is called at once, waits for it.
func TestModelPromise(t *testing.T) {
	onEach(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var calls tally
		promise := NewPromise[int](context.Background(), ex)
		join := model.Go(func() { model.Assert(promise.Resolve(7), "not resolved") })
		Async(context.Background(), ex, countedCall(&calls), promise.Future())
		isSeven(promise.Future())
		join()
		death(ex)
		model.Assert(calls.get() == 1, "called %d times", calls.get())
	})
}

// TestModelPromiseOnce: of two that resolve a promise and one that cancels it, one succeeds, and every waiter sees what
// it said.
func TestModelPromiseOnce(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		promise := NewPromise[int](context.Background(), ex)
		f := promise.Future()
		var first, told bool
		f.OnEnd(func(n int, err error) {
			model.Assert(!told && f.state.isOver() && (n == 7) == (err == nil), "told %d, %v", n, err)
			told = true
		})
		join := model.Go(func() { first = promise.Resolve(7) })
		leave := model.Go(func() { f.Cancel(nil) })
		second := promise.Resolve(7)
		v, err := f.Wait()
		join()
		leave()
		model.Assert(!(first && second), "resolved twice")
		model.Assert((first || second) == (v == 7 && err == nil), "resolved: %v, %v; ends with %d, %v", first, second, v, err)
		model.Assert(err == nil || errors.Is(err, context.Canceled), "ends with %v", err)
		model.Assert(told, "the function of OnEnd was not called")
		drained(ex)
	})
}

// TestModelPromiseInside: a task of the only worker waits for a future after a promise, which another thread resolves.
func TestModelPromiseInside(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		promise := NewPromise[int](context.Background(), ex)
		join := model.Go(func() { promise.Resolve(1) })
		var calls tally
		runJob(ex, func(*job, *Worker) {
			isSeven(Async(context.Background(), ex, countedCall(&calls), promise.Future()))
		})
		join()
		rest(ex) // the item of the future may be left: the task has made the call
	})
}

// TestModelAbortPromise: Shutdown cancels all work while a future is to come after a promise that nothing resolves. The
// future is refused or cancelled.
func TestModelAbortPromise(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var a aborter
		promise := NewPromise[int](context.Background(), ex)
		join := model.Go(func() { a.abort(ex) })
		f := Async(context.Background(), ex, func(context.Context) (int, error) { panic("called") }, promise.Future())
		_, err := f.Wait()
		model.Assert(err != nil, "no error")
		isAborted(err, false)
		join()
		_, err = promise.Future().Wait()
		model.Assert(errors.Is(err, ErrShutdown), "the promise ends with %v", err)
		model.Assert(!promise.Resolve(1), "resolved after abort")
		drained(ex)
	})
}

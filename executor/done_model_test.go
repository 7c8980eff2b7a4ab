//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// isOpen is for assertions about what has happened: it is no step of the program. Where another thread may be about to
// close the channel, the program asks xsync.IsClosed, so that both orders are tried.
func isOpen(c <-chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		return true
	}
}

// TestModelDone: two threads ask for the channel of Done while a promise is resolved. It is one channel, and it is
// closed when either sees the end.
func TestModelDone(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		promise := NewPromise[int](context.Background(), ex)
		f := promise.Future()
		ask := func() <-chan struct{} {
			done := f.Done()
			if f.state.isOver() {
				model.Assert(xsync.IsClosed(done), "over, and the channel is open")
			}
			return done
		}
		var other <-chan struct{}
		join := model.Go(func() { promise.Resolve(7) })
		leave := model.Go(func() { other = ask() })
		done := ask()
		join()
		leave()
		model.Assert(done == other && !isOpen(done), "two channels, or one that is open")
		isSeven(f)
		drained(ex)
	})
}

// TestModelDoneIsTheEnd: a thread that has seen the channel of Done closed sees the result, and what it gives to
// OnEnd is called at once.
func TestModelDoneIsTheEnd(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		promise := NewPromise[int](context.Background(), ex)
		f := promise.Future()
		join := model.Go(func() { promise.Resolve(7) })
		xsync.Await(f.Done(), nil)
		called := false
		f.OnEnd(func(n int, err error) {
			model.Assert(n == 7 && err == nil, "told %d, %v", n, err)
			called = true
		})
		model.Assert(called, "the function of OnEnd was not called")
		isSeven(f)
		join()
		drained(ex)
	})
}

// TestModelDoneThenWait: a worker waits for a future, which another worker has begun, between the moment at which the
// end closes the channel of Done and the end itself.
func TestModelDoneThenWait(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var begun xatomic.Bool
		j := newJob(func(*Worker) {
			f := Async(context.Background(), ex, func(context.Context) (int, error) {
				begun.Store(true)
				return 7, nil
			})
			done := f.Done()
			begun.Await() // another worker has it
			isSeven(f)
			model.Assert(!isOpen(done), "over, and the channel is open")
		})
		j.ended(ex.Run(context.Background(), j))
		drained(ex)
	})
}

// TestModelRunDone: the channel of a run's Done is closed when a thread sees the end.
func TestModelRunDone(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		j := newJob(nothing)
		r := ex.Start(context.Background(), j)
		done := r.Done()
		if r.isOver() {
			model.Assert(xsync.IsClosed(done), "over, and the channel is open")
		}
		j.ended(r.Wait())
		model.Assert(!isOpen(done), "over, and the channel is open")
		stop(ex)
	})
}

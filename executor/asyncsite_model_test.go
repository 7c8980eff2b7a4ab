//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onEachWithheldAsync explores a program whose futures are withheld, beside the clock.
func onEachWithheldAsync(t *testing.T, workers []int, program func(ex *Executor)) {
	onEachReceiving(t, workers, func(ex *Executor) {
		withClock(ex, func() {
			ex.HushAsyncs()
			program(ex)
		})
		stop(ex)
	})
}

// async starts a future of c, whose function has no error.
func async(ex *Executor, c *calls) *Future[int] {
	return Async(context.Background(), ex, func(context.Context) (int, error) { return 1, c.call() })
}

// got waits for a future without an error.
func got(f *Future[int]) {
	n, err := f.Wait()
	model.Assert(n == 1 && err == nil, "Wait: %d, %v", n, err)
}

// TestModelAsyncWithheld: a caller starts two futures and waits for them, while the clock ticks.
func TestModelAsyncWithheld(t *testing.T) {
	withheld, shown := 0, 0
	onEachWithheldAsync(t, []int{1, 2}, func(ex *Executor) {
		var a, b calls
		f, g := async(ex, &a), async(ex, &b)
		if ex.WithheldAsyncs() == 2 {
			withheld++
		} else {
			shown++
		}
		got(g)
		got(f)
		were(&a, &b)
	})
	model.Reached(t, withheld, "both futures are withheld")
	model.Reached(t, shown, "the clock shows a future")
}

// TestModelAsyncWithheldLate: the caller waits for what its function does in a way that the executor does not see. The
// clock shows the future (D6).
func TestModelAsyncWithheldLate(t *testing.T) {
	onEachWithheldAsync(t, []int{1, 2}, func(ex *Executor) {
		var done xatomic.Bool
		f := Async(context.Background(), ex, func(context.Context) (int, error) { done.Store(true); return 1, nil })
		done.Await()
		got(f)
	})
}

// TestModelAsyncsMeet: a future that the caller runs waits for what another of its site does, which is withheld. No
// clock ticks.
func TestModelAsyncsMeet(t *testing.T) {
	withheld := 0
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		ex.HushAsyncs()
		p := NewPromise[int](context.Background(), ex)
		var both [2]*Future[int]
		for i := range both {
			// One function, so that both are of one site.
			both[i] = Async(context.Background(), ex, func(context.Context) (int, error) {
				if i == 0 {
					return p.Future().Wait()
				}
				p.Resolve(1)
				return 1, nil
			})
		}
		if ex.WithheldAsyncs() == 2 {
			withheld++
		}
		got(both[0])
		got(both[1])
		stop(ex)
	})
	model.Reached(t, withheld, "both futures are withheld")
}

// TestModelAsyncWithheldShared: another thread waits for a future, or for its Done, while the caller waits for it, and
// no clock ticks.
func TestModelAsyncWithheldShared(t *testing.T) {
	for name, other := range map[string]func(ex *Executor, f *Future[int]){
		"Wait": func(_ *Executor, f *Future[int]) { got(f) },
		"Done": func(_ *Executor, f *Future[int]) { f.state.subscribeForWaiter() },
		"after": func(ex *Executor, f *Future[int]) {
			Async(context.Background(), ex, func(context.Context) (int, error) { return 0, nil }, f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withheld := 0
			onEachReceiving(t, []int{1}, func(ex *Executor) {
				ex.HushAsyncs()
				var a calls
				f := async(ex, &a)
				withheld += ex.WithheldAsyncs()
				join := model.Go(func() { other(ex, f) })
				got(f)
				join()
				were(&a)
				stop(ex)
			})
			model.Reached(t, withheld, "a future is withheld")
		})
	}
}

// TestModelAsyncWithheldInTask: a task waits for a future that is withheld, while another thread does, and the clock
// ticks.
func TestModelAsyncWithheldInTask(t *testing.T) {
	onEachWithheldAsync(t, []int{1, 2}, func(ex *Executor) {
		var a, b calls
		f := async(ex, &a)
		g := Async(context.Background(), ex, func(context.Context) (int, error) { got(f); return 1, b.call() })
		got(f)
		got(g)
		were(&a, &b)
	})
}

// TestModelAsyncWithheldCancelled: a future that is withheld is cancelled while the caller waits for it, and the clock
// ticks.
func TestModelAsyncWithheldCancelled(t *testing.T) {
	called, cancelled := 0, 0
	onEachWithheldAsync(t, []int{1}, func(ex *Executor) {
		var a calls
		f := async(ex, &a)
		join := model.Go(func() { f.Cancel(nil) })
		if _, err := f.Wait(); err != nil {
			cancelled++
			model.Assert(a.get() == 0, "the function was called, and Wait: %v", err)
		} else {
			called++
			were(&a)
		}
		join()
	})
	model.Reached(t, called, "the function is called")
	model.Reached(t, cancelled, "the future is cancelled")
}

// TestModelAsyncWithheldClose: the executor closes while a future is withheld, or about to be, that nobody waits for. No
// clock ticks.
func TestModelAsyncWithheldClose(t *testing.T) {
	withheld, refused := 0, 0
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		ex.HushAsyncs()
		var a calls
		join := model.Go(func() { death(ex) })
		f := async(ex, &a)
		withheld += ex.WithheldAsyncs()
		join()
		if n, err := f.Wait(); err == nil {
			model.Assert(n == 1, "Wait: %d", n)
			were(&a)
		} else {
			refused++
		}
	})
	model.Reached(t, withheld, "a future is withheld")
	model.Reached(t, refused, "a future is refused")
}

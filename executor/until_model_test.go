//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelAwait: a task waits for a state of a run that another worker brings about, and that worker does not go on
// before the wait has ended: D1(alert) pairs with D1(await).
func TestModelAwait(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		b := barrier{n: 2}
		var helper int
		var reached, seen xatomic.Bool
		pass := func(w *Worker) {
			b.meet(w)
			if w.Index() == helper {
				return
			}
			reached.Store(true)
			inner.Run().Alert()
			seen.Await()
		}
		inner.first = func(w *Worker) {
			inner.push(w, pass)
			pass(w)
		}
		outer.first = func(w *Worker) {
			helper = w.Index()
			r := ex.Start(context.Background(), inner)
			inner.r.Await(reached.Load)
			seen.Store(true)
			inner.ended(r.Wait())
		}
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelAwaitOutside: the same for a caller on no worker, D1(alarm), that waits for one state after the other.
func TestModelAwaitOutside(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		j := newJob(nil)
		var reached xatomic.Int32
		var seen xatomic.Bool
		j.first = func(*Worker) {
			reached.Store(1)
			j.Run().Alert()
			reached.Store(2)
			j.Run().Alert()
			seen.Await()
		}
		r := ex.Start(context.Background(), j)
		for state := range int32(2) {
			j.r.Await(func() bool { return reached.Load() > state })
		}
		seen.Store(true)
		j.ended(r.Wait())
		stop(ex)
	})
}

// TestModelAwaitOfTheEnd: a wait for a state that does not come ends with the run.
func TestModelAwaitOfTheEnd(t *testing.T) {
	onDefault(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		never := func() bool { return false }
		outer, inner := newJob(nil), newJob(nothing)
		outer.first = func(*Worker) {
			r := ex.Start(context.Background(), inner)
			inner.r.Await(never)
			inner.ended(r.Wait())
		}
		r := ex.Start(context.Background(), outer)
		outer.r.Await(never)
		outer.ended(r.Wait())
		stop(ex)
	})
}

//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelNested: a task waits for a run that it has started, with as few workers as one.
func TestModelNested(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		inner.first = func(w *Worker) { inner.push(w, nothing) }
		outer.first = func(*Worker) { inner.ended(ex.Run(context.Background(), inner)) }
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelHelperSleeps: a task waits for a run whose item another worker has, and has to be woken at its end or when
// it pushes something. Up to two sleeps, the helper's or a worker's, end for no reason.
func TestModelHelperSleeps(t *testing.T) {
	park.Spurious = true
	defer func() { park.Spurious = false }()
	onEach(t, []int{2}, helpsAThief)
}

// helpsAThief has a task wait for a run whose first item another worker has, and pushes an item for the waiting one.
func helpsAThief(n int, p string) {
	ex := start(n, p)
	outer, inner := newJob(nil), newJob(nil)
	b := barrier{n: 2}
	inner.first = func(w *Worker) {
		inner.push(w, b.meet)
		b.meet(w)
	}
	outer.first = func(*Worker) { inner.ended(ex.Run(context.Background(), inner)) }
	outer.ended(ex.Run(context.Background(), outer))
	stop(ex)
}

// TestModelHelperOfHelper: a helper finds the items of a run nested in the one that it waits for, on a worker that has
// run no other item of it.
func TestModelHelperOfHelper(t *testing.T) {
	onDefault(t, []int{3}, func(n int, p string) {
		ex := start(n, p)
		outer, inner, innermost := newJob(nil), newJob(nil), newJob(nil)
		b := barrier{n: 3}
		innermost.first = func(w *Worker) {
			innermost.push(w, func(w *Worker) {
				innermost.push(w, b.meet) // for the worker that waits for inner: the other two are here
				b.meet(w)
			})
			b.meet(w)
		}
		inner.first = func(*Worker) { innermost.ended(ex.Run(context.Background(), innermost)) }
		outer.first = func(*Worker) { inner.ended(ex.Run(context.Background(), inner)) }
		outer.ended(ex.Run(context.Background(), outer))
		stop(ex)
	})
}

// TestModelIsolation: a worker that waits for a run never runs an item of another, which here would wait for the task
// below it on the same stack for ever.
func TestModelIsolation(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nothing)
		var waiting xatomic.Bool
		helper := -1
		outer.first = func(w *Worker) {
			helper = w.Index()
			waiting.Store(true)
			inner.ended(ex.Run(context.Background(), inner))
			waiting.Store(false)
		}
		foreign := newJob(func(w *Worker) {
			model.Assert(!waiting.Load() || w.Index() != helper, "a helper runs a foreign item")
		})
		r := ex.Start(context.Background(), outer)
		foreign.ended(ex.Run(context.Background(), foreign))
		outer.ended(r.Wait())
		stop(ex)
	})
}

// TestModelIsolationFromOwn: the same for items that the task itself has made before it waits: one of its own run, and
// a run that it started after the one that it waits for.
func TestModelIsolationFromOwn(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		waiting, helper := false, 0
		foreign := func(w *Worker) {
			model.Assert(!waiting || w.Index() != helper,
				"a helper runs what does not belong to the run that it waits for")
		}
		outer, inner, other := newJob(nil), newJob(nothing), newJob(foreign)
		var r *Run
		outer.first = func(w *Worker) {
			outer.push(w, foreign)
			awaited := ex.Start(context.Background(), inner)
			r = ex.Start(context.Background(), other)
			waiting, helper = true, w.Index()
			inner.ended(awaited.Wait())
			waiting = false
		}
		outer.ended(ex.Run(context.Background(), outer))
		other.ended(r.Wait())
		stop(ex)
	})
}

// TestModelIsolationOfThieves: the same for items that a helper steals. Two tasks wait for one run, and one of them has
// pushed an item of its own before.
func TestModelIsolationOfThieves(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		awaited := newJob(nil)
		awaited.first = func(w *Worker) { awaited.push(w, nothing) }
		var r *Run
		var started xatomic.Bool // publishes r
		var waiting [2]bool      // each worker's own
		wait := func(w *Worker) {
			started.Await()
			waiting[w.Index()] = true
			awaited.ended(r.Wait())
			waiting[w.Index()] = false
		}
		j1, j2 := newJob(wait), newJob(nil)
		j2.first = func(w *Worker) {
			j2.push(w, func(w *Worker) { model.Assert(!waiting[w.Index()], "a helper runs a foreign item that it stole") })
			wait(w)
		}
		r1, r2 := ex.Start(context.Background(), j1), ex.Start(context.Background(), j2)
		r = ex.Start(context.Background(), awaited)
		started.Store(true)
		j1.ended(r1.Wait())
		j2.ended(r2.Wait())
		stop(ex)
	})
}

// TestModelWaitForOutsiders: a task waits for a run whose first item lies in the injector, and no other worker is there
// to take it.
func TestModelWaitForOutsiders(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		outer, other := newJob(nil), newJob(nothing)
		var r *Run
		var started xatomic.Bool // publishes r
		outer.first = func(*Worker) {
			started.Await()
			other.ended(r.Wait())
		}
		first := ex.Start(context.Background(), outer)
		r = ex.Start(context.Background(), other)
		started.Store(true)
		outer.ended(first.Wait())
		stop(ex)
	})
}

// TestModelVisit: two workers that share a bit begin to run items of a run at the same time. When either goes on, the
// run around it has the bit too (I5).
func TestModelVisit(t *testing.T) {
	model.Check(t, func() {
		outer, inner := &Run{}, &Run{}
		inner.parent.Store(outer)
		visit := func(id int) {
			inner.visit(&Worker{id: id})
			model.Assert(outer.visited.Load() == 1, "worker %d is not known to the outer run", id)
		}
		join := model.Go(func() { visit(64) })
		visit(0)
		join()
	})
}

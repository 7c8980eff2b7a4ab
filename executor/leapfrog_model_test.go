//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelLeapfrogSleeps: a joiner takes what the thief has forked, whenever the thief forks it: the two calls meet.
func TestModelLeapfrogSleeps(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var stolen xatomic.Bool
		met := barrier{n: 2}
		inner := func(*Scope, int) int { met.meet(nil); return 1 }
		outer := func(s *Scope, n int) int {
			stolen.Store(true)
			g := Fork(s, inner, n)
			met.meet(nil)
			return g.Join(s) + 1
		}
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, outer, 0)
			stolen.Await()
			model.Assert(f.Join(s) == 2, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelLeapfrogPushed: as TestModelLeapfrogSleeps, with forks that are pushed at once. The thief forks the same
// call twice, for forks of different levels: the first time it joins the call itself.
func TestModelLeapfrogPushed(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p, Forks: "pushed"}})
		var stolen, joined xatomic.Bool
		met := barrier{n: 2}
		one := func(*Scope, int) int { return 1 }
		inner := func(_ *Scope, meets int) int {
			if meets == 1 {
				met.meet(nil)
			}
			return 1
		}
		outer := func(s *Scope, meets int) int {
			stolen.Store(true)
			f := Fork(s, one, 0) // the slow way: s has no pool yet
			g := Fork(s, inner, meets)
			if meets == 1 {
				met.meet(nil)
			}
			r := g.Join(s) + f.Join(s)
			joined.Store(true)
			return r
		}
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, outer, 0)
			joined.Await()
			model.Assert(f.Join(s) == 2, "the wrong result")
			stolen.Store(false)
			f = Fork(s, one, 0)
			g := Fork(s, outer, 1)
			stolen.Await()
			model.Assert(g.Join(s) == 2 && f.Join(s) == 1, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelLeapfrogIntoANestedRun: a joiner takes part in a run that the thief has started, also in its second one, and
// leaves it when there is no more work. Otherwise that run, which the thief waits for, would not end.
func TestModelLeapfrogIntoANestedRun(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var stolen xatomic.Bool
		met := barrier{n: 2}
		before, inner := newJob(nothing), newJob(nil)
		inner.first = func(w *Worker) {
			inner.push(w, met.meet)
			met.meet(w)
		}
		outer := func(*Scope, int) int {
			stolen.Store(true)
			before.ended(ex.Run(context.Background(), before))
			inner.ended(ex.Run(context.Background(), inner))
			return 1
		}
		err := scoped(ex, func(s *Scope) error {
			f := Fork(s, outer, 0)
			stolen.Await()
			model.Assert(f.Join(s) == 1, "the wrong result")
			return nil
		})
		model.Assert(err == nil, "error %v", err)
		stop(ex)
	})
}

// TestModelGoexitInALeapfrog: an item that a Wait takes from the thief of a child ends the Wait by Goexit. Children
// that Wait has joined before are not waited for again.
func TestModelGoexitInALeapfrog(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var stolen xatomic.Bool
		err := scoped(ex, func(s *Scope) error {
			s.Spawn(func(s *Scope) error {
				stolen.Store(true)
				s.Go(func(context.Context) error { runtime.Goexit(); return nil })
				return nil
			})
			stolen.Await()
			s.Go(func(context.Context) error { return nil })
			return s.Wait()
		})
		model.Assert(errors.Is(err, ErrGoexit), "error %v", err)
		stop(ex)
	})
}

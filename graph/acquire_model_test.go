//go:build modelcheck

package graph

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelAcquire: two chains of two tasks share a permit from their first to their last, and a word that only the
// permit orders. Both run, one after the other, and no wake-up is lost.
func TestModelAcquire(t *testing.T) {
	onDefaults(t, []int{1, 2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		s := NewSemaphore(1)
		g := New("g")
		model.Calm(func() {
			add := func(context.Context) error { word.Set(word.Get() + 1); return nil }
			for range 2 {
				g.Task(add).Acquire(s).Precede(g.Task(add).Release(s))
			}
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && word.Get() == 4, "%d tasks ran, error %v", word.Get(), err)
		model.Assert(s.free == 1 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
	})
}

// TestModelAcquireTwo: two tasks, which may run on two workers, release what the task before them has acquired. What
// that task acquires is known to be the run's before one of them can release it.
func TestModelAcquireTwo(t *testing.T) {
	onDefaults(t, []int{2}, func(ex *executor.Executor) {
		s := NewSemaphore(2)
		g := New("g")
		model.Calm(func() {
			first := g.Task(noTask).Acquire(s, s)
			first.Precede(g.Task(noTask).Release(s), g.Task(noTask).Release(s))
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && s.free == 2, "%d permits at the end, error %v", s.free, err)
	})
}

// TestModelAcquireKept: two runs acquire a permit that none of their tasks releases. The second gets it when the first
// ends, and a caller that has waited for both finds it free.
func TestModelAcquireKept(t *testing.T) {
	onDefaults(t, []int{1, 2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		s := NewSemaphore(1)
		var runs [2]*executor.Run
		model.Calm(func() {
			for i := range runs {
				g := New("g")
				g.Task(func(context.Context) error { word.Set(word.Get() + 1); return nil }).Acquire(s)
				model.Assert(g.Validate() == nil, "Validate")
				runs[i] = ex.Start(context.Background(), g)
			}
		})
		err := errors.Join(runs[0].Wait(), runs[1].Wait())
		model.Assert(err == nil && word.Get() == 2, "%d tasks ran, error %v", word.Get(), err)
		model.Assert(s.free == 1 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
	})
}

// TestModelSemaphoreByHand: a task, and two calls of Acquire of which one may be cancelled, want the same permit. The
// task and the other call get it.
func TestModelSemaphoreByHand(t *testing.T) {
	onDefaults(t, []int{1}, func(ex *executor.Executor) {
		ran := 0
		s := NewSemaphore(1)
		var r *executor.Run
		model.Calm(func() {
			g := New("g")
			g.Task(func(context.Context) error { ran++; return nil }).Hold(s)
			s.TryAcquire(1)
			r = ex.Start(context.Background(), g)
		})
		end := newSignal()
		join1 := model.Go(func() {
			if s.Acquire(signalled{context.Background(), end}, 1) == nil {
				s.Release(1)
			}
		})
		join2 := model.Go(func() {
			model.Assert(s.Acquire(context.Background(), 1) == nil, "Acquire failed")
			s.Release(1)
		})
		s.Release(1)
		end.make()
		err := r.Wait()
		join1()
		join2()
		model.Assert(err == nil && ran == 1, "the task ran %d times, error %v", ran, err)
		model.Assert(s.free == 1 && s.byHand == 0 && len(s.waiting) == 0, "%d permits, %d by hand, %d waiting", s.free,
			s.byHand, len(s.waiting))
	})
}

// signalled is a context that ends with a signal.
type signalled struct {
	context.Context
	end *signal
}

func (c signalled) Done() <-chan struct{} { return c.end.made }

func (c signalled) Err() error {
	select {
	case <-c.end.made:
		return context.Canceled
	default:
		return nil
	}
}

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

// TestModelSemaphore: two tasks share a permit, and a word that only the permit orders. Each runs once, never at the
// same time as the other, and no wake-up is lost.
func TestModelSemaphore(t *testing.T) {
	onExecutors(t, []int{1, 2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		s := NewSemaphore(1)
		g := New("g")
		model.Calm(func() {
			for range 2 {
				g.Task(func(context.Context) error { word.Set(word.Get() + 1); return nil }).Hold(s)
			}
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && word.Get() == 2, "%d tasks ran, error %v", word.Get(), err)
		model.Assert(s.free == 1 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
	})
}

// TestModelSemaphores: two tasks need the same two permits, named in opposite order. Neither holds one while it waits
// for the other.
func TestModelSemaphores(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		a, b := NewSemaphore(1), NewSemaphore(1)
		g := New("g")
		model.Calm(func() {
			add := func(context.Context) error { word.Set(word.Get() + 1); return nil }
			g.Task(add).Hold(a, b)
			g.Task(add).Hold(b, a)
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && word.Get() == 2, "%d tasks ran, error %v", word.Get(), err)
		model.Assert(a.free == 1 && b.free == 1, "%d and %d permits at the end", a.free, b.free)
	})
}

// TestModelSemaphoreStop: a task fails while others wait for a permit that a task of another run holds. Its run ends
// although the permit is not given back before.
func TestModelSemaphoreStop(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		whim := errors.New("whim")
		s := NewSemaphore(1)
		s.free = 0 // the permit is held
		ran := 0
		g := New("g")
		model.Calm(func() {
			g.Task(func(context.Context) error { return whim })
			g.Task(func(context.Context) error { ran++; return nil }).Hold(s)
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(errors.Is(err, whim) && ran == 0, "%d tasks ran, error %v", ran, err)
		model.Assert(s.free == 0 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
	})
}

// TestModelSemaphorePassesOn: the permit is given back while tasks of two runs wait for it. One run is cancelled at
// some moment, perhaps after its task was woken. The other gets the permit.
func TestModelSemaphorePassesOn(t *testing.T) {
	onDefaults(t, []int{1, 2}, func(ex *executor.Executor) {
		s := NewSemaphore(1)
		s.free = 0 // the permit is held
		ran := [2]int{}
		var runs [2]*executor.Run
		model.Calm(func() {
			for i := range runs {
				g := New("g")
				g.Task(func(context.Context) error { ran[i]++; return nil }).Hold(s)
				runs[i] = ex.Start(context.Background(), g)
			}
			for {
				s.mu.Lock()
				n := len(s.waiting)
				s.mu.Unlock()
				if n == 2 { // of two runs
					break
				}
				model.Spin()
			}
		})
		join := model.Go(func() { runs[0].Cancel(nil) })
		s.give(1)
		err := runs[1].Wait()
		model.Assert(err == nil && ran[1] == 1, "the second ran %d times, error %v", ran[1], err)
		_ = runs[0].Wait()
		join()
		model.Assert(s.free == 1 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
	})
}

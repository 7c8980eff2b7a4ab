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

// nothingInRanks checks that a run of g has left no task in its queues.
func nothingInRanks(g *Graph) {
	model.Assert(g.levels != nil && len(g.states) == 1 && g.states[0].leftInRanks() == 0, "%d tasks left",
		LeftInRanks(g))
}

// TestModelPriority: three tasks of different priorities run once each, whichever worker runs the tickets, and the run
// does not end before.
func TestModelPriority(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		var ran [3]xatomic.Plain[int]
		g := New("g")
		model.Calm(func() {
			for i := range ran {
				g.Task(func(context.Context) error { ran[i].Set(ran[i].Get() + 1); return nil }).
					Priority(Low + Priority(i))
			}
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil, "error %v", err)
		for i := range ran {
			model.Assert(ran[i].Get() == 1, "task %d ran %d times", i, ran[i].Get())
		}
		nothingInRanks(g)
	})
}

// TestModelPriorityStop: one of three tasks fails, and the tickets of the skipped tasks are used up all the same.
func TestModelPriorityStop(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		whim := errors.New("whim")
		g := New("g")
		model.Calm(func() {
			for i := range 3 {
				g.Task(func(context.Context) error {
					if i == 1 {
						return whim
					}
					return nil
				}).Priority(Low + Priority(i))
			}
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(errors.Is(err, whim), "error %v", err)
		nothingInRanks(g)
	})
}

// TestModelPriorityAside: two tasks of different priorities share a permit, and a word that only the permit orders. A
// task that is put aside comes back with a ticket.
func TestModelPriorityAside(t *testing.T) {
	onExecutors(t, both, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		s := NewSemaphore(1)
		g := New("g")
		model.Calm(func() {
			for _, p := range []Priority{Low, High} {
				g.Task(func(context.Context) error { word.Set(word.Get() + 1); return nil }).Hold(s).Priority(p)
			}
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && word.Get() == 2, "%d tasks ran, error %v", word.Get(), err)
		model.Assert(s.free == 1 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
		nothingInRanks(g)
	})
}

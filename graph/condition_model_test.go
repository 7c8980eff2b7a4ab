//go:build modelcheck

package graph

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelCondition: a loop of two rounds, whose body is two tasks side by side and one that joins them. Every task
// runs twice, after its predecessors, and the run does not end before.
func TestModelCondition(t *testing.T) {
	onExecutors(t, []int{1, 2}, func(ex *executor.Executor) {
		var left, right, joined xatomic.Plain[int]
		count := func(word *xatomic.Plain[int]) func(context.Context) error {
			return func(context.Context) error { word.Set(word.Get() + 1); return nil }
		}
		const rounds = 2
		g := New("g")
		model.Calm(func() {
			head := g.Task(noTask)
			a, b := g.Task(count(&left)), g.Task(count(&right))
			join := g.Task(func(context.Context) error {
				joined.Set(joined.Get() + 1)
				model.Assert(left.Get() == joined.Get() && right.Get() == joined.Get(), "joined after %d and %d",
					left.Get(), right.Get())
				return nil
			})
			again := g.Condition(func(context.Context) (int, error) {
				if joined.Get() < rounds {
					return 0, nil
				}
				return 1, nil
			})
			g.Task(noTask).Precede(head)
			head.Precede(a, b)
			join.Succeed(a, b)
			join.Precede(again)
			again.Precede(head)
			model.Assert(g.Validate() == nil, "Validate: %v", g.Validate())
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && joined.Get() == rounds, "%d rounds, error %v", joined.Get(), err)
	})
}

// TestModelMultiCondition: two tasks are chosen. If one fails, the other may run or not. The run ends when both have
// ended.
func TestModelMultiCondition(t *testing.T) {
	whim := errors.New("whim")
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprint("fails=", fails), func(t *testing.T) {
			onExecutors(t, []int{2}, func(ex *executor.Executor) {
				var ran [3]xatomic.Plain[bool]
				g := New("g")
				model.Calm(func() {
					c := g.MultiCondition(func(context.Context) ([]int, error) { return []int{2, 0}, nil })
					for i := range ran {
						c.Precede(g.Task(func(context.Context) error {
							model.Assert(!ran[i].Get(), "task %d ran twice", i)
							ran[i].Set(true)
							if fails && i == 0 {
								return whim
							}
							return nil
						}))
					}
					model.Assert(g.Validate() == nil, "Validate")
				})
				err := ex.Run(context.Background(), g)
				model.Assert(!ran[1].Get() && (fails || ran[0].Get() && ran[2].Get()), "ran %v", ran)
				model.Assert(errors.Is(err, whim) == (fails && ran[0].Get()), "error %v", err)
			})
		})
	}
}

// TestModelOverlap: a task runs twice at once, and its successor counts each end, also an end that comes before the
// successor, which an earlier end made ready, has armed its join counter again.
func TestModelOverlap(t *testing.T) {
	onExecutors(t, []int{2}, func(ex *executor.Executor) {
		var ends, joins xatomic.Int32
		g := New("g")
		model.Calm(func() {
			both := g.MultiCondition(func(context.Context) ([]int, error) { return []int{0, 1}, nil })
			task := g.Task(func(context.Context) error { ends.Add(1); return nil })
			join := g.Task(func(context.Context) error { joins.Add(1); return nil })
			task.Precede(join, join)
			for range 2 {
				one := g.Condition(func(context.Context) (int, error) { return 0, nil })
				both.Precede(one)
				one.Precede(task)
			}
			model.Assert(g.Validate() == nil, "Validate: %v", g.Validate())
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && ends.Load() == 2 && joins.Load() == 2, "%d ends, %d joins, error %v", ends.Load(),
			joins.Load(), err)
	})
}

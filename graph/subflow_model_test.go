//go:build modelcheck

package graph

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelDetachedSubflow: a task waits for a run with a detached subflow inside a detached subflow. The run ends
// after both, and the waiting worker takes part in them.
func TestModelDetachedSubflow(t *testing.T) {
	onExecutors(t, []int{1, 2}, func(ex *executor.Executor) {
		var first, second xatomic.Plain[bool]
		set := func(word *xatomic.Plain[bool]) func(context.Context) error {
			return func(context.Context) error { word.Set(true); return nil }
		}
		inner, g := New("inner"), New("g")
		model.Calm(func() {
			inner.DetachedSubflow(func(_ context.Context, sub *Graph) error {
				sub.DetachedSubflow(func(_ context.Context, sub *Graph) error {
					begin := sub.Task(noTask)
					// The inner one comes from the deque, when the outer one is over.
					begin.Precede(sub.Task(set(&first)), sub.Task(set(&second)))
					return nil
				})
				return nil
			})
			g.Task(func(ctx context.Context) error {
				err := ex.Run(ctx, inner)
				model.Assert(err == nil && first.Get() && second.Get(), "over before %v, %v, or error %v", first,
					second, err)
				return nil
			})
			model.Assert(g.Validate() == nil && inner.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil, "error %v", err)
	})
}

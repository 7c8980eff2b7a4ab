//go:build modelcheck

package graph

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/model"
)

// TestModelHeldUp: the only worker waits, inside a task, for a run that is held up: by a permit that another run has
// until a task of it is run, or by an external task that a task of another run ends (D1(hold)).
func TestModelHeldUp(t *testing.T) {
	bg := context.Background()
	none := func(context.Context) error { return nil }
	for _, c := range []struct {
		name string
		make func(inner *Graph) (frees func(context.Context) error)
	}{
		{"permit", func(inner *Graph) func(context.Context) error {
			s := NewSemaphore(1)
			s.TryAcquire(1)
			inner.Task(none).Hold(s)
			return func(context.Context) error { s.Release(1); return nil }
		}},
		{"external", func(inner *Graph) func(context.Context) error {
			end := make(chan func(error), 1)
			inner.External(func(_ context.Context, done func(error)) error { end <- done; return nil })
			return func(context.Context) error { (<-end)(nil); return nil }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onDefaults(t, []int{1}, func(ex *executor.Executor) {
				var held, frees *executor.Run
				inner, outer, last := New("inner"), New("outer"), New("last")
				model.Calm(func() {
					end := c.make(inner)
					last.Task(end)
					outer.Task(func(ctx context.Context) error {
						r := ex.Start(ctx, inner)
						frees = ex.Start(bg, last)
						return r.Wait()
					})
				})
				held = ex.Start(bg, outer)
				err := held.Wait()
				model.Assert(err == nil, "%v", err)
				err = frees.Wait()
				model.Assert(err == nil, "%v", err)
			})
		})
	}
}

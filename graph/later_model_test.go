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

// TestModelSubflow: the task after a subflow in a subflow begins when the tasks of both have ended.
func TestModelSubflow(t *testing.T) {
	onExecutors(t, []int{1, 2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		g := New("g")
		model.Calm(func() {
			add := func(context.Context) error { word.Set(word.Get() + 1); return nil }
			flow := g.Subflow(func(_ context.Context, sub *Graph) error {
				inner := sub.Subflow(func(_ context.Context, sub *Graph) error { sub.Task(add); return nil })
				inner.Precede(sub.Task(add))
				return nil
			})
			flow.Precede(g.Task(add))
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && word.Get() == 3, "%d tasks ran, error %v", word.Get(), err)
	})
}

// TestModelSubflowLimit: two subflows share a permit, and their tasks a word that only the permit orders. Each gives
// the permit back once.
func TestModelSubflowLimit(t *testing.T) {
	onDefaults(t, []int{1, 2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		s := NewSemaphore(1)
		g := New("g")
		model.Calm(func() {
			for range 2 {
				g.Subflow(func(_ context.Context, sub *Graph) error {
					sub.Task(func(context.Context) error { word.Set(word.Get() + 1); return nil })
					return nil
				}).Hold(s)
			}
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), g)
		model.Assert(err == nil && word.Get() == 2, "%d tasks ran, error %v", word.Get(), err)
		model.Assert(s.free == 1 && len(s.waiting) == 0, "%d permits at the end, %d waiting", s.free, len(s.waiting))
	})
}

// An outsider calls done of an external task from another thread.
type outsider struct {
	done  func(error)
	given xatomic.Bool
}

func (o *outsider) start(_ context.Context, done func(error)) error {
	o.done = done
	o.given.Store(true)
	return nil
}

func (o *outsider) call(err error) {
	o.given.Await()
	o.done(err)
}

// TestModelExternal: another thread ends an external task before, while or after its function returns.
func TestModelExternal(t *testing.T) {
	onExecutors(t, []int{1, 2}, func(ex *executor.Executor) {
		var word xatomic.Plain[int]
		var o outsider
		g := New("g")
		model.Calm(func() {
			g.External(o.start).Precede(g.Task(func(context.Context) error { word.Set(word.Get() + 1); return nil }))
			model.Assert(g.Validate() == nil, "Validate")
		})
		join := model.Go(func() { word.Set(1); o.call(nil) })
		err := ex.Run(context.Background(), g)
		join()
		model.Assert(err == nil && word.Get() == 2, "word %d, error %v", word.Get(), err)
	})
}

// TestModelExternalStop: a run with an external task that nobody ends is cancelled at some moment. It ends, and a later
// call of done does nothing.
func TestModelExternalStop(t *testing.T) {
	onDefaults(t, []int{1}, func(ex *executor.Executor) {
		var o outsider
		g := New("g")
		model.Calm(func() {
			g.External(o.start)
			model.Assert(g.Validate() == nil, "Validate")
		})
		r := ex.Start(context.Background(), g)
		join := model.Go(func() { r.Cancel(nil) })
		err := r.Wait()
		join()
		model.Assert(errors.Is(err, context.Canceled), "error %v", err)
		if o.given.Load() {
			o.done(nil)
		}
	})
}

// TestModelExternalEnds: a run is cancelled while another thread calls done: the task ends once.
func TestModelExternalEnds(t *testing.T) {
	onDefaults(t, []int{1}, func(ex *executor.Executor) {
		var o outsider
		g := New("g")
		var r *executor.Run
		model.Calm(func() {
			g.External(o.start)
			r = ex.Start(context.Background(), g)
			o.given.Await()
		})
		join := model.Go(func() { r.Cancel(nil) })
		o.done(nil)
		err := r.Wait()
		join()
		model.Assert(err == nil || errors.Is(err, context.Canceled), "error %v", err)
	})
}

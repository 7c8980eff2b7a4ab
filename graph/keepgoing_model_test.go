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

// TestModelKeepGoing: of two tasks before a third one fails. The third is skipped, and so is the task after it,
// whichever worker finds them ready. A task that depends on the other alone runs. The next run of the same state skips
// nothing.
func TestModelKeepGoing(t *testing.T) {
	onDefaults(t, []int{1, 2}, func(ex *executor.Executor) {
		var beside xatomic.Plain[int]
		fails, failsNext := errors.New("fails"), error(nil)
		g := New("g")
		var late int
		model.Calm(func() {
			after := func(context.Context) error { late++; return nil }
			bad := g.Task(func(context.Context) error { return fails })
			good := g.Task(func(context.Context) error { beside.Set(1); return nil })
			third := g.Task(after)
			third.Succeed(bad, good)
			third.Precede(g.Task(after))
			good.Precede(g.Task(func(context.Context) error { beside.Set(beside.Get() + 1); return failsNext }))
			model.Assert(g.Validate() == nil, "Validate")
		})
		err := ex.Run(context.Background(), KeepGoing(g))
		var report *Report
		model.Assert(errors.As(err, &report), "error %v", err)
		model.Assert(len(report.Failed) == 1 && len(report.Skipped) == 2, "%v", report)
		model.Assert(beside.Get() == 2 && late == 0, "beside %d, after the failure %d", beside.Get(), late)
		model.Calm(func() { fails, failsNext = nil, fails })
		err = ex.Run(context.Background(), KeepGoing(g))
		model.Assert(errors.As(err, &report) && len(report.Skipped) == 0 && late == 2, "%d, error %v", late, err)
	})
}

// TestModelKeepGoingTwice: two tasks fail at the same time. The task after each of them is skipped, and that after
// both, once.
func TestModelKeepGoingTwice(t *testing.T) {
	onDefaults(t, []int{2}, func(ex *executor.Executor) {
		g := New("g")
		ran := false
		model.Calm(func() {
			fails := func(context.Context) error { return errors.New("fails") }
			after := func(context.Context) error { ran = true; return nil }
			one, other := g.Task(fails), g.Task(fails)
			g.Task(after).Succeed(one, other)
			g.Task(after).Succeed(one)
			g.Task(after).Succeed(other)
			model.Assert(g.Validate() == nil, "Validate")
		})
		var report *Report
		r := ex.Start(context.Background(), KeepGoing(g))
		err := r.Wait()
		model.Assert(errors.As(err, &report) && !ran, "ran %v, error %v", ran, err)
		model.Assert(len(report.Failed) == 2 && len(report.Skipped) == 3, "%v", report)
		p := r.Progress()
		model.Assert(p.Failed == 2 && p.Skipped == 3 && p.Done == 0 && p.Left == 0, "%+v", p)
	})
}

// TestModelKeepGoingPriority: of tasks with several priorities, those after a failed one become ready and are skipped.
func TestModelKeepGoingPriority(t *testing.T) {
	onDefaults(t, []int{1, 2}, func(ex *executor.Executor) {
		g := New("g")
		ran := false
		model.Calm(func() {
			after := func(context.Context) error { ran = true; return nil }
			bad := g.Task(func(context.Context) error { return errors.New("fails") })
			third := g.Task(after).Priority(High)
			third.Succeed(bad, g.Task(noTask))
			third.Precede(g.Task(after))
			model.Assert(g.Validate() == nil, "Validate")
		})
		var report *Report
		r := ex.Start(context.Background(), KeepGoing(g))
		err := r.Wait()
		model.Assert(errors.As(err, &report) && !ran, "ran %v, error %v", ran, err)
		model.Assert(len(report.Failed) == 1 && len(report.Skipped) == 2, "%v", report)
		p := r.Progress()
		model.Assert(p.Done == 1 && p.Failed == 1 && p.Skipped == 2 && p.Left == 0, "%+v", p)
	})
}

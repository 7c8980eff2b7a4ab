//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A witness is an observer that checks that all events come between Attach and Detach, and ends after begins.
type witness struct {
	attached, detached xatomic.Plain[bool]
	begun, ended       xatomic.Int32 // runs
	tasks              xatomic.Int32 // between begin and end
}

// sees is called in each function of the observer but Attach and Detach. Attach happens before it, and it happens
// before Detach, or the accesses of the plain words race.
func (o *witness) sees() {
	model.Assert(o.attached.Get() && !o.detached.Get(), "an event before Attach or after Detach")
}

func (o *witness) observer() *Observer {
	return &Observer{
		Attach: func(*Executor) {
			model.Assert(!o.attached.Get(), "a second Attach")
			o.attached.Set(true)
		},
		Detach: func() {
			o.sees()
			model.Assert(o.begun.Load() == o.ended.Load() && o.tasks.Load() == 0, "the end of a run or task is not told")
			o.detached.Set(true)
		},
		RunBegin: func(*Event) {
			o.sees()
			o.begun.Add(1)
		},
		RunEnd: func(e *Event) {
			r := e.Run
			o.sees()
			model.Assert(r.isOver() && o.ended.Add(1) <= o.begun.Load(), "a run ends before it is over, or before its begin")
		},
		TaskBegin: func(*Event) {
			o.sees()
			o.tasks.Add(1)
		},
		TaskEnd: func(*Event) {
			o.sees()
			model.Assert(o.tasks.Add(-1) >= 0, "a task ends before its begin")
		},
		Steal:  func(*Event) { o.sees() },
		Park:   func(*Event) { o.sees() },
		Unpark: func(*Event) { o.sees() },
	}
}

// TestModelObserved: an observed executor is made, runs a job, and closes, at once or after the run.
func TestModelObserved(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		var o witness
		ex, err := New(Config{
			Workers:    n,
			Experiment: experiment.Options{Policy: p},
			Host:       host.Options{KeepGOMAXPROCS: true},
			Observers:  []*Observer{o.observer()},
		})
		model.Assert(err == nil, "New: %v", err)
		model.Assert(o.attached.Get(), "New returns before Attach has")
		j := newJob(nothing)
		r := ex.Start(context.Background(), j)
		death(ex)
		model.Assert(o.detached.Get() && o.ended.Load() == 1, "Close returns before Detach has")
		j.ended(r.Wait())
	})
}

// TestModelObservedFuture: the observer is told of a future that ends while the executor closes.
func TestModelObservedFuture(t *testing.T) {
	onDefault(t, []int{1, 2}, func(n int, p string) {
		var o witness
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p}, Observers: []*Observer{o.observer()}})
		var calls tally
		f := Async(context.Background(), ex, countedCall(&calls))
		death(ex)
		model.Assert(o.detached.Get() && o.tasks.Load() == 0, "Close returns before Detach has")
		isSeven(f)
	})
}

// TestModelObserverEndsLate: RunEnd is called by the thread that ends the run, which here is that of Wait, while the
// executor closes. Close waits for it.
func TestModelObserverEndsLate(t *testing.T) {
	late := 0
	onDefault(t, []int{1}, func(n int, p string) {
		var o witness
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p}, Observers: []*Observer{o.observer()}})
		g := NewGroup(ex)
		var over xatomic.Bool
		g.Go(func() error { return nil })
		join := model.Go(func() {
			waited(g)
			over.Store(true)
		})
		death(ex)
		if !over.Load() {
			late++
		}
		model.Assert(o.detached.Get() && o.ended.Load() == 1, "Close returns before the end of the run is told")
		join()
	})
	model.Reached(t, late, "Close returns before Wait")
}

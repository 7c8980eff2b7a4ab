package bench

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/internal/plan"
)

// An orderCheck is a Work with the graph of another, whose tasks check the order in which they run.
//
// A task stamps itself when it starts. Before it ends it looks at the stamps of its successors: all must be missing. If
// a task starts before one of its predecessors has finished, that predecessor sees the stamp. So every edge is checked,
// in every run, whatever the timing.
type orderCheck struct {
	workloads.Work
	plan   *plan.Plan
	starts []atomic.Uint32 // by task: how often it has started

	early atomic.Pointer[plan.Edge] // an edge whose order was violated
}

// newOrderCheck builds the graph of w with tasks that check.
func newOrderCheck(name string, w workloads.Work) (*orderCheck, Target, error) {
	o := &orderCheck{Work: w}
	t, _, err := describe(name, o)
	if err != nil {
		return nil, Target{}, err
	}
	o.plan = t.Plan
	o.starts = make([]atomic.Uint32, t.Plan.Len())
	return o, t, nil
}

func (o *orderCheck) Body(i int) plan.Func {
	return func(context.Context) error {
		o.visit(uint32(i))
		return nil
	}
}

func (o *orderCheck) visit(task uint32) {
	o.starts[task].Add(1)
	for _, s := range o.plan.Successors(task) {
		if o.starts[s].Load() != 0 {
			o.early.CompareAndSwap(nil, &plan.Edge{From: task, To: s})
		}
	}
}

func (o *orderCheck) Reset() {
	clear(o.starts)
	o.early.Store(nil)
}

func (o *orderCheck) Verify() error {
	if e := o.early.Load(); e != nil {
		return fmt.Errorf("task %d started before its predecessor %d had finished", e.To, e.From)
	}
	for i := range o.starts {
		if n := o.starts[i].Load(); n != 1 {
			return fmt.Errorf("task %d ran %d times", i, n)
		}
	}
	return nil
}

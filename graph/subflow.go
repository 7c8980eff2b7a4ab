package graph

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/plan"
)

// A subflow builds a graph while it runs.
type subflow func(ctx context.Context, sub *Graph) error

// Subflow adds a task that builds a graph while it runs: fn adds tasks to sub, which run when fn has returned. The
// successors of the task come after all of them. The graph is built anew each time.
//
// Subflows may be nested to any depth that fits into memory, some kilobytes a level, in time linear in the depth: while
// the tasks of sub run, the subflow's task holds no worker and no stack. It holds the permits of its [Task.Hold].
// Observers are told of its end when fn has returned. The walk of a long list needs no memory for each element with
// [Graph.DetachedSubflow], or in a loop, see [Graph.Condition].
//
// If fn returns an error, no task of sub runs. A failure of a task of sub is a [*TaskError] that is wrapped in one of
// the subflow's task. After fn has returned, a call that changes sub, runs it or makes it a module panics. Subflow
// panics if fn is nil.
func (g *Graph) Subflow(fn func(ctx context.Context, sub *Graph) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(subflow(fn))
}

// DetachedSubflow adds a task like [Graph.Subflow], except that the successors of the task wait only for fn. The tasks
// of sub run beside them, and only the run, or the enclosing subflow, waits for the tasks of sub. Their failures are
// failures of the task. A detached subflow inside a detached subflow becomes a part of the same run or subflow, so each
// may start the next without end. DetachedSubflow panics if fn is nil.
func (g *Graph) DetachedSubflow(fn func(ctx context.Context, sub *Graph) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(detached(fn))
}

func (fn subflow) run(ctx context.Context, w *executor.Worker, r *runState, i uint32) error {
	job, err := fn.build(ctx, r, i)
	if job == nil {
		return err
	}
	return r.startPart(w, i, job, false)
}

// build returns the graph that fn has built, or nil if there is nothing to run. The graph can then not be used.
func (fn subflow) build(ctx context.Context, r *runState, i uint32) (job *partJob, err error) {
	owner, own := r.graph.origin(i)
	built := newBuiltPart(owner.ownName(own))
	sub := &built.graph
	defer func() {
		if job == nil {
			sub.seal()
		}
	}()
	if err = fn(ctx, sub); err == nil && sub.Len() > 0 {
		job = &built.job
		sub.sealed = true // from its Begin on
	}
	return job, err
}

// A builtPart is the part that a subflow builds. It is one allocation, of 512 bytes, with room for two tasks: of
// subflows in subflows many may be in progress.
type builtPart struct {
	graph Graph
	job   partJob
	funcs [2]plan.Func
}

func newBuiltPart(name string) *builtPart {
	b := &builtPart{}
	b.graph.name, b.graph.funcs, b.job.Graph = name, b.funcs[:0], &b.graph
	return b
}

type detached subflow

func (fn detached) run(ctx context.Context, w *executor.Worker, r *runState, i uint32) error {
	job, err := subflow(fn).build(ctx, r, i)
	if job == nil {
		return err
	}
	return r.startPart(w, i, job, true)
}

// A partOf says what the run of a subflow, or of a module that is run as a whole, is a part of: the run around it and
// the task in that run. The part ends the task or, if it is detached, is counted in left of the run around it from
// before its graph begins until that has ended.
type partOf struct {
	of      *runState
	task    uint32
	lateEnd *lateEnd // of the task; nil if the part is detached
}

// startPart starts job, which has a graph and nothing else, as a part of task i of r. If the task is to end later it
// returns errLater.
func (r *runState) startPart(w *executor.Worker, i uint32, job *partJob, isDetached bool) error {
	job.part = partOf{of: r, task: i}
	around := &job.part
	switch {
	case !isDetached:
		job.lateEnd = newLateEnd(r, i)
		around.lateEnd = &job.lateEnd
		r.later.Add(1)
		r.local(w).detach() // the part comes before the rest of a span, as in push
	case r.part.of != nil && r.part.lateEnd == nil:
		*around = r.part
		fallthrough
	default:
		around.of.left.In(1) // what calls this holds a unit there
	}
	defer func() { // also if the caller's context panics
		if job.begun {
			return
		}
		if job.Graph.sealed {
			job.Graph.seal()
		}
		if isDetached {
			around.of.left.Out(1) // not the end, for the same reason
		} else {
			r.later.Add(-1)
		}
	}()
	run := around.of.Run().StartWithin(around.of.ctx.Get(), job)
	switch {
	case !job.begun:
		return run.Wait()
	case !isDetached:
		return errLater
	}
	return nil
}

// ended ends the part with the result of its run, on worker w.
func (p partOf) ended(w *executor.Worker, err error) {
	if p.lateEnd != nil {
		p.lateEnd.err = p.of.bare(p.task, err)
		p.of.Run().Resume(w, &p.lateEnd.Item)
		return
	}
	if err != nil {
		p.of.failLate(p.task, err)
	}
	if p.of.left.Out(1) {
		p.of.finish(w)
	}
}

// A partJob is a graph that runs as a part.
type partJob struct {
	*Graph
	part    partOf
	lateEnd lateEnd
	begun   bool
}

// Begin implements executor.Job.
func (j *partJob) Begin(run *executor.JobRun) (*executor.Item, error) {
	first, err := j.Graph.begin(run, j.part.of, j.part.of.keeping != nil)
	if first != nil {
		j.begun = true
		stateOf(first.Body).part = j.part
	}
	return first, err
}

// seal forbids the use of g, whose function has returned.
func (g *Graph) seal() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sealed, g.frozen = true, true
}

// checkSealed panics if g is the graph of a subflow whose function has returned.
func (g *Graph) checkSealed() {
	if g.sealed {
		panic(fmt.Sprintf("graph %q: the graph of a subflow is used after the subflow's function has returned: "+
			"it has run, or runs; build another", g.name))
	}
}

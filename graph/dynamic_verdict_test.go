package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// verdict returns an error if an execution that is over violates the documentation.
func (x *execution) verdict() error {
	if x.wrong != nil {
		return x.wrong
	}
	r, err := x.replay()
	x.replayed = r
	if err != nil {
		return err
	}
	if err := x.fewAtOnce(); err != nil {
		return err
	}
	if err := r.skipped(); err != nil {
		return err
	}
	if x.result == nil {
		return x.complete()
	}
	if len(r.runs) == 0 || r.runs[0].root != x.root {
		return x.stoppedBy(x.result) // before anything ran
	}
	if err := r.explained(r.runs[0], x.result); err != nil {
		return err
	}
	return r.nothingIsLost()
}

// complete checks that a run without an error has run all tasks, as often as the oracle, and that none failed.
func (x *execution) complete() error {
	for _, v := range x.vertices {
		if v.does != stands && x.times[v] != x.expected[v] {
			return fmt.Errorf("no error, and task %d ran %d times, not %d", v.id, x.times[v], x.expected[v])
		}
	}
	for _, f := range x.log {
		if f.fate != well || f.halted {
			return fmt.Errorf("no error, and task %d did not end well: fate %d, cancelled %v", f.v.id, f.fate, f.halted)
		}
	}
	if slices.ContainsFunc(x.stops, func(s stop) bool { return !s.outside }) {
		return errors.New("a task ended the run, and the result does not tell")
	}
	return nil
}

// fewAtOnce checks that no more tasks are in progress at a time than there are workers.
func (x *execution) fewAtOnce() error {
	var all []change
	for _, f := range x.log {
		all = append(all, change{f.start, 1}, change{f.end, -1})
	}
	if at, most := highest(all); most > x.ex.Workers() {
		return fmt.Errorf("%d tasks were in progress at %d, on %d workers", most, at, x.ex.Workers())
	}
	return nil
}

// skipped checks the tasks that begin after a run has been stopped: each worker may begin one, except the worker that
// has stopped the run. A single worker begins none after a failure.
func (r *replay) skipped() error {
	workers := r.x.ex.Workers()
	for _, run := range r.runs {
		for _, f := range run.firings {
			if !f.late && !(f.fate.isFailure() && workers == 1) {
				continue
			}
			after := 0
			for _, other := range run.firings {
				if other.start > f.end {
					after++
				}
			}
			if after >= workers {
				return fmt.Errorf("%d tasks began after task %d had seen its run stopped at %d", after, f.v.id, f.end)
			}
		}
	}
	return nil
}

// explained checks that the result of a run that has failed agrees with the events of the run.
func (r *replay) explained(run *rerun, result error) error {
	run.claimed = true
	r.claims = append(r.claims, func() { run.claimed = false })
	if isJoinOfOne(result) {
		return errors.New("an error that joins only one")
	}
	err, cause := run.ctx.Err(), context.Cause(run.ctx)
	failed, rest := parts(result)
	places := make([][]int, len(failed)) // that each may have among the failures
	for i, f := range failed {
		var err error
		bare := run.bare(f)
		for _, own := range slices.Backward(bare) {
			if err = r.happened(run, own); err == nil {
				places[i] = run.places(own)
				break
			}
		}
		if err != nil {
			return err
		}
		if errors.Is(f, executor.ErrGoexit) && r.x.isUnwound() { // happened may have taken it for another's
			for _, own := range bare {
				places[i] = append(places[i], run.places(own)...)
			}
		}
	}
	for _, f := range run.firings {
		if f.fate.isFailure() && f.reported == nil && !f.isEcho(err, cause) {
			return fmt.Errorf("the failure of task %d at %d is not told by the result of its run: %w", f.v.id, f.end,
				result)
		}
	}
	if !areInOrder(places) {
		return fmt.Errorf("failures are not in the order of tasks: %w", result)
	}
	switch {
	case len(rest) > 1 || len(rest)+len(failed) == 0:
		return fmt.Errorf("%d parts of the result are not failures of tasks: %w", len(rest), result)
	case len(rest) == 0 && !slices.ContainsFunc(failed, func(f *graph.TaskError) bool { return f == cause }):
		return fmt.Errorf("the context's cause is not what stopped the run: %w", cause)
	case len(rest) == 0:
		return nil
	case !isCancellation(rest[0], err, cause):
		return fmt.Errorf("the context says %w, cause %w, the result: %w", err, cause, rest[0])
	case run == r.runs[0]:
		return r.x.stoppedBy(rest[0])
	}
	// It can only have been stopped by the end of a run around it.
	if !slices.ContainsFunc(r.runs,
		func(other *rerun) bool { return other != run && context.Cause(other.ctx) == cause }) {
		return fmt.Errorf("nobody has stopped the run of %s: %w", run.root.name, rest[0])
	}
	return nil
}

// isCancellation reports whether e is the error of a run that was cancelled with err, for that cause.
func isCancellation(e, err, cause error) bool {
	joined, ok := e.(interface{ Unwrap() []error })
	return ok && slices.Equal(joined.Unwrap(), []error{err, cause}) && strings.HasPrefix(e.Error(), "run of ")
}

// stoppedBy checks that the whole was stopped by one of the acts that stop it.
func (x *execution) stoppedBy(e error) error {
	joined, ok := e.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 2 || !x.canHaveStopped(joined.Unwrap()[0], joined.Unwrap()[1]) {
		return fmt.Errorf("nothing that can have stopped the run is told by: %w", e)
	}
	return nil
}

// bare returns the failure without those of modules in whose copies the task may be, each time one less.
func (run *rerun) bare(e *graph.TaskError) (all []*graph.TaskError) {
	in, name := run.root, run.name()
	for {
		all = append(all, e)
		inner, wraps := e.Err.(*graph.TaskError)
		i := slices.IndexFunc(in.vertices, func(v *vertex) bool {
			return v.does == stands && v.label() == e.Task && name == e.Graph && len(v.limits) == 0 && !v.child.chooses
		})
		if !wraps || i < 0 {
			return all
		}
		in, e = in.vertices[i].child, inner
		name = in.name
	}
}

// areInOrder reports whether failures may be in the order of their tasks. Each may have one of several places.
func areInOrder(places [][]int) bool {
	last := 0
	for _, of := range places {
		next := slices.DeleteFunc(slices.Clone(of), func(place int) bool { return place < last })
		if len(next) == 0 {
			return false
		}
		last = slices.Min(next)
	}
	return true
}

// places returns the positions that a failure may have among those of a run. Several tasks may have one name. Failures
// of modules' tasks come last.
func (run *rerun) places(e *graph.TaskError) (all []int) {
	for _, v := range run.root.vertices {
		if v.label() == e.Task && run.name() == e.Graph {
			all = append(all, v.index)
		}
	}
	if len(all) == 0 {
		all = []int{len(run.root.vertices)}
	}
	return all
}

// name is that of the graph.
func (run *rerun) name() string {
	if run.flow != nil {
		return run.flow.v.label()
	}
	return run.root.name
}

// happened checks that a reported failure is that of a task of the run, or of a run that the task waited for.
func (r *replay) happened(run *rerun, told *graph.TaskError) error {
	for _, f := range run.firings {
		if f.reported != nil || !f.fate.isFailure() || f.v.label() != told.Task || f.graphName() != told.Graph {
			continue
		}
		f.reported = told
		if f.isReportedWell(told.Graph) == nil {
			r.claims = append(r.claims, func() { f.reported = nil })
			return nil
		}
		f.reported = nil
	}
	if errors.Is(told.Err, executor.ErrGoexit) && r.x.isUnwound() {
		return nil // a task that it waited for has called Goexit on its stack
	}
	var why error
	for _, inner := range r.runs {
		if inner.claimed || inner == r.runs[0] || !r.isInside(inner, run, told.Task) {
			continue
		}
		before := len(r.claims)
		if why = r.explained(inner, told.Err); why == nil {
			return nil
		}
		for _, undo := range r.claims[before:] {
			undo()
		}
		r.claims = r.claims[:before]
	}
	return fmt.Errorf("nothing like this failure has happened: %.300v (%w)", told, why)
}

// graphName returns the name of the graph of the firing's task.
func (f *firing) graphName() string {
	if f.flow != nil {
		return f.flow.v.label()
	}
	return f.v.block.name
}

// isInside reports whether a run can be that of a task of another.
func (r *replay) isInside(inner, run *rerun, task string) bool {
	if inner.flow != nil {
		return inner.flow.ctx == run.ctx && inner.flow.v.label() == task
	}
	return inner.root.name == task
}

// isUnwound reports whether Goexit may have unwound tasks that waited.
func (x *execution) isUnwound() bool {
	return slices.ContainsFunc(x.log, func(f *firing) bool { return f.fate == exited || f.fate == panickedOrExited })
}

// nothingIsLost checks that every run with a failure is reported, unless the failure only repeats why an outer run was
// stopped, or no task waited for the run any more.
func (r *replay) nothingIsLost() error {
	for _, run := range r.runs {
		if run.claimed || r.x.isUnwound() {
			continue
		}
		for _, f := range run.firings {
			if f.fate == panicked || f.fate.isFailure() && !r.isEchoed(run) {
				return fmt.Errorf("the failure of task %d at %d is not told", f.v.id, f.end)
			}
		}
	}
	return nil
}

// isEchoed reports whether the result of a run may only repeat why another was stopped.
func (r *replay) isEchoed(run *rerun) bool {
	byNothing := slices.ContainsFunc(r.x.stops, func(s stop) bool { return s.cause == context.Canceled })
	return slices.ContainsFunc(r.runs, func(other *rerun) bool {
		err, cause := other.ctx.Err(), context.Cause(other.ctx)
		if other == run || cause == context.Canceled && !byNothing { // or it just ended
			return false
		}
		return context.Cause(run.ctx) == cause ||
			slices.ContainsFunc(run.firings, func(f *firing) bool { return f.isEcho(err, cause) })
	})
}

package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// check compares the history and the result of a run with the documentation.
func (h *history) check(t testing.TB, err error) {
	t.Helper()
	if wrong := h.verdict(err); wrong != nil {
		require.FailNow(t, wrong.Error(), "%v\nresult: %v", h, err)
	}
}

// verdict returns an error if the tasks or the result of a run that is over violate the documentation.
func (h *history) verdict(err error) error {
	if err := h.ordered(); err != nil {
		return err
	}
	if err := h.fewAtOnce(); err != nil {
		return err
	}
	if err := h.skipped(); err != nil {
		return err
	}
	return h.explained(err)
}

// ordered checks that each task is run at most once, after its predecessors, and only if they ended well. It is not run
// if one of them stopped the run: the task is released after that.
func (h *history) ordered() error {
	for i := range h.tasks {
		e := &h.tasks[i]
		if runs := e.runs.Load(); runs > 1 {
			return fmt.Errorf("task %d ran %d times", i, runs)
		}
		if e.fate == unbegun {
			continue
		}
		for _, p := range h.m.preds[i] {
			switch pred := &h.tasks[p]; {
			case pred.fate == unbegun:
				return fmt.Errorf("task %d ran, its predecessor %d did not", i, p)
			case pred.fate.isFailure():
				return fmt.Errorf("task %d ran after the failure of its predecessor %d", i, p)
			case pred.halted:
				return fmt.Errorf("task %d ran after its predecessor %d had cancelled the run", i, p)
			case pred.end > e.start:
				return fmt.Errorf("task %d began at %d, its predecessor %d ended at %d", i, e.start, p, pred.end)
			}
		}
	}
	return nil
}

// fewAtOnce checks that no more tasks are in progress at a time than there are workers.
func (h *history) fewAtOnce() error {
	change := make([]int8, h.clock.Load()+1)
	for i := range h.tasks {
		if e := &h.tasks[i]; e.fate != unbegun {
			change[e.start]++
			change[e.end]--
		}
	}
	inside, most := 0, 0
	for _, c := range change {
		inside += int(c)
		most = max(most, inside)
	}
	if most > h.workers() {
		return fmt.Errorf("%d tasks were in progress at a time, on %d workers", most, h.workers())
	}
	return nil
}

// skipped checks that a run that has been stopped skips tasks that have not started. A task has started if a worker has
// checked for the stop, so after the stop each worker may begin one, except the worker that has stopped the run.
func (h *history) skipped() error {
	after := func(stamp int64) (began int) {
		for i := range h.tasks {
			if h.tasks[i].start > stamp {
				began++
			}
		}
		return began
	}
	for _, s := range h.stops {
		if !s.told {
			continue
		}
		most := h.workers()
		if !s.outside {
			most--
		}
		if began := after(s.end); began > most {
			return fmt.Errorf("%d tasks began after the run was cancelled, on %d workers", began, h.workers())
		}
	}
	for i := range h.tasks {
		if e := &h.tasks[i]; e.late && after(e.end) >= h.workers() {
			return fmt.Errorf("%d tasks began after task %d had seen its context end, on %d workers", after(e.end), i,
				h.workers())
		}
	}
	if h.workers() > 1 {
		return nil // a failure becomes known some time after its stamp
	}
	for i := range h.tasks {
		if e := &h.tasks[i]; e.fate.isFailure() && after(e.end) > 0 {
			return fmt.Errorf("a task began after task %d had failed", i)
		}
	}
	return nil
}

// isJoinOfOne reports whether err, or an error that it joins, is a join of a single error.
func isJoinOfOne(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	return ok && (len(joined.Unwrap()) == 1 || slices.ContainsFunc(joined.Unwrap(), isJoinOfOne))
}

// explained checks that the result has all that happened, and nothing else.
func (h *history) explained(result error) error {
	if isJoinOfOne(result) {
		return errors.New("an error that joins only one")
	}
	failed, rest := parts(result)
	failures, complete := 0, true
	for i := range h.tasks {
		e := &h.tasks[i]
		complete = complete && e.fate != unbegun
		if e.fate.isFailure() {
			failures++
		}
		if len(failed) > 0 && failed[0].Task == h.m.names[i] {
			e.reported, failed = failed[0], failed[1:]
			if err := e.isReportedWell(h.m.g.Name()); err != nil {
				return fmt.Errorf("task %d: %w", i, err)
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("the failure of task %s is reported twice, or not in the order of tasks", failed[0].Task)
	}
	deliberate := slices.ContainsFunc(h.stops, func(s stop) bool { return !s.outside })
	if failures == 0 && len(h.stops) == 0 && h.outerErr == nil && !complete {
		return errors.New("nothing stopped the run, and tasks were left out")
	}
	switch {
	case len(rest) > 1:
		return fmt.Errorf("%d parts of the result are not failures of tasks", len(rest))
	case len(rest) == 1:
		return h.explainedByStop(rest[0])
	case failures > 0:
		return h.explainedByFailure()
	case deliberate:
		return errors.New("a task ended the run, and the result does not tell")
	case result != nil:
		return errors.New("an error without a cause")
	case !complete:
		return errors.New("a run without an error left tasks out")
	}
	if ctx := h.context(); ctx != nil && (ctx.Err() != context.Canceled || context.Cause(ctx) != context.Canceled) {
		return fmt.Errorf("after the run its context says %v, cause %v", ctx.Err(), context.Cause(ctx))
	}
	return nil
}

// explainedByStop checks a run that was first stopped by an act that is not a task's failure; cancelled has to report
// it.
func (h *history) explainedByStop(cancelled error) error {
	joined, ok := cancelled.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("a part of the result that is no task's failure: %w", cancelled)
	}
	inner := joined.Unwrap()
	if len(inner) != 2 || !strings.HasPrefix(cancelled.Error(), fmt.Sprintf("run of %q: %v", h.m.g.Name(), inner[0])) {
		return fmt.Errorf("not the error of a cancelled run: %w", cancelled)
	}
	err, cause := inner[0], inner[1]
	if !h.canHaveStopped(err, cause) {
		return fmt.Errorf("nothing that can have been the first to stop the run is told by: %w", cancelled)
	}
	ctx := h.context()
	if ctx == nil {
		return nil // no task ran
	}
	if gotErr, got := ctx.Err(), context.Cause(ctx); gotErr != err || got != cause {
		return fmt.Errorf("the context says %w, cause %w", gotErr, got)
	}
	return h.leavesOutEchoes(ctx, nil)
}

// canHaveStopped reports whether something other than a failure can have been the first to stop the run with err and
// cause.
func (h *history) canHaveStopped(err, cause error) bool {
	return h.outerErr != nil && err == h.outerErr && cause == h.outerCause || h.caller.canHaveStopped(err, cause)
}

// explainedByFailure checks a run that was first stopped by a task's failure.
func (h *history) explainedByFailure() error {
	ctx := h.context()
	cause := context.Cause(ctx)
	canBeFirst := false
	for i := range h.tasks {
		e := &h.tasks[i]
		late := slices.ContainsFunc(h.stops, func(s stop) bool { return s.end < e.end })
		if e.reported == nil || late {
			continue
		}
		canBeFirst = true
		if e.reported == cause {
			return h.leavesOutEchoes(ctx, e)
		}
	}
	if !canBeFirst {
		return errors.New("the result tells only of failures, and all of them " +
			"came after something else had stopped the run")
	}
	return fmt.Errorf("the context's cause is not what stopped the run: %w", cause)
}

// leavesOutEchoes checks that every failure is reported, except those that only repeat the context's error. The first
// is reported even if it looks like one of these.
func (h *history) leavesOutEchoes(ctx context.Context, first *entry) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || cause == nil {
		return fmt.Errorf("after the run its context says %v, cause %v", err, cause)
	}
	for i := range h.tasks {
		e := &h.tasks[i]
		if e == first || !e.fate.isFailure() {
			continue
		}
		echo := e.isEcho(err, cause)
		// It may fail at the same time as something else stops the run. Both are reported then. If a failure is what
		// stops the run, nobody knows when it does, but before a task sees it.
		beside := h.outerErr != nil || slices.ContainsFunc(h.stops, func(s stop) bool { return s.end > e.end }) ||
			first != nil && h.workers() > 1 && !e.late
		if echo && e.reported != nil && beside {
			continue
		}
		if echo == (e.reported != nil) {
			return fmt.Errorf("task %d: reported: %v, only repeats %q, cause %q: %v", i, e.reported != nil, err,
				cause, echo)
		}
	}
	return nil
}

// isEcho reports whether the task's error only repeats why the run was stopped: every part of it does.
func (e *entry) isEcho(err, cause error) bool {
	return e.fate == erred && !slices.ContainsFunc(partsOf(e.err, cause), func(part error) bool {
		_, panicked := part.(*executor.PanicError)
		return part != cause && (panicked || part != err)
	})
}

// partsOf lists the errors in the tree of err, down to cause.
func partsOf(err, cause error) (all []error) {
	switch e := err.(type) {
	case *executor.PanicError:
		return []error{e}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); err != cause && inner != nil {
			return partsOf(inner, cause)
		}
	case interface{ Unwrap() []error }:
		if err != cause {
			for _, inner := range e.Unwrap() {
				all = append(all, partsOf(inner, cause)...)
			}
			return all
		}
	}
	return []error{err}
}

// isReportedWell compares the report with the task's record.
func (e *entry) isReportedWell(graphName string) error {
	if e.reported.Graph != graphName {
		return fmt.Errorf("reported as of graph %q", e.reported.Graph)
	}
	got := e.reported.Err
	var p *executor.PanicError
	isPanic := errors.As(got, &p) && got == error(p)
	switch e.fate {
	case erred:
		if got == e.err {
			return nil
		}
	case exited, panickedOrExited:
		if got == executor.ErrGoexit || isPanic && e.fate == panickedOrExited {
			return nil
		}
	case panicked:
		if !isPanic {
			break
		}
		var nilPanic *runtime.PanicNilError
		if e.thrown != p.Value && !(e.thrown == nil && errors.As(got, &nilPanic)) {
			return fmt.Errorf("panicked with %v, reported with %v", e.thrown, p.Value)
		}
		if !bytes.Contains(p.Stack, []byte("graph_test.explode(")) {
			return fmt.Errorf("the stack does not show the panic: %s", p.Stack)
		}
		return nil
	}
	return fmt.Errorf("its end (%v, error %v) is reported as: %w", e.fate, e.err, got)
}

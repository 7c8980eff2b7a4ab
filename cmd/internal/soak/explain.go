package main

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// explain returns what is wrong with the result of a run in which ran tasks ran, or "".
func (l *lane) explain(ran int, err error) string {
	if err == nil {
		switch {
		case ran != l.Tasks:
			return "no error, and not all tasks ran"
		case len(l.failed) != 0:
			return "no error, and tasks have failed"
		case !l.began && l.Tasks != 0:
			return "no error, and the run never began"
		}
		return ""
	}
	if !l.began {
		switch {
		case ran != 0:
			return "tasks of a run that never began"
		case errors.Is(err, executor.ErrClosed) && l.life.closing.Load(), l.isCancellation(err):
			return ""
		}
		return "no reason not to begin"
	}
	// Every task that failed is in the result, and no other: no task here returns the context's error.
	for _, f := range l.failed {
		if !errors.Is(err, f) {
			return "a failure is not told: " + f.Error()
		}
	}
	if told := failuresOf(l.Name(), err); told != len(l.failed) {
		return "more tasks are told to have failed than did"
	}
	if len(l.failed) == 0 && !l.isCancellation(err) {
		return "no task failed, and nobody cancelled the run for that reason"
	}
	return ""
}

// isCancellation reports whether err says that the run was cancelled, and for a cause that there was.
func (l *lane) isCancellation(err error) bool {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	for _, c := range l.causes {
		if errors.Is(err, c) {
			return true
		}
	}
	return l.lenient
}

// failuresOf counts the task errors of one graph that err joins. Those of another graph may be the cause of a
// cancellation.
func failuresOf(graphName string, err error) int {
	switch e := err.(type) {
	case *graph.TaskError:
		if e.Graph == graphName {
			return 1
		}
	case interface{ Unwrap() []error }:
		n := 0
		for _, e := range e.Unwrap() {
			n += failuresOf(graphName, e)
		}
		return n
	}
	return 0
}

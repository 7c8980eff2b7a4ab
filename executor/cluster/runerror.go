package cluster

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A Reason is a class of failures of runs.
type Reason string

const (
	Failed    Reason = "task"     // a function has returned an error or panicked, and no retry was left
	Poison    Reason = "poison"   // a partition was given up: workers were lost with it, again and again
	Lost      Reason = "lost"     // the plan or an input was not found
	Corrupt   Reason = "corrupt"  // a record could not be read
	Deadline  Reason = "deadline" // the deadline has passed
	Cancelled Reason = "cancel"   // Handle.Cancel was called
	Gone      Reason = "gone"     // the run waited too long for a worker, or its records were removed
)

// A RunError says why a run has ended without results. It is a [context.Canceled] if the run was cancelled, and a
// [context.DeadlineExceeded] if its deadline has passed.
type RunError struct {
	Run    string
	Graph  string // its name
	Reason Reason
	Task   string // the call that has failed, if one has
	Worker string // the worker that has found that the run fails, if one has
	Text   string
}

func (e *RunError) Error() string {
	text := fmt.Sprintf("cluster: run %s of graph %q: %s: ", e.Run, e.Graph, e.Reason)
	if e.Task != "" { // then Text names it and the graph, as an error of an executor does
		text = fmt.Sprintf("cluster: run %s: ", e.Run)
	}
	if e.Worker != "" {
		return text + e.Text + " (worker " + e.Worker + ")"
	}
	return text + e.Text
}

// Is reports whether the error is target.
func (e *RunError) Is(target error) bool {
	return e.Reason == Cancelled && target == context.Canceled ||
		e.Reason == Deadline && target == context.DeadlineExceeded
}

// runError is the error of a run whose state is final, and not Done.
func runError(run string, s wire.State) error {
	e := &RunError{Run: run, Graph: s.Begin.Name, Text: "no reason was recorded"}
	if f := s.Error; f != nil {
		e.Reason, e.Task, e.Worker, e.Text = Reason(f.Reason), f.Task, f.Worker, f.Text
	}
	return e
}

package protocol

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// errDeadline is the cause of contexts whose deadline is that of the run.
var errDeadline = errors.New("the deadline of the run has passed")

// attempt runs the tasks and creates the output. It reports whether there is one already.
func (j *job) attempt(ctx context.Context, inputs []wire.Output) (had bool, err error) {
	until, stop, err := j.context(ctx)
	if err != nil {
		return false, err
	}
	defer stop()
	output, err := j.Runner.Run(until, j.m.Run, j.plan, j.m.Part, inputs)
	if err != nil {
		switch cause := context.Cause(until); {
		case errors.Is(cause, ErrEnded):
			return false, ErrEnded
		case errors.Is(cause, errDeadline):
			return false, j.fatal(false, wire.Deadline, cause.Error())
		}
		return false, err
	}
	output.V, output.Part, output.Worker = wire.Version, j.m.Part, j.Name
	err = j.Store.Create(ctx, OutputKey(j.m.Run, j.m.Part), wire.Encode(output))
	if errors.Is(err, ErrExists) { // C4: another worker was first, and successors may have read its output
		return true, nil
	}
	return false, err
}

// context returns the context of an attempt: it ends with the run, or at the deadline. That counts from the time of the
// Start message; both times are the server's (T1).
func (j *job) context(ctx context.Context) (context.Context, context.CancelFunc, error) {
	until, stop := j.States.Until(ctx, j.m.Run)
	limit := j.state.Begin.Deadline
	if limit == 0 {
		return until, stop, nil
	}
	left := limit - j.d.Stored().Add(j.d.Age()).Sub(j.state.Began)
	if left <= 0 {
		stop()
		return nil, nil, j.fatal(false, wire.Deadline, errDeadline.Error())
	}
	timed, cancel := context.WithTimeoutCause(until, left, errDeadline)
	return timed, func() { cancel(); stop() }, nil
}

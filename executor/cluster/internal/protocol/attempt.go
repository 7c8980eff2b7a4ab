package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// errDeadline is the cause of contexts whose deadline is that of the run.
var errDeadline = errors.New("the deadline of the run has passed")

// count counts an attempt on a redelivery before it begins: the worker of the delivery before may have died of the
// partition. tries are the attempts so far.
func (j *job) count(ctx context.Context, tries wire.Tries) (counted bool, err error) {
	if tries.Lost >= j.Limits.Lost {
		return false, j.fatal(true, wire.Poison, fmt.Sprintf("%d workers have been lost with it", tries.Lost+1))
	}
	if j.d.Deliveries() == 1 {
		return false, nil
	}
	_, err = j.amend(ctx, func(t *wire.Tries) { t.Lost++ })
	return true, err
}

// attempt runs the tasks and creates the output.
func (j *job) attempt(ctx context.Context, inputs []wire.Output) error {
	until, stop, err := j.context(ctx)
	if err != nil {
		return err
	}
	defer stop()
	output, err := j.Runner.Run(until, j.m.Run, j.plan, j.m.Part, inputs)
	if err != nil {
		switch cause := context.Cause(until); {
		case errors.Is(cause, ErrEnded):
			return ErrEnded
		case errors.Is(cause, errDeadline):
			return j.fatal(false, wire.Deadline, cause.Error())
		}
		return err
	}
	output.V, output.Part, output.Worker = wire.Version, j.m.Part, j.Name
	return j.Store.Create(ctx, OutputKey(j.m.Run, j.m.Part), wire.Encode(output))
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

// account records the error err of an attempt, which was counted or not, and returns it, or a fatal one.
func (j *job) account(ctx context.Context, err error, counted bool) error {
	var (
		task  *TaskError
		final *fatal
	)
	switch {
	case err == nil, errors.Is(err, ErrEnded), errors.As(err, &final):
		return err
	case errors.As(err, &task):
		return j.failed(ctx, task, counted)
	case counted: // the worker has not died
		_, amended := j.amend(ctx, comeBack)
		return errors.Join(err, amended)
	}
	return err
}

func comeBack(t *wire.Tries) { t.Lost = max(0, t.Lost-1) }

// failed records the failure of a function, and returns it, or a fatal error if it is not to be tried again.
func (j *job) failed(ctx context.Context, err *TaskError, counted bool) error {
	f := j.fatal(false, wire.Task, err.Err.Error())
	f.Task = err.Task
	if err.Permanent || j.part.Retries == 0 {
		return f
	}
	tries, amended := j.amend(ctx, func(t *wire.Tries) {
		t.Failed, t.Text = t.Failed+1, err.Error()
		if counted {
			comeBack(t)
		}
	})
	if amended == nil && tries.Failed > j.part.Retries {
		return f
	}
	return errors.Join(err, amended)
}

func (j *job) amend(ctx context.Context, change func(*wire.Tries)) (wire.Tries, error) {
	return amend(ctx, j.Store, triesKey(j.m.Run, j.m.Part), change)
}

func (j *job) fatal(bury bool, reason wire.Reason, text string) *fatal {
	return &fatal{bury, wire.Failure{Reason: reason, Part: j.m.Part, Text: text}}
}

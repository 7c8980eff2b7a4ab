package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// errDeadline is the cause of contexts whose deadline is that of the run.
var errDeadline = errors.New("the deadline of the run has passed")

// attempt runs the tasks. tries are the attempts so far. An attempt on a redelivery is counted before it begins: the
// worker of the delivery before may have died of the partition.
func (j *job) attempt(ctx context.Context, inputs []wire.Output, tries wire.Tries) (wire.Output, error) {
	if tries.Lost >= j.Limits.Lost {
		return wire.Output{}, j.fatal(true, wire.Poison, fmt.Sprintf("%d workers have been lost with it", tries.Lost+1))
	}
	ctx, stop, err := j.context(ctx)
	if err != nil {
		return wire.Output{}, err
	}
	defer stop()
	counted := j.d.Deliveries() > 1
	if counted {
		if _, err := j.amend(ctx, func(t *wire.Tries) { t.Lost++ }); err != nil {
			return wire.Output{}, err
		}
	}
	output, err := j.Runner.Run(ctx, j.m.Run, j.plan, j.m.Part, inputs)
	switch cause := context.Cause(ctx); {
	case err == nil:
		return output, nil
	case errors.Is(cause, ErrEnded):
		return output, ErrEnded
	case errors.Is(cause, errDeadline):
		return output, j.fatal(false, wire.Deadline, cause.Error())
	}
	return output, j.failed(context.WithoutCancel(ctx), err, counted)
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

// failed records that the attempt has failed with err. The attempt was counted as lost if counted.
func (j *job) failed(ctx context.Context, err error, counted bool) error {
	var task *TaskError
	if !errors.As(err, &task) {
		if counted {
			_, amended := j.amend(ctx, func(t *wire.Tries) { t.Lost = max(0, t.Lost-1) })
			return errors.Join(err, amended)
		}
		return err
	}
	f := j.fatal(false, wire.Task, task.Err.Error())
	f.Task = task.Task
	if task.Permanent || j.part.Retries == 0 {
		return f
	}
	tries, amended := j.amend(ctx, func(t *wire.Tries) {
		t.Failed, t.Text = t.Failed+1, task.Error()
		if counted {
			t.Lost = max(0, t.Lost-1)
		}
	})
	switch {
	case amended != nil:
		return errors.Join(err, amended)
	case tries.Failed > j.part.Retries:
		return f
	}
	return err
}

func (j *job) amend(ctx context.Context, change func(*wire.Tries)) (wire.Tries, error) {
	return amend(ctx, j.Store, triesKey(j.m.Run, j.m.Part), change)
}

func (j *job) fatal(bury bool, reason wire.Reason, text string) *fatal {
	return &fatal{bury, wire.Failure{Reason: reason, Part: j.m.Part, Text: text}}
}

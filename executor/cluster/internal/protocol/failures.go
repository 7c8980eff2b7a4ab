package protocol

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A fatal error ends the run.
type fatal struct {
	bury bool // the message is worth keeping
	wire.Failure
}

func (f *fatal) Error() string { return string(f.Reason) + ": " + f.Text }

func (j *job) fatal(bury bool, reason wire.Reason, text string) *fatal {
	part := j.m.Part
	if j.m.Kind == wire.Start {
		part = -1
	}
	return &fatal{bury, wire.Failure{Reason: reason, Part: part, Worker: j.Name, Text: short(text)}}
}

// maxText is how many bytes of a text a record has. Arbitrary: a stack is shorter, and records of 1 MiB, which servers
// refuse, are far away however JSON escapes it.
const maxText = 64 << 10

// short returns the beginning of a text, which functions and callers write, so that its record can be written.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// fail ends the run. A dead letter comes first: after the state that says so, a redelivery drops the message (P5).
func (j *job) fail(ctx context.Context, f *fatal) error {
	if f.bury {
		if err := j.bury(ctx, f, j.m.ID()); err != nil {
			return err
		}
	}
	failed := wire.State{V: wire.Version, Phase: wire.Failed, Plan: j.m.Plan, Error: &f.Failure}
	_, err := conclude(ctx, j.Store, j.m.Run, wire.Failed, &f.Failure, failed)
	return err
}

// bury makes a dead letter of the message.
func (j *job) bury(ctx context.Context, why error, id string) error {
	return j.Store.Bury(ctx, Letter{Raw: j.d.Raw(), Deliveries: j.d.Deliveries(), Why: why.Error(), ID: id})
}

// count counts a redelivery as lost before anything of it can kill the worker: the one of the delivery before may have
// died of it. account takes that back.
func (j *job) count(ctx context.Context) error {
	if j.d.Deliveries() == 1 {
		return nil
	}
	tries, err := j.amend(ctx, func(t *wire.Tries) { t.Lost++ })
	if err != nil {
		return err
	}
	if tries.Lost > j.Limits.Lost {
		return j.fatal(true, wire.Poison, fmt.Sprintf("%d workers have been lost with it", tries.Lost))
	}
	j.counted = true
	return nil
}

// account records what has come of a delivery. It returns err, or a fatal error if a function has failed for the last
// time.
func (j *job) account(ctx context.Context, err error) error {
	var (
		task  *TaskError
		final *fatal
	)
	switch {
	case err == nil, errors.Is(err, ErrEnded), errors.As(err, &final):
		return err
	case errors.As(err, &task):
		return j.failed(ctx, task)
	case j.counted:
		_, amended := j.amend(ctx, j.comeBack)
		return errors.Join(err, amended)
	}
	return err
}

// comeBack takes back that the delivery was counted: the worker has not died of it.
func (j *job) comeBack(t *wire.Tries) {
	if j.counted {
		t.Lost = max(0, t.Lost-1)
	}
}

// failed records the failure of a function, and returns it, or a fatal error if it is not to be tried again.
func (j *job) failed(ctx context.Context, err *TaskError) error {
	f := j.fatal(false, wire.Task, err.Err.Error())
	f.Task = err.Task
	if err.Permanent || j.part.Retries == 0 {
		return f
	}
	tries, amended := j.amend(ctx, func(t *wire.Tries) {
		t.Failed, t.Text = t.Failed+1, short(err.Error())
		j.comeBack(t)
	})
	if amended == nil && tries.Failed > j.part.Retries {
		return f
	}
	return errors.Join(err, amended)
}

// missing handles an error of loading what the message needs. It counts what is missing: stores may be behind.
func (j *job) missing(ctx context.Context, err error) error {
	if !errors.Is(err, ErrMissing) {
		return err
	}
	tries, amended := j.amend(ctx, func(t *wire.Tries) {
		t.Missing, t.Text = t.Missing+1, short(err.Error())
		j.comeBack(t)
	})
	j.counted = false
	if amended == nil && tries.Missing > j.Limits.Missing {
		return j.fatal(true, wire.Lost, err.Error())
	}
	return errors.Join(err, amended)
}

// amend changes the record of the attempts at the message.
func (j *job) amend(ctx context.Context, change func(*wire.Tries)) (wire.Tries, error) {
	key := triesKey(j.m.Run, j.m.Part)
	if j.m.Kind == wire.Start {
		key = startTriesKey(j.m.Run)
	}
	return amend(ctx, j.Store, key, change)
}

package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A job is a delivery of the message of a partition.
type job struct {
	*Worker
	d     Delivery
	m     wire.Message
	state wire.State
	plan  *wire.Plan
	part  *wire.PlanPart
}

// part handles the message of a partition. It returns ErrEnded if the run has ended.
func (w *Worker) part(ctx context.Context, d Delivery, m wire.Message) error {
	state, err := w.state(ctx, m.Run)
	if err != nil {
		return err
	}
	if state.Final() {
		return ErrEnded
	}
	if m.Plan != state.Plan {
		return fmt.Errorf("%w: it is of plan %s, and the run of plan %s", errForeign, m.Plan, state.Plan)
	}
	plan, err := w.Plans.Plan(ctx, m.Plan)
	if err != nil {
		return w.missing(ctx, triesKey(m.Run, m.Part), m.Part, err)
	}
	if m.Part >= len(plan.Parts) {
		return fmt.Errorf("%w: it is of partition %d of %d", errForeign, m.Part, len(plan.Parts))
	}
	j := &job{w, d, m, state, plan, &plan.Parts[m.Part]}
	had, err := j.output(ctx)
	if err != nil {
		return err
	}
	if err := j.release(ctx, had); err != nil { // P2: the output, then the marks and the messages
		return err
	}
	return j.finish(ctx)
}

// state returns the state of run.
func (w *Worker) state(ctx context.Context, run string) (wire.State, error) {
	if known := w.States.Known(run); known.Revision != 0 {
		return wire.DecodeState(known.Value)
	}
	state, _, err := stateOf(ctx, w.Store, run, gone("its records were removed"))
	return state, err
}

// output makes sure that the partition has an output, and reports whether it had one before.
func (j *job) output(ctx context.Context) (had bool, err error) {
	run, own := j.m.Run, OutputKey(j.m.Run, j.m.Part)
	keys := []string{own, triesKey(run, j.m.Part)}
	for _, pred := range j.part.Preds {
		keys = append(keys, OutputKey(run, pred))
	}
	found, err := j.Store.Get(ctx, keys...)
	if err != nil {
		return false, err
	}
	if found[0].Revision != 0 {
		return true, nil
	}
	inputs, err := j.inputs(found[2:])
	if err != nil {
		return false, j.missing(ctx, triesKey(run, j.m.Part), j.m.Part, err)
	}
	tries, err := triesIn(found[1])
	if err != nil {
		return false, err
	}
	counted, err := j.count(ctx, tries)
	if err != nil {
		return false, err
	}
	err = j.attempt(ctx, inputs)
	if errors.Is(err, ErrExists) { // C4: another worker was first, and successors may have read its output
		return true, nil
	}
	return false, j.account(context.WithoutCancel(ctx), err, counted)
}

// inputs decodes the outputs of the predecessors. Messages are published when all of them exist (I2), so one that is
// missing here is only missing on the server that has answered.
func (j *job) inputs(found []Record) ([]wire.Output, error) {
	inputs := make([]wire.Output, len(found))
	for i, r := range found {
		pred := j.part.Preds[i]
		if r.Revision == 0 {
			return nil, fmt.Errorf("the output of partition %d: %w", pred, ErrMissing)
		}
		var err error
		if inputs[i], err = wire.DecodeOutput(r.Value, pred); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// release marks the partition as finished for its successors, and publishes those that wait for no other. If it had an
// output, a successor that has one too is left out: its message was published, and comes back if need be.
func (j *job) release(ctx context.Context, had bool) error {
	succs := j.part.Succs
	if had && len(succs) > 0 {
		var err error
		if succs, err = j.without(ctx, succs); err != nil {
			return err
		}
	}
	ready := make([]bool, len(succs))
	err := j.Each(len(succs), func(i int) (err error) {
		ready[i], err = j.isReady(ctx, succs[i])
		return err
	})
	if err != nil {
		return err
	}
	var posts []Post
	for i, succ := range succs {
		if ready[i] {
			posts = append(posts, post(j.m, j.plan, succ))
		}
	}
	if len(posts) == 0 {
		return nil
	}
	return j.Store.Publish(ctx, posts...)
}

// without returns those of parts that have no output.
func (j *job) without(ctx context.Context, parts []int) (lack []int, err error) {
	keys := make([]string, len(parts))
	for i, part := range parts {
		keys[i] = OutputKey(j.m.Run, part)
	}
	found, err := j.Store.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, r := range found {
		if r.Revision == 0 {
			lack = append(lack, parts[i])
		}
	}
	return lack, nil
}

// isReady marks the partition as finished for succ, and reports whether succ waits for no other.
func (j *job) isReady(ctx context.Context, succ int) (bool, error) {
	preds := j.plan.Parts[succ].Preds
	if len(preds) == 1 {
		return true, nil
	}
	i, _ := slices.BinarySearch(preds, j.m.Part)
	return set{j.Store, j.Limits.Width, marksKey(j.m.Run, succ), len(preds)}.add(ctx, i)
}

// finish ends the run if all sinks have outputs.
func (j *job) finish(ctx context.Context) error {
	sinks := j.plan.Sinks()
	i, isSink := slices.BinarySearch(sinks, j.m.Part)
	if !isSink {
		return nil
	}
	if len(sinks) > 1 {
		complete, err := set{j.Store, j.Limits.Width, endKey(j.m.Run), len(sinks)}.add(ctx, i)
		if err != nil || !complete {
			return err
		}
	}
	_, err := conclude(ctx, j.Store, j.m.Run, wire.Done, nil, gone("its records were removed"))
	return err
}

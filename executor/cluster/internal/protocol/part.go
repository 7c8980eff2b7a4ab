package protocol

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// run handles the message of a partition: it makes sure that it has an output, and passes that on. It returns ErrEnded
// if the run has ended.
func (j *job) run(ctx context.Context) (err error) {
	if j.state, err = j.known(ctx); err != nil {
		return err
	}
	if j.state.Final() {
		return ErrEnded
	}
	if j.m.Plan != j.state.Plan {
		return fmt.Errorf("%w: it is of plan %s, and the run of plan %s", errForeign, j.m.Plan, j.state.Plan)
	}
	has, err := j.admit(ctx)
	if err != nil {
		return err
	}
	if j.plan, err = j.Plans.Plan(ctx, j.m.Plan); err != nil {
		return j.missing(ctx, err)
	}
	if j.m.Part >= len(j.plan.Parts) {
		return fmt.Errorf("%w: it is of partition %d of %d", errForeign, j.m.Part, len(j.plan.Parts))
	}
	j.part = &j.plan.Parts[j.m.Part]
	if !has {
		if has, err = j.output(ctx); err != nil {
			return err
		}
	}
	if err := j.release(ctx, has); err != nil { // P2: the output, then the marks and the messages
		return err
	}
	return j.finish(ctx)
}

// admit counts a redelivery, unless the partition has an output, and reports whether it has.
func (j *job) admit(ctx context.Context) (has bool, err error) {
	if j.d.Deliveries() == 1 {
		return false, nil
	}
	outputs, err := outputsOf(ctx, j.Store, j.m.Run, []int{j.m.Part})
	if err != nil || outputs[0] {
		return err == nil, err
	}
	return false, j.count(ctx)
}

// known returns the state of the run.
func (j *job) known(ctx context.Context) (wire.State, error) {
	if known := j.States.Known(j.m.Run); known.Revision != 0 {
		return wire.DecodeState(known.Value)
	}
	state, _, err := stateOf(ctx, j.Store, j.m.Run, gone("its records were removed"))
	return state, err
}

// output runs the partition, unless it has an output, and reports whether it had one before.
func (j *job) output(ctx context.Context) (had bool, err error) {
	keys := []string{OutputKey(j.m.Run, j.m.Part)}
	for _, pred := range j.part.Preds {
		keys = append(keys, OutputKey(j.m.Run, pred))
	}
	found, err := j.Store.Get(ctx, keys...)
	if err != nil {
		return false, err
	}
	if found[0].Revision != 0 {
		return true, nil
	}
	inputs, err := j.inputs(found[1:])
	if err != nil {
		return false, j.missing(ctx, err)
	}
	return j.attempt(ctx, inputs)
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
			posts = append(posts, j.post(j.plan, succ))
		}
	}
	if len(posts) == 0 {
		return nil
	}
	return j.Store.Publish(ctx, posts...)
}

// without returns those of parts that have no output.
func (j *job) without(ctx context.Context, parts []int) (lack []int, err error) {
	has, err := outputsOf(ctx, j.Store, j.m.Run, parts)
	if err != nil {
		return nil, err
	}
	for i, part := range parts {
		if !has[i] {
			lack = append(lack, part)
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

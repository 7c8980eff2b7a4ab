package protocol

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// start begins a run: it creates its state, and publishes the partitions that wait for no other. It returns ErrEnded if
// the run has ended.
func (j *job) start(ctx context.Context) error {
	state := wire.State{V: wire.Version, Phase: wire.Running, Plan: j.m.Plan, Begin: *j.m.Begin, Began: j.d.Stored()}
	if j.d.Age() >= j.Limits.Wait { // G1: the run may have ended, and its state may have been removed
		state = gone("its Start message is too old: no worker has begun it in time, or its records were removed")
	}
	err := j.Store.Create(ctx, StateKey(j.m.Run), wire.Encode(state)) // P1: the state, then the partitions
	if errors.Is(err, ErrExists) {
		// Another delivery has created it, or Cancel. It may have died before it published, so this one goes on.
		state, _, err = stateOf(ctx, j.Store, j.m.Run, gone("its records were removed"))
	}
	if err != nil {
		return err
	}
	if state.Final() || state.Plan != j.m.Plan { // the run was submitted again, cut otherwise: the first message leads on
		return ErrEnded
	}
	if err := j.count(ctx); err != nil {
		return err
	}
	plan, err := j.Plans.Plan(ctx, j.m.Plan)
	if err != nil {
		return j.missing(ctx, err)
	}
	var posts []Post
	for i := range plan.Parts {
		if len(plan.Parts[i].Preds) == 0 {
			posts = append(posts, j.post(plan, i))
		}
	}
	return j.Store.Publish(ctx, posts...)
}

// post returns the message for another partition of the run, with the trace of the message at hand.
func (j *job) post(plan *wire.Plan, part int) Post {
	p := post(j.m, plan, part)
	p.Trace = j.d.Trace()
	return p
}

// post returns the message for partition part of the run of message m.
func post(m wire.Message, plan *wire.Plan, part int) Post {
	p := wire.Message{V: wire.Version, Kind: wire.Part, Run: m.Run, Part: part, Plan: m.Plan}
	return Post{Class: plan.Parts[part].Class, Message: p, ID: p.ID()}
}

package protocol

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// resumeBatch is how many outputs Resume looks for at a time. Arbitrary.
const resumeBatch = 256

// Resume publishes what leads a run on (I4): the partitions that have no output and whose predecessors have one, or the
// sinks, if all have. It reports how many messages these are. A run needs it only if the queue has lost a message or a
// mark that it had acknowledged, and perhaps more than once. It is harmless at any time: its messages are copies.
func Resume(ctx context.Context, s Store, plans Plans, run string) (published int, err error) {
	state, err := Attach(ctx, s, run)
	if err != nil || state.Final() {
		return 0, err
	}
	plan, err := plans.Plan(ctx, state.Plan)
	if err != nil {
		return 0, fmt.Errorf("the plan of run %s: %w", run, err)
	}
	has, err := outputsOf(ctx, s, run, len(plan.Parts))
	if err != nil {
		return 0, err
	}
	m := wire.Message{V: wire.Version, Kind: wire.Part, Run: run, Plan: state.Plan}
	var posts []Post
	for _, part := range frontier(plan, has) {
		p := post(m, plan, part)
		p.ID = "" // a window of duplicates must not take it for the lost one
		posts = append(posts, p)
	}
	return len(posts), s.Publish(ctx, posts...)
}

// outputsOf reports for each of the parts of run whether it has an output.
func outputsOf(ctx context.Context, s Store, run string, parts int) ([]bool, error) {
	has := make([]bool, 0, parts)
	for len(has) < parts {
		var keys []string
		for part := len(has); part < min(parts, len(has)+resumeBatch); part++ {
			keys = append(keys, OutputKey(run, part))
		}
		found, err := s.Get(ctx, keys...)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			has = append(has, r.Revision != 0)
		}
	}
	return has, nil
}

// frontier returns the partitions that may run and have no output, or the sinks, if all have outputs.
func frontier(plan *wire.Plan, has []bool) (parts []int) {
	over := true
	for i := range plan.Parts {
		if has[i] {
			continue
		}
		over = false
		ready := true
		for _, pred := range plan.Parts[i].Preds {
			ready = ready && has[pred]
		}
		if ready {
			parts = append(parts, i)
		}
	}
	if over {
		return plan.Sinks()
	}
	return parts
}

package protocol

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Resume publishes what leads a run on (I4): the partitions that have no output and whose predecessors have one, or the
// sinks, if all have. It reports how many messages these are. A run needs it only if the queue has lost a message or a
// mark that it had acknowledged, and perhaps more than once. It is harmless at any time: its messages are copies. They
// have the trace of the caller: that of the run is in no record.
func Resume(ctx context.Context, s Store, plans Plans, run string, trace wire.Trace) (published int, err error) {
	state, err := Attach(ctx, s, run)
	if err != nil || state.Final() {
		return 0, err
	}
	plan, err := plans.Plan(ctx, state.Plan)
	if err != nil {
		return 0, fmt.Errorf("the plan of run %s: %w", run, err)
	}
	all := make([]int, len(plan.Parts))
	for i := range all {
		all[i] = i
	}
	has, err := outputsOf(ctx, s, run, all)
	if err != nil {
		return 0, err
	}
	m := wire.Message{V: wire.Version, Kind: wire.Part, Run: run, Plan: state.Plan}
	var posts []Post
	for _, part := range frontier(plan, has) {
		p := post(m, plan, part)
		p.ID = "" // a window of duplicates must not take it for the lost one
		p.Trace = trace
		posts = append(posts, p)
	}
	return len(posts), s.Publish(ctx, posts...)
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

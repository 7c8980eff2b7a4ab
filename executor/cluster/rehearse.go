package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Rehearse is [Run] as far machines have it: it cuts the graph into the smallest partitions that there may be, and runs
// one after the other. What passes between them is encoded and decoded, in memory. It is for tests of functions: the
// results differ from those of Run if a value is not what it was when it is decoded, because of a field that is not
// exported, for example, or if a function changes its input.
func Rehearse(ctx context.Context, ex *executor.Executor, reg *Registry, g *Graph) (*Results, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	plan, err := newPlan(g, 0, func([]int32) string { return "" })
	if err != nil {
		return nil, err
	}
	store := memory{}
	run := "rehearsal-" + rand.Text()
	r := newRunner(orDefault(ctx, ex), reg, store, 0) // so that every value becomes an object
	outputs := make([]wire.Output, len(plan.Parts))
	for k, part := range plan.Parts {
		inputs := make([]wire.Output, len(part.Preds))
		for i, pred := range part.Preds {
			inputs[i] = outputs[pred]
		}
		outputs[k], err = r.Run(ctx, run, plan, k, inputs)
		if task := (*protocol.TaskError)(nil); errors.As(err, &task) {
			return nil, task.Err
		}
		if err != nil {
			return nil, err
		}
	}
	return newResults(ctx, store, run, g, outputs)
}

// A memory holds objects.
type memory map[string][]byte

func (m memory) PutObject(_ context.Context, value []byte) (string, error) {
	sum := sha256.Sum256(value)
	hash := hex.EncodeToString(sum[:])
	m[hash] = value
	return hash, nil
}

func (m memory) GetObject(_ context.Context, hash string) ([]byte, error) { return m[hash], nil }

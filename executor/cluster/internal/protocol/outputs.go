package protocol

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Outputs returns the outputs of parts of run, in their order. Those of a run that is Done exist, so ErrMissing says
// that the server that has answered is behind, or that the records were removed.
func Outputs(ctx context.Context, s Store, run string, parts ...int) ([]wire.Output, error) {
	found, err := s.Get(ctx, outputKeys(run, parts)...)
	if err != nil {
		return nil, err
	}
	outputs := make([]wire.Output, len(parts))
	for i, r := range found {
		if r.Revision == 0 {
			return nil, fmt.Errorf("the output of partition %d: %w", parts[i], ErrMissing)
		}
		if outputs[i], err = wire.DecodeOutput(r.Value, parts[i]); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// outputsBatch is how many outputs are looked for at a time: their values come with them. Arbitrary.
const outputsBatch = 256

// outputsOf reports for each of parts of run whether it has an output.
func outputsOf(ctx context.Context, s Store, run string, parts []int) ([]bool, error) {
	has := make([]bool, 0, len(parts))
	for len(has) < len(parts) {
		found, err := s.Get(ctx, outputKeys(run, parts[len(has):min(len(parts), len(has)+outputsBatch)])...)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			has = append(has, r.Revision != 0)
		}
	}
	return has, nil
}

func outputKeys(run string, parts []int) []string {
	keys := make([]string, len(parts))
	for i, part := range parts {
		keys[i] = OutputKey(run, part)
	}
	return keys
}

package wire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Plan is a graph cut into partitions. It is stored once, under the hash of its bytes.
type Plan struct {
	V     int             `json:"v"`
	Graph json.RawMessage `json:"graph"` // as cluster.Graph is encoded; the protocol does not look into it
	Parts []PlanPart      `json:"parts"` // at least one

	sinks []int
}

// A PlanPart is one partition. Partitions and their edges are an acyclic graph.
type PlanPart struct {
	Tasks   []int  `json:"tasks"`             // indices in the graph
	Preds   []int  `json:"preds,omitempty"`   // partitions whose outputs it waits for, in ascending order
	Succs   []int  `json:"succs,omitempty"`   // partitions that wait for its output, in ascending order
	Class   string `json:"class"`             // the hash of the functions that a worker must have; part of the subject
	Retries int    `json:"retries,omitempty"` // how often the partition is tried again after a function has failed
}

// Sinks returns the partitions without successors, in ascending order.
func (p *Plan) Sinks() []int { return p.sinks }

// check finds the sinks. It returns an error unless the edges of p are those of an acyclic graph, each known at both
// ends.
func (p *Plan) check() error {
	if len(p.Parts) == 0 {
		return fmt.Errorf("%w plan: no partitions", ErrMalformed)
	}
	waits := make([]int, len(p.Parts))
	var ready []int
	for i := range p.Parts {
		part := &p.Parts[i]
		if !Token(part.Class) || part.Retries < 0 {
			return fmt.Errorf("%w plan: partition %d has class %q and %d retries", ErrMalformed, i, part.Class,
				part.Retries)
		}
		if !ascending(part.Preds, len(p.Parts)) || !ascending(part.Succs, len(p.Parts)) {
			return fmt.Errorf("%w plan: the neighbours of partition %d are not ascending indices", ErrMalformed, i)
		}
		for _, pred := range part.Preds {
			if _, known := slices.BinarySearch(p.Parts[pred].Succs, i); !known {
				return fmt.Errorf("%w plan: partition %d waits for %d, which does not know", ErrMalformed, i, pred)
			}
		}
		for _, succ := range part.Succs {
			if _, known := slices.BinarySearch(p.Parts[succ].Preds, i); !known {
				return fmt.Errorf("%w plan: partition %d precedes %d, which does not know", ErrMalformed, i, succ)
			}
		}
		if len(part.Succs) == 0 {
			p.sinks = append(p.sinks, i)
		}
		waits[i] = len(part.Preds)
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	order := 0
	for ; order < len(ready); order++ {
		for _, succ := range p.Parts[ready[order]].Succs {
			if waits[succ]--; waits[succ] == 0 {
				ready = append(ready, succ)
			}
		}
	}
	if order < len(p.Parts) {
		return fmt.Errorf("%w plan: its partitions wait for each other", ErrMalformed)
	}
	return nil
}

// ascending reports whether list has ascending indices below n.
func ascending(list []int, n int) bool {
	for i, v := range list {
		if v < 0 || v >= n || i > 0 && v <= list[i-1] {
			return false
		}
	}
	return true
}

package bench

import (
	"fmt"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// A Target is a graph ready to run: built, frozen, checked for cycles.
type Target struct {
	Graph *graph.Graph
	Plan  *plan.Plan
}

// describe builds the graph of w, with the bodies of w, and returns the time that it took.
func describe(name string, w workloads.Work) (Target, time.Duration, error) {
	begin := time.Now()
	g := graph.New(name)
	w.Build(g, w.Body)
	p, err := plan.Of(g) // freezes and looks for cycles, as the first run would
	took := time.Since(begin)
	if err != nil {
		return Target{}, 0, fmt.Errorf("building workload %s: %w", name, err)
	}
	return Target{g, p}, took, nil
}

package bench

import (
	"context"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/goroutines"
)

const (
	// goroutineBytes is the memory of a goroutine: the smallest stack, its descriptor, its closure.
	goroutineBytes = 2048 + 512
	// goroutinesAlive bounds how many are alive at once. A goroutine that only starts others is preempted every 10 ms,
	// and then the others run: with a million ready tasks some ten thousand goroutines were alive, on one processor and
	// on two.
	goroutinesAlive = 1 << 17
)

// goroutinesGraph runs a graph with goroutines.
type goroutinesGraph struct {
	graph   *goroutines.Graph
	before  uint64 // tasks before Start
	workers int
	restore func()
}

func openGoroutines(s Setting, t Target) (Runner, error) {
	return &goroutinesGraph{graph: goroutines.New(t.Plan), workers: s.Workers}, nil
}

func (g *goroutinesGraph) Start() error {
	g.restore = withProcs(g.workers)
	g.before = g.graph.Ran()
	return nil
}

func (g *goroutinesGraph) Run(ctx context.Context) error { return g.graph.Run(ctx) }

func (g *goroutinesGraph) Counts() Counts { return Counts{Tasks: g.graph.Ran() - g.before} }

func (g *goroutinesGraph) Stop() error {
	g.restore()
	return nil
}

// goroutinesProgram runs a program with goroutines.
type goroutinesProgram struct {
	program workloads.Program
	workers int
	restore func()
}

func openGoroutinesProgram(s Setting, p workloads.Program) Runner {
	return &goroutinesProgram{program: p, workers: s.Workers}
}

func (g *goroutinesProgram) Start() error {
	g.restore = withProcs(g.workers)
	return nil
}

func (g *goroutinesProgram) Run(context.Context) error {
	g.program.Goroutines(g.workers)
	return nil
}

func (g *goroutinesProgram) Counts() Counts { return Counts{} }

func (g *goroutinesProgram) Stop() error {
	g.restore()
	return nil
}

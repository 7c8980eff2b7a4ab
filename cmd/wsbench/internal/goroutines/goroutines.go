// Package goroutines runs task graphs without a library.
package goroutines

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/internal/plan"
)

// A Graph is a plan to be run, by the code that a careful Go programmer writes without a library. A goroutine runs a
// task, and then the first of the tasks that this has made ready; each of the others gets a goroutine. Predecessors are
// counted down in a flat array of atomic counters, which tasks with one predecessor do without. The tasks that are left
// are counted once a goroutine and not once a task: that was a seventh faster than a WaitGroup on btree, dag and fan.
type Graph struct {
	plan *plan.Plan
	join []atomic.Uint32
	ran  uint64

	ctx      context.Context
	done     chan struct{}
	failOnce sync.Once
	err      error
	_        [128]byte
	left     atomic.Int64 // all goroutines write it, so it is padded
	_        [128]byte
}

// New prepares the runs of p.
func New(p *plan.Plan) *Graph {
	g := &Graph{plan: p, join: make([]atomic.Uint32, p.Len())}
	for i, n := range p.Join {
		g.join[i].Store(n)
	}
	return g
}

// Run runs every task once, if none fails.
func (g *Graph) Run(ctx context.Context) error {
	n := int64(g.plan.Len())
	g.ctx, g.done, g.failOnce, g.err = ctx, make(chan struct{}), sync.Once{}, nil
	g.left.Store(n)
	for _, t := range g.plan.Sources[1:] {
		go g.from(t)
	}
	g.from(g.plan.Sources[0])
	<-g.done
	g.ran += uint64(n - g.left.Load())
	return g.err
}

// from runs task t and the tasks that follow from it.
func (g *Graph) from(t uint32) {
	p := g.plan
	ran := int64(0)
	for more := true; more; {
		if err := p.Funcs[t](g.ctx); err != nil {
			g.failOnce.Do(func() { g.err = err })
		}
		ran++
		more = false
		for _, s := range p.Succ[p.Off[t]:p.Off[t+1]] {
			if n := p.Join[s]; n > 1 {
				if g.join[s].Add(^uint32(0)) != 0 {
					continue
				}
				g.join[s].Store(n) // for the next run
			}
			if !more {
				more, t = true, s
			} else {
				go g.from(s)
			}
		}
	}
	if g.left.Add(-ran) == 0 {
		close(g.done)
	}
}

// Ran returns the number of tasks that have run, in all runs. Not during a run.
func (g *Graph) Ran() uint64 { return g.ran }

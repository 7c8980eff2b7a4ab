package bench

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/internal/plan"
)

const (
	// goroutineBytes is the memory of a goroutine: the smallest stack, its descriptor, its closure.
	goroutineBytes = 2048 + 512
	// goroutinesAlive bounds how many are alive at once. A goroutine that only starts others is preempted every 10 ms,
	// and then the others run: with a million ready tasks some ten thousand goroutines were alive, on one processor and
	// on two.
	goroutinesAlive = 1 << 17
)

// goroutines is the code that a careful Go programmer writes without a library. A goroutine runs a task, and then the
// first of the tasks that this has made ready; each of the others gets a goroutine. Predecessors are counted down in a
// flat array of atomic counters, which tasks with one predecessor do without. The tasks that are left are counted once
// a goroutine and not once a task: that was a seventh faster than a WaitGroup on btree, dag and fan.
type goroutines struct {
	plan    *plan.Plan
	workers int
	join    []atomic.Uint32
	restore func()
	ran     uint64

	ctx      context.Context
	done     chan struct{}
	failOnce sync.Once
	err      error
	_        [128]byte
	left     atomic.Int64 // all goroutines write it, so it is padded
	_        [128]byte
}

func openGoroutines(s Setting, t Target) (Runner, error) {
	g := newGoroutines(t.Plan)
	g.workers = s.Workers
	return g, nil
}

func newGoroutines(p *plan.Plan) *goroutines {
	g := &goroutines{plan: p, join: make([]atomic.Uint32, p.Len())}
	for i, n := range p.Join {
		g.join[i].Store(n)
	}
	return g
}

func (g *goroutines) Start() error {
	g.restore = withProcs(g.workers)
	g.ran = 0
	return nil
}

func (g *goroutines) Run(ctx context.Context) error {
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
func (g *goroutines) from(t uint32) {
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

func (g *goroutines) Counts() Counts { return Counts{Tasks: g.ran} }

func (g *goroutines) Stop() error {
	g.restore()
	return nil
}

// goroutinesProgram runs a program with goroutines.
type goroutinesProgram struct {
	program Program
	workers int
	restore func()
}

func openGoroutinesProgram(s Setting, p Program) Runner {
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

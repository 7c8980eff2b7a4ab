package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/graph"
	frozen "github.com/magpie-go/magpie/internal/plan"
)

var graphRivals = slices.Concat(
	[]goRival{{"dag", "serial", func(_, n int) (repetition, error) {
		grid := make([]uint64, n*n)
		return wave(n, grid).repetition(func() error {
			for i := range grid {
				put(grid, n, i)
			}
			return nil
		}), nil
	}}},
	rerun("dag", func(n int) work { return wave(n, make([]uint64, n*n)) }),
	rerun("chain", chain),
	rerun("btree", btree),
)

// A work is a graph that is run again and again, with what its tasks compute.
type work struct {
	graph *graph.Graph
	reset func()
	check func() error
}

func (w work) repetition(run func() error) repetition {
	return func() (time.Duration, error) {
		w.reset()
		start := time.Now()
		err := run()
		took := time.Since(start)
		if err == nil {
			err = w.check()
		}
		return took, err
	}
}

// rerun are the rivals that run any graph.
func rerun(bench string, of func(n int) work) []goRival {
	ctx := context.Background()
	return []goRival{
		{bench, "walk", func(_, n int) (repetition, error) {
			w := of(n)
			p, err := frozen.Of(w.graph)
			if err != nil {
				return nil, err
			}
			walk := frozen.NewSerial(p)
			return w.repetition(func() error { _, err := walk.Run(ctx); return err }), nil
		}},
		{bench, "goroutines", func(_, n int) (repetition, error) {
			w := of(n)
			p, err := frozen.Of(w.graph)
			if err != nil {
				return nil, err
			}
			g := newGoroutines(p)
			return w.repetition(func() error { g.run(ctx); return nil }), nil
		}},
		{bench, "magpie", func(workers, n int) (repetition, error) {
			ex, err := newExecutor(workers)
			w := of(n)
			return w.repetition(func() error { return ex.Run(ctx, w.graph) }), err
		}},
	}
}

// goroutines is the code that one writes without a library: a goroutine runs a task, and goes on with the first of the
// tasks that this has made ready; each of the others gets a goroutine.
type goroutines struct {
	plan *frozen.Plan
	join []atomic.Uint32
	left atomic.Int64
	done chan struct{}
}

func newGoroutines(p *frozen.Plan) *goroutines {
	g := &goroutines{plan: p, join: make([]atomic.Uint32, p.Len())}
	for i, n := range p.Join {
		g.join[i].Store(n)
	}
	return g
}

func (g *goroutines) run(ctx context.Context) {
	g.left.Store(int64(g.plan.Len()))
	g.done = make(chan struct{})
	for _, t := range g.plan.Sources {
		go g.from(ctx, t)
	}
	<-g.done
}

// from runs task t, none of whose functions fails, and those that follow from it.
func (g *goroutines) from(ctx context.Context, t uint32) {
	ran := int64(0)
	for more := true; more; {
		_ = g.plan.Funcs[t](ctx)
		ran++
		more = false
		for _, s := range g.plan.Successors(t) {
			if n := g.plan.Join[s]; n > 1 {
				if g.join[s].Add(^uint32(0)) != 0 {
					continue
				}
				g.join[s].Store(n) // for the next run
			}
			if !more {
				more, t = true, s
			} else {
				go g.from(ctx, s)
			}
		}
	}
	if g.left.Add(-ran) == 0 {
		close(g.done)
	}
}

// wave puts every place of an n×n grid, each after those above and to the left.
func wave(n int, grid []uint64) work {
	want := make([]uint64, n*n)
	g := graph.New("wave")
	g.Reserve(n*n, 2*n*(n-1))
	tasks := make([]graph.Task, n*n)
	for i := range tasks {
		put(want, n, i)
		tasks[i] = g.Task(func(context.Context) error { put(grid, n, i); return nil })
		if i >= n {
			tasks[i].Succeed(tasks[i-n])
		}
		if i%n > 0 {
			tasks[i].Succeed(tasks[i-1])
		}
	}
	return work{g, func() { clear(grid) }, func() error {
		if !slices.Equal(grid, want) {
			return errors.New("wrong answer: the grid differs")
		}
		return nil
	}}
}

// put sets place i of the grid to a number that depends on those above and to the left.
func put(grid []uint64, n, i int) {
	x := uint64(i)
	if i >= n {
		x += 3 * grid[i-n]
	}
	if i%n > 0 {
		x ^= 5 * grid[i-1]
	}
	grid[i] = x + 1
}

// chain has n tasks, each after the one before, that count.
func chain(n int) work {
	count := 0
	add := func(context.Context) error { count++; return nil }
	g := graph.New("chain")
	g.Reserve(n, n-1)
	last := g.Task(add)
	for range n - 1 {
		next := g.Task(add)
		last.Precede(next)
		last = next
	}
	return work{g, func() { count = 0 }, func() error {
		if count != n {
			return fmt.Errorf("wrong answer: %d tasks ran, want %d", count, n)
		}
		return nil
	}}
}

// btree has n tasks in a complete binary tree, each after its parent. Each writes its level.
func btree(n int) work {
	levels := make([]uint32, n)
	g := graph.New("btree")
	g.Reserve(n, n-1)
	tasks := make([]graph.Task, n)
	for i := range tasks {
		tasks[i] = g.Task(func(context.Context) error { levels[i] = levelBelow(levels, i); return nil })
		if i > 0 {
			tasks[i].Succeed(tasks[(i-1)/2])
		}
	}
	return work{g, func() { clear(levels) }, func() error {
		for i, level := range levels {
			if want := uint32(bits.Len(uint(i + 1))); level != want {
				return fmt.Errorf("wrong answer: task %d is in level %d, want %d", i, level, want)
			}
		}
		return nil
	}}
}

func levelBelow(levels []uint32, i int) uint32 {
	if i == 0 {
		return 1
	}
	return levels[(i-1)/2] + 1
}

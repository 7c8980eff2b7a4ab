package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
)

// equal returns err or, if err is nil and got is not want, an error.
func equal(got, want int64, err error) error {
	if err == nil && got != want {
		return fmt.Errorf("%w: %d, not %d", errWrongValue, got, want)
	}
	return err
}

// forks adds up numbers by halving them.
func (c *chore) forks(n int) error {
	c.units = int64(n)
	type span struct{ from, to int64 }
	var sum func(s *executor.Scope, a span) int64
	sum = func(s *executor.Scope, a span) int64 {
		if a.to-a.from == 1 {
			c.must()
			return a.from
		}
		middle := (a.from + a.to) / 2
		left := executor.Fork(s, sum, span{a.from, middle})
		right := sum(s, span{middle, a.to})
		return left.Join(s) + right
	}
	got, err := executor.Call(c.ctx, c.life.ex, sum, span{0, c.units})
	return equal(got, c.units*(c.units-1)/2, err)
}

// scopes starts children, and children of children.
func (c *chore) scopes(n int) error {
	wide := 1 + n/8
	c.units = int64(wide * 8)
	return c.life.ex.Run(c.ctx, executor.NewJob("scopes", func(s *executor.Scope) error {
		for i := range wide {
			s.Spawn(func(s *executor.Scope) error {
				for range 7 {
					s.Go(func(context.Context) error { return c.unit() })
				}
				return c.unit()
			})
			if i%16 == 15 {
				if err := s.Wait(); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// futures adds up in futures, each of which comes after two earlier ones.
func (c *chore) futures(n int) error {
	c.units = int64(n)
	all := make([]*executor.Future[int64], n)
	for i := range all {
		var after []executor.Awaitable
		var before []*executor.Future[int64]
		if i > 0 {
			before = []*executor.Future[int64]{all[i-1], all[c.rng.IntN(i)]}
			after = []executor.Awaitable{before[0], before[1]}
		}
		all[i] = executor.Async(c.ctx, c.life.ex, func(context.Context) (int64, error) {
			if err := c.unit(); err != nil {
				return 0, err
			}
			if i == 0 {
				return 1, nil
			}
			for _, f := range before {
				if _, err := f.Wait(); err != nil {
					return 0, err
				}
			}
			sum, err := before[0].Wait()
			return sum + 1, err
		}, after...)
	}
	got, err := all[n-1].Wait()
	for _, f := range all {
		_, _ = f.Wait() // so that no future is left behind
	}
	return equal(got, c.units, err)
}

// pipeline sends tokens through stages.
func (c *chore) pipeline(n int) error {
	tokens := 1 + n/4
	c.units = int64(tokens * 3)
	next := 0 // plain: the stage is serial
	stage := func(mode pipeline.Mode) pipeline.Stage {
		return pipeline.Stage{Mode: mode, Run: func(*pipeline.Token) error { return c.unit() }}
	}
	first := pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
		if t.Number() == tokens {
			t.Stop()
			return nil
		}
		return c.unit()
	}}
	last := pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
		if t.Number() != next {
			return fmt.Errorf("%w: token %d in place of %d", errWrongValue, t.Number(), next)
		}
		next++
		return c.unit()
	}}
	p, err := pipeline.New("pipeline", 1+c.rng.IntN(8), first, stage(pipeline.Mode(c.rng.IntN(2))), last)
	if err != nil {
		return err
	}
	return c.life.ex.Run(c.ctx, p)
}

// flow runs a graph with everything that graphs may have: a loop around a subflow, the same module twice, and limits on
// some tasks.
func (c *chore) flow(n int) error {
	rounds, wide := int64(1+c.rng.IntN(4)), int64(1+n/8)
	c.units = rounds*(wide+1) + 2*(wide+1) + 2
	var sum atomic.Int64
	unit := func(g *graph.Graph) graph.Task {
		add := func(err error) error {
			if err == nil {
				sum.Add(1)
			}
			return err
		}
		if c.rng.IntN(3) > 0 {
			return g.Task(func(context.Context) error { return add(c.unit()) })
		}
		l := c.drawLimit(c.rng)
		return g.Task(func(context.Context) error { return add(c.limited(l)) }).Hold(l.semaphore)
	}
	module := graph.New("module")
	end := unit(module)
	for range wide {
		end.Succeed(unit(module))
	}
	if c.rng.IntN(2) == 0 {
		end.Precede(module.Condition(func(context.Context) (int, error) { return 0, nil }))
	}
	limits := make([]*limit, wide)
	for i := range limits {
		limits[i] = c.drawLimit(c.rng)
	}
	g := graph.New("flow")
	flow := g.Subflow(func(_ context.Context, sub *graph.Graph) error {
		for _, l := range limits {
			sub.Task(func(context.Context) error { sum.Add(1); return c.limited(l) }).Hold(l.semaphore)
		}
		return nil
	})
	round := int64(0) // plain: rounds follow one another
	again := g.Condition(func(context.Context) (int, error) {
		sum.Add(1)
		if round++; round < rounds {
			return 0, c.unit()
		}
		return 1, c.unit()
	})
	made := graph.Source(g, func(context.Context) (int64, error) { return wide, c.unit() })
	used := graph.Sink(made, func(_ context.Context, w int64) error {
		if w != wide {
			return errWrongValue
		}
		return c.unit()
	})
	first, second := g.Module(module), g.Module(module)
	flow.Succeed(used)
	flow.Precede(again)
	again.Precede(flow, first)
	first.Precede(second)
	err := c.life.ex.Run(c.ctx, g)
	return equal(sum.Load(), c.units-2, err)
}

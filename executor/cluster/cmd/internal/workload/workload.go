// Package workload is what magpie-cluster runs: a graph of which each call takes a while, and whose result depends on
// all of them.
package workload

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
)

// Functions are those of the workload.
type Functions struct {
	Registry *cluster.Registry
	mix      cluster.Func3[uint64, uint64, Effort, uint64]
}

// An Effort is how long a call takes.
type Effort struct {
	Time  time.Duration
	Sleep bool // it waits instead of computing
}

// New registers the functions.
func New() *Functions {
	f := &Functions{Registry: cluster.NewRegistry()}
	f.mix = cluster.Register3(f.Registry, "mix", func(ctx context.Context, a, b uint64, e Effort) (uint64, error) {
		return mix(a, b), e.spend(ctx)
	})
	return f
}

// mix spreads the bits of both.
func mix(a, b uint64) uint64 {
	h := (a ^ b>>29) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>31 ^ b) * 0x94d049bb133111eb
	return h ^ h>>32
}

// spend takes the time.
func (e Effort) spend(ctx context.Context) error {
	if e.Sleep {
		t := time.NewTimer(e.Time)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}
	for begin := time.Now(); time.Since(begin) < e.Time; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// A Graph is a graph of layers. Each call takes two results of the layer before.
type Graph struct {
	*cluster.Graph
	end  cluster.Call[uint64]
	want uint64
}

// Graph returns a graph of n calls, of which width may run at the same time.
func (f *Functions) Graph(n, width int, e Effort, seed uint64) *Graph {
	rnd := rand.New(rand.NewPCG(seed, 1))
	g := cluster.NewGraph("workload")
	effort := cluster.Value(e)
	type value struct {
		call cluster.Arg[uint64]
		is   uint64
	}
	before := []value{{cluster.Value(seed), seed}}
	var last cluster.Call[uint64]
	add := func(a, b value, e cluster.Arg[Effort], cost time.Duration) value {
		last = f.mix.Call(g, a.call, b.call, e).Cost(cost)
		return value{last, mix(a.is, b.is)}
	}
	cost := max(e.Time, time.Microsecond)
	for n > 0 {
		layer := make([]value, min(n, width))
		for i := range layer {
			layer[i] = add(before[i%len(before)], before[rnd.IntN(len(before))], effort, cost)
		}
		n -= len(layer)
		before = layer
	}
	none := cluster.Value(Effort{})
	for len(before) > 1 { // a tree: in a chain each partition would wait for the one before
		a, b := before[0], before[1]
		before = append(before[2:], add(a, b, none, time.Microsecond))
	}
	return &Graph{g, last, before[0].is}
}

// IsRight reports whether the results are what they have to be.
func (g *Graph) IsRight(res *cluster.Results) (bool, error) {
	got, err := g.end.Result(res)
	return got == g.want, err
}

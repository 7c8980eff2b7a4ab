package cluster_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// BenchmarkMillion does what a submitter and a worker do with a graph of a million calls, with three inputs each.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	f := newFunctions()
	zero := cluster.Value(0)
	build := func() *cluster.Graph {
		r := rand.New(rand.NewPCG(1, 2))
		g := cluster.NewGraph("million")
		calls := make([]cluster.Call[int], 0, n)
		input := func() cluster.Arg[int] {
			if near := min(len(calls), 1000); near > 0 {
				return calls[len(calls)-1-r.IntN(near)]
			}
			return zero
		}
		for range n {
			c := f.clamp.Call(g, input(), input(), input()).Cost(time.Duration(1+r.IntN(5)) * time.Millisecond)
			calls = append(calls, c)
		}
		return g
	}
	g := build()
	data, err := g.MarshalJSON()
	require.NoError(b, err)

	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build()
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := g.MarshalJSON()
			require.NoError(b, err)
		}
		b.ReportMetric(float64(len(data)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, new(cluster.Graph).UnmarshalJSON(data))
		}
	})
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plan, err := cluster.NewPlan(g, 300*time.Millisecond, func([]int32) string { return "any" })
			require.NoError(b, err)
			b.ReportMetric(float64(len(plan.Parts)), "parts")
		}
	})
	b.Run("run", func(b *testing.B) {
		b.ReportAllocs()
		ex := newExecutor(b)
		for b.Loop() {
			_, err := cluster.Run(b.Context(), ex, f.reg, g)
			require.NoError(b, err)
		}
	})
}

// BenchmarkPartition runs partitions of one call, with an input from another.
func BenchmarkPartition(b *testing.B) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.double.Call(g, f.one.Call(g))
	plan, err := cluster.NewPlan(g, 0, func([]int32) string { return "any" })
	require.NoError(b, err)
	runner := cluster.NewRunner(newExecutor(b), f.reg, &objects{}, 1<<20)
	inputs := []wire.Output{{Part: 0, Values: map[int]wire.Value{0: {Data: []byte("1")}}}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := runner.Run(b.Context(), "run", plan, 1, inputs)
		require.NoError(b, err)
	}
}

package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/graph"
)

func TestRehearse(t *testing.T) {
	ex := newExecutor(t)
	for seed := range uint64(50) {
		f := clustertest.NewFunctions()
		g := f.Random(seed, clustertest.Options{})
		res, err := cluster.Run(t.Context(), ex, f.Registry, g.Graph)
		require.NoError(t, err)
		whole, err := g.Results(res)
		require.NoError(t, err)
		res, err = cluster.Rehearse(t.Context(), ex, f.Registry, g.Graph)
		require.NoError(t, err)
		parts, err := g.Results(res)
		require.NoError(t, err)
		require.Equal(t, whole, parts)
	}
}

// What only a local run has is found.
func TestRehearseFinds(t *testing.T) {
	type state struct {
		N      int
		hidden int
	}
	reg := cluster.NewRegistry()
	makes := cluster.Register0(reg, "make", func(context.Context) (*state, error) { return &state{1, 1}, nil })
	reads := cluster.Register(reg, "read", func(_ context.Context, s *state) (int, error) { return s.N + s.hidden, nil })
	spoils := cluster.Register(reg, "spoil", func(_ context.Context, s *state) (int, error) {
		s.N += 10
		return s.N, nil
	})
	g := cluster.NewGraph("g")
	made := makes.Call(g)
	read := reads.Call(g, made)
	spoilt := spoils.Call(g, made).After(read)
	again := spoils.Call(g, made).After(spoilt)
	res := mustRun(t, reg, g)
	want(t, res, read, 2)
	want(t, res, again, 21)
	res, err := cluster.Rehearse(t.Context(), newExecutor(t), reg, g)
	require.NoError(t, err)
	want(t, res, spoilt, 11)
	want(t, res, read, 1)
	want(t, res, again, 11)
}

func TestRehearseErrors(t *testing.T) {
	f := newFunctions()
	g := cluster.NewGraph("g")
	f.fail.Call(g, f.one.Call(g))
	_, err := cluster.Rehearse(t.Context(), newExecutor(t), f.reg, g)
	require.ErrorIs(t, err, errBoom)
	var failed *graph.TaskError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, `graph "g": task fail#1: boom`, err.Error())
	_, err = cluster.Rehearse(t.Context(), newExecutor(t), cluster.NewRegistry(), g)
	var missing *cluster.MissingError
	require.ErrorAs(t, err, &missing)
	_, err = cluster.Rehearse(t.Context(), newExecutor(t), f.reg, nil)
	require.ErrorContains(t, err, "graph is nil")
}

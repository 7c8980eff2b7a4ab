package clustertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
)

func run(t *testing.T, f *Functions, g *Random) ([]string, error) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	res, err := cluster.Run(t.Context(), ex, f.Registry, g.Graph)
	if err != nil {
		return nil, err
	}
	return g.Results(res)
}

// Graphs of one seed are equal, run equally, and differ from those of others.
func TestRandom(t *testing.T) {
	seen := map[string]bool{}
	absent, hashes := 0, map[string]bool{}
	for seed := range uint64(100) {
		f := NewFunctions()
		o := Options{Slow: 1, Poison: 1}
		if seed%20 == 0 {
			o.Flaky = 1 // which pauses
		}
		g, again := f.Random(seed, o), f.Random(seed, o)
		a, err := g.Graph.Hash()
		require.NoError(t, err)
		b, err := again.Graph.Hash()
		require.NoError(t, err)
		require.Equal(t, a, b)
		require.False(t, hashes[a])
		hashes[a] = true

		first, err := run(t, f, g)
		require.NoError(t, err)
		second, err := run(t, NewFunctions(), again)
		require.NoError(t, err)
		require.Equal(t, first, second)
		for _, r := range first {
			seen[r] = true
			if r == "absent" {
				absent++
			}
		}
	}
	require.Greater(t, len(seen), 500, "results")
	require.Greater(t, absent, 20)
}

func TestFailures(t *testing.T) {
	f := NewFunctions()
	ended := 0
	for seed := range uint64(20) {
		_, err := run(t, f, f.Random(seed, Options{Tasks: 20, Fail: 1, Plain: true}))
		require.ErrorIs(t, err, ErrFail)
		_, err = run(t, f, f.Random(seed, Options{Tasks: 20, Panic: 1, Plain: true}))
		var panicked *executor.PanicError
		require.ErrorAs(t, err, &panicked)
		ended++
	}
	require.Equal(t, 20, ended)
}

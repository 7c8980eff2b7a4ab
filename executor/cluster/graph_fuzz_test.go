package cluster_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
)

// checkRead requires that what is read as a graph is one: it is written as it was, and can be cut.
func checkRead(t *testing.T, data []byte) (ok bool) {
	var g cluster.Graph
	if err := g.UnmarshalJSON(data); err != nil {
		require.Zero(t, g.Len())
		require.Less(t, len(err.Error()), 500)
		return false
	}
	back, err := g.MarshalJSON()
	require.NoError(t, err)
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, data))
	require.Equal(t, compact.String(), string(back))
	plan, err := cluster.NewPlan(&g, time.Millisecond, func([]int32) string { return "any" })
	require.NoError(t, err)
	tasks := 0
	for _, part := range plan.Parts {
		tasks += len(part.Tasks)
	}
	require.Equal(t, g.Len(), tasks)
	return true
}

func randomJSON(t testing.TB, seed uint64) []byte {
	data, err := clustertest.NewFunctions().Random(seed, clustertest.Options{}).Graph.MarshalJSON()
	require.NoError(t, err)
	return data
}

func FuzzGraphJSON(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(randomJSON(f, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, data) })
}

// Damaged JSON is refused, or is that of another graph.
func TestDamagedJSON(t *testing.T) {
	t.Parallel()
	refused, read := 0, 0
	for seed := range uint64(2000) {
		data := randomJSON(t, seed%40)
		require.True(t, checkRead(t, data))
		r := rand.New(rand.NewPCG(seed, 3))
		for range 1 + r.IntN(3) {
			switch at, other := r.IntN(len(data)), r.IntN(len(data)); r.IntN(4) {
			case 0:
				data[at] = byte(r.Uint32())
			case 1:
				data[at] = data[other]
			case 2:
				data = append(data[:at:at], data[min(at+1+r.IntN(8), len(data)):]...)
			case 3:
				data = append(data[:at:at], append(bytes.Clone(data[min(at, other):max(at, other)]), data[at:]...)...)
			}
			if len(data) == 0 {
				break
			}
		}
		if checkRead(t, data) {
			read++
		} else {
			refused++
		}
	}
	require.Greater(t, refused, 1000)
	require.Greater(t, read, 20)
}

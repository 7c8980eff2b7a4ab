//go:build linux

package executor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/gat"
	"github.com/stretchr/testify/require"
)

// BenchmarkShareTinyRuns makes runs of some ten microseconds on an executor that has joined a table of its own, and on
// one without a Share. They have turns of a few milliseconds. "joined/alone" is the median of the ratios of two turns
// next to each other.
func BenchmarkShareTinyRuns(b *testing.B) {
	path := b.TempDir() + "/table"
	share := &host.Share{Path: path, Processors: 2}
	var sides [2]*executor.Executor
	for i, s := range []*host.Share{nil, share} {
		ex, err := executor.New(executor.Config{Workers: 2, Host: host.Options{Share: s}, Callers: executor.IdleCallers})
		require.NoError(b, err)
		defer ex.Close()
		sides[i] = ex
	}
	_, err := gat.Read(path)
	require.NoError(b, err)
	task := one(func(context.Context) error {
		for begun := time.Now(); time.Since(begun) < 8*time.Microsecond; {
		}
		return nil
	})
	const perTurn = 500
	turn := func(ex *executor.Executor) float64 {
		begun := time.Now()
		for range perTurn {
			require.NoError(b, ex.Run(context.Background(), task))
		}
		return float64(time.Since(begun)) / perTurn
	}
	var ratios, alone []float64
	for i := 0; b.Loop(); i++ {
		first := turn(sides[i%2])
		second := turn(sides[(i+1)%2])
		if i%2 == 1 {
			first, second = second, first
		}
		ratios, alone = append(ratios, second/first), append(alone, first)
	}
	slices.Sort(ratios)
	slices.Sort(alone)
	b.ReportMetric(ratios[len(ratios)/2], "joined/alone")
	b.ReportMetric(alone[len(alone)/2], "ns/run")
}

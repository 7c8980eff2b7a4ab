package replay

import (
	"bytes"
	"context"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/stretchr/testify/require"
)

// TestComputation: a computation is planned, kept, resumed and reported like a run, beside runs.
func TestComputation(t *testing.T) {
	times := 0
	e := experiment("003/x", "fast 100")
	plan := e.plan
	e.plan = func(p *Plan) {
		plan(p)
		p.compute(time.Second, "three", func() (rows []bench.Row) {
			times++
			for _, n := range []string{"0", "1", "2"} {
				rows = append(rows, newRow([]bench.Metric{{Name: "ns/op", Value: 50}}, "workload", "computed", "n", n))
			}
			return rows
		})
	}
	r := fakeReplay(t, e)
	require.NoError(t, r.Begin(context.Background()))
	require.Equal(t, 1, times)
	require.Contains(t, read(t, r, ReportFile), "fast 100, computed 50")
	rows, err := csv.NewReader(strings.NewReader(read(t, r, "003-x.csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+2+3)
	require.Contains(t, read(t, r, "results.txt"), "BenchmarkComputed/workload=computed/n=0/replay=003-x 1 50 ns/op")

	s, err := openStore(r.Dir)
	require.NoError(t, err)
	require.NoError(t, r.run(context.Background(), s))
	require.Equal(t, 1, times, "the results are kept")

	var b bytes.Buffer
	require.NoError(t, DryRun(&b, []*Experiment{e}, Options{Cores: 2, Seed: 42}))
	require.Contains(t, b.String(), "\n  (compute three, in this process)\n2 measurements")
}

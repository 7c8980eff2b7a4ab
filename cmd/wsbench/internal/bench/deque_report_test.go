package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/stretchr/testify/require"
)

// someDequeResults are those of two experiments, with deques with and without blocks, three repetitions each.
func someDequeResults() (all []DequeResult) {
	for rep := range 3 {
		for i, d := range []DequePoint{
			{Experiment: "owner", Deque: "abp", Capacity: 64, Stolen: 0, N: 10},
			{Experiment: "owner", Deque: "abp", Capacity: 64, Stolen: 10, N: 10},
			{Experiment: "owner", Deque: "padws", Capacity: 64, Block: 8, Stolen: 0, N: 10},
			{Experiment: "owner", Deque: "padws", Capacity: 64, Block: 8, Stolen: 10, N: 10},
		} {
			all = append(all, DequeResult{DequePoint: d, Rep: rep + 1, Verified: true, Metrics: []Metric{
				{"ns/op", float64(8 >> i * (rep + 1))}, {"stolen-percent", float64(d.Stolen)},
				{"retries/steal", 0.5}, {"empties/steal", 0},
			}})
		}
	}
	for rep := range 3 {
		for i, d := range []DequePoint{
			{Experiment: "tree", Deque: "abp", Capacity: 64, Workers: 8, Tree: "fat", N: 100},
			{Experiment: "tree", Deque: "padws", Capacity: 64, Workers: 8, Tree: "fat", N: 100, Block: 16},
			{Experiment: "tree", Deque: "padws", Capacity: 64, Workers: 8, Tree: "fat", N: 100, Block: 8},
		} {
			all = append(all, DequeResult{DequePoint: d, Rep: rep + 1, Verified: true, Metrics: []Metric{
				{"ns/node", 10 / float64(i+1)}, {"steals", 1e-5 * float64(i)}, {"refused", 0},
			}})
		}
	}
	return all
}

func dequeReport(t *testing.T, format string) string {
	var b bytes.Buffer
	env := &environment.Environment{GOOS: "linux", GOARCH: "amd64", Cores: 2, Go: "go1.26"}
	r, err := NewReport[DequeResult](format, &b, env, noted([]string{"a note"}))
	require.NoError(t, err)
	require.NoError(t, r.Add(someDequeResults()))
	require.NoError(t, r.Close())
	return b.String()
}

func TestDequeText(t *testing.T) {
	text := dequeReport(t, "text")
	for _, want := range []string{
		"linux/amd64, 2 cores, go1.26\n\nowner (figure 2a): ",
		"\nmedians of 3 repetitions; capacity 64, block 8, 10 pushes\n",
		`
ns per push or pop
deque     0    10
abp    16.0  8.00  ▁▂
padws  4.00  2.00  ▄█
`,
		`
ns per node, tree fat of 100 nodes
deque     -     8    16
abp    10.0              ▃
padws        3.33  5.00   █▆
`,
		`
time in proportion to that of abp, tree fat of 100 nodes
deque     -      8     16
abp    1.00
padws        0.333  0.500
`,
		`
steals, tree fat of 100 nodes
deque  -     8    16
abp    0
padws     0.00  0.00
`,
		"\n\na note\n",
	} {
		require.Contains(t, text, want)
	}
	for l := range strings.Lines(text) {
		require.Equal(t, strings.TrimRight(l, " \n")+"\n", l)
		require.LessOrEqual(t, len([]rune(l)), 130)
	}
}

// TestNoBase: a table of proportions to a deque that was not measured is left out.
func TestNoBase(t *testing.T) {
	var b bytes.Buffer
	r, err := NewReport[DequeResult]("text", &b, &environment.Environment{}, nil)
	require.NoError(t, err)
	results := someDequeResults()
	require.NoError(t, r.Add(results[len(results)-1:]))
	require.NoError(t, r.Close())
	require.Contains(t, b.String(), "ns per node")
	require.NotContains(t, b.String(), "in proportion")
}

// TestProportions: each row is compared with the base in the same settings.
func TestProportions(t *testing.T) {
	var b bytes.Buffer
	r, err := NewReport[DequeResult]("text", &b, &environment.Environment{}, nil)
	require.NoError(t, err)
	for i, d := range []DequePoint{
		{Experiment: "latency", Deque: "padws", Block: 8, Stolen: 1},
		{Experiment: "latency", Deque: "padws", Block: 8, Stolen: 10},
		{Experiment: "latency", Deque: "pdqr", Stolen: 1},
		{Experiment: "latency", Deque: "pdqr", Stolen: 10},
		{Experiment: "latency", Deque: "padws", Block: 64, Stolen: 10},
		{Experiment: "latency", Deque: "locked", Stolen: 10},
	} {
		x := []float64{1, 4, 10, 20, 5, 40}[i]
		figures := []Metric{{"mean-ns", x}, {"p50-ns", 2 * x}, {"p99-ns", x * x}}
		require.NoError(t, r.Add([]DequeResult{{DequePoint: d, Metrics: figures}}))
	}
	require.NoError(t, r.Close())
	require.Contains(t, b.String(), `
latency in proportion to that of pdqr
deque                       mean-ns  p50-ns  p99-ns
padws, block 8, stolen 1      0.100   0.100   0.010
padws, block 8, stolen 10     0.200   0.200   0.040
pdqr, stolen 1                 1.00    1.00    1.00
pdqr, stolen 10                1.00    1.00    1.00
padws, block 64, stolen 10    0.250   0.250   0.062
locked, stolen 10              2.00    2.00    4.00
`)
}

func TestDequeJSON(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(dequeReport(t, "json")), "\n")
	require.Len(t, lines, 21)
	for i, l := range lines {
		var r DequeResult
		require.NoError(t, json.Unmarshal([]byte(l), &r))
		require.Equal(t, someDequeResults()[i], r)
	}
	require.Contains(t, lines[0],
		`{"experiment":"owner","deque":"abp","capacity":64,"work":0,"n":10,"rep":1,"seed":0,`)
	require.Contains(t, lines[3], `"block":8,"stolen_percent":10,`)
}

// TestDequeBench: the output can be compared.
func TestDequeBench(t *testing.T) {
	text := dequeReport(t, "bench")
	require.True(t, strings.HasPrefix(text, "Unit ns/op better=lower\nUnit retries/steal better=lower\n"))
	require.Contains(t, text, "\nBenchmarkDeque/experiment=owner/deque=abp/capacity=64/stolen=0/n=10 "+
		"1 8 ns/op 0 stolen-percent ")
	require.Contains(t, text, "\nBenchmarkDeque/experiment=tree/deque=padws/capacity=64/block=16/workers=8/"+
		"tree=fat/n=100 1 5 ns/node 1e-05 steals 0 refused\n")
	file := filepath.Join(t.TempDir(), "bench")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	c, err := Compare(file, file)
	require.NoError(t, err)
	byUnit := make(map[string]*UnitComparison)
	for _, u := range c.Units {
		byUnit[u.Unit] = u
	}
	require.Equal(t, -1, byUnit["sec/node"].Better)
	require.Len(t, byUnit["sec/op"].Rows, 4)
	require.Equal(t, 3, len(byUnit["sec/node"].Rows))
}

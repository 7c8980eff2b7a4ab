package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchmath"
)

// benchFile writes a file with the results, with their wall times multiplied by factor.
func benchFile(t *testing.T, name string, results []Result, factor float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	require.NoError(t, err)
	env := someEnvironment()
	env.Commit = name
	r, err := NewReport[Result]("bench", f, env, nil)
	require.NoError(t, err)
	for i := range results {
		results[i].WallNS = int64(float64(results[i].WallNS) * factor)
		results[i].NSPerTask = float64(results[i].WallNS) / float64(max(results[i].Tasks, 1))
	}
	require.NoError(t, r.Add(results))
	require.NoError(t, r.Close())
	require.NoError(t, f.Close())
	return path
}

// TestCompareComputes compares with statistics computed directly, as benchstat computes them: median, interval at 0.95,
// Mann-Whitney U test.
func TestCompareComputes(t *testing.T) {
	old, new := someResults()[:10], someResults()[:10]
	c, err := Compare(benchFile(t, "old", old, 1), benchFile(t, "new", new, 0.8))
	require.NoError(t, err)
	require.Equal(t, []string{`commit: "old" and "new"`}, c.Differ)
	require.Equal(t, "sec/op", c.Units[0].Unit)
	require.Equal(t, -1, c.Units[0].Better)
	require.Len(t, c.Units, 9)
	require.Len(t, c.Units[0].Rows, 2)
	for i, row := range c.Units[0].Rows {
		pick := func(results []Result) *benchmath.Sample {
			var v []float64
			for j := i; j < len(results); j += 2 {
				v = append(v, float64(results[j].WallNS)*1e-9)
			}
			return benchmath.NewSample(v, &benchmath.DefaultThresholds)
		}
		a, b := pick(old), pick(new)
		summary := benchmath.AssumeNothing.Summary(a, 0.95)
		require.InEpsilon(t, summary.Center, row.Old.Center, 1e-12)
		require.Equal(t, summary.PctRangeString(), row.Old.PctRangeString())
		after := benchmath.AssumeNothing.Summary(b, 0.95)
		require.InEpsilon(t, after.Center, row.New.Center, 1e-12)
		test := benchmath.AssumeNothing.Compare(a, b)
		require.Equal(t, test, row.Test)
		require.Equal(t, test.FormatDelta(summary.Center, after.Center)+" ("+test.String()+")", row.Delta())
		require.Equal(t, "-20.00% (p=0.008 n=5)", row.Delta())
		require.Equal(t, []string{"need >= 6 samples for confidence interval at level 0.95"}, row.Warnings)
	}
}

func TestCompareText(t *testing.T) {
	old, new := someResults(), append(someResults(), someResults()[:10]...)
	new[0].N = 7 // only in NEW; and then too few for the others
	c, err := Compare(benchFile(t, "old", old, 1), benchFile(t, "new", new, 0.5))
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, c.WriteText(&b, false))
	text := b.String()
	want := `OLD and NEW differ in commit: "old" and "new"

sec/op, lower is better, policy=adaptive, deque=chaselev, forks=private
benchmark                                                    OLD          NEW                    delta
Run/workload=chain/engine=magpie/workers=2/n=100000  1020.0µ ± ∞  510.0µ ± 2%  -50.00% (p=0.001 n=5+9)  [1]
Run/workload=chain/engine=serial/workers=1/n=100000  1520.0µ ± ∞  760.0µ ± 1%         -50.00% (n=5+10)  [1]
Run/workload=chain/engine=magpie/workers=2/n=7                 -   500.0µ ± ∞                           [1]

sec/task, lower is better, policy=adaptive, deque=chaselev, forks=private
`
	require.Equal(t, want, text[:min(len(want), len(text))])
	require.Contains(t, text, "\n[1] need >= 6 samples for confidence interval at level 0.95\n"+
		"[2] all samples are equal\n")
	require.Contains(t, text, "not shown, for neither more nor less of them is better (see -all): cpu-util, steals")
	require.NotContains(t, text, "\nsteals")
	require.Contains(t, text,
		"\np99-sec, lower is better, policy=adaptive, deque=chaselev, forks=private, workers=2, n=20000\n")

	b.Reset()
	require.NoError(t, c.WriteText(&b, true))
	require.Contains(t, b.String(), "\nsteals, ")
	require.NotContains(t, b.String(), "not shown")
}

// TestCompareForeign reads the output of go test -bench.
func TestCompareForeign(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, ns := range []int{100, 150} {
		name := filepath.Join(dir, fmt.Sprint(i))
		text := "goos: linux\n"
		for j := range 6 {
			text += fmt.Sprintf("BenchmarkPush-2  1000 %d ns/op 0 B/op\n", ns+j)
		}
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		files = append(files, name)
	}
	c, err := Compare(files[0], files[1])
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, c.WriteText(&b, false))
	require.Equal(t, `sec/op, lower is better
benchmark          OLD          NEW                  delta
Push-2     102.5n ± 2%  152.5n ± 2%  +48.78% (p=0.002 n=6)

B/op, lower is better
benchmark         OLD         NEW            delta
Push-2     0.000 ± 0%  0.000 ± 0%  ~ (p=1.000 n=6)  [1]

[1] all samples are equal
`, b.String())
}

// TestCompareJSON: results are the same in both formats, but for the machine.
func TestCompareJSON(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, results []Result, deques []DequeResult) string {
		var b bytes.Buffer
		r, err := NewReport[Result](name, &b, &environment.Environment{}, nil)
		require.NoError(t, err)
		require.NoError(t, r.Add(results))
		d, err := NewReport[DequeResult](name, &b, &environment.Environment{}, nil)
		require.NoError(t, err)
		require.NoError(t, d.Add(deques))
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
		return path
	}
	bench, json := write("bench", someResults(), someDequeResults()), write("json", someResults(), someDequeResults())
	want, err := Compare(bench, bench)
	require.NoError(t, err)
	require.Greater(t, len(want.Units), 9)
	got, err := Compare(bench, json)
	require.NoError(t, err)
	sameText := cmp.Comparer(func(x, y error) bool { return x.Error() == y.Error() })
	require.Empty(t, cmp.Diff(want.Units, got.Units, sameText))
}

func TestCompareErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	good := benchFile(t, "good", someResults(), 1)
	tests := []struct{ name, file, want string }{
		{"missing", filepath.Join(dir, "none"), "no such file"},
		{"a directory", dir, "is a directory"},
		{"empty", write("empty", ""), "no benchmark results"},
		{"a table", write("table", "workload engine\nchain magpie\n"), "no benchmark results"},
		{"broken", write("broken", "BenchmarkX 1 x ns/op\n"), "parsing measurement"},
		{"half an object", write("half", `{"workload":"chain"`), "unexpected EOF"},
		{"a wrong field", write("field", `{"workload":5}`), "cannot unmarshal"},
		{"another object", write("object", `{"a":5}`), "an object is no result of wsbench"},
	}
	for _, tt := range tests {
		for _, files := range [][2]string{{tt.file, good}, {good, tt.file}} {
			_, err := Compare(files[0], files[1])
			var bad *input.Error
			require.ErrorAs(t, err, &bad, tt.name)
			require.ErrorContains(t, err, tt.want, tt.name)
			require.ErrorContains(t, err, tt.file, tt.name)
		}
	}
}

// TestShorten: a part that is the same in every name is printed once, and GOMAXPROCS is no part of the value before it.
func TestShorten(t *testing.T) {
	names, common := shorten([]*RowComparison{
		{Name: "Run/workload=fib/workers=1/n=35"}, {Name: "Run/workload=fib/workers=2/n=35"},
		{Name: "Push/spin/n=35-8"},
	})
	require.Equal(t, []string{"Run/workload=fib/workers=1", "Run/workload=fib/workers=2", "Push/spin-8"}, names)
	require.Equal(t, ", n=35", common)
}

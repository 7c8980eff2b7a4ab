package bench

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

// someResults are five repetitions of two engines, and of a probe.
func someResults() (all []Result) {
	for rep := range 5 {
		magpie := Setting{"magpie", "adaptive", "chaselev", "private", 2, nil, false}
		for i, s := range []Setting{magpie, {"serial", None, None, None, 1, nil, false}} {
			wall := int64(1000000 + 10000*rep + 500000*i)
			r := Result{
				Workload: "chain", Engine: s.Engine, Policy: s.Policy, Deque: s.Deque, Forks: s.Forks,
				Workers: s.Workers,
				N:       100000, Rep: rep + 1, Seed: 42, Tasks: 100000, Edges: 99999,
				BuildNS: 3000000, WallNS: wall, CPUNS: wall * 3 / 2, NSPerTask: float64(wall) / 100000, CPUUtil: 1.5,
				VCtx: 7, ICtx: 8, PeakRSS: 9 << 20, Verified: true,
			}
			if s.Engine == "magpie" {
				r.Steals, r.Parks = uint64(3+rep), 2
			}
			all = append(all, r)
		}
	}
	for rep := range 5 {
		all = append(all, Result{
			Workload: "submit", Engine: "magpie", Policy: "adaptive", Deque: "chaselev", Forks: "private",
			Workers: 2, N: 20000, Rep: rep + 1,
			WallNS: 77777, CPUUtil: 1, Verified: true,
			Metrics: []Metric{{"p50-ns", 2100}, {"p99-ns", 9000 + float64(rep)}},
		})
	}
	return all
}

func someEnvironment() *environment.Environment {
	return &environment.Environment{
		GOOS: "linux", GOARCH: "amd64", CPU: "Abacus 3000", Cores: 2, GOMAXPROCS: 2, Go: "go1.26.8", Kernel: "6.1",
	}
}

// noted returns notes for NewReport, nil for none.
func noted(notes []string) func([]Row) []string {
	if notes == nil {
		return nil
	}
	return func([]Row) []string { return notes }
}

func report(t *testing.T, format string, results []Result, notes ...string) string {
	t.Helper()
	var b strings.Builder
	r, err := NewReport[Result](format, &b, someEnvironment(), noted(notes))
	require.NoError(t, err)
	require.NoError(t, r.Add(results[:3]))
	require.NoError(t, r.Add(results[3:]))
	require.NoError(t, r.Close())
	return b.String()
}

func TestTextReport(t *testing.T) {
	require.Equal(t, `linux/amd64, Abacus 3000, 2 cores, go1.26.8
policy adaptive, deque chaselev, forks private, repetitions 5; figures are medians, ± their 90% confidence intervals

workload  engine  workers       n  build ns/task    ns/task    wall  CPU util  steals  parks  vs serial  verified
chain     magpie        2  100000           30.0  10.2 ± 2%  1.02ms      1.50       5      2      1.49x  yes
chain     serial        1  100000           30.0  15.2 ± 1%  1.52ms      1.50       -      -      1.00x  yes

probe   policy    deque     workers      n  reps  figure     median
submit  adaptive  chaselev        2  20000     5  p50-ns  2100 ± 0%
submit  adaptive  chaselev        2  20000     5  p99-ns  9002 ± 0%

a note
`, report(t, "text", someResults(), "a note"))
}

// TestTextReportColumns: a setting that differs becomes a column, and one without values is left out.
func TestTextReportColumns(t *testing.T) {
	results := someResults()[:1]
	results = append(results, results[0], results[0])
	results[1].Policy = "adaptive-published"
	results[1].WallNS = 3e9
	results[2].N = 7
	results[2].WallNS = 1500
	require.Equal(t, `linux/amd64, Abacus 3000, 2 cores, go1.26.8
deque chaselev, forks private, repetitions 1; figures are medians

workload  engine  policy              workers       n  build ns/task  ns/task    wall  CPU util  steals  parks  verified
chain     magpie  adaptive                  2  100000           30.0     10.0  1.00ms      1.50       3      2  yes
chain     magpie  adaptive-published        2  100000           30.0     10.0   3.00s      1.50       3      2  yes
chain     magpie  adaptive                  2       7           30.0     10.0  1.50µs      1.50       3      2  yes
`, report(t, "text", results))
}

func TestEmptyTextReport(t *testing.T) {
	var b strings.Builder
	r, err := NewReport[Result]("text", &b, someEnvironment(), noted([]string{"a note"}))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Empty(t, b.String())
}

func TestJSONReport(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(report(t, "json", someResults())), "\n")
	require.Len(t, lines, 15)
	for i, l := range lines {
		var got Result
		require.NoError(t, json.Unmarshal([]byte(l), &got))
		require.Empty(t, cmp.Diff(someResults()[i], got))
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(l), &fields))
		for _, want := range strings.Fields("workload engine policy deque forks workers n rep build_ns " +
			"wall_ns cpu_ns ns_per_task cpu_util steals parks vctx ictx peak_rss_bytes verified") {
			require.Contains(t, fields, want)
		}
	}
}

// TestBenchReport reads the report with the library that benchstat uses.
func TestBenchReport(t *testing.T) {
	text := report(t, "bench", someResults())
	require.Equal(t, 1, strings.Count(text, "Unit ns/task better=lower\n"))
	r := benchfmt.NewReader(strings.NewReader(text), "test")
	var names []string
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			want := someResults()[len(names)]
			names = append(names, rec.Name.String())
			for key, v := range map[string]string{
				"goos": "linux", "goarch": "amd64", "pkg": pkgPath, "cpu": "Abacus 3000", "kernel": "6.1",
				"gomaxprocs": "2", "go": "go1.26.8", "commit": "",
			} {
				require.Equal(t, v, rec.GetConfig(key), key)
			}
			units := map[string]float64{
				"sec/op": float64(want.WallNS) / 1e9, "sec/task": want.NSPerTask / 1e9, "build-sec/task": 30e-9,
				"cpu-util": want.CPUUtil, "steals": float64(want.Steals), "parks": float64(want.Parks),
				"vctx": 7, "ictx": 8, "peak-rss-bytes": 9 << 20,
			}
			if want.isProbe() {
				units = map[string]float64{"p50-sec": 2100e-9, "p99-sec": want.Metrics[1].Value / 1e9}
			}
			require.Len(t, rec.Values, len(units))
			for unit, v := range units {
				got, ok := rec.Value(unit)
				require.True(t, ok, unit)
				require.InEpsilon(t, v+1, got+1, 1e-12, unit)
			}
		}
	}
	require.NoError(t, r.Err())
	require.Equal(t, -1, r.Units().GetBetter("sec/task"))
	require.Equal(t, -1, r.Units().GetBetter("p50-sec"))
	require.Equal(t, 0, r.Units().GetBetter("steals"))
	require.Len(t, names, 15)
	require.Equal(t,
		"Run/workload=chain/engine=magpie/policy=adaptive/deque=chaselev/forks=private/workers=2/n=100000", names[0])
	require.Equal(t, "Run/workload=chain/engine=serial/workers=1/n=100000", names[1])
	require.Equal(t,
		"Probe/workload=submit/engine=magpie/policy=adaptive/deque=chaselev/forks=private/workers=2/n=20000", names[10])
}

func TestUnknownFormat(t *testing.T) {
	_, err := NewReport[Result]("xml", nil, nil, nil)
	var bad *input.Error
	require.ErrorAs(t, err, &bad)
	require.EqualError(t, err, `no format "xml": there are text, bench, json`)
}

type failingWriter struct{}

var errFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

// TestWriteErrors: results that cannot be written are an error.
func TestWriteErrors(t *testing.T) {
	for _, format := range Formats() {
		r, err := NewReport[Result](format, failingWriter{}, someEnvironment(), nil)
		require.NoError(t, err)
		require.ErrorIs(t, errors.Join(r.Add(someResults()), r.Close()), errFull, format)
	}
}

func TestSignificant(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.00012345: "0.00012", 0.0123: "0.012", -0.5: "-0.500",
		1.234: "1.23", 12.34: "12.3", 123.4: "123", 12345.6: "12346",
	} {
		require.Equal(t, want, Significant(x))
	}
}

// TestMetricsHaveADirection: a figure of a probe without a direction would be left out of comparisons.
func TestMetricsHaveADirection(t *testing.T) {
	explains := map[string]bool{"bare-p50-ns": true, "bare-p99-ns": true, "row-p50-ns": true, "row-p99-ns": true,
		"bound-ns": true, "samples": true}
	for _, r := range measureProbes(t) {
		for _, m := range r.Metrics {
			require.True(t, better[m.Name] != "" || explains[m.Name] || strings.HasPrefix(m.Name, "thieves@"), m.Name)
		}
	}
}

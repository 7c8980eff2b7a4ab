package replay

import (
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/stretchr/testify/require"
)

// TestAnswer: what is taken is the first candidate, unless another costs less by more than the noise.
func TestAnswer(t *testing.T) {
	q := question{"a program", "000/x", "", "-policy %s", []string{"first", "second", "third"}, "policy=second", "time",
		medianOf("ns/op", "policy", "workload")}
	times := func(policy string, settings []string, all ...float64) (rows []bench.Row) {
		for _, ns := range all {
			rows = append(rows, newRow([]bench.Metric{{Name: "ns/op", Value: ns}}, append([]string{"policy", policy},
				settings...)...))
		}
		return rows
	}
	about := func(ns float64) []float64 { return []float64{0.98 * ns, 0.99 * ns, ns, 1.01 * ns, 1.02 * ns} }
	wide := []float64{50, 80, 100, 120, 150}
	for _, tt := range []struct {
		name                 string
		first, second, third []float64
		control              []float64 // of second
		take, because        string
	}{
		{"the first is best", about(50), about(100), about(100), nil, "-policy first",
			"time 0.50 of second (0.49 to 0.51), 0.50 of third (0.49 to 0.51)"},
		{"another is best", about(100), about(50), about(200), nil, "-policy second",
			"time 0.50 of first (0.49 to 0.51), 0.25 of third (0.25 to 0.26)"},
		{"repetitions differ", wide, wide, about(300), nil, "-policy first",
			"time 0.33 of third (0.17 to 0.50); not resolved against second"},
		{"another is better by less than the control's noise", about(100), about(90), about(200),
			about(110), "-policy first", "time 0.50 of third (0.49 to 0.51); not resolved against second"},
		{"a control that agrees", about(100), about(90), about(200), about(91), "-policy second",
			"time 0.90 of first (0.88 to 0.92), 0.45 of third (0.44 to 0.46)"},
		{"one repetition", []float64{100}, []float64{50}, []float64{10}, nil, "-policy first",
			"not resolved against second, third"},
		{"one was not measured", about(50), nil, about(100), nil, "-policy first", "time 0.50 of third (0.49 to 0.51)"},
		{"one was measured", about(50), nil, nil, nil, "", "not measured here"},
		{"none was measured", nil, nil, nil, nil, "", "not measured here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &Data{Env: &environment.Environment{Cores: 2}}
			for _, w := range []string{"chain", "tree"} {
				settings := []string{"workload", w}
				d.Rows = append(d.Rows, times("first", settings, tt.first...)...)
				d.Rows = append(d.Rows, times("second", settings, tt.second...)...)
				d.Rows = append(d.Rows, times("third", settings, tt.third...)...)
				for _, r := range times("second", settings, tt.control...) {
					r.Point = r.With(again, "yes")
					d.Control = append(d.Control, r)
				}
			}
			got := answer{Program: q.program}.by(q, d)
			require.Equal(t, answer{Program: "a program", Take: tt.take}, answer{Program: got.Program, Take: got.Take})
			require.Equal(t, strings.Fields(keepRatios(tt.because)), strings.Fields(keepRatios(got.Because)))
			again := answer{Program: q.program}.by(q, d)
			require.Equal(t, got, again, "the same data have the same answers")
		})
	}
}

// keepRatios leaves the intervals of an answer out: they are those of resampled repetitions.
func keepRatios(because string) string {
	for {
		before, rest, ok := strings.Cut(because, " (")
		if !ok {
			return because
		}
		_, after, _ := strings.Cut(rest, ")")
		because = before + after
	}
}

// Every question is of an experiment, and compares several candidates.
func TestQuestions(t *testing.T) {
	programs := make(map[string]bool)
	for _, q := range questions {
		e, err := Pick([]string{q.experiment})
		require.NoError(t, err)
		require.Len(t, e, 1)
		require.False(t, programs[q.program], q.program)
		programs[q.program] = true
		require.Greater(t, len(q.candidates), 1)
		require.Equal(t, 1, strings.Count(q.flags, "%s"))
		require.NotEmpty(t, q.less)
	}
}

// TestAnswersOnPage: a report of an experiment that answers a question has the answers, and a link to them.
func TestAnswersOnPage(t *testing.T) {
	r := fakeReplay(t, experiment("001/f5", "fast 100"))
	require.NoError(t, r.Begin(t.Context()))
	page := read(t, r, ReportFile)
	require.Contains(t, page, `<a href="#which">`)
	require.Contains(t, page, `<h2 id="which">Which policy, which deque, for what</h2>`)
	require.Contains(t, page, "not measured here")
	r = fakeReplay(t, experiment("000/x", "fast 100"))
	require.NoError(t, r.Begin(t.Context()))
	require.NotContains(t, read(t, r, ReportFile), `"#which"`)
}

// TestAnswersOfPairs: made times of all pairs say which policy is fair.
func TestAnswersOfPairs(t *testing.T) {
	d := &Data{Env: &environment.Environment{Cores: 2}, Rows: pairRows()}
	for i, r := range d.Rows { // adaptive is less fair than bws-same, and both are not quite fair
		if x, _ := r.Figure("ns/op"); x == 110 && r.Value("workload") == "mi" && r.Value("under") != "abp" {
			more := map[string]float64{"adaptive": 30, balanced: 5}[r.Value("under")]
			d.Rows[i].Figures = []bench.Metric{{Name: "ns/op", Value: x + more}}
		}
	}
	all := d.answers(fig2Of004)
	require.Len(t, all, 1)
	require.Equal(t, "fork-join programs beside each other, for fairness", all[0].Program)
	require.Equal(t, "004-fig2", all[0].Anchor)
	require.Equal(t, "-policy "+balanced, all[0].Take)
	require.Contains(t, all[0].Because, "unfairness 0.17 of adaptive")
}

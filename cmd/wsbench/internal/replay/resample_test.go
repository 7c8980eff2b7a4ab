package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func init() {
	if testkit.Quick() {
		resamplings = 40
	}
}

// pairRows returns made repetitions of all pairs, alone and together. Under ABP the second of a pair takes three times
// as long beside the first, and its times vary.
func pairRows() (rows []bench.Row) {
	row := func(ns float64, settings ...string) {
		rows = append(rows, newRow([]bench.Metric{{Name: "ns/op", Value: ns}}, settings...))
	}
	for policy := range strings.SplitSeq(policies004, ",") {
		for _, a := range apps {
			under := policy
			if a.isLoop() {
				under = ""
			}
			for range fewest {
				row(100, "co", "alone", "workload", a.name, "policy", under)
			}
		}
		for _, c := range pairs() {
			for rep := range 4 {
				second := 110.0
				if policy == "abp" {
					second = 300 + 20*float64(rep)
				}
				row(110, "co", c.String(), "kind", c.kind(), "under", policy, "workload", c.a.name)
				row(second, "co", c.String(), "kind", c.kind(), "under", policy, "workload", c.b.name)
			}
		}
	}
	return rows
}

// TestPairs: the figures of all pairs have a row for each pair and one for their average, and a dot for each policy,
// within the interval that its repetitions give.
func TestPairs(t *testing.T) {
	d := &Data{Env: &environment.Environment{Cores: 2}, Rows: pairRows()}
	rows := 0
	s, err := fig2Of004.section(d)
	require.NoError(t, err)
	for i, name := range []string{"004-fig2a", "004-fig2b", "004-fig2c"} {
		f := s.Figures[2*i]
		require.Equal(t, name, f.File)
		require.Equal(t, "dots", f.Kind)
		require.False(t, f.Wide())
		require.Contains(t, f.Note, resampledNote)
		rows += len(f.X.Categories) - 1
		require.Equal(t, "average", f.X.Categories[len(f.X.Categories)-1])
		require.Len(t, f.Series, 3)
		for _, p := range f.Series[0].Points {
			require.InDelta(t, 220, p.Y, 1e-9) // 330 % less 110 %
			require.Less(t, *p.Low, 219.0)
			require.Greater(t, *p.High, 221.0)
			require.True(t, *p.Low >= 190 && *p.High <= 250, "beyond all repetitions")
		}
		for _, p := range f.Series[1].Points {
			require.InDelta(t, 0, p.Y, 1e-9)
			require.InDelta(t, *p.Low, *p.High, 1e-9, "repetitions that agree have no interval")
		}
		require.Len(t, s.Figures[2*i+1].X.Categories, 2*(len(f.X.Categories)-1))
	}
	require.Equal(t, 28, rows)
	for i, f := range s.Figures {
		drawn := 0
		for _, d := range f.Document {
			drawn += len(d.Points)
		}
		k := slices.IndexFunc(printedFig2Of004, func(p printed) bool { return p.figures == f.File })
		require.Len(t, printedFig2Of004[k].values, drawn, "figure %d: a value of the document has no row", i)
	}
	if !testkit.Quick() {
		again, err := fig2Of004.section(d)
		require.NoError(t, err)
		require.Equal(t, s.Figures, again.Figures)
	}
	speeds, err := fig3Of004.section(d)
	require.NoError(t, err)
	require.Len(t, speeds.Figures, 6)
	require.InDelta(t, 100./110+100./330, speeds.Figures[0].Series[0].Points[0].Y, 1e-9)
}

// TestDotsWithoutRuns: what was not measured has no dot, and does not stop the others.
func TestDotsWithoutRuns(t *testing.T) {
	d := &Data{Env: &environment.Environment{Cores: 2}}
	for _, r := range pairRows() {
		if r.Value("under") != "abp" || r.Value("co") != "cg+mi" {
			d.Rows = append(d.Rows, r)
		}
	}
	s, err := fig2Of004.section(d)
	require.NoError(t, err)
	for _, f := range s.Figures {
		for _, series := range f.Series {
			require.NotContains(t, fmt.Sprint(series.Points), "NaN")
		}
	}
}

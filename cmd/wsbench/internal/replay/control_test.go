package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/stretchr/testify/require"
)

// TestControl: rows of a baseline's second measurement are rows of the control, at the points of the baseline, and of
// nothing else.
func TestControl(t *testing.T) {
	row := func(ns float64, settings ...string) bench.Row {
		return newRow([]bench.Metric{{Name: "ns/op", Value: ns}}, settings...)
	}
	d := &Data{figures: []string{"absent", "ns/op"}}
	for _, r := range []bench.Row{
		row(100, "policy", "abp", "workers", "1"), row(200, "policy", "abp", "workers", "2"),
		row(103, "policy", abpAgain, "workers", "1"), row(194, "policy", abpAgain, "workers", "2"),
		row(10, "co", "mm+loop", "under", "abp"), row(10, "co", "mm+loop", "under", abpAgain), // loop has no policy
		row(7, "policy", "mbws", "workers", "1"),
		row(50, "cycle", unshared), row(50, "cycle", unshared, again, "yes"),
	} {
		d.add(r)
	}
	require.Len(t, d.Rows, 5)
	require.Len(t, d.Control, 4)
	groups := bench.GroupBy(d.Rows, nil)
	for i, want := range []float64{103, 194, 10, 0, 50} {
		control := d.controlOf(groups[i])
		if want == 0 {
			require.Empty(t, control)
			continue
		}
		require.Len(t, control, 1)
		require.Equal(t, want, control[0].Figures[0].Value)
	}
	require.InDeltaSlice(t, []float64{0.03, 0.03}, d.spreads("policy=abp", "ns/op"), 1e-9, "3 % more and 3 % less")
	require.Equal(t, []float64{0}, d.spreads("policy=mbws", "ns/op"), "one repetition, and no control")
	require.Contains(t, d.controlled(), "is 2 % off in ns/op, the quadratic mean of 4 settings")
	require.Contains(t, string(csvOf(d)), "abp,1,,,,yes,103")
	require.Empty(t, (&Data{Rows: d.Rows, figures: d.figures}).controlled())

	other := d.exchanged("policy=abp workers=2")
	require.Equal(t, 194.0, other.median("ns/op", "policy=abp workers=2"))
	require.Equal(t, 100.0, other.median("ns/op", "policy=abp workers=1"))
	require.Nil(t, d.exchanged("policy=mbws"))
}

// TestControlsArePlanned: the experiments that compare policies by time measure their baseline twice.
func TestControlsArePlanned(t *testing.T) {
	for _, e := range []*Experiment{
		fig2, fig4, fig5Energy, fig5CoRun, o2Of003, sec2, table1Of004, solo004, fig2Of004, fig3Of004, fig4Of004,
		fig5Of004, fig6Of004, sec55,
	} {
		planned := false
		for _, m := range e.measurements(Options{Cores: 2}) {
			for _, p := range m.Programs {
				planned = planned || p.Tags[again] != "" || hasSecondName(p)
			}
		}
		require.True(t, planned, e.ID)
	}
}

// hasSecondName reports whether a program runs a policy under its second name.
func hasSecondName(p Program) bool {
	for name := range secondNames {
		for _, a := range p.Args {
			if slices.Contains(strings.Split(a, ","), name) {
				return true
			}
		}
	}
	return false
}

package replay

import (
	"math"
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
	require.InDeltaSlice(t, []float64{0.03 / math.Sqrt2}, d.spreads("policy=mbws", "ns/op"), 1e-9,
		"one repetition, and no control: what others differ by")
	require.Equal(t, []float64{0}, (&Data{Rows: d.Rows}).spreads("policy=mbws", "ns/op"), "no control anywhere")
	require.Contains(t, d.controlled(), "is 2 % off in ns/op (quadratic mean; settings: 4)")
	require.Contains(t, string(csvOf(d)), "abp,1,,,,yes,103")
	require.Empty(t, (&Data{Rows: d.Rows, figures: d.figures}).controlled())

	other := d.exchanged("policy=abp workers=2")
	require.Equal(t, 194.0, other.median("ns/op", "policy=abp workers=2"))
	require.Equal(t, 100.0, other.median("ns/op", "policy=abp workers=1"))
	require.Nil(t, d.exchanged("policy=mbws"))

	require.Equal(t, d.Rows, d.covered("policy=abp").Rows)
	require.Len(t, d.covered("policy=mbws").Rows, 4, "mbws has no control")
	d.Control = d.Control[:1]
	require.Equal(t, []string{"1"}, bench.ValuesOf(d.covered("policy=abp").where("policy=abp").Rows, "workers"))
}

// TestApart: how far a control is from its baseline is no number where the baseline is 0.
func TestApart(t *testing.T) {
	row := func(name string, ns float64) bench.Row {
		return newRow([]bench.Metric{{Name: "ns/op", Value: ns}}, "workload", name)
	}
	d := &Data{
		Rows:    []bench.Row{row("a", 0), row("b", 100), row("c", 100)},
		Control: []bench.Row{row("a", 0), row("b", 90)},
	}
	require.InDeltaSlice(t, []float64{-0.1}, d.apart("ns/op"), 1e-9)
	require.Empty(t, d.apart("absent"))
}

// TestAllAgain: a measurement whose programs are all of a control is not the same as that of the baseline.
func TestAllAgain(t *testing.T) {
	p := &Plan{keys: make(map[string]bool)}
	programs := []Program{p.program(map[string]string{"job": "A"}, "run fib"), p.program(nil, "run thin")}
	programs[1].Tags = map[string]string{"job": "B"}
	p.together(0, programs...)
	p.together(0, allAgain(programs)...)
	p.together(0, allAgain(programs)...)
	p.together(0, programs[0], allAgain(programs)[0])
	require.Len(t, p.list, 3)
	require.Empty(t, programs[0].Tags[again])
	require.Equal(t, p.list[0].Key()+" # again", p.list[1].Key())
	require.False(t, p.list[2].isAgain())
}

// TestControlsArePlanned: an experiment with a claim that is not exact measures a baseline twice, on any machine. Exact
// are what is computed and what is counted.
func TestControlsArePlanned(t *testing.T) {
	exact := func(c *Claim) bool { return c.needs.exact() }
	measured := func(e *Experiment) bool { return slices.IndexFunc(e.claims, exact) < 0 }
	for _, e := range Experiments() {
		require.Equal(t, measured(e), !slices.ContainsFunc(e.claims, exact), "%s: no claim but exact ones, or none", e.ID)
		for _, o := range []Options{{Cores: 1}, {Cores: 2}, {Cores: 16}, {Cores: 16, Full: true}} {
			require.Equal(t, measured(e), plansControl(e, o), "%s: %+v", e.ID, o)
		}
	}
}

// plansControl reports whether an experiment measures anything a second time.
func plansControl(e *Experiment, o Options) bool {
	for _, m := range e.measurements(o) {
		for _, p := range m.Programs {
			if p.Tags[again] != "" || hasSecondName(p) || slices.Contains(p.Args, strings.TrimSpace(againFlag)) {
				return true
			}
		}
	}
	return false
}

// TestConditionsOfControls: what a run is to measure a second time is among what it measures.
func TestConditionsOfControls(t *testing.T) {
	runs := 0
	for _, e := range Experiments() {
		for _, m := range e.measurements(Options{Cores: 4}) {
			for _, p := range m.Programs {
				i := slices.Index(p.Args, strings.TrimSpace(againFlag))
				if i < 0 {
					continue
				}
				runs++
				for condition := range strings.SplitSeq(p.Args[i+1], ",") {
					name, values, _ := strings.Cut(condition, "=")
					if at := slices.Index(p.Args, "-"+name); at >= 0 {
						require.Subset(t, strings.Split(p.Args[at+1], ","), strings.Split(values, "|"), m.Key())
					} else {
						require.Equal(t, "stolen", name, "%s: has no list", m.Key())
					}
				}
			}
		}
	}
	require.Greater(t, runs, 20)
}

// TestQuestionsHaveControls: each question has a baseline that is measured twice.
func TestQuestionsHaveControls(t *testing.T) {
	for _, q := range questions {
		require.NotEmpty(t, q.control, q.program)
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

package replay

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParts: a summary has every claim once: what was reproduced exactly, what was measured, and what this machine
// cannot decide, which has a group for each thing that is missing.
func TestParts(t *testing.T) {
	s := &section{Experiment: &Experiment{ID: "000/x"}}
	add := func(name string, by Decider, why string) {
		s.Judgements = append(s.Judgements, judgement{Claim: &Claim{ID: "000/x " + name}, Verdict: Verdict{By: by, Why: why}})
	}
	add("few", ByMachine, "4 cores, and here are 2: two more")
	add("held", ByMeasured, "")
	add("exact", ByExact, "")
	add("fewer", ByMachine, "8 cores, and here are 2: six more")
	add("noise", ByNoise, "the outcome is another")
	add("few again", ByMachine, "4 cores, and here are 2: two more")
	add("refuted", ByDocument, "arithmetic")
	add("ours", ByOurs, "")
	var got []string
	for _, p := range partsOf([]*section{s}) {
		n := 0
		for _, g := range p.Groups {
			n += len(g.Claims)
			for _, c := range g.Claims {
				require.Equal(t, "000-x", c.Anchor)
				got = append(got, p.Title+", "+g.Reason+": "+c.ID)
			}
		}
		require.Equal(t, n, p.N)
	}
	require.Equal(t, []string{
		"Reproduced exactly, held: the figures are the same on any machine: 000/x exact",
		"Measured, held by what was measured here: 000/x held",
		"Measured, did not hold: an ideal schedule, or arithmetic, refutes it: 000/x refuted",
		"Measured, did not hold, and nothing else explains it: 000/x ours",
		"What this machine cannot decide, not resolved: the margin is within the noise: 000/x noise",
		"What this machine cannot decide, cannot be shown without 4 cores, and here are 2: two more: 000/x few",
		"What this machine cannot decide, cannot be shown without 4 cores, and here are 2: two more: 000/x few again",
		"What this machine cannot decide, cannot be shown without 8 cores, and here are 2: six more: 000/x fewer",
	}, got)

	var order []Decider // those of the parts are all, in the order of summaries
	for _, p := range parts {
		order = append(order, p.deciders...)
	}
	require.Len(t, order, len(deciders))
	require.IsIncreasing(t, order)
}

// TestOrderOfReport: a report begins with the summary, in the order of its parts, and has the tables of what the
// documents have after it.
func TestOrderOfReport(t *testing.T) {
	r := fakeReplay(t, experiment("000/x", "fast 100", "slow 300"), fig52Of003)
	require.NoError(t, r.Begin(context.Background()))
	page := read(t, r, ReportFile)
	last := 0
	for _, want := range []string{
		"Reproduced exactly: 2 of 4 claims", "Measured: 2 of 4 claims", "What this machine cannot decide: 0 of 4 claims",
		"All claims", "What the documents have", "The documents' parameters", `<h2 id="000-x">`,
	} {
		at := strings.Index(page, want)
		require.Greater(t, at, last, want)
		last = at
	}
	require.Contains(t, page, "STEAL_BOUND")
	require.Contains(t, page, "est_cycle")
	require.NotContains(t, page, "SleepThreshold, varied", "of a document that is not on the page")
}

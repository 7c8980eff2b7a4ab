package replay

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// computed returns what a replay has of the computations of an experiment, which are read back from their records.
func computed(t *testing.T, e *Experiment) *Data {
	d := &Data{Env: &environment.Environment{Cores: 2}}
	for _, m := range e.measurements(Options{Cores: 2, Seed: 42}) {
		require.NotNil(t, m.Computation)
		rec, err := m.Computation.record(m.Key())
		require.NoError(t, err)
		line, err := json.Marshal(rec)
		require.NoError(t, err)
		var read record
		require.NoError(t, json.Unmarshal(line, &read))
		for i, c := range read.Computed {
			require.Equal(t, rec.Computed[i], c)
			d.Rows = append(d.Rows, c.row())
		}
	}
	return d
}

// TestDocument003: the verdicts and what they are from. They change only with the rules, the allotments or the model.
func TestDocument003(t *testing.T) {
	if testkit.Race {
		t.Skip("one goroutine computes, and would take minutes")
	}
	want := map[string]struct {
		outcome Outcome
		found   string
	}{
		"003/fig2-1 arrival":        {Held, "1.33× the throughput, 1.12× the mean response"},
		"003/fig2-1 complements":    {Held, "1.42× the throughput, 0.706× the mean response"},
		"003/fig5-2 trace":          {Held, "DP: 10 of 10 rows are the document's; water-filling: 8"},
		"003/fig5-2 conditions":     {Held, "after 20 of 20 events"},
		"003/fig6-2 trace":          {Held, "6 of 6 rows"},
		"003/fig6-3 overhead":       {Held, "with 16 jobs USER-JS has 13.7 accesses (2.2 with one job)"},
		"003/fig7-1-virtual loopy":  {Held, "17.44 s in virtual time"},
		"003/fig7-1-virtual others": {NotHeld, "fib(33) 11.87 s, cholesky(2048,10000) 23.82 s, knary(10,6,1) 75.61 s"},
		"003/fig7-4 slower":         {Held, "3.1× at 1 ms, 3.4× at 2 ms, 3.6× at 5 ms"},
		"003/fig7-4 parallelism":    {Held, "1 to 1"},
		"003/o3 overhead":           {CannotShow, "16 processors: 0.0 % with loopy(16), 0.0 % with loopy(32)"},
		"003/o3 limit":              {Held, "0.13 % at most"},
		"003/fig7-7 start":          {Held, "response ratio 1.125, throughput ratio 1.333, power ratio 1.185"},
		"003/fig7-7 half":           {Held, "response ratio 1.071, throughput ratio 1.143, power ratio 1.067"},
		"003/p1 response":           {Held, "1.098 with 16, t = 0"},
		"003/p1 throughput":         {Held, "1.329 with 4, t = 0; 1.192 with 8, t = 0; 1.316 with 16, t = 0"},
		"003/p1 power":              {Held, "1.198 with 16, t = 0"},
		"003/p2 response": {NotHeld, "18.9 % with 16 less; with known desires 0.0 % with 2, 19.3 % with 4, 26.3 % with 8, " +
			"28.6 % with 16"},
		"003/p2 usage":     {NotHeld, "7.85 and 7.96"},
		"003/p2-lag usage": {Held, "15.8 with tasks of 50 steps, 16.3 with tasks of 100 steps, 16.6 with tasks of 300"},
		"003/p3 bound":     {Held, "0.65 to 1.00 times the bound, in 7 jobs"},
		"003/p3 fixed":     {Held, "knary(10,4,2) 0.94×"},
		"003/p3 best":      {NotHeld, "knary(10,4,2) 1.40×, strassen(1024) 1.36×"},
	}
	some := testkit.Part(t, document003)
	for _, e := range some {
		d := computed(t, e)
		require.NotEmpty(t, d.Rows)
		for _, r := range d.Rows {
			for _, s := range r.Settings {
				require.NotContains(t, s.Value, " ", "conditions are separated by spaces")
				require.NotContains(t, s.Value, "/", "settings are, in the Go benchmark format")
			}
		}
		s, err := e.section(d)
		require.NoError(t, err)
		require.NotEmpty(t, s.Figures, e.ID)
		for _, f := range s.Figures {
			require.NotEmpty(t, f.Series[0].Points, f.File)
		}
		for _, row := range s.Table.Rows {
			require.NotContains(t, row, "", "%s: a cell of the table has no figure", e.ID)
		}
		for _, j := range s.Judgements {
			require.Equal(t, want[j.ID].outcome, j.Outcome, "%s: %s", j.ID, j.Found)
			require.Contains(t, j.Found, want[j.ID].found, j.ID)
			require.NotEqual(t, ByOurs, j.By, j.ID)
			delete(want, j.ID)
		}
	}
	if len(some) == len(document003) {
		require.Empty(t, want)
	}
}

// TestFigures003: what the figures of the document say of themselves, where claims are refuted by them.
func TestFigures003(t *testing.T) {
	refuted := func(e *Experiment, id string) string {
		for _, c := range e.claims {
			if c.ID == id {
				return c.refuted
			}
		}
		return ""
	}
	// Fig 7-9: two jobs have 8 of 16 processors each and take 31.33 s. T1/T∞ is 13.68.
	const static, shared, parallelism = 31.33, 22.12, 13.68
	serial := static / (1 + (parallelism-1)/8)
	work := (parallelism - 1) * serial
	response := refuted(p2Of003, "003/p2 response")
	require.Contains(t, response, fmt.Sprintf("serial phase of %.1f s", serial))
	require.Contains(t, response, fmt.Sprintf("parallel one of %.0f s of work", work))
	// Fig 7-10: a serial tree has 3.732 processors.
	least := serial + work/(16-3.732)
	require.Contains(t, response, fmt.Sprintf("%.1f s at least, %.0f %% less", least, 100*(1-least/static)))

	usage := refuted(p2Of003, "003/p2 usage")
	alone := serial + work/16
	require.Contains(t, usage, fmt.Sprintf("%.1f s at least", alone))
	last := 2*shared - alone
	require.Contains(t, usage, fmt.Sprintf("within %.1f s", last-alone))
	// Processors are taken from the begin to the end of either job, and until the last end there are 16.
	require.Contains(t, usage, fmt.Sprintf("%.1f processors together at most, not %.2f", 16*last/alone, 8.275+9.756))

	// Fig 7-10: the times of knary(11,3,3) on one processor and on four.
	require.Contains(t, refuted(p3Of003, "003/p3 best"), fmt.Sprintf("%.2f times as long", 10.85/7.669))
}

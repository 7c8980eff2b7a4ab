package replay

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/stretchr/testify/require"
)

// TestEveryClaimIsJudged holds the list of what the documents claim against the claims of the experiments.
func TestEveryClaimIsJudged(t *testing.T) {
	text, err := os.ReadFile("testdata/claims.txt")
	require.NoError(t, err)
	listed := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		_, ids, ok := strings.Cut(line, " = ")
		require.True(t, ok, "no ID: %s", line)
		for id := range strings.SplitSeq(ids, ", ") {
			listed[id] = true
		}
	}
	judged := make(map[string]bool)
	for _, e := range Experiments() {
		if len(e.claims) == 0 {
			require.Contains(t, e.Notes, "No claim is made: ", e.ID) // and why
		}
		for _, c := range e.claims {
			require.False(t, judged[c.ID], "%s is there twice", c.ID)
			judged[c.ID] = true
			require.NotNil(t, c.judge, c.ID)
			require.NotEmpty(t, c.Says, c.ID)
			require.NotEmpty(t, c.Place, c.ID)
			require.NotEmpty(t, c.needs.why, c.ID)
			require.Equal(t, c.needs.exact(), c.baseline == "", "%s: figures of a machine have noise", c.ID)
			require.Equal(t, e.Document(), c.ID[:3])
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(judged)))
}

// TestWithoutMeasurements: a claim about which nothing was measured cannot be shown, whatever it is.
func TestWithoutMeasurements(t *testing.T) {
	env := &environment.Environment{Cores: 1000}
	for _, e := range Experiments() {
		s, err := e.section(&Data{Env: env, Refused: []string{"no luck"}})
		require.NoError(t, err)
		for _, j := range s.Judgements {
			require.Equal(t, CannotShow, j.Outcome, "%s: %s", j.ID, j.Found)
			require.NotEmpty(t, j.Why, j.ID)
		}
		require.Empty(t, s.Figures, e.ID)
	}
}

// TestExperiments: each experiment has measurements of its own key, at both sizes, and the tags of programs do not
// contain spaces, which separate conditions.
func TestExperiments(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range Experiments() {
		require.False(t, seen[e.ID], e.ID)
		seen[e.ID] = true
		require.Contains(t, documents, e.Document())
		for _, full := range []bool{false, true} {
			for _, cores := range []int{1, 2, 40} {
				o := Options{Full: full, Cores: cores, Seed: 42}
				all := e.measurements(o)
				require.NotEmpty(t, all)
				keys := make(map[string]bool)
				for _, m := range all {
					require.False(t, keys[m.Key()], "%s measures twice: %s", e.ID, m)
					keys[m.Key()] = true
					require.Positive(t, m.Expect, "%s", m)
					require.Equal(t, m.Computation == nil, len(m.Programs) > 0, "%s", m)
					for _, p := range m.Programs {
						require.Contains(t, []string{"run", "deque"}, p.Args[0])
						for name, tag := range p.Tags {
							require.NotContains(t, tag, " ", "%s: %s", m, name)
						}
					}
				}
				require.Positive(t, e.Expect(o))
			}
		}
	}
}

func TestPick(t *testing.T) {
	all, err := Pick([]string{"all"})
	require.NoError(t, err)
	require.Equal(t, Experiments(), all)
	some, err := Pick([]string{"002", "000/fig2", "002/fig1"})
	require.NoError(t, err)
	require.Equal(t, append([]*Experiment{fig2}, document002...), some)
	for _, id := range []string{"005", "000/fig9", "", "fig2", "000/"} {
		_, err := Pick([]string{"all", id})
		var bad *input.Error
		require.ErrorAs(t, err, &bad, id)
		require.ErrorContains(t, err, "wsbench replay list has them")
	}
}

// TestSwitchClaims: the claims about context switches are judged by the records if there are any.
func TestSwitchClaims(t *testing.T) {
	row := func(co, workload, under string, figures []bench.Metric) bench.Row {
		at := bench.Point{}.With("co", co).With("workload", workload).With("under", under).With("kind", "mixed")
		return bench.Row{Point: at, Figures: slices.Clone(figures)}
	}
	recorded := func(total, toThief, external float64) []bench.Metric {
		return []bench.Metric{
			{Name: "vctx", Value: 1}, {Name: "ictx", Value: 1}, {Name: "to-thief-switches", Value: toThief},
			{Name: "external-switches", Value: external}, {Name: "switches", Value: total},
		}
	}
	both := func(workload string, abp, bws []bench.Metric) []bench.Row {
		return []bench.Row{
			row("mm+clip", workload, "abp", abp), row("mm+clip", workload, balanced, bws),
			row("mm+clip", workload, "adaptive", bws),
		}
	}
	judge := func(d *Data) map[string]Verdict {
		d.Env = &environment.Environment{Cores: aSleeper.cores}
		all := make(map[string]Verdict)
		for _, c := range fig2Of004.claims {
			all[strings.TrimPrefix(c.ID, "004/fig2 ")] = c.verdict(d)
		}
		return all
	}
	d := &Data{}
	for _, workload := range []string{"bfs", "cg", "clip", "mi", "mm"} {
		d.Rows = append(d.Rows, both(workload, recorded(1000, 900, 50), recorded(200, 60, 20))...)
	}
	v := judge(d)
	require.Equal(t, Verdict{Held, ByMeasured, "70 % fewer in 1 of 1 pairs; mm+clip -80 % (by the kernel's records)",
		""}, v["switches"])
	require.Equal(t, Verdict{Held, ByMeasured, "ABP 90 %, bws-same 30 %, adaptive 30 %; a thief is a thread that " +
		"gives its core up " +
		"within 500µs", ""}, v["to-thief"])
	require.Equal(t, Verdict{Held, ByMeasured, "bfs -60 %, cg -60 %, clip -60 %, mi -60 %", ""}, v["external"])

	d.Rows[0].Figures = append(d.Rows[0].Figures, bench.Metric{Name: "lost-switch-records", Value: 7})
	v = judge(d)
	for _, id := range []string{"switches", "to-thief", "external"} {
		require.Contains(t, v[id].Found, "; some records were lost in 1 of 1 repetitions")
	}

	d.Rows[1].Figures = d.Rows[1].Figures[:4] // without the last, switches
	d.Unrecorded = []string{"no luck"}
	v = judge(d)
	require.Equal(t, Verdict{NotHeld, ByOurs, "70 % fewer in 0 of 1 pairs; mm+clip +0 % (voluntary and involuntary " +
		"together)", ""},
		v["switches"])
	for _, id := range []string{"to-thief", "external"} {
		require.Equal(t, CannotShow, v[id].Outcome)
		require.Contains(t, v[id].Why, "no luck")
	}
}

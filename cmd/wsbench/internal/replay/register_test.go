package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyFigure has the figures and tables of each document, by their numbers there. Those of document 001 have none:
// they are counted.
var everyFigure = map[string][]string{
	"000": {"lemma 2", "2a", "2b", "2c", "2d", "3a", "3b", "3c", "3d", "table I", "figure 4", "figure 5"},
	"001": {"first", "second", "third", "fourth", "fifth", "summary"},
	"002": {"figure 1", "2a", "2b", "2c", "2d"},
	"003": {"2-1", "4-2", "5-1", "5-2", "6-2", "6-3", "7-1", "7-2", "7-3", "7-4", "7-5", "7-6", "7-7", "7-8", "7-9",
		"7-10"},
	"004": {"2.3.2", "table 1", "figure 2", "figure 3", "figure 4", "figure 5", "figure 6", "5.5", "footnote 3",
		"footnote 4"},
}

// Every figure and table of the documents is replayed, or the register says why not, and every experiment is in the
// register.
func TestRegister(t *testing.T) {
	unlisted := make(map[string]bool)
	for _, e := range Experiments() {
		unlisted[e.ID] = true
	}
	for document, figures := range everyFigure {
		for _, figure := range figures {
			require.True(t, slices.ContainsFunc(Register(), func(l Listed) bool {
				return l.Document == document && strings.Contains(l.Place, figure)
			}), "document %s, %s", document, figure)
		}
	}
	known := make(map[string]bool)
	for _, e := range Experiments() {
		known[e.ID] = true
	}
	for _, l := range Register() {
		require.Contains(t, everyFigure, l.Document)
		require.NotEmpty(t, l.What+l.Place)
		require.True(t, len(l.In) > 0 || l.Why != "", "%v: neither replayed nor explained", l)
		for _, id := range l.In {
			require.True(t, known[id], "%v: there is no experiment %s", l, id)
			require.True(t, strings.HasPrefix(id, l.Document))
			delete(unlisted, id)
		}
	}
	require.Empty(t, unlisted, "experiments that the register does not have")
}

// everyParameter has words of the names of parameters of each document, of which none may be missing.
var everyParameter = map[string][]string{
	"000": {"STEAL_BOUND", "YIELD_BOUND", "SleepThreshold", "cores", "chain", "tree", "traversal", "matrices",
		"operations", "at once", "repetitions"},
	"001": {"scheduler", "victim", "taken by a steal", "threads and tasks", "unit of sleep", "matrices", "view", "text"},
	"002": {"queues", "block", "tree", "stolen", "thieves"},
	"003": {"η", "est_cycle", "processors", "limit", "arrival", "jobs of O1", "jobs of O3", "jobs of P1", "jobs of P2",
		"jobs of P3"},
	"004": {"SleepThreshold", "wake-ups", "delay-yielding", "selective-yielding", "WSGI", "workers", "sched_compat_yield",
		"BFS", "CG and EP", "CLIP", "MI", "MM", "RayTracer", "LOOP", "repetitions"},
}

// Every parameter of the documents is used, or the list says why not; it has each once, in the order of the documents,
// and the experiments that it names are those of the document.
func TestParameters(t *testing.T) {
	for document, words := range everyParameter {
		for _, word := range words {
			require.True(t, slices.ContainsFunc(Parameters(), func(p Parameter) bool {
				return p.Document == document && strings.Contains(p.Name, word)
			}), "document %s, %s", document, word)
		}
	}
	known := make(map[string]bool)
	for _, e := range Experiments() {
		known[e.ID] = true
		require.Contains(t, everyParameter, e.Document())
	}
	seen := make(map[string]bool)
	last := ""
	for _, p := range Parameters() {
		require.Contains(t, everyParameter, p.Document)
		require.GreaterOrEqual(t, p.Document, last, "%v: not in the order of the documents", p)
		last = p.Document
		name := p.Document + " " + p.Name
		require.False(t, seen[name], "%s: a second time", name)
		seen[name] = true
		require.NotEmpty(t, p.Place, name)
		require.NotEmpty(t, p.Value, name)
		if len(p.In) == 0 {
			require.NotEmpty(t, p.Why, "%s: neither used nor explained", name)
			require.Empty(t, p.Here, name)
			continue
		}
		require.NotEmpty(t, p.Here, "%s: used, with what value?", name)
		for i, id := range p.In {
			require.True(t, known[id], "%s: there is no experiment %s", name, id)
			require.True(t, strings.HasPrefix(id, p.Document+"/"), "%s: %s", name, id)
			require.NotContains(t, p.In[:i], id, name)
		}
	}
}

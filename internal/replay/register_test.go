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

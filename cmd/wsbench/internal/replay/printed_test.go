package replay

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrint: a document's values are at their categories or numbers, under the series that they are to be compared
// with; those beyond the axes are said.
func TestPrint(t *testing.T) {
	e := &Experiment{ID: "000/x", printed: []printed{
		{figures: "000-x-bars", values: []value{{"a", "two", 5}, {"b", "one", 6}, {"a", "three", 7}, {"c", "one", 8}}},
		{figures: "000-x-lines", values: []value{{"a", "4", 7}, {"a", "2", 5}, {"", "1", 6}, {"a", "40", 38.5}}},
		{figures: "000-x-said", values: []value{{"a", "40", 1}}, says: "about 1 from 4 to 40"},
		{figures: "000-x-*", says: notInNumbers},
	}}
	bars := &Figure{File: "000-x-bars", X: Axis{Categories: []string{"one", "two"}}, Series: []Series{{Name: "a"},
		{Name: "b"}}}
	require.NoError(t, e.print(bars))
	require.Equal(t, []Series{{"a", []Point{{X: 1, Y: 5}}}, {"b", []Point{{X: 0, Y: 6}}}}, bars.Document)
	require.Equal(t, "Document: beyond these axes, a 7.00 at three, c 8.00 at one.", bars.Note)

	lines := func(file string) *Figure {
		return &Figure{File: file, Note: "Medians.", Series: []Series{{"a", []Point{{X: 1}, {X: 4}}}}}
	}
	f := lines("000-x-lines")
	require.NoError(t, e.print(f))
	require.Equal(t, []Series{{"a", []Point{{X: 2, Y: 5}, {X: 4, Y: 7}}}, {"", []Point{{X: 1, Y: 6}}}}, f.Document)
	require.Equal(t, "Medians. Document: beyond these axes, a 38.5 at 40.", f.Note)

	f = lines("000-x-said")
	require.NoError(t, e.print(f))
	require.Equal(t, "Medians. Document: about 1 from 4 to 40.", f.Note)
	f = lines("000-x-other")
	require.NoError(t, e.print(f))
	require.Equal(t, "Medians. Document: not given in numbers.", f.Note)
	require.ErrorContains(t, e.print(lines("000-y")), "000/x: nothing is said of what the document has of 000-y")
}

// Every experiment with figures says what its document has of them, in values or in words.
func TestPrinted(t *testing.T) {
	for _, e := range Experiments() {
		require.Equal(t, e.figures != nil, e.printed != nil, e.ID)
		for _, p := range e.printed {
			require.True(t, strings.HasPrefix(p.figures, fileName(e.ID)[:4]), "%s: %s", e.ID, p.figures)
			_, err := path.Match(p.figures, "")
			require.NoError(t, err)
			require.True(t, len(p.values) > 0 || p.says != "", "%s: %s", e.ID, p.figures)
			require.False(t, strings.HasSuffix(p.says, "."), p.says)
		}
	}
}

// TestPrintedExactly: what is computed exactly has a value of the document at each point, and the same one.
func TestPrintedExactly(t *testing.T) {
	for _, e := range []*Experiment{fig52Of003, fig62Of003, fig77Of003} {
		s, err := e.section(computed(t, e))
		require.NoError(t, err)
		for _, f := range s.Figures {
			if f.File == "003-fig5-2-"+waterForm {
				continue // which differs in two rows
			}
			require.Empty(t, f.Note)
			require.Len(t, f.Document, len(f.Series), f.File)
			for i, ours := range f.Series {
				require.Equal(t, ours.Name, f.Document[i].Name)
				require.Len(t, f.Document[i].Points, len(ours.Points))
				for k, p := range f.Document[i].Points {
					require.Equal(t, ours.Points[k].X, p.X)
					require.InDelta(t, ours.Points[k].Y, p.Y, 1e-9, "%s, %s", f.File, ours.Name)
				}
			}
		}
	}
}

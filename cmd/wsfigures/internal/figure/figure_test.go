package figure

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// minimal is a document of one figure, with fields replaced by new ones.
func minimal(replace ...string) string {
	const doc = `{"figures":[{"file":"f","title":"T","kind":"lines","x":{"label":"workers"},"y":{"label":"s"},
"series":[{"name":"a","points":[{"x":1,"y":2}]}]}]}`
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(doc, replace[i]) {
			panic(fmt.Sprintf("the document has no %s", replace[i]))
		}
	}
	return strings.NewReplacer(replace...).Replace(doc)
}

func TestRead(t *testing.T) {
	doc := minimal(`"y":{"label":"s"}`, `"y":{"label":"s","zero":true,"max":4}`, `"y":2`, `"y":2,"low":1,"high":3`,
		`]}]}]}`, `]}],"marks":[{"name":"b","points":[{"x":0,"y":0}]}],"note":"n",
"document":[{"name":"a","points":[{"x":1,"y":9}]}]}]}`)
	got, err := Read(strings.NewReader(doc))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]Figure{{
		Document: []Series{{"a", []Point{{X: new(1.0), Y: new(9.0)}}}},
		File:     "f", Title: "T", Kind: Lines, X: Axis{Label: "workers"}, Y: Axis{Label: "s", Zero: true, Max: new(4.0)},
		Series: []Series{{"a", []Point{{new(1.0), new(2.0), new(1.0), new(3.0)}}}},
		Marks:  []Series{{"b", []Point{{X: new(0.0), Y: new(0.0)}}}}, Note: "n",
	}}, got))
}

func TestReadErrors(t *testing.T) {
	const (
		point  = `{"x":1,"y":2}`
		series = `{"name":"a","points":[` + point + `]}`
		kind   = `"kind":"lines","x":{"label":"workers"`
	)
	bars := func(point string) string {
		return minimal(kind, `"kind":"bars","x":{"label":"","categories":["c","d"]`, `{"x":1,"y":2}`, point)
	}
	for _, c := range []struct{ doc, want string }{
		{"", "no figures: the input is empty"},
		{"{}", "no figures"},
		{`{"figures":[]}`, "no figures"},
		{"[]", "line 1: the document cannot be array"},
		{"{\n\"figures\": [\n", "line 2: the input ends in the middle"},
		{"{\n\"figures\": x", "line 2: invalid character 'x' looking for beginning of value"},
		{minimal() + "{}", "line 2: more after the end of the figures"},
		{minimal(`"y":2`, `"y":NaN`), "line 2: NaN and infinity cannot be drawn"},
		{minimal(`"y":2`, `"y":-Infinity`), "line 2: NaN and infinity cannot be drawn"},
		{minimal(`"y":2`, `"y":1e999`), "line 2: figures.series.points.y cannot be number 1e999"},
		{minimal(`"y":2`, `"y":"2"`), "line 2: figures.series.points.y cannot be string"},
		{minimal(`"y":2`, `"y":2,"z":3`), `line 2: unknown field "z"`},
		{minimal(`"file":"f",`, ""), "figure 1: file is missing"},
		{minimal(`"file":"f"`, `"file":"../f"`),
			`figure 1: file "../f" is not a plain name of letters, digits, dots, dashes and underscores`},
		{minimal(`"title":"T",`, ""), "figure 1: f: title is missing"},
		{minimal(`"title":"T"`, `"title":"a\u0000"`),
			`figure 1: f: title "a\x00" has the character U+0000, which cannot be drawn`},
		{minimal(`"kind":"lines",`, ""), "figure 1: f: kind is missing: lines, bars, steps or dots"},
		{minimal(`"lines"`, `"pie"`), `figure 1: f: unknown kind "pie": lines, bars, steps or dots`},
		{minimal(`"workers"`, `" "`), "figure 1: f: x.label is missing"},
		{minimal(`"y":{"label":"s"}`, `"y":{}`), "figure 1: f: y.label is missing"},
		{minimal(`"y":{"label":"s"}`, `"y":{"label":"s","categories":["a"]}`),
			"figure 1: f: the y axis has categories"},
		{minimal(`"y":{"label":"s"}`, `"y":{"label":"s","log":true,"zero":true}`),
			"figure 1: f: y has both log and zero"},
		{minimal(`"y":{"label":"s"}`, `"y":{"label":"s","min":2,"max":2}`),
			"figure 1: f: y.min 2 is not below y.max 2"},
		{minimal(`"y":{"label":"s"}`, `"y":{"label":"s","log":true,"min":0}`),
			"figure 1: f: y.min 0 is not positive and its axis is logarithmic"},
		{minimal(`"label":"workers"`, `"label":"w","categories":["a","b"],"log":true`),
			"figure 1: f: the x axis has categories and log, min or max"},
		{minimal(series, ""), "figure 1: f: series is missing"},
		{minimal(point, ""), `figure 1: f: series "a" has no points`},
		{minimal(series, series+","+series), `figure 1: f: two series "a"`},
		{minimal(series, series+`,{"points":[{"x":1,"y":2}]}`), "figure 1: f: series 2: name is missing"},
		{minimal(series+"]", series+`],"marks":[{"points":[{"x":1,"y":2}]}]`), "figure 1: f: mark 1: name is missing"},
		{minimal(`"x":1,`, ""), `figure 1: f: series "a": point 1: x is missing`},
		{minimal(`,"y":2`, ""), `figure 1: f: series "a": point 1: y is missing`},
		{minimal(`"y":2`, `"y":null`), `figure 1: f: series "a": point 1: y is missing`},
		{minimal(`"y":2`, `"y":1e101`), `figure 1: f: series "a": point 1: y 1e+101 is out of range`},
		{minimal(`"y":2`, `"y":2,"low":1`), `figure 1: f: series "a": point 1: low without high, or high without low`},
		{minimal(`"y":2`, `"y":2,"low":3,"high":4`),
			`figure 1: f: series "a": point 1: y 2 is not between low 3 and high 4`},
		{minimal(`"y":{"label":"s"}`, `"y":{"label":"s","log":true}`, `"y":2`, `"y":-2`),
			`figure 1: f: series "a": point 1: y -2 is not positive and its axis is logarithmic`},
		{minimal(point, point+`,{"x":0,"y":2}`), `figure 1: f: series "a": point 2: x 0 comes after 1`},
		{minimal(`"lines"`, `"bars"`), "figure 1: f: bars without x.categories"},
		{minimal(`"lines"`, `"dots"`), "figure 1: f: dots without x.categories"},
		{minimal(series+"]", series+`],"document":[{"name":"b","points":[{"x":1,"y":2}]}]`),
			`figure 1: f: document 1: there is no series "b"`},
		{minimal(series+"]", series+`],"document":[{"points":[{"x":1}]}]`),
			"figure 1: f: document 1: point 1: y is missing"},
		{minimal(series, series+strings.Repeat(","+series, maxSeries)), "figure 1: f: 65 series and marks: at most 64"},
		{minimal(series+"]", series+`],"document":[`+series+strings.Repeat(","+series, maxSeries)+"]"),
			"figure 1: f: 65 series in document: at most 64"},
		{bars(`{"x":2,"y":2}`), `figure 1: f: series "a": point 1: x 2 is not the index of one of 2 categories`},
		{bars(`{"x":0.5,"y":2}`), `figure 1: f: series "a": point 1: x 0.5 is not the index of one of 2 categories`},
		{bars(point + "," + point), `figure 1: f: series "a": point 2: a second one for category 1`},
		{strings.Replace(minimal(), `{"file"`, strings.TrimSuffix(strings.TrimPrefix(minimal(), `{"figures":[`), "]}")+
			`,{"file"`, 1), "figures 1 and 2 have the same file, f"},
	} {
		_, err := Read(strings.NewReader(c.doc))
		require.EqualError(t, err, c.want, "%s", c.doc)
	}
}

// samples are figures of every kind, with long names and in great number.
func samples(t testing.TB) []Figure {
	f, err := os.Open("testdata/figures.json")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	figures, err := Read(f)
	require.NoError(t, err)
	return figures
}

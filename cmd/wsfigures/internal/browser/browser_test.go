package browser

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsfigures/internal/figure"
)

// open opens a page with the body.
func open(t *testing.T, body string) *Page {
	t.Helper()
	path := find(t)
	file := filepath.Join(t.TempDir(), "a page.html")
	const head = "<!doctype html><html lang=en><head><meta charset=utf-8><title>Page</title></head><body>"
	require.NoError(t, os.WriteFile(file, []byte(head+body+"</body></html>"), 0o666))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p, err := Open(ctx, path, file, 1200)
	require.NoError(t, err)
	require.Equal(t, "Page", p.Title)
	return p
}

// find finds a browser. Without one it skips the test, except where the environment says CI=true.
func find(t *testing.T) (path string) {
	path, err := Find()
	if err != nil && os.Getenv("CI") == "true" {
		require.NoError(t, err, ".ci/browser installs one")
	} else if err != nil {
		t.Skipf("%v; .ci/browser installs one", err)
	}
	return path
}

// TestFigures: the samples of every kind, in one page, have sizes, show all their texts, and request nothing.
func TestFigures(t *testing.T) {
	in, err := os.Open("../figure/testdata/figures.json")
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	figures, err := figure.Read(in)
	require.NoError(t, err)
	var body strings.Builder
	for _, f := range figures {
		svg, err := f.SVG()
		require.NoError(t, err)
		fmt.Fprintf(&body, "<h2>%s</h2><figure>%s</figure>", html.EscapeString(f.Title), svg)
	}
	p := open(t, body.String())
	require.Empty(t, p.Problems())
	require.Len(t, p.Figures, len(figures))
	for i, f := range p.Figures {
		require.Equal(t, figures[i].Title, f.Name)
		require.GreaterOrEqual(t, f.Width, 720.0)
		require.LessOrEqual(t, f.Width, 1120.0)
		require.Greater(t, f.Height, 300.0)
		require.True(t, f.Visible)
	}
	picture, err := png.Decode(bytes.NewReader(p.PNG))
	require.NoError(t, err)
	require.Equal(t, 1200, picture.Bounds().Dx())
	require.Greater(t, picture.Bounds().Dy(), 300*len(figures), "the picture is of the whole page")
}

// TestProblems: each defect of a page is found.
func TestProblems(t *testing.T) {
	const (
		svg  = `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" `
		text = `<text x="5" y="20">text</text>`
		dot  = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
	)
	for name, c := range map[string]struct{ body, want string }{
		"good":        {svg + `aria-label="good">` + text + `</svg><img src="` + dot + `">`, ""},
		"folded":      {"<details><summary>s</summary>" + svg + ">" + text + "</svg></details>", ""},
		"scrolls":     {`<div style="overflow:auto"><div style="width:2000px">x</div></div>`, ""},
		"no size":     {strings.Replace(svg, "100", "0", 1) + "></svg>", `figure "number 1" has the size 0×50`},
		"hidden":      {svg + `style="visibility:hidden"></svg>`, `figure "number 1" is not visible`},
		"outside":     {svg + ">" + strings.Replace(text, "5", "90", 1) + "</svg>", `does not hold its text "text"`},
		"overlap":     {svg + ">" + text + text + "</svg>", `two texts overlap: "text" and "text"`},
		"wide":        {`<div style="width:1300px">x</div>`, `beyond the 1200 pixels of the window is div "x"`},
		"console":     {"<script>console.error('no', 1)</script>", "the console has error: no 1"},
		"warning":     {"<script>console.warn('hm')</script>", "the console has warning: hm"},
		"exception":   {"<script>null.x</script>", "the console has exception: Uncaught TypeError"},
		"later":       {"<script>setTimeout(() => fetch('http://h.example/'))</script>", "requests http://h.example/"},
		"image":       {`<img src="http://h.example/a.png">`, "the page requests http://h.example/a.png"},
		"image fails": {`<img src="data:image/png;base64,xx">`, "the image data:image/png;base64,xx does not load"},
		"font": {"<style>@font-face{font-family:f;src:url(http://h.example/f.ttf)} p{font-family:f}</style><p>x</p>",
			"the page requests http://h.example/f.ttf"},
		"file": {`<script src="other.js"></script>`, "other.js"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := strings.Join(open(t, c.body).Problems(), "\n")
			if c.want == "" {
				require.Empty(t, problems)
			}
			require.Contains(t, problems, c.want)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.html")
	_, err := Open(t.Context(), "no-browser", missing, 1200)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(t.Context(), "no-browser", t.TempDir(), 1200)
	require.ErrorContains(t, err, "is not a file")
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err = Open(t.Context(), "no-browser", file, 1200)
	require.ErrorContains(t, err, "no-browser does not start")
}

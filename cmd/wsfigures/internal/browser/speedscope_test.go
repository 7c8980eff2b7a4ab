package browser

import (
	"archive/tar"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// speedscopeFile is what .ci/viewer puts into the user's cache: an npm package with the page of speedscope.
const speedscopeFile = "speedscope-1.25.0.tgz"

//go:embed speedscope.js
var speedscope string

// openSpeedscope returns the page of speedscope, and skips the test if .ci/viewer could not download it.
func openSpeedscope(t *testing.T) fs.FS {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	f, err := os.Open(filepath.Join(cache, "magpie", speedscopeFile))
	if err != nil {
		t.Skipf("no page of speedscope: %v; .ci/viewer downloads it", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	web := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return web
		}
		require.NoError(t, err)
		if name, ok := strings.CutPrefix(h.Name, "package/dist/release/"); ok {
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			web[name] = &fstest.MapFile{Data: text}
		}
	}
}

// TestSpeedscope opens a trace in speedscope, which shows one thread: it has the names of the executor and of the
// worker, and a row for each task.
func TestSpeedscope(t *testing.T) {
	find(t)
	url := serve(t, openSpeedscope(t), dinner(t))
	s, err := ask[struct {
		Profile string
		Rows    []string
	}](t, url+"/#profileURL="+url+"/trace.json", speedscope)
	require.NoError(t, err)
	require.Contains(t, s.Profile, "kitchen")
	require.Contains(t, s.Profile, "worker 0")
	rows := strings.Join(s.Rows, "\n")
	for _, task := range []string{"shop", "cook", "heat", "bake", "serve"} {
		require.Contains(t, rows, task)
	}
}

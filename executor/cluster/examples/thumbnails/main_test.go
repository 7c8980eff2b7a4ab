package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/examples/internal/site"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// dies names a file. The worker process that makes it dies.
const dies = "THUMBNAILS_TEST_DIES"

// TestMain is a worker process, if it was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 1 || os.Args[1] != "worker" {
		os.Exit(m.Run())
	}
	err := site.Work(context.Background(), os.Args[2:], queue, func(js jetstream.JetStream) *cluster.Registry {
		reg := cluster.NewRegistry()
		cluster.Register(reg, "thumbnail", func(ctx context.Context, p Photo) (Thumb, error) {
			if _, err := os.OpenFile(os.Getenv(dies), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {} // until the signal has come
			}
			return thumbnailOf(ctx, js, p)
		})
		cluster.RegisterAll(reg, "sheet", func(_ context.Context, all []Thumb) (Sheet, error) { return contactSheet(all) })
		return reg
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// scratch returns the directory of temporary files for the test, which must be empty at its end.
func scratch(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("NATS_URL", "")
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	return dir
}

// paint writes a photograph that is red, and white where nothing is.
func paint(t *testing.T, file string, width, height int) {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width / 2 {
			img.Set(x, y, color.RGBA{200, 0, 0, 255})
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, img))
	require.NoError(t, f.Close())
}

// decoded returns an image that the program has written.
func decoded(t *testing.T, file string) image.Image {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	img, err := jpeg.Decode(f)
	require.NoError(t, err)
	return img
}

// TestThumbnails: all photographs have thumbnails though a worker dies with one, and a file that is none is told.
func TestThumbnails(t *testing.T) {
	scratch(t)
	t.Setenv(dies, filepath.Join(t.TempDir(), "died"))
	photos := t.TempDir()
	small := filepath.Join(photos, "small")
	for name, size := range map[string]image.Point{
		"wide.png": {800, 400}, "high.PNG": {2, 500}, "below/#1?.png": {10, 10},
	} {
		paint(t, filepath.Join(photos, name), size.X, size.Y)
	}
	paint(t, filepath.Join(small, "old.png"), 10, 10) // of an earlier run
	require.NoError(t, os.WriteFile(filepath.Join(photos, "broken.jpg"), []byte("no"), 0o666))

	var out strings.Builder
	err := run(t.Context(), []string{"-workers", "2", "-o", small, photos}, &out)
	require.EqualError(t, err, filepath.Join(photos, "broken.jpg")+": image: unknown format")
	require.Contains(t, out.String(), "3 thumbnails and 1 contact sheets: see ")
	require.FileExists(t, os.Getenv(dies))
	for name, size := range map[string]image.Point{
		"wide.png": {200, 100}, "high.PNG": {1, 200}, "below/#1?.png": {10, 10},
	} {
		require.Equal(t, size, decoded(t, filepath.Join(small, name+".jpg")).Bounds().Size(), name)
	}
	wide := decoded(t, filepath.Join(small, "wide.png.jpg"))
	red, green, _, _ := wide.At(50, 50).RGBA()
	require.InDelta(t, 200, red>>8, 5)
	require.InDelta(t, 0, green>>8, 5)
	_, white, _, _ := wide.At(150, 50).RGBA()
	require.InDelta(t, 255, white>>8, 5)
	require.Equal(t, image.Pt(1016, 176), decoded(t, filepath.Join(small, "sheet-1.jpg")).Bounds().Size())
	index, err := os.ReadFile(filepath.Join(small, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(index), `<a href="../below/%231%3F.png" title="below/#1?.png">`)
	require.Contains(t, string(index), `<img src="below/%231%3F.png.jpg"`)
	require.NotContains(t, string(index), "old.png")
}

// TestSecured: the example runs with TLS as the user albums of setup/accounts.conf. As reports, who may make no bucket,
// it ends with an error.
func TestSecured(t *testing.T) {
	scratch(t)
	at, ca := served.Secure(t, "../../setup")
	t.Setenv(dies, filepath.Join(t.TempDir(), "died"))
	photos := t.TempDir()
	paint(t, filepath.Join(photos, "a.png"), 10, 10)
	args := []string{"-ca", ca, "-workers", "2", "-o", t.TempDir()}
	t.Setenv("NATS_URL", "tls://albums:secret@"+at)
	var out strings.Builder
	require.NoError(t, run(t.Context(), append(args, photos), &out), out.String())
	require.Contains(t, out.String(), "1 thumbnails")
	t.Setenv("NATS_URL", "tls://reports:secret@"+at)
	err := run(t.Context(), append(args, "-inbox", "_INBOX_reports", "-queue", "reports", photos), &out)
	require.ErrorContains(t, err, "make bucket thumbnails-")
	require.ErrorContains(t, err, `Permissions Violation for Publish to "$JS.API.STREAM.CREATE.OBJ_thumbnails-`)
}

// TestInterrupt: an interrupt ends the program, and leaves nothing on the server but its queue.
func TestInterrupt(t *testing.T) {
	scratch(t)
	t.Setenv(dies, filepath.Join(t.TempDir(), "died"))
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	// The first client makes the queue, here with leases that do not end: the run goes on after none.
	c, err := cluster.NewClient(t.Context(), s.Conn(), cluster.ClientConfig{
		Queue: cluster.Queue{Name: queue, Lease: time.Hour}})
	require.NoError(t, err)
	c.Close()
	photos := t.TempDir()
	paint(t, filepath.Join(photos, "a.png"), 10, 10)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	args := []string{"-nats", s.URL(), "-workers", "2", "-o", t.TempDir(), photos}
	go func() { ended <- run(ctx, args, io.Discard) }()
	told := errors.New("told to stop")
	require.Eventually(t, func() bool { // the run has begun
		_, err := os.Stat(os.Getenv(dies))
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	cancel(told)
	require.ErrorIs(t, <-ended, told)
	for name := range js.StreamNames(t.Context()).Name() {
		require.NotContains(t, name, "OBJ_thumbnails")
	}
}

// TestMistakes: what cannot be done is an error that says why, before any work.
func TestMistakes(t *testing.T) {
	dir, empty := scratch(t), t.TempDir()
	photos := t.TempDir()
	paint(t, filepath.Join(photos, "a.png"), 10, 10)
	file := filepath.Join(photos, "a.png")
	for text, args := range map[string][]string{
		"give one directory":      {},
		"no such file":            {filepath.Join(empty, "none")},
		"has no photographs":      {empty},
		"not a directory":         {"-o", file, photos},
		"connect to nats://…@127": {"-nats", "nats://a:b@127.0.0.1:1", "-o", dir, photos},
		"replicas > 1 not suppor": {"-replicas", "3", "-o", empty, photos},
		"a worker needs a server": {"worker"},
	} {
		require.ErrorContains(t, run(t.Context(), args, io.Discard), text)
	}
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	err := run(t.Context(), []string{"-nats", s.URL(), "-wait", "1ms", "-o", t.TempDir(), photos}, io.Discard)
	require.ErrorContains(t, err, "no worker serves the queue")
}

// TestTooLarge: a file that says that it has more pixels than the memory holds is not decoded.
func TestTooLarge(t *testing.T) {
	header := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x02\x00\x00\x00\xe3\xe6\xa7\xb4"
	got, err := thumbnail([]byte(header))
	require.NoError(t, err)
	require.Contains(t, got.Wrong, "it is too large: 65536 × 65536 pixels")
}

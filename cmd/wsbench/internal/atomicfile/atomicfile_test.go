package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	content := func() string {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(b)
	}
	write := func(text string) *File {
		f, err := Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
		return f
	}

	f := write("first")
	require.NoFileExists(t, name)
	require.NoError(t, f.Commit())
	require.Equal(t, "first", content())

	f = write("second")
	require.Equal(t, "first", content())
	require.NoError(t, f.Abandon())
	require.Equal(t, "first", content())

	require.NoError(t, write("third").Commit())
	require.Equal(t, "third", content())

	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}

// TestMode: a new file gets the usual mode, and a replaced one keeps its mode.
func TestMode(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	for _, mode := range []os.FileMode{0o644, 0o600} {
		f, err := Create(name)
		require.NoError(t, err)
		require.NoError(t, f.Commit())
		info, err := os.Stat(name)
		require.NoError(t, err)
		if filepath.Separator == '/' {
			require.Equal(t, mode, info.Mode().Perm())
		}
		require.NoError(t, os.Chmod(name, 0o600))
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Create(filepath.Join(dir, "none", "out"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "out")

	_, err = Create(dir)
	require.ErrorContains(t, err, "is a directory")

	// The obstacle appears only after Create: Commit fails and removes the temporary file.
	f, err := Create(filepath.Join(dir, "taken"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "taken", "x"), 0o755))
	require.Error(t, f.Commit())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// TestAtomicFileLink: a link stays a link, and the file that it leads to is replaced.
func TestAtomicFileLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	require.NoError(t, os.Symlink(file, link))
	f, err := Create(link)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
}

// TestAtomicFileDevice: a device is written to and stays a device.
func TestAtomicFileDevice(t *testing.T) {
	for _, end := range []func(*File) error{(*File).Commit, (*File).Abandon} {
		f, err := Create(os.DevNull)
		require.NoError(t, err)
		_, err = f.Write([]byte("text"))
		require.NoError(t, err)
		require.NoError(t, end(f))
		info, err := os.Stat(os.DevNull)
		require.NoError(t, err)
		require.False(t, info.Mode().IsRegular())
	}
}

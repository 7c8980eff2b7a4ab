package gat

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzTable has arbitrary bytes in the file: content alone, or written over a table whose jobs are dead. The first job
// makes a table of them, because no other job lives. Then patch is written over the table under the job: updates return
// an allotment that may be, or an error.
func FuzzTable(f *testing.F) {
	path := filepath.Join(f.TempDir(), "table")
	image := func() []byte {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		return text
	}
	a, err := Join(path, 4, testCycle, Terms{Name: "a", Minimum: 1})
	require.NoError(f, err)
	b, err := Join(path, 4, testCycle, Terms{Name: "b", Limit: 2, Weight: 5})
	require.NoError(f, err)
	update(f, a, 3)
	update(f, b, 7)
	valid := image()
	kill(a)
	kill(b)
	f.Add(true, []byte{}, uint16(0), []byte{})
	f.Add(true, []byte{2}, uint16(8), []byte{1, 0, 0, 0, 1, 0, 0, 0, 1})
	f.Add(false, []byte("another program's file"), uint16(64), []byte{1, 2, 3})
	f.Add(true, []byte{5}, uint16(128), []byte{255, 255, 255, 255, 255, 255})
	f.Add(true, []byte{1, 0, 0, 0}, uint16(1664+60), []byte{255, 255, 255, 255, 255, 255})
	f.Add(false, []byte{}, uint16(32), []byte{9})
	const processors = 4
	f.Fuzz(func(t *testing.T, isTable bool, content []byte, at uint16, patch []byte) {
		if isTable {
			content = slices.Concat(valid[:min(int(at), size)], content)
			content = slices.Concat(content, valid[min(len(content), size):])
		}
		require.NoError(t, os.WriteFile(path, content, 0o600))
		_, _ = Read(path)
		j, err := Join(path, processors, testCycle, Terms{})
		if start := append(slices.Clone(content), make([]byte, 8)...)[:8]; !bytes.Equal(start, valid[:8]) &&
			!bytes.Equal(start, make([]byte, 8)) && !bytes.HasPrefix(valid[:8], content) {
			require.ErrorIs(t, err, ErrForeign)
			return
		}
		require.NoError(t, err)
		defer func() { require.NoError(t, j.Leave()) }()
		require.Equal(t, processors, update(t, j, 9))
		require.Len(t, look(t, path).Jobs, 1)

		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteAt(patch, int64(at))
		require.NoError(t, err)
		require.NoError(t, file.Close())
		_, _ = Read(path)
		other, err := Join(path, processors, testCycle, Terms{})
		if err == nil {
			defer func() { require.NoError(t, other.Leave()) }()
		}
		for range updatesPerRebalance + 1 {
			for _, k := range []*Job{j, other} {
				if k == nil {
					continue
				}
				_ = k.Allotment()
				a, err := k.Update(9, 1, 1)
				require.True(t, err == nil || errors.Is(err, ErrLost), "%v", err)
				require.GreaterOrEqual(t, a, 0)
				require.LessOrEqual(t, a, 9)
			}
		}
	})
}

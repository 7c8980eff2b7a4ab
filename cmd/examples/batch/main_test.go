package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	want := ""
	for i := range 30 {
		name := filepath.Join(dir, fmt.Sprintf("%02d", i))
		text := strings.Repeat("x", i*100_000)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
	}
	var out, status strings.Builder
	require.NoError(t, run(t.Context(), []string{dir}, &out, &status))
	require.Equal(t, want, out.String())
	require.True(t, strings.HasSuffix(status.String(), "\r\033[K"))

	require.ErrorContains(t, run(t.Context(), nil, &out, &status), "give one directory")
	require.ErrorIs(t, run(t.Context(), []string{filepath.Join(dir, "none")}, &out, &status), os.ErrNotExist)
}

// A file that never ends is interrupted, and what was done before is printed.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	for i := range 9 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("small", i)), nil, 0o666))
	}
	big, err := os.Create(filepath.Join(dir, "the big one")) // the last, for a machine with one processor
	require.NoError(t, err)
	if err := big.Truncate(1 << 40); err != nil { // takes no room on the disk
		t.Skip("no sparse files here:", err)
	}
	require.NoError(t, big.Close())
	ctx, cancel := context.WithCancelCause(t.Context())
	var out strings.Builder
	status := interrupter{cancel: cancel}
	err = run(ctx, []string{dir}, &out, &status)
	require.ErrorContains(t, err, "9 of 10 files done")
	require.ErrorContains(t, err, "told to stop")
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, out.String(), "small8\n")
	require.Contains(t, status.String(), " of 10 files, ")
}

// An interrupter is the status of a run that is told to stop after the status was written a few times. By then all
// small files are done; the numbers need not say so, because a worker does not tell in the middle of a task.
type interrupter struct {
	strings.Builder
	writes int
	cancel context.CancelCauseFunc
}

func (i *interrupter) Write(p []byte) (int, error) {
	if i.writes++; i.writes == 4 {
		i.cancel(errors.New("told to stop"))
	}
	return i.Builder.Write(p)
}

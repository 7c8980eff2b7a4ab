//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Outside of a checkout the command is looked for in PATH, gets the arguments as they are, and its failure is told.
func TestCluster(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Chdir(t.TempDir())
	_, stderr, status := wsbench("cluster", "run")
	require.Contains(t, stderr, "there is no command magpie-cluster in PATH: in a checkout of Magpie wsbench builds it")
	require.Equal(t, exitBadInput, status)

	script := "#!/bin/sh\nprintf '%s\\n' \"$*\"\nexit $2\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, clusterCommand), []byte(script), 0o777))
	for code, want := range map[string]int{"0": exitOK, "1": exitFailed, "2": exitBadInput} {
		stdout, stderr, status := wsbench("cluster", "-n", code)
		require.Equal(t, "-n "+code+"\n", stdout)
		require.Equal(t, want, status)
		require.Equal(t, status != exitOK, stderr != "", stderr)
	}
}

// In a checkout the command is built, and runs.
func TestClusterIsBuilt(t *testing.T) {
	if testkit.Quick() {
		t.Skip("MAGPIE_TESTS=medium runs it: it builds a server")
	}
	stdout, stderr, status := wsbench("cluster", "run", "-tasks", "20", "-workers", "1")
	require.Equal(t, exitOK, status, stderr)
	require.Contains(t, stdout+stderr, "the result is right")
}

func TestCheckout(t *testing.T) {
	require.FileExists(t, filepath.Join(checkout(), "executor", "executor.go"))
	t.Chdir(t.TempDir())
	require.Empty(t, checkout())
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-C", "../../..", "./graph/...", "./executor/..."}, &out))
	require.Regexp(t, `^\d\d? packages, 0 errors, in [0-9hm.]+s on \d+ workers\n$`, out.String())
}

// TestBetween: a package between two that are asked for has the types of the first, not those of its compiled form.
func TestBetween(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": "module m\ngo 1.26\n",
		"a/a.go": "package a\ntype T struct{}\n",
		"b/b.go": "package b\nimport \"m/a\"\nvar B a.T\n",
		"c/c.go": "package c\nimport (\"m/a\"; \"m/b\")\nvar C a.T = b.B\n",
	})
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-C", dir, "./a", "./c"}, &out))
	require.Contains(t, out.String(), "3 packages, 0 errors, in ")
}

func TestErrors(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": "module m\ngo 1.26\n",
		"a/a.go": "package a\nimport _ \"fmt\"\nvar A int = 1\n",
		"b/b.go": "package b\nimport \"m/a\"\nvar B string = \"\" + a.Missing\n",
		"c/c.go": "package c\nimport \"m/a\"\nvar C string = a.A\n",
	})
	var out strings.Builder
	err := run(t.Context(), []string{"-C", dir}, &out)
	require.ErrorContains(t, err, "b.go:3:23: undefined: a.Missing")
	require.ErrorContains(t, err, "c.go:3:16: cannot use a.A")
	require.Contains(t, out.String(), "3 packages, 2 errors, in ")

	err = run(t.Context(), []string{"-C", dir, "./none"}, &out)
	require.ErrorContains(t, err, "none: directory not found")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, []string{"-C", dir}, new(strings.Builder)), context.Canceled)
}

// module writes the files of a module and returns its directory.
func module(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return dir
}

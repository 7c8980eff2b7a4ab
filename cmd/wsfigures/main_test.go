package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const document = `{"figures":[{"file":"f","title":"T","kind":"lines","x":{"label":"w"},"y":{"label":"s"},
"series":[{"name":"a","points":[{"x":1,"y":2}]}]}]}`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
		return name
	}
	good, other := file("good.json", document), file("other.json", strings.Replace(document, `"f"`, `"g"`, 1))
	bad, nothing := file("bad.json", `{"figures":[{}]}`), file("nothing.json", "{}")
	for _, c := range []struct {
		name   string
		args   []string
		stdin  string
		status int
		stdout []string // files in the directory out
		stderr string
	}{
		{"file", []string{good}, "", 0, []string{"f.svg"}, ""},
		{"files", []string{"-png", good, other}, "", 0, []string{"f.svg", "f.png", "g.svg", "g.png"}, ""},
		{"standard input", []string{"-"}, document, 0, []string{"f.svg"}, ""},
		{"no file", nil, "", 2, nil, "wsfigures: no files: name some, or - for the standard input\n"},
		{"bad", []string{good, bad}, "", 2, nil, "wsfigures: " + bad + ": figure 1: file is missing\n"},
		{"two bad", []string{nothing, bad}, "", 2, nil,
			"wsfigures: " + nothing + ": no figures\nwsfigures: " + bad + ": figure 1: file is missing\n"},
		{"empty", []string{"-"}, "", 2, nil, "wsfigures: standard input: no figures: the input is empty\n"},
		{"twice", []string{good, good}, "", 2, nil, "wsfigures: " + good + " and " + good + " both have a figure f\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			var stdout, stderr bytes.Buffer
			status := run(append([]string{"-o", out}, c.args...), strings.NewReader(c.stdin), &stdout, &stderr)
			require.Equal(t, c.stderr, stderr.String())
			require.Equal(t, c.status, status)
			var want strings.Builder
			for _, name := range c.stdout {
				want.WriteString(filepath.Join(out, name) + "\n")
				info, err := os.Stat(filepath.Join(out, name))
				require.NoError(t, err)
				require.NotZero(t, info.Size())
			}
			require.Equal(t, want.String(), stdout.String())
			if c.status != 0 {
				require.NoDirExists(t, out, "something was written although the input is bad")
			}
		})
	}
}

func TestRunCannotWriteOrRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	var stderr bytes.Buffer
	require.Equal(t, 1, run([]string{"-o", file, "-"}, strings.NewReader(document), &bytes.Buffer{}, &stderr))
	require.Contains(t, stderr.String(), file)
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"))

	missing := filepath.Join(t.TempDir(), "missing")
	stderr.Reset()
	require.Equal(t, 2, run([]string{missing}, nil, &bytes.Buffer{}, &stderr))
	require.Contains(t, stderr.String(), missing)
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
}

// TestDocument draws the example of the command's documentation.
func TestDocument(t *testing.T) {
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(source), "like this one:\n")
	require.True(t, ok)
	example, _, ok = strings.Cut(example, "The kinds are:")
	require.True(t, ok)
	var stderr bytes.Buffer
	require.Equal(t, 0, run([]string{"-o", t.TempDir(), "-"}, strings.NewReader(example), &bytes.Buffer{}, &stderr))
	require.Empty(t, stderr.String())
}

func TestFlags(t *testing.T) {
	var stderr bytes.Buffer
	require.Equal(t, 0, run([]string{"-h"}, nil, &bytes.Buffer{}, &stderr))
	require.Contains(t, stderr.String(), "usage: wsfigures")
	require.Equal(t, 2, run([]string{"-x"}, nil, &bytes.Buffer{}, &stderr))
}

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// builds runs the program in a new folder with a Buildfile. The result runs it again.
func builds(t *testing.T, buildfile string) func(ctx context.Context, args ...string) (out string, err error) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("Buildfile", []byte(buildfile), 0o666))
	return func(ctx context.Context, args ...string) (string, error) {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		require.NoError(t, err)
		defer out.Close()
		err = run(ctx, args, out)
		text, errOfRead := os.ReadFile(out.Name())
		require.NoError(t, errOfRead)
		return string(text), err
	}
}

// Each target is made after what it needs, and not again until that has changed.
func TestBuild(t *testing.T) {
	build := builds(t, `# comment
program: a b
	cat a b > program

a: source
	cat source > a
b:
	echo b > b
other:
	echo not made
`)
	require.NoError(t, os.WriteFile("source", []byte("source\n"), 0o666))
	out, err := build(t.Context())
	require.NoError(t, err)
	require.Contains(t, out, "[3/3] program\n3 made, 0 up to date, 0 failed, 0 skipped\n")
	made, err := os.ReadFile("program")
	require.NoError(t, err)
	require.Equal(t, "source\nb\n", string(made))

	out, err = build(t.Context(), "-j", "1")
	require.NoError(t, err)
	require.Equal(t, "0 made, 3 up to date, 0 failed, 0 skipped\n", out)

	require.NoError(t, os.Chtimes("source", time.Time{}, time.Now().Add(time.Hour)))
	out, err = build(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "[1/1] a\n1 made, 0 up to date, 0 failed, 0 skipped\n", out)
}

// With -k what does not need a target that has failed is made, and the rest is named.
func TestFailure(t *testing.T) {
	build := builds(t, "all: bad good after\nbad:\n\techo oops; false\ngood:\n\techo fine\nafter: bad\n\techo never\n")
	out, err := build(t.Context())
	require.EqualError(t, err, `graph "build": task bad: exit status 1`)
	require.Contains(t, out, "bad\noops\n")
	out, err = build(t.Context(), "-k")
	require.ErrorContains(t, err, "failed: 1, skipped for that: 2")
	require.Contains(t, out, "good\nfine\n")
	require.NotContains(t, out, "never")
	for _, name := range []string{"all", "after"} {
		require.Contains(t, out, "skipped "+name+": it depends on bad, which failed\n")
	}
	require.True(t, strings.HasSuffix(out, "\n1 made, 0 up to date, 1 failed, 2 skipped\n"))
}

func TestMistakes(t *testing.T) {
	build := builds(t, "circle: round\nround: circle\nlacks: nothing\n")
	for args, want := range map[string]string{
		"circle":     "cycle: ",
		"lacks":      `lacks needs "nothing", which is neither a target nor a file`,
		"unknown":    `the command line needs "unknown"`,
		"-f missing": "missing: no such file",
	} {
		_, err := build(t.Context(), strings.Fields(args)...)
		require.ErrorContains(t, err, want, args)
	}
	for text, want := range map[string]string{
		"":              "bad has no targets",
		"x y":           `bad:1: want a new target, as in "program: main.o util.o", got "x y"`,
		"\techo":        "bad:1: want a new target",
		"# c\na:\n\na:": "bad:4: want a new target",
	} {
		require.NoError(t, os.WriteFile("bad", []byte(text), 0o666))
		_, err := build(t.Context(), "-f", "bad")
		require.ErrorContains(t, err, want)
	}
}

// An interrupt ends the commands that run, and nothing is made after them.
func TestInterrupt(t *testing.T) {
	build := builds(t, "after: slow\n\ttouch after\nslow:\n\ttouch begun; exec sleep 1000\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat("begun"); err == nil {
				cancel(errors.New("told to stop"))
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := build(ctx)
	require.ErrorContains(t, err, "told to stop")
	require.NoFileExists(t, "after")
}

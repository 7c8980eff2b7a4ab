package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// TestMain is a worker process, if it was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 1 || os.Args[1] != "worker" {
		os.Exit(m.Run())
	}
	if err := run(context.Background(), os.Args[1:], io.Discard); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// shell skips a test where there is no shell.
func shell(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("NATS_URL", "")
}

// write writes files to a directory.
func write(t *testing.T, dir string, files map[string]string) {
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
}

// builds starts a server with two workers. The result builds in a directory, and returns what the program prints.
func builds(t *testing.T) func(dir string, args ...string) (string, error) {
	shell(t)
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	// The first client makes the queue, here with leases that do not end while a busy machine runs a test.
	c, err := cluster.NewClient(t.Context(), s.Conn(), cluster.ClientConfig{
		Queue: cluster.Queue{Name: queue, Lease: time.Minute}})
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 2 {
		go func() { ended <- run(ctx, []string{"worker", "-nats", s.URL()}, io.Discard) }()
	}
	t.Cleanup(func() {
		cancel()
		require.NoError(t, errors.Join(<-ended, <-ended))
	})
	require.Eventually(t, func() bool {
		workers, err := c.Workers(ctx)
		return err == nil && len(workers) == 2
	}, time.Minute, 5*time.Millisecond)
	return func(dir string, args ...string) (string, error) {
		var out strings.Builder
		err := run(t.Context(), append([]string{"-nats", s.URL(), "-C", dir}, args...), &out)
		return out.String(), err
	}
}

// TestCache: nothing is made again that was made from the same files, whoever has made it.
func TestCache(t *testing.T) {
	build := builds(t)
	dir, other := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/site")))
	require.NoError(t, os.CopyFS(other, os.DirFS("testdata/site")))
	jay := filepath.Join(dir, "text/jay.md")
	text, err := os.ReadFile(jay)
	require.NoError(t, err)
	for _, step := range []struct{ text, want string }{
		{string(text), "7 run, 0 from the cache, 0 failed, 0 skipped\n"},
		{string(text), "0 run, 7 from the cache, 0 failed, 0 skipped\n"},
		{string(text) + "more", "run     jay.title\nrun     site/jay.html\n2 run, 5 from the cache, 0 failed, 0 skipped\n"},
		{"# No jay\n" + string(text), "3 run, 4 from the cache, 0 failed, 0 skipped\n"},
		{string(text), "0 run, 7 from the cache, 0 failed, 0 skipped\n"},
	} {
		write(t, dir, map[string]string{"text/jay.md": step.text})
		out, err := build(dir)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(out, step.want), out)
	}
	page, err := os.ReadFile(filepath.Join(dir, "site/jay.html"))
	require.NoError(t, err)
	require.Equal(t, "<h1>The jay</h1>\n<p>\nIt hides acorns, and forgets <em>some</em> of them.\n", string(page))
	index, err := os.ReadFile(filepath.Join(dir, "site/index.html"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(index), "<li>"))

	out, err := build(other, "site/index.html")
	require.NoError(t, err)
	require.Equal(t, "0 run, 4 from the cache, 0 failed, 0 skipped\n", out)
	require.NoFileExists(t, filepath.Join(other, "site/jay.html"))
}

// TestSecured: the example runs with TLS and the users of setup/accounts.conf, in processes of its own.
func TestSecured(t *testing.T) {
	shell(t)
	at, ca := served.Secure(t, "../../setup")
	for user, inbox := range map[string]string{"albums": "_INBOX", "reports": "_INBOX_reports"} {
		t.Setenv("NATS_URL", "tls://"+user+":secret@"+at)
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/site")))
		args := []string{"-ca", ca, "-inbox", inbox, "-queue", user, "-workers", "2", "-C", dir}
		for _, want := range []string{"7 run, 0 from the cache", "0 run, 7 from the cache"} {
			var out strings.Builder
			require.NoError(t, run(t.Context(), args, &out), out.String())
			require.Contains(t, out.String(), want)
		}
	}
}

// TestExecutable: what a command has made executable is that afterwards, though the same file was there and was not.
func TestExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such files here")
	}
	build := builds(t)
	dir := t.TempDir()
	for _, last := range []string{"", "\tchmod +x a\n", ""} {
		write(t, dir, map[string]string{"Buildfile": "a:\n\techo text > a\n" + last})
		_, err := build(dir)
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(dir, "a"))
		require.NoError(t, err)
		require.Equal(t, last != "", info.Mode()&0o100 != 0)
	}
}

// TestForged: a worker can neither write other files of a submitter than the target, nor other content than it says.
func TestForged(t *testing.T) {
	shell(t)
	s := served.Start(t, embedded.Config{})
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	c, err := makeCache(t.Context(), js, 1)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, os.Mkdir(dir, 0o777))
	write(t, dir, map[string]string{"Buildfile": "a:\n\techo text > a\n", "source": "text\n"})
	text, err := c.putFile(t.Context(), filepath.Join(dir, "source"))
	require.NoError(t, err)

	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	defer ex.Close()
	finish := func(files map[string]Blob) error {
		targets, err := read(filepath.Join(dir, "Buildfile"))
		require.NoError(t, err)
		step := Step{"a", targets.byName["a"].script}
		key, err := step.key(map[string]Blob{})
		require.NoError(t, err)
		require.NoError(t, c.setResult(t.Context(), key, Made{Files: files}))
		b := newBuild(dir, targets, c)
		require.NoError(t, b.add(t.Context(), []string{"a"}))
		results, err := cluster.Run(t.Context(), ex, registry(js), b.graph)
		require.NoError(t, err)
		return b.finish(t.Context(), results, io.Discard)
	}
	require.NoError(t, finish(map[string]Blob{"a": text, "../b": text, "c": text}))
	require.FileExists(t, filepath.Join(dir, "a"))
	require.NoFileExists(t, filepath.Join(dir, "..", "b"))
	require.NoFileExists(t, filepath.Join(dir, "c"))

	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	_, err = c.bucket.Put(t.Context(), text.chunkKey(0), []byte("forge"))
	require.NoError(t, err)
	require.ErrorContains(t, finish(map[string]Blob{"a": text}), "not what its hash says")
	require.ErrorContains(t, finish(nil), "not what its hash says")
	require.NoFileExists(t, filepath.Join(dir, "a"))
}

// TestTail: of much that a command prints the end is kept.
func TestTail(t *testing.T) {
	var end tail
	for i := range 100_000 {
		fmt.Fprintln(&end, i)
	}
	require.Len(t, end, 64<<10)
	require.Less(t, cap(end), 256<<10)
	require.True(t, strings.HasSuffix(string(end), "\n99999\n"))
}

// TestFailure: what does not need a target that has failed is made, as it is, and what it has printed is shown.
func TestFailure(t *testing.T) {
	build := builds(t)
	dir := t.TempDir()
	large := strings.Repeat("0123456789abcde\n", 3*chunkSize/32)
	write(t, dir, map[string]string{"source": large, "Buildfile": `
all: after good lazy secret tool use copy
bad: source
	echo oops; exit 3
after: bad
	echo never
good: source
	echo fine > good; echo said
lazy:
	true
secret: source
	cat Buildfile
tool:
	echo '#!/bin/sh' > tool; echo 'echo made by a tool' >> tool; chmod +x tool
use: tool
	./tool > use
copy: source
	cat source > copy
`})
	out, err := build(dir)
	require.EqualError(t, err, "not all was made")
	for _, want := range []string{
		"failed  bad\noops\nexit status 3\n", "skipped after: it needs bad\n", "run     good\nsaid\n",
		"failed  lazy\nthe command has not made lazy\n", // and what it does not need it does not find:
		"failed  secret\ncat: ", "4 run, 0 from the cache, 3 failed, 1 skipped\n",
	} {
		require.Contains(t, out, want)
	}
	made, err := os.ReadFile(filepath.Join(dir, "use"))
	require.NoError(t, err)
	require.Equal(t, "made by a tool\n", string(made))
	made, err = os.ReadFile(filepath.Join(dir, "copy"))
	require.NoError(t, err)
	require.True(t, large == string(made))
	out, err = build(dir)
	require.Error(t, err)
	require.Contains(t, out, "0 run, 4 from the cache, 3 failed, 1 skipped\n", "a failure is tried again")
}

// TestTogether: builds that make the same at the same time are both right.
func TestTogether(t *testing.T) {
	build := builds(t)
	type ended struct {
		dir, out string
		err      error
	}
	all := make(chan ended)
	for range 2 {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/site")))
		go func() {
			out, err := build(dir)
			all <- ended{dir, out, err}
		}()
	}
	for range 2 {
		e := <-all
		require.NoError(t, e.err)
		require.Contains(t, e.out, "0 failed, 0 skipped\n")
		require.FileExists(t, filepath.Join(e.dir, "site/magpie.html"))
	}
}

// TestInterrupt: an interrupt ends the worker processes and the commands that run, with their children. Nothing stays
// but the cache.
func TestInterrupt(t *testing.T) {
	shell(t)
	dir := t.TempDir()
	begun := filepath.Join(t.TempDir(), "begun")
	write(t, dir, map[string]string{"Buildfile": "slow:\n\tsleep 1000 & echo $! > " + begun + "; wait; touch slow\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-workers", "1", "-C", dir}, io.Discard) }()
	var child int
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(begun)
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(text), &child)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	told := errors.New("told to stop")
	cancel(told)
	require.ErrorIs(t, <-ended, told)
	require.Eventually(t, func() bool { return !lives(child) }, time.Minute, 5*time.Millisecond)
	require.NoFileExists(t, filepath.Join(dir, "slow"))
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// lives reports whether a process lives. One that has ended, and that nobody has waited for, does not.
func lives(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(string(out), "Z")
}

// TestMistakes: what cannot be built is an error that says why.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	build := func(args ...string) error { return run(t.Context(), append([]string{"-C", dir}, args...), io.Discard) }
	require.ErrorContains(t, build(), "Buildfile: no such file")
	for text, want := range map[string]string{
		"":                "Buildfile has no targets",
		"x y":             `Buildfile:1: want a new target, as in "page.html: page.sed page.md", got "x y"`,
		"\techo":          "Buildfile:1: want a new target",
		"# c\na:\n\na:":   "Buildfile:4: want a new target",
		"../a:":           "Buildfile:1: want a new target",
		"a: b\nb: a\n":    "a needs itself",
		"a: ../b":         `a needs "../b", which is not below the directory`,
		"a: none":         `a needs "none", which is neither a target nor a file`,
		"a: .":            `a needs ".", which is neither a target nor a file`,
		"a: b\nb: x\nc: ": `b needs "x", which is neither`,
	} {
		write(t, dir, map[string]string{"Buildfile": text})
		require.ErrorContains(t, build(), want)
	}
	write(t, dir, map[string]string{"Buildfile": "a:\n\ttouch a\n"})
	require.ErrorContains(t, build("unknown"), `the command line needs "unknown"`)
	require.ErrorContains(t, build("-nats", "nats://127.0.0.1:1"), "connect to nats://127.0.0.1:1")
}

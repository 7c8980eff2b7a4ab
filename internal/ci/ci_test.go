package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	const text = "# all\nf() { true; }\n\n==commit quick: one\nf\n== two\nf\nfalse\n==alone three\nf\n"
	preamble, steps, err := parse(text)
	require.NoError(t, err)
	require.Equal(t, "# all\nf() { true; }\n\n", preamble)
	require.Empty(t, cmp.Diff([]*step{
		{name: "quick: one", commit: true, lines: "f\n"},
		{name: "two", lines: "f\nfalse\n"},
		{name: "three", alone: true, lines: "f\n"},
	}, steps, cmp.AllowUnexported(step{})))
	for _, wrong := range []string{"", "f() { true; }\n", "== one\n== two\nf\n"} {
		_, _, err := parse(wrong)
		require.Error(t, err, "%q", wrong)
	}
}

// runSteps runs steps as the command does, and returns what it prints.
func runSteps(t *testing.T, goOn bool, text string) (ok bool, steps []*step, said string) {
	t.Helper()
	preamble, steps, err := parse(text)
	require.NoError(t, err)
	var out bytes.Buffer
	r := &runner{root: t.TempDir(), preamble: preamble, env: []string{"WORD=given"}, out: &out, places: 1, goOn: goOn,
		begun: time.Now()}
	ok = r.run(t.Context(), steps)
	return ok, steps, out.String()
}

func TestRun(t *testing.T) {
	t.Setenv("MAGPIE_SEED", "7")
	ok, _, said := runSteps(t, false, "word() { echo \"a $WORD word\"; }\n== one\nword\n[ -z \"${MAGPIE_SEED:-}\" ]\n")
	require.True(t, ok, said)
	require.Contains(t, said, "a given word")
	require.Contains(t, said, "0 passed, 0 failed")
}

func TestFailureEndsTheRun(t *testing.T) {
	const text = "== first\ntrue\n== second\necho before\nfalse | true\necho after\n== third\ntouch third\n"
	ok, steps, said := runSteps(t, false, text)
	require.False(t, ok)
	require.Equal(t, []state{succeeded, failed, waiting}, []state{steps[0].state, steps[1].state, steps[2].state})
	require.NotContains(t, said, "after\n", "a failure inside a pipe ends the step")
	require.Equal(t, 2, strings.Count(said, "before\n"), "it is told at once, and once more at the end:\n%s", said)
	require.Regexp(t, `(?m)^FAILED .* second$`, said)
	require.Regexp(t, `(?m)^not begun .* third$`, said)
	require.True(t, strings.HasSuffix(said, "0 passed, 1 failed\n"), said)

	ok, steps, _ = runSteps(t, true, text)
	require.False(t, ok)
	require.Equal(t, succeeded, steps[2].state, "-k goes on")
}

func TestStepAlone(t *testing.T) {
	// A step leaves a file while it runs, and none runs beside one that runs alone.
	const leave = "touch $FILE\nsleep 0.05\nrm $FILE\n"
	text := ""
	for n := range 12 {
		if n%4 == 3 {
			text += fmt.Sprintf("==alone %d\n[ -z \"$(ls)\" ]\nFILE=alone\n%s", n, leave)
		} else {
			text += fmt.Sprintf("== %d\n[ ! -e alone ]\nFILE=%d\n%s", n, n, leave)
		}
	}
	_, steps, err := parse(text)
	require.NoError(t, err)
	var out bytes.Buffer
	r := &runner{root: t.TempDir(), out: &out, places: 3, begun: time.Now()}
	require.True(t, r.run(t.Context(), steps), "%s", &out)
}

// What go test -json prints for a package with a test that passes, one that fails with a seed, and one in which the
// process was killed.
const events = `{"Action":"start","Package":"github.com/magpie-go/magpie/graph"}
{"Action":"run","Package":"github.com/magpie-go/magpie/graph","Test":"TestGood"}
{"Action":"output","Package":"github.com/magpie-go/magpie/graph","Test":"TestGood","Output":"=== RUN TestGood\n"}
{"Action":"pass","Package":"github.com/magpie-go/magpie/graph","Test":"TestGood","Elapsed":0.5}
{"Action":"run","Package":"github.com/magpie-go/magpie/graph","Test":"TestBad"}
{"Action":"output","Package":"github.com/magpie-go/magpie/graph","Test":"TestBad","Output":"again: MAGPIE_SEED=42 x\n"}
{"Action":"fail","Package":"github.com/magpie-go/magpie/graph","Test":"TestBad","Elapsed":0.5}
{"Action":"run","Package":"github.com/magpie-go/magpie/graph","Test":"TestHangs"}
{"Action":"output","Package":"github.com/magpie-go/magpie/graph","Test":"TestHangs","Output":"so far\n"}
{"Action":"output","Package":"github.com/magpie-go/magpie/graph","Output":"signal: killed\n"}
{"Action":"fail","Package":"github.com/magpie-go/magpie/graph","Elapsed":1.5}
`

// TestAgain: a test of a nested module is repeated in that module.
func TestAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("executor/cluster/internal/protocol", 0o777))
	require.NoError(t, os.WriteFile("executor/cluster/go.mod", nil, 0o666))
	const module = "github.com/magpie-go/magpie/"
	for pkg, want := range map[string]string{
		"graph":                              "go test -run '^TestX$' ./graph",
		"executor":                           "go test -run '^TestX$' ./executor",
		"executor/cluster":                   "go -C executor/cluster test -run '^TestX$' ./",
		"executor/cluster/internal/protocol": "go -C executor/cluster test -run '^TestX$' ./internal/protocol",
	} {
		require.Equal(t, want, again(&outcome{pkg: module + pkg, test: "TestX"}))
	}
}

func TestFailuresExplainThemselves(t *testing.T) {
	ok, steps, said := runSteps(t, false, "== tests\necho plain\ncat <<'E'\n"+events+"E\nfalse\n")
	require.False(t, ok)
	require.Equal(t, []int{1, 2}, []int{steps[0].passed, steps[0].failed})
	for _, told := range []string{
		"--- FAIL: graph TestBad\nagain: MAGPIE_SEED=42 x\n    again: MAGPIE_SEED=42 x\n",
		"--- DID NOT END: graph TestHangs\nso far\n",
		"FAIL graph\nsignal: killed\n",
		"plain\n",
	} {
		require.Contains(t, said, told)
	}
	require.NotContains(t, said, "=== RUN TestGood", "a test that passes is not told")
	require.True(t, strings.HasSuffix(said, "1 passed, 2 failed\n"), said)
}

// The log reads events in pieces of any length, and knows a package without tests that fails.
func TestEventsInPieces(t *testing.T) {
	all := events + `{"Action":"build-output","ImportPath":"x","Output":"x.go:1: wrong\n"}` + "\n" +
		`{"Action":"fail","Package":"github.com/magpie-go/magpie/deque","Elapsed":0}` + "\nno {event}\nlast"
	for size := 1; size < 100; size++ {
		var log eventLog
		for rest := []byte(all); len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = log.Write(rest[:n]) // never fails
			rest = rest[n:]
		}
		log.end()
		passed, failed := log.counts()
		require.Equal(t, []int{1, 3}, []int{passed, failed})
		require.Equal(t, "x.go:1: wrong\nno {event}\nlast\n", log.plain.String())
	}
}

func TestTail(t *testing.T) {
	require.Empty(t, tail("", 2))
	require.Equal(t, "a\nb\n", tail("a\nb\n", 2))
	require.Equal(t, "(1 lines before)\nb\nc\n", tail("a\nb\nc\n", 2))
}

func TestSort(t *testing.T) {
	all := []pkg{
		{dir: "./a"}, {dir: "./b", imports: []string{"./a"}}, {dir: "./c", imports: []string{"./b"}},
		{dir: "./d", tests: []string{"./c"}}, {dir: "./e", tests: []string{"./d"}}, {dir: "./f"},
	}
	for name, c := range map[string]struct {
		files               []string
		touched, code, near string
	}{
		"code":          {[]string{"a/x.go"}, "./a", "./a ./b ./c", "./b ./c ./d"},
		"assembly":      {[]string{"a/x_amd64.s"}, "./a", "./a ./b ./c", "./b ./c ./d"},
		"a test":        {[]string{"a/x_test.go"}, "./a", "", ""},
		"what it reads": {[]string{"a/testdata/deep/x.txt"}, "./a", "", ""},
		"no package":    {[]string{"README.md", ".ci/run"}, "", "", ""},
		"two":           {[]string{"c/x.go", "f/x_test.go"}, "./c ./f", "./c", "./d"},
		"other modules": {[]string{"a/m/x.go", "a/m/deep/y.go", "a/m/n/z.go"}, "", "", ""},
		"and this one":  {[]string{"a/m/x.go", "f/x.go"}, "./f", "./f", ""},
	} {
		turns := make(map[string]int)
		for turn := range uint64(farTurns) {
			got := change{turn: turn}
			got.sort(all, []string{"./a/m", "./a/m/n"}, c.files)
			require.Equal(t, c.touched, strings.Join(got.touched, " "), name)
			require.Equal(t, c.code, strings.Join(got.code, " "), name)
			require.Equal(t, c.near, strings.Join(got.near, " "), name)
			require.Len(t, got.rest, len(all)-len(got.long), name)
			for _, dir := range got.long {
				turns[dir]++
			}
		}
		for _, p := range all {
			want := 1
			switch {
			case slices.Contains(strings.Fields(c.touched), p.dir):
				want = farTurns
			case slices.Contains(strings.Fields(c.near), p.dir):
				want = farTurns / nearTurns
			}
			require.Equal(t, want, turns[p.dir], "%s: %s", name, p.dir)
		}
	}
}

// TestSortModules: a file in a nested module belongs to the innermost.
func TestSortModules(t *testing.T) {
	var got change
	files := []string{"a/x.go", "a/m/x.go", "a/m/deep/y.go", "a/m/n/z.go"}
	got.sort([]pkg{{dir: "./a"}}, []string{"./a/m", "./a/m/n"}, files)
	require.Equal(t, []string{"./a"}, got.touched)
	require.Equal(t, []string{"./a/m", "./a/m/n"}, got.modules)
	require.Contains(t, got.environ(), "MODULES=./a/m ./a/m/n")
}

// TestChanges looks at a repository with a commit of today, one of yesterday, and a file that is in neither.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	commit := func(when string) {
		for _, args := range [][]string{
			{"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x"},
		} {
			cmd := exec.Command("git", args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+when, "GIT_AUTHOR_DATE="+when)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	_, err := git(dir, "init", "-q")
	require.NoError(t, err)
	write("go.mod", "module github.com/magpie-go/magpie\n\ngo 1.25\n")
	for _, p := range []string{"a", "b", "c"} {
		write(p+"/x.go", "package "+p+"\n")
	}
	commit("2026-01-01T10:00:00Z")
	write("b/x.go", "package b // changed\n")
	commit("2026-01-02T10:00:00Z")
	write("c/y.go", "package c\n")

	c, err := committed(dir, "")
	require.NoError(t, err)
	require.Equal(t, []string{"./b"}, c.touched)
	require.Contains(t, c.String(), "what comes after")

	c, err = uncommitted(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"./c"}, c.touched)

	_, err = committed(dir, "nonsense")
	require.ErrorContains(t, err, "nonsense")
	commit("2026-01-02T11:00:00Z")
	_, err = uncommitted(dir)
	require.ErrorContains(t, err, "nothing has changed")
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-list"}, exitOK, `(?m)^format$`},
		{[]string{"-list", "-run", "^fuzz"}, exitOK, `(?m)^fuzz: the deque`},
		{[]string{"-h"}, exitOK, `-since`},
		{[]string{"-run", "("}, exitBadInput, `ci: -run: `},
		{[]string{"-run", "nothing"}, exitBadInput, `no step's name matches "nothing"`},
		{[]string{"more"}, exitBadInput, `takes flags only, got "more"`},
		{[]string{"-places", "0"}, exitBadInput, `at least 1`},
		{[]string{"-nonsense"}, exitBadInput, `-nonsense`},
	} {
		var out bytes.Buffer
		require.Equal(t, c.status, run(t.Context(), c.args, &out, &out), "%q: %s", c.args, &out)
		require.Regexp(t, regexp.MustCompile(c.says), out.String(), "%q", c.args)
	}
}

// TestInterrupt ends the context while a step sleeps in a process that the shell waits for.
func TestInterrupt(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	const long = "== long\n(echo $BASHPID >$pid.new; mv $pid.new $pid; sleep 100; true)\n"
	preamble, steps, err := parse("pid=" + pid + "\n" + long)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	r := &runner{root: t.TempDir(), preamble: preamble, out: &out, places: 1, begun: time.Now()}
	go func() {
		for {
			if _, err := os.Stat(pid); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	require.False(t, r.run(ctx, steps))
	require.Contains(t, out.String(), "interrupted")
	text, err := os.ReadFile(pid)
	require.NoError(t, err)
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	process, err := os.FindProcess(id)
	require.NoError(t, err)
	testkit.Until(t, "the step's processes have ended", func() bool { return process.Signal(syscall.Signal(0)) != nil })
}

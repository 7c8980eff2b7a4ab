package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/magpie-go/magpie/internal/module"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestPiece is the test that the layer of these tests repeats, in a process of its own.
func TestPiece(t *testing.T) {
	if os.Getenv("MAGPIE_SEED") == "" {
		t.Setenv("MAGPIE_SEED", "0") // outside the layer it passes
	}
	n := testkit.Count(t, 1)
	if seed := testkit.Seed(t); slices.Contains([]uint64{400, 450, 451}, seed) {
		t.Skipf("seed %d needs what is not there", seed)
	}
	require.Zero(t, testkit.Seed(t)%1000/500, "a piece that fails")
	testkit.Proved(t, n, "pieces of work")
}

// root is the root of the module.
var root = sync.OnceValues(func() (string, error) { return module.Root(context.Background(), "") })

// toy is a layer of TestPiece, and a lab for it. The tree has commit "a".
func toy(t *testing.T, goal int64) (*layer, *lab, *bytes.Buffer) {
	y := &layer{
		name: "toy", what: "pieces of work", goal: goal, packages: []string{"./cmd/internal/prove"},
		step: count("^TestPiece$", 10),
	}
	root, err := root()
	require.NoError(t, err)
	out := &bytes.Buffer{}
	l := &lab{
		root: root, dir: t.TempDir(), temp: t.TempDir(), out: out, commit: at("a"),
		binaries: map[string]string{"./cmd/internal/prove ": os.Args[0]},
	}
	return y, l, out
}

// at returns a function that returns commit, as a lab has one.
func at(commit string) func() string { return func() string { return commit } }

// TestLayerIsTakenUpAgain: a layer's record is kept, and the layer ends at its goal.
func TestLayerIsTakenUpAgain(t *testing.T) {
	y, l, out := toy(t, 15)
	r, err := l.recordOf(y)
	require.NoError(t, err)
	require.Equal(t, "a", r.Commit)
	require.Empty(t, out.String())
	r.Seed = 1000
	require.NoError(t, y.do(t.Context(), l, r))
	require.EqualValues(t, 15, r.Done)
	require.EqualValues(t, 2, r.Pieces, "of ten at most")
	require.Contains(t, out.String(), "toy: 10 of 15 in ")
	require.Contains(t, out.String(), "toy: 15 of 15 in ")

	y.goal = 40
	again, err := l.recordOf(y)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(r, again, cmpopts.IgnoreUnexported(record{})), "what was saved is what is loaded")
	require.False(t, again.isComplete(y))
	require.NoError(t, y.do(t.Context(), l, again))
	require.EqualValues(t, 40, again.Done)
	require.EqualValues(t, 5, again.Pieces)
	require.True(t, again.isComplete(y))
}

// TestRecordHoldsForItsCommit: a layer begins anew, and says so, unless its record is of the tree's commit.
func TestRecordHoldsForItsCommit(t *testing.T) {
	y, l, out := toy(t, 10)
	latest := time.Date(2026, 11, 21, 3, 50, 0, 0, time.UTC)
	for _, c := range []struct{ of, now, says string }{
		{"a", "a", ""},
		{"a", "b", "the record of 2026-11-21 holds for commit a; begins anew for commit b"},
		{"a", "", "the record of 2026-11-21 holds for commit a; begins anew for a tree that is not committed"},
		{"", "b", "the record of 2026-11-21 holds for a tree that is not committed; begins anew for commit b"},
		{"", "", "the record of 2026-11-21 holds for a tree that is not committed; " +
			"begins anew for a tree that is not committed"},
	} {
		out.Reset()
		require.NoError(t, (&record{Layer: "toy", Commit: c.of, Latest: latest, Done: 10}).save(l.dir))
		l.commit = at(c.now)
		r, err := l.recordOf(y)
		require.NoError(t, err)
		require.Equal(t, c.now, r.Commit)
		require.Equal(t, c.says == "", r.isComplete(y), c.says)
		require.Equal(t, c.says != "", r.Done == 0, c.says)
		if c.says != "" {
			c.says = "toy: " + c.says + "\n"
		}
		require.Equal(t, c.says, out.String())

		out.Reset()
		require.NoError(t, l.list([]*layer{y}))
		require.Contains(t, out.String(), " 10 of 10 on 2026-11-21, for "+named(c.of))
		require.Equal(t, c.says != "", strings.Contains(out.String(), "; begins anew\n"))
	}
	require.NoError(t, os.Remove(recordFile(l.dir, "toy")))
	out.Reset()
	_, err := l.recordOf(y)
	require.NoError(t, err)
	require.Equal(t, "toy: begins for a tree that is not committed\n", out.String())
}

// TestTreeChangesMeanwhile: a layer whose tree changes while it runs has a record without a commit.
func TestTreeChangesMeanwhile(t *testing.T) {
	y, l, out := toy(t, 20)
	y.step = func(_ context.Context, _ *lab, _ *layer, r *record) error {
		if r.Done == 10 {
			l.commit = at("b")
		}
		r.Done += 10
		return nil
	}
	require.NoError(t, l.prove(t.Context(), []*layer{y}))
	require.Contains(t, out.String(), "toy: the tree is no longer that of commit a: the record names no commit\n")
	kept, err := load(l.dir, "toy")
	require.NoError(t, err)
	require.EqualValues(t, 20, kept.Done)
	require.Empty(t, kept.Commit)

	out.Reset()
	require.NoError(t, l.prove(t.Context(), []*layer{y}))
	require.Contains(t, out.String(), "begins anew for commit b\n")
	require.NoError(t, l.prove(t.Context(), []*layer{y}))
	require.Contains(t, out.String(), "toy: complete since ")
	kept, err = load(l.dir, "toy")
	require.NoError(t, err)
	require.Equal(t, "b", kept.Commit)
}

// TestCommitOf: a tree has a commit if all but records is committed, and commits of records leave it as it is.
func TestCommitOf(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o666))
	}
	must := func(args ...string) string {
		t.Helper()
		out, err := git(root, args...)
		require.NoError(t, err)
		return out
	}
	require.Empty(t, commitOf(root), "no repository")
	must("init", "-q")
	write("a.go", "package a\n")
	require.Empty(t, commitOf(root), "no commit")
	must("add", "-A")
	must("commit", "-qm", "code")
	first := must("rev-parse", "--short=10", "HEAD")
	require.Equal(t, first, commitOf(root))

	write("testdata/proof/toy.json", "{}\n")
	require.Equal(t, first, commitOf(root), "records are no changes")
	must("add", "-A")
	must("commit", "-qm", "records")
	require.NotEqual(t, first, must("rev-parse", "--short=10", "HEAD"))
	require.Equal(t, first, commitOf(root), "the code is the same")

	write("b.go", "package a\n")
	require.Empty(t, commitOf(root), "a file that git does not know")
	must("add", "-A")
	require.Empty(t, commitOf(root), "a change that is not committed")
	must("commit", "-qm", "more code")
	require.Equal(t, must("rev-parse", "--short=10", "HEAD"), commitOf(root))
}

// TestLayerFails: a piece that fails ends the layer, with an error that says how to repeat the piece and has its
// output. The record of earlier pieces is kept.
func TestLayerFails(t *testing.T) {
	y, l, _ := toy(t, 100)
	r, err := l.recordOf(y)
	require.NoError(t, err)
	r.Seed = 499 // the second piece has seed 500
	err = y.do(t.Context(), l, r)
	require.ErrorContains(t, err, "MAGPIE_COUNT=10 MAGPIE_SEED=500")
	require.ErrorContains(t, err, "a piece that fails")
	kept, err := load(l.dir, "toy")
	require.NoError(t, err)
	require.EqualValues(t, 10, kept.Done)
}

// TestTableIsOfTheRecords: the table that is committed has the layers of today, and the records beside it.
func TestTableIsOfTheRecords(t *testing.T) {
	root, err := root()
	require.NoError(t, err)
	l := &lab{dir: filepath.Join(root, "testdata", "proof")}
	want, err := l.table()
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(l.dir, "README.md"))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, string(got)))
}

// TestInterrupt: an interrupted layer returns the context's error.
func TestInterrupt(t *testing.T) {
	y, l, _ := toy(t, 100)
	r, err := l.recordOf(y)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, y.do(ctx, l, r), context.Canceled)
	require.Zero(t, r.Done)
}

// TestNothingProved: a piece that passes without any work is an error.
func TestNothingProved(t *testing.T) {
	r := &record{}
	require.ErrorContains(t, r.enterProved("things", "ok\n"), `says nowhere "proved: N things"`)
	require.Error(t, r.enterProved("things", "x: proved: 7 other things\n"))
	require.NoError(t, r.enterProved("things",
		"    x_test.go:3: proved: 7 things\n    x_test.go:4: proved: 5 things\n"))
	require.EqualValues(t, 12, r.Done)
	require.NoError(t, r.enterProved("things", "x: proved: 1 things\ny: proved: 3 others\n"))
	require.Equal(t, counts{"others": 3}, r.Also)
	_, l, _ := toy(t, 1)
	_, err := l.test(t.Context(), "./cmd/internal/prove", "", "^TestThatIsNot$")
	require.ErrorContains(t, err, "no test matches")
}

// TestSkippedPieces: a piece whose test is skipped is counted with the reason, and another is done in its place. Two in
// turn are an error.
func TestSkippedPieces(t *testing.T) {
	y, l, _ := toy(t, 10)
	r := &record{Seed: 400}
	require.NoError(t, y.step(t.Context(), l, y, r))
	require.Equal(t, counts{"skipped: seed 400 needs what is not there": 1}, r.Also)
	require.EqualValues(t, 10, r.Done)
	require.EqualValues(t, 2, r.Pieces)
	err := y.step(t.Context(), l, y, &record{Seed: 450})
	require.ErrorContains(t, err, "two pieces in turn are skipped: seed 451 needs")
}

// TestExploredLine: the log line of model programs is understood.
func TestExploredLine(t *testing.T) {
	const said = "    executor_model_test.go:134: TestModelPush/adaptive/W=2: " +
		"2849 schedules, 2120 states, 760163 steps, at most any number of preemptions\n"
	require.Equal(t, []string{"2849", "2120", "any number of"}, exploredLine.FindStringSubmatch(said)[1:])
}

// TestTranscript: of a command's output the lines of a long exploration are told at once, in whatever pieces they come.
func TestTranscript(t *testing.T) {
	const said = "\x16=== RUN   TestModelPush\n" +
		"    check.go:97: TestModelPush/W=2: so far 400 schedules, 20 states, about 7 %\n" +
		"    check.go:97: TestModelPush/W=2: so far 800 schedules, 31 states, about 15 %\n--- PASS"
	const want = "TestModelPush/W=2: so far 400 schedules, 20 states, about 7 %\n" +
		"TestModelPush/W=2: so far 800 schedules, 31 states, about 15 %\n"
	for size := 1; size < len(said); size++ {
		var told bytes.Buffer
		out := transcript{lab: &lab{out: &told}}
		for piece := range slices.Chunk([]byte(said), size) {
			n, err := out.Write(piece)
			require.NoError(t, err)
			require.Equal(t, len(piece), n)
		}
		require.Equal(t, said, out.String())
		require.Equal(t, want, told.String())
	}
}

// TestReportOf: each test has its own output, and only tests that passed are in passed.
func TestReportOf(t *testing.T) {
	r, err := reportOf(strings.NewReader(`{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"a\n"}
{"Action":"run","Package":"p","Test":"TestA/b"}
{"Action":"output","Package":"p","Test":"TestA/b","Output":"b\n"}
{"Action":"skip","Package":"p","Test":"TestA/b","Elapsed":0.1}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.2}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"pass","Package":"p","Elapsed":0.3}
`))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&report{
		text: "a\nb\nPASS\n", tests: []string{"TestA", "TestA/b"},
		outputs: map[string]string{"TestA": "a\n", "TestA/b": "b\n", "": "PASS\n"},
		passed:  map[string]bool{"TestA": true, "": true},
		skipped: []string{"TestA/b"},
	}, r, cmp.AllowUnexported(report{})))
	_, err = reportOf(strings.NewReader("{\n--- FAIL\n"))
	require.ErrorContains(t, err, "the events of a test")
}

// TestParts: each part is done once, even with several at a time. For another commit all are done again. If one fails,
// the others are done.
func TestParts(t *testing.T) {
	_, l, out := toy(t, 0)
	l.jobs = 2
	var mu sync.Mutex
	var did []string
	fails := ""
	all := []string{"./deque TestModelA/x", "./deque TestModelA/y", "./deque TestModelB", "./graph TestModelA"}
	y := &layer{
		name:  "toy",
		parts: func(context.Context, *lab, *layer) ([]string, error) { return slices.Clone(all), nil },
		part: func(_ context.Context, _ *lab, _ *layer, name string) (part, error) {
			mu.Lock()
			defer mu.Unlock()
			if name == fails {
				return part{}, errors.New("a part that fails")
			}
			did = append(did, name)
			return part{Name: name, Done: 10, Seconds: 1}, nil
		},
	}
	do := func(want ...string) {
		t.Helper()
		did = nil
		r, err := l.recordOf(y)
		require.NoError(t, err)
		require.NoError(t, y.do(t.Context(), l, r))
		slices.Sort(did)
		require.Empty(t, cmp.Diff(want, did))
		kept, err := load(l.dir, "toy")
		require.NoError(t, err)
		require.True(t, kept.isComplete(y))
		require.Equal(t, l.commit(), kept.Commit)
		require.EqualValues(t, 10*len(all), kept.Done)
		require.EqualValues(t, len(all), kept.Seconds)
	}
	do(all...)
	do()
	l.commit = at("b")
	do(all...)
	require.Contains(t, out.String(), " holds for commit a; begins anew for commit b\n")

	l.commit, l.jobs, fails = at("c"), 1, all[1]
	r, err := l.recordOf(y)
	require.NoError(t, err)
	require.EqualError(t, y.do(t.Context(), l, r), "toy: a part that fails")
	require.Contains(t, out.String(), "toy: ./deque TestModelA/y fails; the others go on: a part that fails\n")
	fails = ""
	do(all[1])
}

// TestCommandInParts: a command does each part once, and the record adds what the parts say.
func TestCommandInParts(t *testing.T) {
	_, l, out := toy(t, 0)
	y := &layer{
		name: "toy", what: "pieces of work", unit: "parts", parts: numbered(3),
		part: command("sh", "-c", `test $0 != "$FAILS" && echo "proved: 3 pieces of work"`),
	}
	t.Setenv("FAILS", "1/3")
	r, err := l.recordOf(y)
	require.NoError(t, err)
	require.Error(t, y.do(t.Context(), l, r))
	require.Contains(t, out.String(), "toy: 1/3 fails; the others go on")
	require.False(t, r.isComplete(y))
	require.Equal(t, "2 parts, 6", y.soFar(r))

	t.Setenv("FAILS", "0/3") // which is not done again
	r, err = l.recordOf(y)
	require.NoError(t, err)
	require.NoError(t, y.do(t.Context(), l, r))
	require.True(t, r.isComplete(y))
	require.Equal(t, "3 parts, 9", y.soFar(r))
	require.Equal(t, "3 parts", y.target(r))

	y.what = "other work"
	_, err = y.part(t.Context(), l, y, "1/3")
	require.ErrorContains(t, err, `says nowhere "proved: N other work"`)
}

// TestLayersAreSound: names are unique, and each layer has either a goal or parts.
func TestLayersAreSound(t *testing.T) {
	seen := map[string]bool{}
	for i := range layers {
		y := &layers[i]
		require.False(t, seen[y.name], y.name)
		seen[y.name] = true
		require.True(t, (y.goal > 0) != (y.parts != nil), y.name)
		require.Equal(t, y.goal > 0, y.step != nil, y.name)
		require.Equal(t, y.parts != nil, y.part != nil, y.name)
		require.Equal(t, y.parts != nil, y.unit != "", y.name)
	}
}

// TestUnitsAreProved: the tests of each layer that repeats tests say its unit, letter for letter. A layer that counts
// another unit fails at its first piece, hours into a run.
func TestUnitsAreProved(t *testing.T) {
	root, err := root()
	require.NoError(t, err)
	for i := range layers {
		y := &layers[i]
		if y.parts != nil || len(y.packages) == 0 || strings.HasPrefix(y.name, "fuzz-") {
			continue // its step counts what a command, the model checker or the fuzzer says
		}
		for _, pkg := range y.packages {
			files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
			require.NoError(t, err)
			require.True(t, slices.ContainsFunc(files, func(name string) bool {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				return strings.Contains(string(text), strconv.Quote(y.what))
			}), "no test of %s says %q, as layer %s counts it", pkg, y.what, y.name)
		}
	}
}

// TestRecords: every record in the tree is of a layer, and says when it was made and on what machine.
func TestRecords(t *testing.T) {
	root, err := root()
	require.NoError(t, err)
	dir := filepath.Join(root, "testdata", "proof")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	for i := range layers {
		r, err := load(dir, layers[i].name)
		require.NoError(t, err)
		if r == nil {
			continue
		}
		require.Equal(t, layers[i].name, r.Layer)
		require.NotEmpty(t, r.Machine, r.Layer)
		require.False(t, r.Begun.IsZero() || r.Latest.IsZero(), r.Layer)
		files = slices.DeleteFunc(files, func(name string) bool { return name == recordFile(dir, r.Layer) })
	}
	require.Empty(t, files, "records of no layer")
}

// TestProgramsAreListed: explore-3 has every package with model programs.
func TestProgramsAreListed(t *testing.T) {
	root, err := root()
	require.NoError(t, err)
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_model_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "\nfunc TestModel") {
			dir, relErr := filepath.Rel(root, filepath.Dir(name))
			require.NoError(t, relErr)
			found["./"+filepath.ToSlash(dir)] = true
		}
		return err
	}))
	require.ElementsMatch(t, slices.Collect(maps.Keys(found)), programs)
}

// TestBadInput: wrong arguments are refused, with a message that says what to do.
func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"-only nix": `"nix": see -list`, "graphs": "takes flags only", "-x": "not defined",
		"-jobs 0": "-jobs 0: at least 1",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitBadInput, run(t.Context(), strings.Fields(args), &out, &errs), args)
		require.Contains(t, errs.String(), want)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567"} {
		require.Equal(t, want, grouped(n), fmt.Sprint(n))
	}
}

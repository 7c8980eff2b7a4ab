package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestPiece is the test that the layer of these tests repeats, in a process of its own.
func TestPiece(t *testing.T) {
	if os.Getenv("MAGPIE_SEED") == "" {
		t.Setenv("MAGPIE_SEED", "0") // outside the layer it passes
	}
	n := testkit.Count(t, 1)
	require.Zero(t, testkit.Seed(t)%1000/500, "a piece that fails")
	testkit.Proved(t, n, "pieces of work")
}

// toy is a layer of TestPiece, and a lab for it.
func toy(t *testing.T, goal int64) (*layer, *lab, *bytes.Buffer) {
	y := &layer{
		name: "toy", what: "pieces of work", goal: goal, packages: []string{"./internal/prove"},
		step: count("^TestPiece$", 10),
	}
	root, err := moduleRoot()
	require.NoError(t, err)
	out := &bytes.Buffer{}
	l := &lab{
		root: root, dir: t.TempDir(), temp: t.TempDir(), out: out,
		binaries: map[string]string{"./internal/prove ": os.Args[0]},
	}
	return y, l, out
}

// TestLayerIsTakenUpAgain: a layer's record is kept, and the layer ends at its goal.
func TestLayerIsTakenUpAgain(t *testing.T) {
	y, l, out := toy(t, 15)
	r, err := l.recordOf(y)
	require.NoError(t, err)
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

	again.Version = "other"
	require.NoError(t, again.save(l.dir))
	anew, err := l.recordOf(y)
	require.NoError(t, err)
	require.Zero(t, anew.Done)
	require.Contains(t, out.String(), "the code has changed")
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
	_, err := l.test(t.Context(), "./internal/prove", "", "^TestThatIsNot$")
	require.ErrorContains(t, err, "no test matches")
}

// TestExploredLine: the log line of model programs is understood.
func TestExploredLine(t *testing.T) {
	const said = "    executor_model_test.go:134: TestModelPush/adaptive/W=2: " +
		"2849 schedules, 2120 states, 760163 steps, at most any number of preemptions\n"
	require.Equal(t, []string{"2849", "2120", "any number of"}, exploredLine.FindStringSubmatch(said)[1:])
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
	}, r, cmp.AllowUnexported(report{})))
	_, err = reportOf(strings.NewReader("{\n--- FAIL\n"))
	require.ErrorContains(t, err, "the events of a test")
}

// TestVersion: the version changes with anything that the layer is built from. It does not change with comments, nor
// with other code.
func TestVersion(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o666))
	}
	y := &layer{name: "y", packages: []string{"./deque"}, tags: "modelcheck", files: []string{"data/*.txt"}}
	seen := map[string]string{}
	changes := func(what string, want bool) {
		t.Helper()
		v, err := y.version(root)
		require.NoError(t, err)
		_, known := seen[v]
		require.Equal(t, !want, known, "%s: as after %s", what, seen[v])
		seen[v] = what
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("deque/a.go", "package deque\n\nimport _ \"m/park\"\n")
	write("deque/a_test.go", "package deque\n")
	write("deque/a_model_test.go", "package deque\n\nimport _ \"m/testkit\"\n")
	write("park/a.go", "package park\n")
	write("park/a_model_test.go", "package park\n")
	write("testkit/a.go", "package testkit\n")
	write("graph/a.go", "package graph\n")
	_, err := y.version(root)
	require.ErrorContains(t, err, "layer y: no files match data/*.txt")
	write("data/a.txt", "a")
	changes("the beginning", true)

	write("park/a.go", "// A comment.\npackage park\n")
	changes("a comment", false)
	write("deque/a_test.go", "package deque\n\nvar x int\n")
	changes("a test that is no model program", false)
	write("park/a_model_test.go", "package park\n\nvar x int\n")
	changes("a test of another package", false)
	write("graph/a.go", "package graph\n\nvar x int\n")
	changes("a package that has nothing to do with it", false)

	write("deque/a_model_test.go", "package deque\n\nimport _ \"m/testkit\"\n\nvar x int\n")
	changes("a model program", true)
	write("deque/export_test.go", "package deque\n\nvar x2 int\n")
	changes("what the package exports to tests", true)
	write("park/a.go", "package park\n\nvar x int\n")
	changes("what the code imports", true)
	write("testkit/a.go", "package testkit\n\nvar x int\n")
	changes("what the tests import", true)
	write("data/a.txt", "b")
	changes("a file", true)
	write("go.mod", "module m\n\ngo 1.25\n")
	changes("go.mod", true)
	y.allTests = true
	changes("all tests", true)
	write("deque/a_test.go", "package deque\n\nvar y int\n")
	changes("one of all tests", true)
}

// TestParts: each part is done once, even with several at a time. Parts whose code has changed are done again.
func TestParts(t *testing.T) {
	_, l, out := toy(t, 0)
	l.root = t.TempDir()
	l.jobs = 2
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(l.root, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(l.root, name), []byte(text), 0o666))
	}
	const a, b = "\nfunc TestModelA(*testing.T) {}\n", "\nfunc TestModelB(*testing.T) {}\n"
	const deque = "package deque\n\nimport \"testing\"\n"
	write("go.mod", "module m\n\ngo 1.26\n")
	write("deque/a.go", "package deque\n")
	write("deque/a_model_test.go", deque+a+b)
	write("graph/a.go", "package graph\n")
	write("graph/a_model_test.go", "package graph\n\nimport _ \"m/deque\"\nimport \"testing\"\n"+a)

	var mu sync.Mutex
	var did []string
	fails := ""
	all := []string{"./deque TestModelA/x", "./deque TestModelA/y", "./deque TestModelB", "./graph TestModelA"}
	y := &layer{
		name: "toy", packages: []string{"./deque", "./graph"}, tags: "modelcheck",
		parts: func(context.Context, *lab, *layer) ([]string, error) { return slices.Clone(all), nil },
		part: func(_ context.Context, _ *lab, _ *layer, name string) (part, error) {
			mu.Lock()
			defer mu.Unlock()
			if name == fails {
				return part{}, errors.New("a part that fails")
			}
			did = append(did, name)
			return part{Name: name, Schedules: 10, Seconds: 1}, nil
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
		require.EqualValues(t, 10*len(all), kept.Done)
		require.EqualValues(t, len(all), kept.Seconds)
		code, err := y.version(l.root)
		require.NoError(t, err)
		require.Equal(t, code, kept.Version)
	}
	do(all...)
	do()
	write("deque/a_model_test.go", deque+a+"\nfunc TestModelB(*testing.T) { _ = 1 }\n")
	do("./deque TestModelB")
	require.Contains(t, out.String(), "the code has changed since ")
	require.Contains(t, out.String(), "goes on with 3 of 4 programs")
	write("deque/c_model_test.go", deque+"\nimport _ \"os\"\n\nfunc TestModelC(*testing.T) {}\n")
	all = append(all, "./deque TestModelC")
	do("./deque TestModelC")
	write("graph/a.go", "package graph\n\nvar x int\n")
	do("./graph TestModelA")
	write("deque/c_model_test.go", deque+"\nvar x int\n\nfunc TestModelC(*testing.T) {}\n")
	do(all[0], all[1], all[2], all[4])
	write("deque/a.go", "package deque\n\nvar y int\n")
	do(all[0], all[1], all[2], all[4], all[3])
	all = all[:4]
	write("deque/c_model_test.go", "package deque\n\nvar x int\n")
	do()

	l.jobs, fails = 1, all[1]
	write("go.mod", "module m\n\ngo 1.25\n")
	r, err := l.recordOf(y)
	require.NoError(t, err)
	require.EqualError(t, y.do(t.Context(), l, r), "toy: a part that fails")
	fails = ""
	did = nil
	do(all[1:]...)
}

// TestLayersAreSound: names are unique, each layer has either a goal or parts, and a version.
func TestLayersAreSound(t *testing.T) {
	_, l, _ := toy(t, 1)
	seen := map[string]bool{}
	for i := range layers {
		y := &layers[i]
		require.False(t, seen[y.name], y.name)
		seen[y.name] = true
		require.True(t, (y.goal > 0) != (y.parts != nil), y.name)
		require.Equal(t, y.goal > 0, y.step != nil, y.name)
		require.Equal(t, y.parts != nil, y.part != nil, y.name)
		v, err := y.version(l.root)
		require.NoError(t, err)
		require.Len(t, v, 12)
	}
}

// TestProgramsAreListed: explore-3 has every package with model programs.
func TestProgramsAreListed(t *testing.T) {
	root, err := moduleRoot()
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
		"-jobs 0": "-jobs 0: at least 1", "-check -only soak": "goes with no other flag",
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

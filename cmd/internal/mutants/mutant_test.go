package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/magpie-go/magpie/internal/module"
	"github.com/stretchr/testify/require"
)

// TestMutantsApply: every mutant finds the lines that it changes, is valid Go, and names a test that exists. So a
// change of the core shows at once which mutants must change with it.
func TestMutantsApply(t *testing.T) {
	root, err := module.Root(t.Context(), "")
	require.NoError(t, err)
	all, err := load(root)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 60, "mutants have gone")
	of, tests := make(map[string]int), make(map[string][]string) // by folder, and by package
	for _, m := range all {
		pkg := m.killers.pkg
		if tests[pkg] == nil {
			tests[pkg] = testsOf(t, root, pkg)
		}
		text, err := m.mutate(root)
		require.NoError(t, err)
		_, err = parser.ParseFile(token.NewFileSet(), m.name, text, parser.SkipObjectResolution)
		require.NoError(t, err, m.name)
		first, _, _ := strings.Cut(m.killers.run, "/")
		require.True(t, slices.ContainsFunc(tests[pkg], regexp.MustCompile(first).MatchString),
			"%s: there is no test for %v", m.name, m.killers)
		of[filepath.Dir(m.file)]++
	}
	for _, dir := range []string{"deque", "notifier", "internal/park", "executor", "executor/internal/lane",
		"executor/internal/policy", "executor/internal/spares", "graph", "executor/cluster/internal/protocol"} {
		require.NotZero(t, of[filepath.FromSlash(dir)], "%s has no mutant", dir)
	}
}

var testName = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsOf returns the names of a package's test functions.
func testsOf(t *testing.T, root, pkg string) (names []string) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

const good = `bug: one and one is three,
	and no less
seen: nowhere
file: sum/sum.go
package: ./sum
tags: modelcheck,other
run: ^TestSum$/^small$
bound: 2
hangs: yes
--- old
	return a + b
--- new
	c := a + b

	return c + 1
--- old
var gone int
--- new
`

func TestParse(t *testing.T) {
	m, err := parse("07-one-more.mutant", good)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&mutant{
		number:  7,
		name:    "07-one-more",
		bug:     "one and one is three, and no less",
		seen:    "nowhere",
		file:    "sum/sum.go",
		killers: killers{pkg: "./sum", tags: "modelcheck,other", run: "^TestSum$/^small$", bound: "2"},
		hangs:   "yes",
		edits: []edit{
			{old: []string{"\treturn a + b"}, new: []string{"\tc := a + b", "", "\treturn c + 1"}},
			{old: []string{"var gone int"}},
		},
	}, m, cmp.AllowUnexported(mutant{}, killers{}, edit{})))
	require.Equal(t, "MAGPIE_MODEL_BOUND=2 go test -tags modelcheck,other -run '^TestSum$/^small$' ./sum",
		m.killers.String())
}

func TestParseRejects(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"bug: one and one is three,\n\tand no less\n", "", `field "bug" is missing`},
		{"file: sum/sum.go\n", "", `field "file" is missing`},
		{"package: ./sum\n", "", `field "package" is missing`},
		{"run: ^TestSum$/^small$\n", "", `field "run" is missing`},
		{"run: ^TestSum$/^small$\n", "run:\n", `field "run" is empty`},
		{"run: ^TestSum$/^small$\n", "run: (\n", "run: error parsing regexp"},
		{"seen: nowhere\n", "seen: nowhere\nseen: here\n", `a second field "seen"`},
		{"seen: nowhere\n", "scene: nowhere\n", `there is no field "scene"`},
		{"seen: nowhere\n", "nowhere\n", "line 3: want a field"},
		{"bug: one", "\tone", "line 1: want a field"},
		{"sum/sum.go", "../sum.go", "want a Go file that is no test"},
		{"sum/sum.go", "sum/sum_test.go", "want a Go file that is no test"},
		{"./sum\n", "sum\n", "want one, as in ./deque"},
		{"./sum\n", "./...\n", "want one, as in ./deque"},
		{"modelcheck,other", "modelcheck other", "want names with commas between"},
		{"bound: 2", "bound: two", "want a number of preemptions"},
		{"bound: 2", "bound: 9", "want a number of preemptions"},
		{"hangs: yes", "hangs: no", "want yes, or no such field"},
		{good[strings.Index(good, oldMark):], "", `no edit: "--- old" is missing`},
		{"--- new\n\tc", "--- old\n\tc", "take turns"},
		{"--- old\n\treturn", "--- new\n\treturn", "line 10: want a field"},
		{"var gone int\n--- new\n", "var gone int\n", `the last edit has no "--- new"`},
		{"--- old\nvar gone int\n", "--- old\n", "edit 2: no old lines"},
		{"gone int\n--- new\n", "gone int\n--- new\nvar gone int\n", "edit 2: changes nothing"},
	} {
		require.Contains(t, good, c.old)
		_, err := parse("07-one-more.mutant", strings.Replace(good, c.old, c.new, 1))
		require.ErrorContains(t, err, "07-one-more: ")
		require.ErrorContains(t, err, c.want)
	}
	for _, name := range []string{
		"one-more.mutant", "7-one-more.mutant", "07-One-More.mutant", "07.mutant", "07-one-more.pending",
	} {
		_, err := parse(name, good)
		require.ErrorContains(t, err, "a mutant's file is named like")
	}
}

// TestOldLinesStandOnce: lines that do not occur, or occur twice, do not say where the bug belongs.
func TestOldLinesStandOnce(t *testing.T) {
	m, err := parse("07-one-more.mutant", good)
	require.NoError(t, err)
	for _, c := range []struct{ text, want string }{
		{"\treturn a + b\nvar gone int\n", ""},
		{"\treturn a + b\n", `edit 2 stand in sum/sum.go 0 times, want once: "var gone int"`},
		{"\treturn a + b // here\nvar gone int\n", `edit 1 stand in sum/sum.go 0 times, want once: "return a + b"`},
		{"\treturn a + b\n\treturn a + b\nvar gone int\n",
			`edit 1 stand in sum/sum.go 2 times, want once: "return a + b"`},
		{"\treturn a + b\nvar gone int\nvar gone int\nx\n", `edit 2 stand in sum/sum.go 2 times`},
	} {
		root := t.TempDir()
		write(t, root, "sum/sum.go", c.text)
		got, err := m.mutate(root)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "\tc := a + b\n\n\treturn c + 1\n", got)
	}
	_, err = m.mutate(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestLoadTakesAllOrNone: no file of the folder is left out in silence.
func TestLoadTakesAllOrNone(t *testing.T) {
	root := t.TempDir()
	_, err := load(root)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.FromSlash(folder)), 0o777))
	_, err = load(root)
	require.ErrorContains(t, err, "no mutants in")

	write(t, root, folder+"/100-last.mutant", good)
	write(t, root, folder+"/07-one-more.mutant", good)
	all, err := load(root)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "100-last", all[1].name, "in the order of numbers")

	write(t, root, folder+"/07-again.mutant", good)
	write(t, root, folder+"/08-later.pending", good)
	_, err = load(root)
	require.ErrorContains(t, err, "number 7 is that of 07-again too")
	require.ErrorContains(t, err, "08-later.pending: a mutant's file is named like")
}

// write makes a file of the module at root.
func write(t *testing.T, root, name, text string) {
	name = filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
}

package lint

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func read(t testing.TB, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	require.NoError(t, err)
	return string(b)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// fileRules are the rules that look at one file at a time, each with source that breaks it and source that keeps it.
var fileRules = []struct {
	name   string
	check  rule
	breaks []source
	keeps  []source
}{
	{"imports", imports,
		[]source{
			{"executor/x.go", `package executor; import "github.com/magpie-go/magpie/graph"`},
			{"deque/x.go", `package deque; import "github.com/magpie-go/magpie/notifier"`},
			{"notifier/x.go", `package notifier; import "github.com/magpie-go/magpie/deque"`},
			{"deque/x.go", `package deque; import "github.com/stretchr/testify/require"`},
			{"internal/park/x.go", `package park; import "golang.org/x/sync/errgroup"`},
			{"graph/x.go", `package graph; import "github.com/magpie-go/magpie/cmd/wsbench/internal/bench"`},
			{"executor/parallel/x.go", `package parallel; import "github.com/magpie-go/magpie/graph"`},
			{"executor/internal/x/x.go", `package x; import "github.com/magpie-go/magpie/executor"`},
		},
		[]source{
			{"graph/x.go", `package graph; import ("context"; "go/ast"; "github.com/magpie-go/magpie/executor")`},
			{"internal/park/x.go", `package park; import "golang.org/x/sys/unix"`},
			{"executor/x_test.go", `package executor; import "github.com/magpie-go/magpie/graph"`},
		}},
	{"light", light,
		[]source{
			{"executor/x.go", `package executor; import "log/slog"`},
			{"internal/procs/x.go", `package procs; import "encoding/json"`},
		},
		[]source{
			{"executor/x.go", `package executor; import "log"`},
			{"executor/x_test.go", `package executor; import "log/slog"`},
			{"executor/watch/x.go", `package watch; import "log/slog"`},
		}},
	{"foundation", foundation,
		[]source{
			{"internal/testkit/x.go", `package testkit; import "github.com/magpie-go/magpie/executor"`},
			{"internal/plan/x_test.go", `package plan; import "github.com/magpie-go/magpie/graph"`},
			{"internal/ci/x.go", `package main; import "github.com/magpie-go/magpie/cmd/internal/soak"`},
		},
		[]source{
			{"internal/gat/x.go", `package gat; import "github.com/magpie-go/magpie/internal/allot"`},
			{"cmd/internal/soak/x.go", `package main; import "github.com/magpie-go/magpie/executor"`},
		}},
	{"unsafe", unsafeFiles,
		[]source{
			{"deque/x.go", `package deque; import "unsafe"`},
			{"deque/x_test.go", `package deque; import "unsafe"`},
		},
		[]source{
			{"deque/x_unsafe.go", `package deque; import "unsafe"`},
			{"deque/x_unsafe_linux.go", `package deque; import "unsafe"`},
		}},
	{"no cgo, no linkname", noCgoNoLinkname,
		[]source{
			{"cmd/x/x.go", `package main; import "C"`},
			{"deque/x.go", "package deque\n\n//go:linkname f runtime.f\nfunc f()\n"},
		},
		[]source{{"deque/x.go", "package deque\n\n// There is no go:linkname here.\n//go:noinline\nfunc f() {}\n"}}},
	{"go statements", goStatements,
		[]source{
			{"executor/run.go", `package executor; func f() { go f() }`},
			{"graph/x.go", `package graph; import "sync"; func f() { var g sync.WaitGroup; g.Go(f) }`},
			{"executor/parallel/x.go", `package parallel; func f() { go f() }`},
		},
		[]source{
			{"executor/thread.go", `package executor; func f() { go f() }`},
			{"executor/x_test.go", `package executor; func f() { go f() }`},
			{"cmd/wsbench/internal/bench/x.go", `package bench; func f() { go f() }`},
		}},
	{"channels", channels,
		[]source{
			{"deque/x.go", `package deque; var c chan int`},
			{"executor/worker.go", `package executor; func f() { select {} }`},
			{"executor/help.go", `package executor; func f() { <-g() }`},
			{"internal/park/x.go", `package park; func f() { c <- 1 }`},
			{"executor/x.go", `package executor; var c chan int`},
			{"executor/internal/x/x.go", `package x; var c chan int`},
			{"executor/pipeline/x.go", `package pipeline; var c chan int`},
		},
		[]source{
			{"executor/run.go", `package executor; var c chan int`},
			{"notifier/x_test.go", `package notifier; var c chan int`},
			{"cmd/wsbench/internal/bench/x.go", `package bench; var c chan int`},
		}},
	{"doc comments", docs,
		[]source{
			{"deque/x.go", `package deque; func F() {}`},
			{"deque/x.go", `package deque; func (d *Deque[T]) F() {}`},
			{"graph/x.go", `package graph; type T int`},
			{"graph/x.go", `package graph; var V int`},
			{"executor/pipeline/x.go", `package pipeline; var V int`},
			{"graph/x.go", "package graph\n\n// Some constants.\nconst (\n\tA = iota\n\tB // is told\n)\n"},
		},
		[]source{
			{"deque/x.go", "package deque; func f() {}; func (d *deque) F() {}; " +
				`func (e *E) Error() string { return "" }`},
			{"graph/x.go", "package graph\n\n// T is told.\ntype T int\n\n// V is told.\nvar V int\n\n" +
				"const (\n\tA = 1 // told\n)\n"},
			{"internal/plan/x.go", `package plan; func F() {}`},
			{"executor/internal/x/x.go", `package x; func F() {}`},
		}},
}

type source struct{ path, text string }

func TestFileRules(t *testing.T) {
	files := moduleFiles(t)
	for _, r := range fileRules {
		t.Run(r.name, func(t *testing.T) {
			for _, s := range r.breaks {
				require.NotEmpty(t, r.check(parse(t, s.path, s.text)), "the rule lets pass: %s: %s", s.path, s.text)
			}
			for _, s := range r.keeps {
				require.Empty(t, r.check(parse(t, s.path, s.text)), "the rule objects to: %s: %s", s.path, s.text)
			}
			var wrong []string
			for _, f := range files {
				wrong = append(wrong, r.check(f)...)
			}
			require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
		})
	}
}

// TestModelOnlyUnderItsTag: a normal build has no part of the model checker.
func TestModelOnlyUnderItsTag(t *testing.T) {
	normal := config{goos: "linux", goarch: "amd64"}
	for _, f := range moduleFiles(t) {
		if slices.Contains(f.imports(), "internal/model") && !f.isTest() {
			require.False(t, normal.builds(t, f.path), "%s imports internal/model without the tag modelcheck", f.path)
		}
	}
}

// TestRulesKnowTheFiles: a renamed file must not escape a rule in silence, nor stay excepted from a rule that it keeps.
func TestRulesKnowTheFiles(t *testing.T) {
	files := make(map[string]*file)
	dirs := make(map[string]bool)
	for _, f := range moduleFiles(t) {
		files[f.path] = f
		dirs[f.dir()] = true
	}
	for _, name := range goFiles {
		require.Contains(t, files, name, "it may start goroutines and does not exist")
	}
	for _, name := range channelFiles {
		require.Contains(t, files, name, "it may use channels and does not exist")
		require.NotEmpty(t, channelUses(files[name]), "%s uses no channels: strike it from channelFiles", name)
	}
	for dir, imported := range layers {
		require.True(t, dirs[dir], "%s is in the import table and does not exist", dir)
		for _, p := range imported {
			require.Contains(t, layers, p, "%s may import %s, which is not in the table", dir, p)
		}
	}
}

// TestEveryLibraryIsInTheTable: a new package must not escape the rules in silence.
func TestEveryLibraryIsInTheTable(t *testing.T) {
	require.Equal(t, []string{"stack", "executor/internal/stack"},
		unlisted([]string{"stack", "executor/internal/stack", "executor", "internal/stack", "internal/model", "cmd/x"}))
	dirs := make(map[string]bool)
	for _, f := range moduleFiles(t) {
		dirs[f.dir()] = true
	}
	missing := unlisted(slices.Sorted(maps.Keys(dirs)))
	require.Empty(t, missing, "libraries without a row in the import table, layers: give each one")
}

// TestNestedModules: a nested module must not become a dependency of this one, nor escape .ci/steps in silence.
func TestNestedModules(t *testing.T) {
	var dirs []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if rel != "." {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
		return err
	})
	require.NoError(t, err)
	require.Equal(t, nestedModules, dirs)
	for _, dir := range dirs {
		require.Empty(t, nestedModule(dir, read(t, dir+"/go.mod")))
		step := `\(cd ` + dir + ` && go vet \./\.\.\. && go test -json( -race| \$race)?( -timeout 15m)? ` +
			`(\./\.\.\.|\$\(others\)) && go mod tidy -diff\)`
		require.Regexp(t, step, read(t, ".ci/steps"))
		require.NotContains(t, read(t, "go.mod"), module+"/"+dir)
	}
}

func TestNestedModuleRuleBites(t *testing.T) {
	const good = "module " + module + "/cmd/x\n\ngo 1.26.0\n\nrequire (\n\tgonum.org/v1/plot v0.17.0\n)\n"
	require.Empty(t, nestedModule("cmd/x", good))
	for name, goMod := range map[string]string{
		"another name":         strings.Replace(good, "cmd/x", "cmd/y", 1),
		"a replacement":        good + "\nreplace a => ../a\n",
		"the module around it": good + "\nrequire " + module + " v0.1.0\n",
		"the same in a block":  strings.Replace(good, "(\n", "(\n\t"+module+" v0.1.0\n", 1),
	} {
		require.NotEmpty(t, nestedModule("cmd/x", goMod), name)
	}
	require.NotEmpty(t, nestedModule("cmd/internal/x", strings.Replace(good, "cmd/x", "cmd/internal/x", 1)))
	const library = "module " + module + "/a/x\n\ngo 1.26.0\n\nrequire (\n\t" + module + " v0.0.0\n)\n\n" +
		"replace " + module + " => ../..\n"
	require.Empty(t, nestedModule("a/x", library))
	within := strings.NewReplacer("/a/x", "/a/internal/x", "../..", "../../..").Replace(library)
	other := "replace " + module + "/b => ../../../b\n"
	require.Empty(t, nestedModule("a/internal/x", within+other))
	require.NotEmpty(t, nestedModule("a/internal/x", within+"replace c => ../../../b\n"))
	require.NotEmpty(t, nestedModule("a/x", library+other))
	for name, goMod := range map[string]string{
		"another folder":         strings.Replace(library, "../..", "..", 1),
		"another replacement":    library + "\nreplace b => ../b\n",
		"no replacement":         strings.Replace(library, "replace", "// replace", 1),
		"not the module outside": strings.Replace(library, "\t"+module+" v", "\t"+module+"/z v", 1),
	} {
		require.NotEmpty(t, nestedModule("a/x", goMod), name)
	}
}

func TestTags(t *testing.T) {
	var wrong []string
	packages := byProtocol(t)
	for _, dir := range protocols {
		require.NotEmpty(t, packages[dir], dir)
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if files := packages[dir]; slices.Contains(protocols, dir) {
			pages := protocol(t, dir)
			wrong = slices.Concat(wrong, tags(files, text(pages)), rows(files, pages))
		} else {
			wrong = append(wrong, stray(files)...)
		}
	}
	require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
}

// TestTagsOfTests: the comments of tests name sites that are there.
func TestTagsOfTests(t *testing.T) {
	var files, tests []*file
	for _, f := range moduleFiles(t) {
		switch {
		case !f.isTest():
			files = append(files, f)
		case f.dir() != "internal/lint": // it makes up sites
			tests = append(tests, f)
		}
	}
	wrong := gone(tests, files)
	require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
}

func TestTagsRuleBites(t *testing.T) {
	const good = "package p\n\n// D1(a): mine, then yours. Pairs with D1(b).\nvar x int // P1\n\n" +
		"// D1(b): see D1(a).\nvar y int\n"
	check := func(src, protocol string) []string { return tags([]*file{parse(t, "p/x.go", src)}, protocol) }
	require.Empty(t, check(good, "**D1** and **P1**"))
	for name, c := range map[string]struct{ src, protocol string }{
		"a tag without a definition": {good, "**D1**"},
		"a definition nobody cites":  {good, "**D1**, **P1**, **C7**"},
		"a site that is gone":        {strings.Replace(good, "D1(b):", "the other:", 1), "D1 P1"},
		"a partner that is gone":     {strings.Replace(good, "with D1(b).", "with D1(c): yours.", 1), "D1 P1"},
		"one site of a pair":         {"package p\n\n// D1(a): mine, then yours.\nvar x int\n", "D1"},
	} {
		require.NotEmpty(t, check(c.src, c.protocol), name)
	}
}

func TestCitations(t *testing.T) {
	tests := make(map[string]map[string]bool)
	for _, f := range moduleFiles(t) {
		for _, name := range f.tests() {
			if tests[f.dir()] == nil {
				tests[f.dir()] = make(map[string]bool)
			}
			tests[f.dir()][name] = true
		}
	}
	for _, dir := range protocols {
		require.NotEmpty(t, tests[dir])
		wrong := citations(dir, protocol(t, dir), tests)
		require.Empty(t, wrong, "\n%s", strings.Join(wrong, "\n"))
	}
}

func TestCitationsRuleBites(t *testing.T) {
	f := parse(t, "p/x_test.go", "package p\n\n"+
		"func TestA() {}\nfunc TestModelB() {}\nfunc FuzzC() {}\nfunc (TestD) TestD() {}\nfunc testE() {}\n")
	require.Equal(t, []string{"TestA", "TestModelB", "FuzzC"}, f.tests())
	tests := map[string]map[string]bool{
		"p": {"TestA": true, "TestModelB": true, "FuzzC": true}, "q": {"TestModelD": true},
		"r": {}, "r/internal/s": {"TestModelE": true}, "r/t": {"TestModelF": true},
	}
	const cites = "`TestA`, `FuzzC`; package q's all, `TestModelD`; `TestModelB`; `TestModel…`"
	check := func(dir, text string) []string {
		return citations(dir, []page{{dir + "/PROTOCOL.md", dir, text}}, tests)
	}
	require.Empty(t, check("p", cites))
	require.Empty(t, check("p", "package q's `TestModelD`\n`TestModelB`"))
	require.Empty(t, check("r", "package s's `TestModelE`"))
	require.NotEmpty(t, check("r", "package t's `TestModelF`"), "package s's TestModelE is not cited")
	pages := []page{{"r/PROTOCOL.md", "r", ""}, {"r/internal/s/PROTOCOL.md", "r/internal/s", "`TestModelE`"}}
	require.Empty(t, citations("r", pages, tests), "a page cites the tests of its own package")
	for name, protocol := range map[string]string{
		"a test that is gone":            "`TestModelB`, `TestE`",
		"a model program not cited":      "`TestA`",
		"another package's":              "`TestModelB`, `TestModelD`",
		"another package's that is gone": "`TestModelB`; package q's `TestA`",
		"cited as another package's":     "package q's `TestModelD`, `TestModelB`",
	} {
		require.NotEmpty(t, check("p", protocol), name)
	}
}

// TestEveryTestIsCompiled: a test whose build constraint no configuration of .ci/steps fulfils never runs.
func TestEveryTestIsCompiled(t *testing.T) {
	all := configs(read(t, ".ci/steps"))
	var seen []string
	for _, c := range all {
		seen = append(seen, c.goos+"/"+c.goarch+"/"+strings.Join(c.tags, ","))
	}
	require.Subset(t, seen, []string{
		"linux/amd64/", "linux/amd64/race", "linux/amd64/magpie_portable_park", "linux/386/", "windows/amd64/",
	}, "configs has missed some lines of .ci/steps")
	for _, f := range moduleFiles(t) {
		if f.isTest() {
			compiles := func(c config) bool { return c.covers(f.dir()) && c.builds(t, f.path) }
			require.True(t, slices.ContainsFunc(all, compiles), "%s is compiled by no configuration of .ci/steps", f.path)
		}
	}
}

func TestConfigs(t *testing.T) {
	got := configs("step 'x'\nfor target in linux/386 darwin/arm64; do\n\tGOOS=${target} go build ./...\ndone\n" +
		"GOOS=darwin go vet ./... # all\ngo test $(some ./...)\n" +
		"GOARCH=386 go test -race ./internal/... ./deque\n" +
		"go test -tags a,b -run '^T' ./graph | grep x\ngo mod verify\n" +
		"[ -z \"$some\" ] || go test -json -race $some\n(cd x && go vet ./...)\n")
	require.Empty(t, cmp.Diff([]config{
		{goos: "darwin", goarch: "amd64", patterns: []string{"./..."}},
		{goos: "linux", goarch: "amd64", patterns: []string{"./..."}},
		{goos: "linux", goarch: "386", tags: []string{"race"}, patterns: []string{"./internal/...", "./deque"}},
		{goos: "linux", goarch: "amd64", tags: []string{"a", "b"}, patterns: []string{"./graph"}},
		{goos: "linux", goarch: "amd64", tags: []string{"race"}, patterns: []string{"./..."}},
	}, got, cmp.AllowUnexported(config{})))
	require.True(t, got[2].covers("internal/plan"))
	require.True(t, got[2].covers("internal"))
	require.True(t, got[2].covers("deque"))
	require.False(t, got[2].covers("deque/x"))
	require.False(t, got[2].covers("graph"))
	require.True(t, got[0].covers("anything"))
}

// TestTopLevel: the top level is what a visitor sees first. Files that git ignores do not count.
func TestTopLevel(t *testing.T) {
	required := []string{"go.mod", "go.sum", "executor", "deque", "notifier", "graph", "cmd", "internal",
		"README.md", "BENCHMARKS.md", "CONTRIBUTING.md", "LICENSE", "CHANGELOG.md", ".ci"}
	allowed := append([]string{"testdata"}, required...)
	var ignored []string
	if exists(filepath.Join(root, ".gitignore")) {
		ignored = strings.Fields(read(t, ".gitignore"))
	}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		name := e.Name()
		names = append(names, name)
		if strings.HasPrefix(name, ".") || slices.Contains(allowed, name) {
			continue
		}
		require.True(t, slices.ContainsFunc(ignored, func(pattern string) bool {
			ok, err := path.Match(strings.Trim(pattern, "/"), name)
			return err == nil && ok
		}), "%s does not belong at the top level: put it under one of %v", name, allowed)
	}
	require.Subset(t, names, required)
}

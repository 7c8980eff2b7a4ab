// Package readme keeps the pages for people true: their Go code compiles, their links lead somewhere, their commands
// exist.
package readme

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	magpie = "github.com/magpie-go/magpie"
)

// read returns the text of a page.
func read(t *testing.T, page string) string {
	b, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	return string(b)
}

// outsideBlocks returns a text without its fenced blocks.
func outsideBlocks(text string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
}

// blocks returns the fenced code blocks of one language.
func blocks(text, language string) (found []string) {
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// module has the files of a new module that requires this one, as a user's would.
func module(t *testing.T) map[string]string {
	dir, err := filepath.Abs(root)
	require.NoError(t, err)
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	own := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(gomod), "module readme")
	own = regexp.MustCompile(`(?m)^tool .*$`).ReplaceAllString(own, "")
	own += fmt.Sprintf("\nrequire %s v0.0.0\nreplace %[1]s => %s\n", magpie, dir)
	gosum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	return map[string]string{"go.mod": own, "go.sum": string(gosum)}
}

// goCommand runs the go command for a module in dir.
func goCommand(t *testing.T, dir string, args ...string) (out string) {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return string(said)
}

// TestGoBlocks compiles every Go block of the README in a module of its own.
func TestGoBlocks(t *testing.T) {
	files := module(t)
	all := blocks(read(t, "README.md"), "go")
	require.NotEmpty(t, all)
	for i, code := range all {
		if !strings.HasPrefix(code, "package ") {
			code = fragment(code)
		}
		files[fmt.Sprintf("block%d/main.go", i)] = code
	}
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	goCommand(t, dir, "vet", "./...")
}

// imports are the packages that fragments may use, besides executor and context.
var imports = []string{
	"errors", "expvar", "net/http", "time",
	"github.com/magpie-go/magpie/executor/host", "github.com/magpie-go/magpie/executor/httpdebug",
	"github.com/magpie-go/magpie/executor/metrics", "github.com/magpie-go/magpie/executor/observe",
	"github.com/magpie-go/magpie/executor/service", "github.com/magpie-go/magpie/executor/watch",
}

// fragment makes a program of function declarations, or of a few statements in a service that has an executor.
func fragment(code string) string {
	if strings.HasPrefix(code, "func ") {
		return "package main\n\nimport \"github.com/magpie-go/magpie/executor\"\n\nfunc main() {}\n\n" + code
	}
	code = `
type program struct {
	ex        *executor.Executor
	job       executor.Job
	operators *http.ServeMux
	server    *http.Server
	resize    func(context.Context) error
}

func main() {}

func (p program) run(ctx context.Context) (err error) {
	ex, job, operators, server, resize := p.ex, p.job, p.operators, p.server, p.resize
	_, _, _, _, _ = ex, job, operators, server, resize
	{
` + code + `
		_, _ = ex, err
	}
	return nil
}
`
	head := "package main\n\nimport (\n\t\"context\"\n\t\"github.com/magpie-go/magpie/executor\"\n"
	statements := regexp.MustCompile(`//.*`).ReplaceAllString(code, "")
	for _, p := range imports {
		if strings.Contains(statements, path.Base(p)+".") {
			head += fmt.Sprintf("\t%q\n", p)
		}
	}
	return head + ")\n" + code
}

// atTop are the pages at the top level, whose commands are for a clone of the repository.
var atTop = []string{"README.md", "BENCHMARKS.md", "CONTRIBUTING.md"}

// TestLinks checks that what all pages link to exists, headings included.
func TestLinks(t *testing.T) {
	for _, page := range slices.Concat(atTop, pages, []string{"testdata/replay/README.md", examplesPage}) {
		links := regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(outsideBlocks(read(t, page)), -1)
		require.NotEmpty(t, links, page)
		for _, m := range links {
			file, heading, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = path.Join(path.Dir(page), file)
			}
			_, err := os.Stat(filepath.Join(root, to))
			require.NoError(t, err, "%s links to %s", page, m[1])
			if heading != "" && path.Ext(to) == ".md" {
				require.Contains(t, headings(read(t, to)), heading, "%s links to %s", page, m[1])
			}
		}
	}
}

// headings returns the headings of a page as links name them.
func headings(text string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(outsideBlocks(text), -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// TestContents: a page that begins with links to its sections has one to each, in their order.
func TestContents(t *testing.T) {
	for _, page := range []string{"BENCHMARKS.md", "executor/RECIPES.md"} {
		text := read(t, page)
		var listed []string
		for _, m := range regexp.MustCompile(`(?m)^- \[.*\]\(#(.*)\)$`).FindAllStringSubmatch(text, -1) {
			listed = append(listed, m[1])
		}
		require.Equal(t, headings(text)[1:], listed, page)
	}
}

// TestCommands checks that the packages named after "go run" and "go test" exist.
func TestCommands(t *testing.T) {
	text := read(t, "README.md")
	require.Contains(t, blocks(text, "sh"), "go run ./cmd/wsbench run\n")
	require.Contains(t, blocks(text, "sh"), "go test ./...\n")
	for _, page := range atTop {
		paths := regexp.MustCompile(`go (?:run|test|vet)(?: -\S+)* \./([\w/]+)`).FindAllStringSubmatch(read(t, page), -1)
		require.NotEmpty(t, paths, page)
		for _, m := range paths {
			info, err := os.Stat(filepath.Join(root, m[1]))
			require.NoError(t, err, page)
			require.True(t, info.IsDir(), "%s names the package %s", page, m[1])
		}
	}
}

// examplesPage lists all examples of the packages by concept.
const examplesPage = "cmd/examples/README.md"

// TestExamplesPage: each file has as many links as examples, so that a new example is found from the page.
func TestExamplesPage(t *testing.T) {
	listed, there := make(map[string]int), make(map[string]int)
	for _, m := range regexp.MustCompile(`(?m)^\| \[.*\]\(../../(\S*_test\.go)\) \| .`).FindAllStringSubmatch(
		read(t, examplesPage), -1) {
		listed[m[1]]++
	}
	example := regexp.MustCompile(`(?m)^func Example\w*\(\) \{`)
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(file, "_test.go") {
			name, _ := filepath.Rel(root, file)
			if n := len(example.FindAllString(read(t, name), -1)); n > 0 {
				there[filepath.ToSlash(name)] = n
			}
		}
		return err
	}))
	require.Equal(t, there, listed)
}

// TestShort: a newcomer reads the README first, then the documentation of package executor, and then fills in a Config.
func TestShort(t *testing.T) {
	lines := func(flag string) int {
		cmd := exec.CommandContext(t.Context(), "go", "doc", flag, "./executor") // not goCommand, which may write go.sum
		cmd.Dir = root
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.Count(string(out), "\n")
	}
	require.LessOrEqual(t, strings.Count(read(t, "README.md"), "\n"), 200)
	require.LessOrEqual(t, lines("-all"), 1400)
	require.LessOrEqual(t, lines("-short"), 55, "names, where a group of constants is one")

	field := regexp.MustCompile(`(?m)^package \S+/executor: type Config struct, [A-Z]`)
	fields := 0
	for _, file := range []string{"v0.1.0.txt", "next.txt"} {
		fields += len(field.FindAllString(read(t, "testdata/api/"+file), -1))
	}
	require.NotZero(t, fields)
	require.LessOrEqual(t, fields, 9, "fields of Config")
}

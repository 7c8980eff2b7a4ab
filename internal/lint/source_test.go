// Package lint checks the house rules that a compiler does not: the imports of each package, the places of unsafe and
// of the go statement, the meaning of tags in comments. Each rule has caught a real defect.
package lint

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/magpie-go/magpie"
	root   = "../.."
)

// A file is one Go file of the module.
type file struct {
	path string // from the module's root, with slashes
	fset *token.FileSet
	ast  *ast.File
}

func (f *file) dir() string     { return path.Dir(f.path) }
func (f *file) isTest() bool    { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) isLibrary() bool { return isLibrary(f.dir()) && !f.isTest() }

// at returns the position of a node, for messages.
func (f *file) at(n ast.Node) string {
	return f.path + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// imports lists the imports of f, packages of this module by their folder.
func (f *file) imports() (paths []string) {
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser accepted it
		}
		paths = append(paths, strings.TrimPrefix(p, module+"/"))
	}
	return paths
}

// comments lists the texts of f's comments, each with its lines joined.
func (f *file) comments() (texts []string) {
	for _, group := range f.ast.Comments {
		texts = append(texts, strings.Join(strings.Fields(group.Text()), " "))
	}
	return texts
}

// parse makes a file of source text.
func parse(t testing.TB, path, src string) *file {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return &file{path, fset, parsed}
}

// walked has the result of moduleFiles.
var walked []*file

// moduleFiles parses every Go file of the module, whatever its build constraints, the first time that a test asks. It
// skips modules inside this one.
func moduleFiles(t testing.TB) []*file {
	t.Helper()
	if walked != nil {
		return walked
	}
	var files []*file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "." {
				return nil
			}
			skip := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata"
			if skip || exists(filepath.Join(name, "go.mod")) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			files = append(files, parse(t, filepath.ToSlash(rel), read(t, rel)))
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(files), 50, "the walk did not find the module")
	walked = files
	return files
}

// A config is one way in which .ci/steps compiles tests.
type config struct {
	goos, goarch string
	tags         []string
	patterns     []string // of packages
}

func (c config) covers(dir string) bool {
	for _, p := range c.patterns {
		p = strings.TrimPrefix(p, "./")
		if p == "..." || p == dir {
			return true
		}
		if tree, ok := strings.CutSuffix(p, "/..."); ok && (dir == tree || strings.HasPrefix(dir, tree+"/")) {
			return true
		}
	}
	return false
}

// builds reports whether c compiles the file.
func (c config) builds(t testing.TB, name string) bool {
	t.Helper()
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.BuildTags, ctx.CgoEnabled = c.goos, c.goarch, c.tags, false
	ok, err := ctx.MatchFile(filepath.Join(root, path.Dir(name)), path.Base(name))
	require.NoError(t, err)
	return ok
}

// configs reads the configurations of .ci/steps from its lines with go test and go vet. It takes the packages in a
// variable for all, and ignores that a function may exclude packages from a pattern. Other modules do not count.
func configs(script string) (all []config) {
	for line := range strings.Lines(script) {
		c := config{goos: "linux", goarch: "amd64"}
		words := strings.Fields(line)
		command := 0
		for command < len(words) && words[command] != "go" {
			switch name, value, _ := strings.Cut(words[command], "="); name {
			case "GOOS":
				c.goos = value
			case "GOARCH":
				c.goarch = value
			}
			command++
		}
		words = words[command:]
		if len(words) < 2 || words[1] != "test" && words[1] != "vet" || strings.Contains(line, "(cd ") {
			continue
		}
		for i, word := range words {
			switch {
			case word == "-race":
				c.tags = append(c.tags, "race")
			case word == "-tags" && i+1 < len(words):
				c.tags = append(c.tags, strings.Split(words[i+1], ",")...)
			case strings.HasPrefix(word, "./"):
				c.patterns = append(c.patterns, strings.TrimSuffix(word, ")"))
			case strings.HasPrefix(word, "$") && !strings.HasPrefix(word, "$("):
				c.patterns = append(c.patterns, "./...")
			}
		}
		all = append(all, c)
	}
	return all
}

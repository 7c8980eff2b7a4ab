package main

import (
	"go/ast"
	gobuild "go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/internal/module"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestMutantsHaveTypes: every mutant's package passes the type checker, so that a name that a change of the core gives up
// is found in what mutants put in, too. Quick tests look at a tenth.
func TestMutantsHaveTypes(t *testing.T) {
	root, err := module.Root(t.Context(), "")
	require.NoError(t, err)
	all, err := load(root)
	require.NoError(t, err)
	packages := map[string]*checked{}
	for _, m := range testkit.Part(t, all) {
		dir := filepath.ToSlash(filepath.Dir(m.file))
		key := dir + " " + m.killers.tags
		if packages[key] == nil {
			packages[key] = newChecked(t, root, dir, m.killers.tags)
		}
		text, err := m.mutate(root)
		require.NoError(t, err)
		require.NoError(t, packages[key].check(filepath.Base(m.file), text), m.name)
	}
}

// checked is a package whose files are parsed and whose imports are compiled, for some build tags.
type checked struct {
	path  string
	set   *token.FileSet
	files map[string]*ast.File // by name
	from  types.Importer
}

func newChecked(t *testing.T, root, dir, tags string) *checked {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-export", "-tags", tags, "-f", "{{.ImportPath}} {{.Export}}", "./"+dir)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	export := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			export[path] = file
		}
	}
	context := gobuild.Default
	context.BuildTags = strings.Split(tags, ",")
	source, err := context.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
	require.NoError(t, err)
	c := &checked{path: dir, set: token.NewFileSet(), files: map[string]*ast.File{}}
	for _, name := range source.GoFiles {
		c.files[name], err = parser.ParseFile(c.set, filepath.Join(source.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
	}
	c.from = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	return c
}

// check checks the types of the package with another text of one file.
func (c *checked) check(name, text string) error {
	changed, err := parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	files := []*ast.File{changed}
	for other, f := range c.files {
		if other != name {
			files = append(files, f)
		}
	}
	config := types.Config{Importer: c.from}
	_, err = config.Check(c.path, c.set, files, nil)
	return err
}

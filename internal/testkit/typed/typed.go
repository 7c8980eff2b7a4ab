// Package typed parses packages and checks their types, for tests of the source.
package typed

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Package is parsed, without its tests. The packages that it imports are compiled.
type Package struct {
	Set   *token.FileSet
	Files map[string]*ast.File // by name

	dir  string
	from types.Importer
}

// Load parses the package in the folder dir, which root is above, for the build tags, which commas separate. It may be in
// a nested module.
func Load(root, dir, tags string) (*Package, error) {
	context := build.Default
	context.BuildTags = strings.Split(tags, ",")
	source, err := context.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
	if err != nil {
		return nil, err
	}
	export, err := exports(source.Dir, tags, source.Imports)
	if err != nil {
		return nil, err
	}
	p := &Package{Set: token.NewFileSet(), Files: map[string]*ast.File{}, dir: dir}
	p.from = importer.ForCompiler(p.Set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	for _, name := range source.GoFiles {
		p.Files[name], err = parser.ParseFile(p.Set, filepath.Join(source.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// exports returns the files with the exported names of packages that are imported in dir, and of what they import. The
// package in dir is not compiled for that: it is parsed.
func exports(dir, tags string, imports []string) (export map[string]string, err error) {
	export = map[string]string{}
	if len(imports) == 0 {
		return export, nil
	}
	args := []string{"list", "-deps", "-export", "-tags", tags, "-f", "{{.ImportPath}} {{.Export}}", "--"}
	list := exec.Command("go", append(args, imports...)...)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			export[path] = file
		}
	}
	return export, nil
}

// Check checks the types of the package, and fills info unless it is nil.
func (p *Package) Check(info *types.Info) (*types.Package, error) {
	config := types.Config{Importer: p.from}
	return config.Check(p.dir, p.Set, slices.Collect(maps.Values(p.Files)), info)
}

// CheckWith checks the types of the package with other texts of some of its files, by name.
func (p *Package) CheckWith(texts map[string]string) error {
	other := *p
	other.Files = maps.Clone(p.Files)
	for name, text := range texts {
		changed, err := parser.ParseFile(p.Set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		other.Files[name] = changed
	}
	_, err := other.Check(nil)
	return err
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// version returns a fingerprint of all that a layer's result depends on: its tests, the packages of the module that
// they are compiled with, and go.mod, which names the rest. Comments do not count.
func (y *layer) version(root string) (string, error) {
	h := sha256.New()
	if err := y.fingerprint(h, root, y.packages, digest); err != nil {
		return "", err
	}
	return sum(h), nil
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:12] }

// fingerprint writes to h the files on which the tests of packages depend. digest writes one Go file.
func (y *layer) fingerprint(h io.Writer, root string, packages []string, digest func(io.Writer, string) error) error {
	own, err := packagesOf(root, y.tags, false, packages)
	if err != nil {
		return err
	}
	all, err := packagesOf(root, y.tags, true, packages)
	if err != nil {
		return err
	}
	for _, dir := range all {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		for _, name := range files { // in order: Glob sorts
			if strings.HasSuffix(name, "_test.go") && !(slices.Contains(own, dir) && y.hasTest(name)) {
				continue
			}
			if err := digest(h, name); err != nil {
				return err
			}
		}
	}
	for _, pattern := range append([]string{"go.mod"}, y.files...) {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("layer %s: no files match %s", y.name, pattern)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "\n%s\n%s", filepath.Base(name), text)
		}
	}
	return nil
}

// partVersions returns a function that returns the fingerprint of a part, "./package TestName/subtest". It covers what
// version covers, but of the part's package alone, and without the package's other tests. It is empty for a part that
// does not exist.
func (y *layer) partVersions(root string) (func(part string) string, error) {
	versions := make(map[string]string) // by package and test
	for _, pkg := range y.packages {
		shared, tests := sha256.New(), make(map[string]string)
		err := y.fingerprint(shared, root, []string{pkg}, func(h io.Writer, name string) error {
			if !strings.HasSuffix(name, "_test.go") {
				return digest(h, name)
			}
			return digestTests(h, name, tests)
		})
		if err != nil {
			return nil, err
		}
		common := shared.Sum(nil)
		for test, text := range tests {
			h := sha256.New()
			h.Write(common)
			fmt.Fprint(h, text)
			versions[pkg+" "+test] = sum(h)
		}
	}
	return func(part string) string {
		pkg, test, _ := strings.Cut(part, " ")
		test, _, _ = strings.Cut(test, "/")
		return versions[pkg+" "+test]
	}, nil
}

// digestTests writes a test file without its tests to h, and enters the texts of the tests in tests. It leaves out the
// imports: the imported packages are in the fingerprint.
func digestTests(h io.Writer, name string, tests map[string]string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		var text strings.Builder
		if err := printer.Fprint(&text, files, d); err != nil {
			return err
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") && d.Name.Name != "TestMain" {
				tests[d.Name.Name] = text.String()
				continue
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
		}
		fmt.Fprintf(h, "\n%s\n%s", filepath.Base(name), text.String())
	}
	return nil
}

// paths returns the files that version covers as git's pathspecs: those of code and those of tests.
func (y *layer) paths(root string) (code, tests []string, err error) {
	glob := func(magic, dir, pattern string) string { return ":(" + magic + "glob)" + dir + "/" + pattern }
	relative := func(deps bool) (dirs []string, err error) {
		all, err := packagesOf(root, y.tags, deps, y.packages)
		for _, dir := range all {
			rel, err := filepath.Rel(root, dir)
			if err != nil {
				return nil, err
			}
			dirs = append(dirs, filepath.ToSlash(rel))
		}
		return dirs, err
	}
	all, err := relative(true)
	if err != nil {
		return nil, nil, err
	}
	own, err := relative(false)
	if err != nil {
		return nil, nil, err
	}
	code = []string{"go.mod"}
	for _, pattern := range y.files {
		code = append(code, ":(glob)"+pattern)
	}
	for _, dir := range all {
		code = append(code, glob("", dir, "*.go"), glob("exclude,", dir, "*_test.go"))
	}
	for _, dir := range own {
		switch {
		case y.allTests:
			tests = append(tests, glob("", dir, "*_test.go"))
		case y.tags == "modelcheck":
			tests = append(tests, glob("", dir, "*_model_test.go"), glob("", dir, "*export_test.go"))
		default:
			tests = append(tests, glob("", dir, "*_test.go"), glob("exclude,", dir, "*_model_test.go"))
		}
	}
	return code, tests, nil
}

// packagesOf lists the folders of packages, sorted. If deps is set it adds all packages of the module that they and
// their tests are compiled with.
func packagesOf(root, tags string, deps bool, packages []string) ([]string, error) {
	args := []string{"list", "-tags", tags, "-f", "{{if .Module}}{{if .Module.Main}}{{.Dir}}{{end}}{{end}}"}
	if deps {
		args = append(args, "-deps", "-test")
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = root
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, said.String())
	}
	dirs := strings.Fields(string(out))
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

// hasTest reports whether the layer depends on a test file of its packages. Model programs are in files of their own,
// and use no other test files than those that export the package's internals.
func (y *layer) hasTest(name string) bool {
	return y.allTests || strings.HasSuffix(name, "export_test.go") ||
		strings.HasSuffix(name, "_model_test.go") == (y.tags == "modelcheck")
}

func digest(h io.Writer, name string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "\n%s\n", filepath.Base(name))
	return printer.Fprint(h, files, file)
}

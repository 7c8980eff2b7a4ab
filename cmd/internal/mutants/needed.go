package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unneeded returns an overlay that leaves out the test files without which the killers can be built. To compile tests
// takes most of the time of a build, and they are compiled anew for each mutant.
//
// A file is needed if it has a killer, or declares a name that stands in a file that is needed, whatever the name means
// there. So a file too many may be built, but none is missing.
func (l *lab) unneeded(k killers) (overlay map[string]string, err error) {
	top, _, _ := strings.Cut(k.run, "/")
	wanted, err := regexp.Compile(top)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", k, err)
	}
	paths, err := filepath.Glob(filepath.Join(l.root, filepath.FromSlash(k.pkg), "*_test.go"))
	if err != nil {
		return nil, err
	}
	var needed, others []*testFile
	for _, path := range paths {
		f, err := readTestFile(path)
		if err != nil {
			return nil, err
		}
		if f.always || slices.ContainsFunc(f.tests, wanted.MatchString) {
			needed = append(needed, f)
		} else {
			others = append(others, f)
		}
	}
	for i := 0; i < len(needed); i++ { // needed grows
		others = slices.DeleteFunc(others, func(f *testFile) bool {
			if needed[i].needs(f) {
				needed = append(needed, f)
				return true
			}
			return false
		})
	}
	overlay = make(map[string]string)
	for _, f := range others {
		overlay[f.path] = ""
	}
	return overlay, nil
}

// A testFile is a file of tests of a package, or of package x_test beside it.
type testFile struct {
	path     string
	external bool     // of package x_test
	always   bool     // it has an init or TestMain
	tests    []string // its tests, fuzz tests and examples

	declares map[string]bool // names, but for those of methods
	methods  []method
	uses     map[string]bool // names that it does not declare
	selected map[string]bool // names after a dot
}

type method struct{ of, name string } // of a type

var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)`)

func readTestFile(path string) (*testFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	if err != nil {
		return nil, err
	}
	f := &testFile{
		path: path, external: strings.HasSuffix(syntax.Name.Name, "_test"),
		declares: make(map[string]bool), uses: make(map[string]bool), selected: make(map[string]bool),
	}
	for _, decl := range syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			f.addFunc(decl)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					f.declares[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						f.declares[name.Name] = true
					}
				}
			}
		}
	}
	for _, name := range syntax.Unresolved {
		f.uses[name.Name] = true
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			f.selected[s.Sel.Name] = true
		}
		return true
	})
	return f, nil
}

func (f *testFile) addFunc(decl *ast.FuncDecl) {
	name := decl.Name.Name
	switch {
	case decl.Recv != nil:
		f.methods = append(f.methods, method{receiver(decl.Recv.List[0].Type), name})
	case name == "init" || name == "TestMain":
		f.always = true
	default:
		f.declares[name] = true
		if isTest.MatchString(name) {
			f.tests = append(f.tests, name)
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(expr ast.Expr) string {
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// needs reports whether f may not build without other.
func (f *testFile) needs(other *testFile) bool {
	if other.external && !f.external {
		return false
	}
	names := f.uses
	if f.external != other.external {
		names = f.selected
	}
	for name := range other.declares {
		if names[name] {
			return true
		}
	}
	for _, m := range other.methods {
		if f.declares[m.of] || f.selected[m.name] && !other.declares[m.of] {
			return true
		}
	}
	return false
}

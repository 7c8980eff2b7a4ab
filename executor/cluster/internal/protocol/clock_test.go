package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestNoClock: the protocol reads no clock (T1): the times that it compares are all of the server's clock, so that
// clocks of workers and submitters may be wrong by any time.
func TestNoClock(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		read++
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" {
				switch s.Sel.Name {
				case "Now", "Since", "Until":
					t.Errorf("%s reads the clock: time.%s", f.Name(), s.Sel.Name)
				}
			}
			return true
		})
	}
	if read < 5 {
		t.Errorf("%d files were read", read)
	}
}

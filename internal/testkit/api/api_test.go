package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `package p

import "io"

const Most int64 = 4

var Broken error

type Number int

func (Number) Text(base int) string { return "" }

type Table[K comparable, V any] struct {
	Size int
	rows map[K]V
	part
	io.Reader
}

type part struct{ Inner bool }

type Point struct{ X, Y int }

func (*Table[K, V]) Each(do func(key K, value V) bool) {}
func (*Table[K, V]) hidden() {}

type Source interface {
	Next() (value int, ok bool)
	Close() error
}

type Sealed interface{ Kind() int; sealed() }
type Sum interface{ ~int | ~string }
type Other = Number

func Map[A, B any](list []A, to func(a A) (B, error), more ...int) []B { return nil }
func small() {}
`

// An onlyReader imports packages in which there is an interface Reader: the sources of the standard library may not be
// there.
type onlyReader struct{}

func (onlyReader) Import(path string) (*types.Package, error) {
	set := token.NewFileSet()
	text := "package " + path + "; type Reader interface{ Read([]byte) (int, error) }"
	file, err := parser.ParseFile(set, path+".go", text, 0)
	if err != nil {
		return nil, err
	}
	return new(types.Config).Check(path, set, []*ast.File{file}, nil)
}

func listing(t *testing.T, source string) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, 0)
	require.NoError(t, err)
	config := types.Config{Importer: onlyReader{}}
	pkg, err := config.Check("p", set, []*ast.File{file}, nil)
	require.NoError(t, err)
	return lines(pkg)
}

func TestLines(t *testing.T) {
	require.Equal(t, `package p: const Most int64 = 4
package p: func Map[A any, B any]([]A, func(A) (B, error), ...int) []B
package p: method (*Table) Each(func(K, V) bool)
package p: method (Number) Text(int) string
package p: method (Table) Read([]byte) (int, error)
package p: type Number int
package p: type Other = Number
package p: type Point struct
package p: type Point struct, X int
package p: type Point struct, Y int
package p: type Point struct, comparable
package p: type Sealed interface, Kind() int
package p: type Sealed interface, for this module only
package p: type Source interface { Close, Next }
package p: type Source interface, Close() error
package p: type Source interface, Next() (int, bool)
package p: type Sum interface{~int | ~string}
package p: type Table struct, Inner bool
package p: type Table struct, Size int
package p: type Table struct, embedded Reader io.Reader
package p: type Table[K comparable, V any] struct
package p: var Broken error`, strings.Join(listing(t, source), "\n"))
}

// TestBroken: what breaks programs that use the package takes a line away, and what does not takes none.
func TestBroken(t *testing.T) {
	before := listing(t, source)
	for name, c := range map[string]struct {
		old, new string
		breaks   bool
		lines    int // that are new
	}{
		"constant changed":       {"= 4", "= 5", true, 1},
		"variable gone":          {"var Broken error", "", true, 0},
		"method gone":            {"Text(base int)", "text(base int)", true, 0},
		"pointer receiver":       {"(Number) Text", "(*Number) Text", true, 1},
		"field gone":             {"Size int", "size int", true, 0},
		"field of another type":  {"Size int", "Size int64", true, 1},
		"promoted field gone":    {"Inner bool", "inner bool", true, 0},
		"parameter added":        {"list []A,", "list []A, n int,", true, 1},
		"result added":           {`string { return "" }`, "(s string, err error) { return }", true, 1},
		"method of an interface": {"Close() error", "Close() error\nReset()", true, 2},
		"interface sealed":       {"Close() error", "Close() error\nsealed()", true, 1},
		"constraint":             {"[K comparable, V any] struct", "[K comparable, V comparable] struct", true, 1},
		"field not comparable":   {"X, Y int", "X, Y int; Z []int", true, 1},
		"function added":         {"func small()", "func Small()", false, 1},
		"field added":            {"rows map", "Rows map", false, 1},
		"parameter renamed":      {"base int", "radix int", false, 0},
		"inside of a function":   {"{ return nil }", "{ panic(0) }", false, 0},
		"method of a sealed one": {"sealed() }", "sealed(); More() }", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, source, c.old)
			changed := strings.Replace(source, c.old, c.new, 1)
			if name == "constraint" { // of the receivers too
				changed = strings.ReplaceAll(changed, "any] struct", "comparable] struct")
			}
			after := listing(t, changed)
			released := map[string]string{}
			for _, line := range before {
				released[line] = "v0.1.0.txt"
			}
			complaints := compare(released, nil, after)
			lost := slices.DeleteFunc(slices.Clone(complaints), func(s string) bool {
				return !strings.Contains(s, "v0.1.0.txt has, and the code has not")
			})
			require.Equal(t, c.breaks, len(lost) > 0, "%q", complaints)
			require.Len(t, complaints, len(lost)+c.lines, "each new line is to be written down")
			fresh := slices.DeleteFunc(slices.Clone(after), func(line string) bool { return released[line] != "" })
			require.ElementsMatch(t, lost, compare(released, fresh, after), "no -update helps what a release has lost")
		})
	}
	require.Empty(t, compare(nil, before, before))
	require.Len(t, compare(nil, before, before[1:]), 1)
	require.Contains(t, compare(nil, before, before[1:])[0], "-update")
}

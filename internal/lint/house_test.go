package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit/typed"
	"github.com/stretchr/testify/require"
)

// kernel is the files of package executor that run items, without .go: they are to be read by themselves.
const kernel = "core attach worker loops find injector item run launch help wait until sleep context follow late " +
	"skip errors bounds thread onthread blocking block inline same_unsafe"

// registers is where each feature has its lines: the state of an executor, a worker and a run, and the list of
// attachments. They stand above the kernel, and features may name them in a circle.
var registers = map[string]bool{"parts_unsafe": true, "handle": true, "config": true, "executor": true}

// circle is the size of the largest circle of files above the kernel in which each names the next, perhaps through
// others: a feature's own files. A change that removes names lowers it, and none may raise it.
const circle = 4

// door is how many names of the kernel that are not exported the files above it use: what a package of the kernel's own
// would have to export. A change that removes some lowers it. One may raise it only by moving from the kernel's files
// what a single feature uses.
const door = 286

// kernelLines bounds the lines of the kernel's files, without those of files for model programs.
const kernelLines = 5020

// workerFields and workerMethods are how many a Worker has, the part of a worker that the kernel knows. A change that
// removes some lowers them, and none may raise them.
const workerFields, workerMethods = 14, 60

// TestKernelNamesNoFeature: the kernel of package executor names nothing above it. What stands on it has no larger
// circle, and uses no more of it, than it did. The kernel has no more lines than it may.
func TestKernelNamesNoFeature(t *testing.T) {
	h := newHouse(t)
	require.Empty(t, h.upward)
	largest := largestCircle(h.above)
	require.Len(t, largest, circle, "the circle has grown, or is to be lowered: %v", largest)
	require.Equal(t, door, len(h.used), "the door has grown, or is to be lowered")
	require.LessOrEqual(t, h.lines, kernelLines, "what does a feature have in the kernel's files?")
	require.Equal(t, workerFields, h.fields, "Worker has more fields, or the number is to be lowered")
	require.Equal(t, workerMethods, h.methods, "Worker has more methods, or the number is to be lowered")
}

// TestKernelStandsAlone: the kernel's files are a package by themselves. So none of them needs a method of a feature's
// for an interface, which no name shows.
func TestKernelStandsAlone(t *testing.T) {
	for _, tags := range []string{"", "modelcheck"} {
		p, err := typed.Load(root, "executor", tags)
		require.NoError(t, err)
		maps.DeleteFunc(p.Files, func(name string, _ *ast.File) bool {
			name = strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_model")
			return !slices.Contains(strings.Fields(kernel), name)
		})
		_, err = p.Check(nil)
		require.NoError(t, err, tags)
	}
}

func TestLargestCircle(t *testing.T) {
	names := map[string]map[string]bool{
		"a": {"b": true}, "b": {"c": true, "e": true}, "c": {"a": true}, "d": {"a": true, "e": true}, "e": {"f": true},
	}
	require.Equal(t, []string{"a", "b", "c"}, largestCircle(names))
	names["f"] = map[string]bool{"a": true}
	require.Equal(t, []string{"a", "b", "c", "e", "f"}, largestCircle(names))
}

// A house is package executor as its files name each other.
type house struct {
	upward []string                   // what the kernel's files name above the kernel, as "file: name of file"
	above  map[string]map[string]bool // of each other file, those above the kernel that it names
	used   map[types.Object]bool      // what is not exported of the kernel, and named above it

	lines           int // of the kernel's files
	fields, methods int // of a Worker, without padding
}

func newHouse(t *testing.T) house {
	t.Helper()
	p, err := typed.Load(root, "executor", "")
	require.NoError(t, err)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := p.Check(info)
	require.NoError(t, err)
	inKernel := map[string]bool{}
	for _, f := range strings.Fields(kernel) {
		require.Contains(t, p.Files, f+".go")
		inKernel[f] = true
	}
	base := func(pos token.Pos) string {
		return strings.TrimSuffix(filepath.Base(p.Set.Position(pos).Filename), ".go")
	}
	h := house{above: map[string]map[string]bool{}, used: map[types.Object]bool{}}
	for name, file := range p.Files {
		if inKernel[strings.TrimSuffix(name, ".go")] {
			h.lines += p.Set.File(file.Pos()).LineCount()
		}
	}
	for id, object := range info.Uses {
		if object.Pkg() != pkg {
			continue
		}
		if v, ok := object.(*types.Var); ok && !v.IsField() && v.Parent() != pkg.Scope() {
			continue // local
		}
		switch from, to := base(id.Pos()), base(object.Pos()); {
		case inKernel[to] && !inKernel[from] && !object.Exported():
			h.used[object] = true
		case inKernel[to]:
		case inKernel[from]:
			h.upward = append(h.upward, fmt.Sprintf("%s: %s of %s", from, object.Name(), to))
		case registers[to]:
		default:
			if h.above[from] == nil {
				h.above[from] = map[string]bool{}
			}
			h.above[from][to] = true
		}
	}
	worker := pkg.Scope().Lookup("Worker").Type().(*types.Named)
	for field := range worker.Underlying().(*types.Struct).Fields() {
		if field.Name() != "_" {
			h.fields++
		}
	}
	h.methods = worker.NumMethods()
	return h
}

// largestCircle returns the largest set of files each of which names each, perhaps through others, in order.
func largestCircle(names map[string]map[string]bool) (largest []string) {
	reach := map[string]map[string]bool{}
	for from := range names {
		reached, todo := map[string]bool{}, []string{from}
		for len(todo) > 0 {
			next := todo[0]
			todo = todo[1:]
			for to := range names[next] {
				if !reached[to] {
					reached[to] = true
					todo = append(todo, to)
				}
			}
		}
		reach[from] = reached
	}
	for a := range reach {
		var circle []string
		for b := range reach {
			if reach[a][b] && reach[b][a] {
				circle = append(circle, b)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	slices.Sort(largest)
	return largest
}

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

// A room is a part of package executor that is to be read by itself. Its files are given without .go.
type room struct{ name, files string }

// kernel runs items: it is to name none of the other rooms.
const kernel = "kernel"

// rooms are those of package executor. A file that is in no other room belongs to the face.
var rooms = []room{
	{kernel, "core attach worker loops steal wake host injector item run jobrun nested help wait vigil sleep context " +
		"follow skip errors progress bounds thread onthread bythread spares blocking block labels counts workerstate " +
		"inline options counted same_unsafe"},
	{"observers", "observer observers observing observedrun"},
	{"forks", "fork forks fork_unsafe frame_unsafe frame_model top_unsafe callpool children scope join leapfrog " +
		"outerforks"},
	{"futures", "future async promise first afterend dependents"},
	{"groups", "group grouprun grouptasks groupqueue groupgo"},
	{"guests", "guest guestwait guestspan quiet callers"},
	{"sharing", "sharing sharer share quota"},
	{"limits", "limit"},
	{"stalls", "stalls heldup"},
	{"peers", "peerthread"},
}

// upward are the arrows from the kernel to other rooms, by room: how many names of it the kernel's files name. The aim
// is none. A change that removes some lowers the numbers, and none may raise them.
var upward = map[string]int{
	"face":      27,
	"forks":     10,
	"futures":   7,
	"groups":    2,
	"guests":    7,
	"limits":    12,
	"observers": 1,
	"peers":     1,
	"sharing":   4,
	"stalls":    1,
}

// circle is the size of the largest circle of files of package executor in which each names the next. The aim is a
// feature's own two to four. It rises when a file of the circle is divided.
const circle = 80

// TestKernelNamesNoFeature holds the kernel of package executor against upward, and the package against circle.
func TestKernelNamesNoFeature(t *testing.T) {
	named, largest := house(t)
	counts := map[string]int{}
	for to, names := range named {
		counts[to] = len(names)
		t.Logf("%s, %d names: %s", to, len(names), strings.Join(slices.Sorted(maps.Keys(names)), " "))
	}
	require.Equal(t, upward, counts, "a number that is lower now is to be lowered in upward")
	require.Equal(t, circle, largest, "the circle has grown, or is to be lowered")
}

func TestLargestCircle(t *testing.T) {
	names := map[string]map[string]bool{
		"a": {"b": true}, "b": {"c": true, "e": true}, "c": {"a": true}, "d": {"a": true, "e": true}, "e": {"f": true},
	}
	require.Equal(t, 3, largestCircle(names))
	names["f"] = map[string]bool{"a": true}
	require.Equal(t, 5, largestCircle(names))
}

// house returns the names that the kernel names, by room, and the size of the largest circle of files.
func house(t *testing.T) (named map[string]map[string]bool, largest int) {
	t.Helper()
	p, err := typed.Load(root, "executor", "")
	require.NoError(t, err)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := p.Check(info)
	require.NoError(t, err)
	roomOf := map[string]string{}
	for _, r := range rooms {
		for _, f := range strings.Fields(r.files) {
			require.Empty(t, roomOf[f], "%s is in two rooms", f)
			roomOf[f] = r.name
		}
	}
	base := func(pos token.Pos) string {
		return strings.TrimSuffix(filepath.Base(p.Set.Position(pos).Filename), ".go")
	}
	for f := range roomOf {
		if !strings.HasSuffix(f, "_model") {
			require.Contains(t, p.Files, f+".go")
		}
	}
	named = map[string]map[string]bool{}
	names := map[string]map[string]bool{} // by file, the files that it names
	for id, object := range info.Uses {
		if object.Pkg() != pkg {
			continue
		}
		if v, ok := object.(*types.Var); ok && !v.IsField() && v.Parent() != pkg.Scope() {
			continue // local
		}
		from, to := base(id.Pos()), base(object.Pos())
		if names[from] == nil {
			names[from] = map[string]bool{}
		}
		names[from][to] = true
		if other := roomOf[to]; roomOf[from] == kernel && other != kernel {
			if other == "" {
				other = "face"
			}
			if named[other] == nil {
				named[other] = map[string]bool{}
			}
			named[other][fmt.Sprintf("%s:%s", from, object.Name())] = true
		}
	}
	return named, largestCircle(names)
}

// largestCircle returns the size of the largest set of files each of which names each, perhaps through others.
func largestCircle(names map[string]map[string]bool) (most int) {
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
		n := 0
		for b := range reach {
			if reach[a][b] && reach[b][a] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Package assembly has tests of the machine code that the compiler makes of the hot paths. They build the project, and
// run nothing of it.
package assembly

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeamIsFree: the hooks of the model checker cost nothing in a build without it. The executor and the graph, with
// the deque compiled into them, have the same instructions, in any order, as with the hooks cut out of the source
// of xatomic. They once had not: a hook got its word from a method of a generic type, which cost every push a
// dictionary lookup.
func TestSeamIsFree(t *testing.T) {
	hook := regexp.MustCompile(`(?m)^\s*(before|after|read|write)\(.*\)( //.*)?\n`)
	temp := t.TempDir()
	overlay := map[string]string{}
	for _, name := range []string{"slot_unsafe.go", "span_unsafe.go", "joincount_unsafe.go", "plain_unsafe.go"} {
		original, err := filepath.Abs(filepath.Join("..", "xatomic", name))
		require.NoError(t, err)
		source, err := os.ReadFile(original)
		require.NoError(t, err)
		cut := hook.ReplaceAll(source, nil)
		require.NotEqual(t, source, cut, "%s has no hooks", name)
		overlay[original] = filepath.Join(temp, name)
		require.NoError(t, os.WriteFile(overlay[original], append(cut, "var _ unsafe.Pointer\n"...), 0o666))
	}
	seam := []string{"executor", "graph"}
	cut := listing(t, overlayOf(t, temp, overlay), seam...)

	var differ []string
	deques := false
	for _, pkg := range seam {
		with, without := instructions(asIs(t)[pkg]), instructions(cut[pkg])
		require.Equal(t, slices.Sorted(maps.Keys(without)), slices.Sorted(maps.Keys(with)))
		require.Greater(t, len(with), 50, "is the listing of %s parsed correctly?", pkg)
		deques = deques || slices.ContainsFunc(slices.Collect(maps.Keys(with)), isPush)
		for f, code := range with {
			if !slices.Equal(code, without[f]) {
				differ = append(differ, pkg+": "+typeArgs.ReplaceAllString(f, ""))
			}
		}
	}
	require.True(t, deques, "no Push of a deque found")
	slices.Sort(differ)
	require.Empty(t, differ)
}

func isPush(f string) bool {
	return strings.HasPrefix(f, "deque.(*Deque[go.shape.") && strings.HasSuffix(f, "]).Push")
}

// packages are those with code on a task's path.
var packages = []string{"executor", "executor/pipeline", "executor/pool", "graph", "internal/user"}

var (
	heading  = regexp.MustCompile(`^# github\.com/magpie-go/magpie/(\S+)$`)
	function = regexp.MustCompile(`^github\.com/magpie-go/magpie/(.+?) STEXT`)
	typeArgs = regexp.MustCompile(`\[[^\]]*\]`)
)

// turned gives one name to the two jumps after a comparison and after the same comparison with exchanged operands. The
// compiler chooses between them.
var turned = strings.NewReplacer("JHI", "JCS", "JCC", "JLS", "JGT", "JLT", "JGE", "JLE")

// instruction returns the name of the instruction in a line of a listing, "" if the line has none: the field after the
// address and the line of the source. A regular expression would take most of the tests' time.
func instruction(line string) string {
	fields := strings.SplitN(line, "\t", 4)
	if len(fields) < 3 || !strings.HasSuffix(fields[1], ")") {
		return ""
	}
	return fields[2]
}

// instructions returns the names of the instructions of each function of a listing, sorted.
func instructions(listing map[string][]string) map[string][]string {
	names := map[string][]string{}
	for f, lines := range listing {
		for _, line := range lines {
			names[f] = append(names[f], turned.Replace(instruction(line)))
		}
		slices.Sort(names[f])
	}
	return names
}

// listed has the result of asIs.
var listed map[string]map[string][]string

// asIs returns the listings of packages without changes, and of internal/user, which has the text of user. The tests
// share them.
func asIs(t *testing.T) map[string]map[string][]string {
	t.Helper()
	if listed == nil {
		listed = listing(t, overlayOf(t, t.TempDir(), withUser(t, t.TempDir())), packages...)
	}
	return listed
}

// withUser returns the files of an overlay in which the package internal/user exists.
func withUser(t *testing.T, dir string) map[string]string {
	t.Helper()
	file := filepath.Join(dir, "user.go")
	require.NoError(t, os.WriteFile(file, []byte(user), 0o666))
	target, err := filepath.Abs("../user/user.go")
	require.NoError(t, err)
	return map[string]string{target: file}
}

// overlayOf writes a file for go's -overlay flag, by which the build reads other files in place of those named.
func overlayOf(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Replace": files})
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o666))
	return file
}

// listing compiles packages, in one build, and returns for each of them each function's instructions.
func listing(t *testing.T, overlay string, pkgs ...string) map[string]map[string][]string {
	t.Helper()
	args := []string{"build", "-overlay", overlay, "-gcflags=-S"}
	for _, pkg := range pkgs {
		args = append(args, "../../"+pkg)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	listings := map[string]map[string][]string{}
	var code map[string][]string
	name := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "\t") {
			name = ""
			if m := heading.FindStringSubmatch(line); m != nil {
				code = map[string][]string{}
				listings[m[1]] = code
			} else if m := function.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			continue
		}
		op := instruction(line)
		if name == "" || op == "" || op == "PCDATA" || op == "FUNCDATA" {
			continue
		}
		code[name] = append(code[name], line)
	}
	for _, pkg := range pkgs {
		require.NotEmpty(t, listings[pkg], pkg)
	}
	return listings
}

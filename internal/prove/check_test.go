package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// TestClaimsOf: only rows between the marks claim a layer.
func TestClaimsOf(t *testing.T) {
	const table = "\n| layer | |\n|---|---|\n| `a` | x |\n| `b-3` | `c` |\n"
	names, err := claimsOf("| `soak` | x |\n" + claimsBegin + table + claimsEnd + "\n| `d` | x |\n")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]string{"a", "b-3"}, names))
	for _, readme := range []string{"", claimsBegin, claimsEnd, claimsEnd + claimsBegin} {
		_, err := claimsOf(readme)
		require.ErrorContains(t, err, "no table of claims", readme)
	}
}

// TestTheReadmeHasClaims: the command finds the table.
func TestTheReadmeHasClaims(t *testing.T) {
	_, l, _ := toy(t, 1)
	text, err := os.ReadFile(filepath.Join(l.root, "README.md"))
	require.NoError(t, err)
	_, err = claimsOf(string(text))
	require.NoError(t, err)
}

// A history is a git repository with a module and a layer of it.
type history struct {
	t         *testing.T
	root, dir string
	layer     layer
}

func newHistory(t *testing.T) *history {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	h := &history{t: t, root: t.TempDir(), dir: t.TempDir()}
	h.layer = layer{name: "toy", goal: 10, packages: []string{"./deque"}, tags: "modelcheck"}
	h.git("init", "-q")
	h.commit("go.mod", "module m\n\ngo 1.26\n")
	h.commit("deque/a.go", "package deque\n")
	h.commit("deque/a_model_test.go", "package deque\n")
	return h
}

func (h *history) git(args ...string) string {
	h.t.Helper()
	out, err := git(h.root, args...)
	require.NoError(h.t, err)
	return out
}

func (h *history) commit(name, text string) {
	h.t.Helper()
	file := filepath.Join(h.root, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(h.t, os.WriteFile(file, []byte(text), 0o666))
	h.git("add", "-A")
	h.git("commit", "-qm", name)
}

// record makes a record of today's code.
func (h *history) record(done int64) {
	h.t.Helper()
	code, err := h.layer.version(h.root)
	require.NoError(h.t, err)
	r := &record{Layer: "toy", Version: code, Commit: commit(h.root), Done: done}
	require.NoError(h.t, r.save(h.dir))
}

func (h *history) check() (string, error) {
	var out bytes.Buffer
	err := checkClaims([]string{"toy"}, []layer{h.layer}, h.root, h.dir, &out)
	return out.String(), err
}

// TestCheck: a layer may be claimed as long as few commits have changed its code since its record.
func TestCheck(t *testing.T) {
	h := newHistory(t)
	const again = "run it (go run ./internal/prove -only toy) or stop claiming it"
	_, err := h.check()
	require.ErrorContains(t, err, "README.md claims toy: it is not begun: "+again)
	h.record(9)
	_, err = h.check()
	require.ErrorContains(t, err, "it is not complete, 9 of 10")
	h.record(10)
	said, err := h.check()
	require.NoError(t, err)
	require.Equal(t, "toy: holds for this code\n", said)

	h.commit("graph/a.go", "package graph\n")
	h.commit("deque/a_test.go", "package deque\n\nvar y int\n")
	for i := range staleAfter {
		h.commit("deque/a.go", fmt.Sprintf("package deque\n\nvar x%d int\n", i))
	}
	said, err = h.check()
	require.NoError(t, err, "commits that have changed other code do not count")
	require.Contains(t, said, fmt.Sprintf("; %d commits since have changed its code", staleAfter))
	h.commit("deque/a_model_test.go", "package deque\n\nvar z int\n")
	h.commit("deque/export_test.go", "package deque\n")
	_, err = h.check()
	require.ErrorContains(t, err, fmt.Sprintf("%d commits since ", staleAfter+2))
	require.ErrorContains(t, err, again)

	h.record(10)
	_, err = h.check()
	require.NoError(t, err)
}

// TestCheckNeedsTheHistory: commits that cannot be counted do not pass for few.
func TestCheckNeedsTheHistory(t *testing.T) {
	h := newHistory(t)
	h.record(10)
	h.commit("deque/a.go", "package deque\n\nvar x int\n")
	h.commit("deque/a.go", "package deque\n\nvar y int\n")

	whole := h.root
	h.root = filepath.Join(t.TempDir(), "clone")
	out, err := exec.Command("git", "clone", "-q", "--depth=1",
		"file://"+filepath.ToSlash(whole), h.root).CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, err = h.check()
	require.ErrorContains(t, err, "cannot be counted in a shallow clone: git fetch --unshallow first")

	h.root = whole
	h.git("checkout", "-q", "--orphan", "other")
	h.git("commit", "-qm", "no parent")
	_, err = h.check()
	require.ErrorContains(t, err, "HEAD does not come from it")

	changed := []byte("package deque\n\nvar b int\n")
	require.NoError(t, os.WriteFile(filepath.Join(h.root, "deque/b.go"), changed, 0o666))
	h.record(10)
	said, err := h.check()
	require.NoError(t, err, "for the same code there is nothing to count")
	require.Equal(t, "toy: holds for this code\n", said)
	h.commit("deque/b.go", "package deque\n\nvar c int\n")
	_, err = h.check()
	require.ErrorContains(t, err, "does not say since which commit", "the tree had changes")
}

// TestNoSuchLayer: the claim of a renamed layer fails, and every wrong claim is reported.
func TestNoSuchLayer(t *testing.T) {
	h := newHistory(t)
	err := checkClaims([]string{"nix", "toy"}, []layer{h.layer}, h.root, h.dir, &bytes.Buffer{})
	require.ErrorContains(t, err, `README.md claims "nix", which is no layer`)
	require.ErrorContains(t, err, "README.md claims toy: it is not begun")
}

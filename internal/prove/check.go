package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// staleAfter is how many commits may change a layer's code before README.md may no longer claim the layer. The longest
// layer takes hours, so it cannot follow each commit. Twenty or so commits settle an issue: with thirty, a layer runs
// once an issue.
const staleAfter = 30

// README.md claims layers in a table between these lines. The first cell of a row is a layer's name, in backticks.
const (
	claimsBegin = "<!-- claims -->"
	claimsEnd   = "<!-- end of claims -->"
)

var claimRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// claimsOf returns the names of the layers that a README claims.
func claimsOf(readme string) (names []string, err error) {
	_, rest, begins := strings.Cut(readme, claimsBegin)
	claims, _, ends := strings.Cut(rest, claimsEnd)
	if !begins || !ends {
		return nil, fmt.Errorf("README.md has no table of claims between %q and %q", claimsBegin, claimsEnd)
	}
	for _, m := range claimRow.FindAllStringSubmatch(claims, -1) {
		names = append(names, m[1])
	}
	return names, nil
}

// check compares the claims of README.md with the records.
func (l *lab) check() error {
	text, err := os.ReadFile(filepath.Join(l.root, "README.md"))
	if err != nil {
		return err
	}
	names, err := claimsOf(string(text))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		fmt.Fprintln(l.out, "README.md claims no layer")
	}
	return checkClaims(names, layers, l.root, l.dir, l.out)
}

// checkClaims joins the errors of all claims. names are the claimed layers, and dir has the records.
func checkClaims(names []string, layers []layer, root, dir string, out io.Writer) error {
	var wrong []error
	for _, name := range names {
		i := slices.IndexFunc(layers, func(y layer) bool { return y.name == name })
		if i < 0 {
			wrong = append(wrong, fmt.Errorf("README.md claims %q, which is no layer", name))
			continue
		}
		state, err := layers[i].claim(root, dir)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("README.md claims %s: %w", name, err))
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", name, state)
	}
	return errors.Join(wrong...)
}

// claim returns how far the layer's record holds for today's code, or an error if the layer may not be claimed.
func (y *layer) claim(root, dir string) (state string, err error) {
	r, err := load(dir, y.name)
	again := fmt.Sprintf("run it (go run ./internal/prove -only %s) or stop claiming it", y.name)
	switch {
	case err != nil:
		return "", err
	case r == nil:
		return "", fmt.Errorf("it is not begun: %s", again)
	case !r.isComplete(y):
		return "", fmt.Errorf("it is not complete, %s of %s: %s", y.soFar(r), y.target(r), again)
	}
	code, err := y.version(root)
	if err != nil {
		return "", err
	}
	if code == r.Version {
		return "holds for this code", nil
	}
	if r.Commit == "" {
		return "", fmt.Errorf("the code has changed, and the record does not say since which commit: %s", again)
	}
	n, err := y.commitsSince(root, r.Commit)
	if err != nil {
		return "", err
	}
	if n > staleAfter {
		return "", fmt.Errorf("%d commits since %s have changed its code, at most %d may: %s",
			n, r.Commit, staleAfter, again)
	}
	return fmt.Sprintf("holds for commit %s; %d commits since have changed its code, at most %d may",
		r.Commit, n, staleAfter), nil
}

// commitsSince counts the commits since one that have changed the layer's code, or its comments.
func (y *layer) commitsSince(root, since string) (int, error) {
	if _, err := git(root, "merge-base", "--is-ancestor", since, "HEAD"); err != nil {
		if shallow, err := git(root, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
			return 0, fmt.Errorf("the commits since %s cannot be counted in a shallow clone: "+
				"git fetch --unshallow first", since)
		}
		return 0, fmt.Errorf("the commits since %s cannot be counted: HEAD does not come from it: %w", since, err)
	}
	code, tests, err := y.paths(root)
	if err != nil {
		return 0, err
	}
	commits := make(map[string]bool)
	for _, paths := range [][]string{code, tests} {
		out, err := git(root, append([]string{"rev-list", since + "..HEAD", "--"}, paths...)...)
		if err != nil {
			return 0, err
		}
		for _, hash := range strings.Fields(out) {
			commits[hash] = true
		}
	}
	return len(commits), nil
}

// commit returns the commit of the tree, or "" if the tree has changes or is in no repository. Records do not count as
// changes.
func commit(root string) string {
	if changes, err := git(root, "status", "--porcelain", "--", ".", ":!testdata/proof"); err != nil || changes != "" {
		return ""
	}
	head, err := git(root, "rev-parse", "--short=10", "HEAD")
	if err != nil {
		return ""
	}
	return head
}

// git runs git in root.
func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w\n%s", args[0], err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

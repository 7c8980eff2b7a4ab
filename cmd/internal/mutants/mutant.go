package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A mutant is one bug, and the tests that must notice it.
type mutant struct {
	number  int
	name    string // its file's name without the extension
	bug     string
	seen    string // where the bug was seen in practice; may be empty
	file    string // the file that it changes, from the module's root, with slashes
	killers killers
	hangs   string // "yes" if a test that does not end may kill it; else empty
	edits   []edit
}

// killers are tests of one package: those under some build tags whose names match a pattern.
type killers struct {
	pkg   string // as in ./deque
	tags  string
	run   string
	bound string // of preemptions, for model programs; empty: the programs' own
}

func (k killers) String() string {
	s := "go test"
	if k.bound != "" {
		s = boundVariable + "=" + k.bound + " " + s
	}
	if k.tags != "" {
		s += " -tags " + k.tags
	}
	return fmt.Sprintf("%s -run '%s' %s", s, k.run, k.pkg)
}

// binary returns the part of k on which the test binary depends.
func (k killers) binary() killers { return killers{pkg: k.pkg, tags: k.tags} }

// An edit replaces lines.
type edit struct{ old, new []string }

// folder is the folder of the mutants, from the module's root.
const folder = "cmd/internal/mutants/testdata"

var (
	fileName = regexp.MustCompile(`^([0-9]{2,4})-[a-z0-9]+(-[a-z0-9]+)*\.mutant$`)
	tagName  = regexp.MustCompile(`^[a-zA-Z0-9_.]+$`)
)

// load reads all mutants of the module at root, in the order of their numbers. Its error names every file that is
// wrong. A file with another ending is wrong too: it would be left out in silence.
func load(root string) ([]*mutant, error) {
	dir := filepath.Join(root, filepath.FromSlash(folder))
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no mutants in %s", dir)
	}
	var (
		all  []*mutant
		errs []error
		took = make(map[int]string)
	)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		m, err := parse(file.Name(), string(text))
		if err == nil && took[m.number] != "" {
			err = fmt.Errorf("%s: number %d is that of %s too", m.name, m.number, took[m.number])
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		took[m.number] = m.name
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *mutant) int { return a.number - b.number })
	return all, errors.Join(errs...)
}

// parse reads a mutant from text. file is the name of its file.
func parse(file, text string) (*mutant, error) {
	parts := fileName.FindStringSubmatch(file)
	if parts == nil {
		return nil, fmt.Errorf("%s: a mutant's file is named like 07-lower-case-words.mutant", file)
	}
	m := &mutant{name: strings.TrimSuffix(file, ".mutant")}
	m.number, _ = strconv.Atoi(parts[1]) // two to four digits
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	rest, err := m.header(lines)
	if err == nil {
		m.edits, err = edits(rest, len(lines)-len(rest))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	return m, nil
}

const (
	oldMark = "--- old"
	newMark = "--- new"
)

// A field is one field of the header.
type field struct {
	key      string
	value    *string
	optional bool
}

// header reads the lines before the first edit and returns the others.
func (m *mutant) header(lines []string) (rest []string, err error) {
	fields := []field{
		{"bug", &m.bug, false},
		{"seen", &m.seen, true},
		{"file", &m.file, false},
		{"package", &m.killers.pkg, false},
		{"tags", &m.killers.tags, true},
		{"run", &m.killers.run, false},
		{"bound", &m.killers.bound, true},
		{"hangs", &m.hangs, true},
	}
	var last *string
	for i, line := range lines {
		if line == oldMark {
			rest = lines[i:]
			break
		}
		if more, ok := strings.CutPrefix(line, "\t"); ok && last != nil {
			*last += " " + strings.TrimSpace(more)
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("line %d: want a field, as in file: deque/deque.go, or %q", i+1, oldMark)
		}
		at := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if at < 0 {
			return nil, fmt.Errorf("line %d: there is no field %q", i+1, key)
		}
		last = fields[at].value
		if *last != "" {
			return nil, fmt.Errorf("line %d: a second field %q", i+1, key)
		}
		if *last = strings.TrimSpace(value); *last == "" {
			return nil, fmt.Errorf("line %d: field %q is empty", i+1, key)
		}
	}
	for _, f := range fields {
		if !f.optional && *f.value == "" {
			return nil, fmt.Errorf("field %q is missing", f.key)
		}
	}
	if rest == nil {
		return nil, fmt.Errorf("no edit: %q is missing", oldMark)
	}
	return rest, m.check()
}

// check checks the values of the fields.
func (m *mutant) check() error {
	if !fs.ValidPath(m.file) || path.Ext(m.file) != ".go" || strings.HasSuffix(m.file, "_test.go") {
		return fmt.Errorf("file %q: want a Go file that is no test, from the module's root", m.file)
	}
	if dir, ok := strings.CutPrefix(m.killers.pkg, "./"); !ok || !fs.ValidPath(dir) || strings.Contains(dir, "...") {
		return fmt.Errorf("package %q: want one, as in ./deque", m.killers.pkg)
	}
	for tag := range strings.SplitSeq(m.killers.tags, ",") {
		if m.killers.tags != "" && !tagName.MatchString(tag) {
			return fmt.Errorf("tags %q: want names with commas between", m.killers.tags)
		}
	}
	if n, err := strconv.Atoi(m.killers.bound); m.killers.bound != "" && (err != nil || n < 0 || n > 4) {
		return fmt.Errorf("bound %q: want a number of preemptions up to 4", m.killers.bound)
	}
	if m.hangs != "" && m.hangs != "yes" {
		return fmt.Errorf("hangs %q: want yes, or no such field", m.hangs)
	}
	if _, err := regexp.Compile(m.killers.run); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// edits reads the lines from the first mark on. before is the number of lines before them.
func edits(lines []string, before int) (all []edit, err error) {
	var part *[]string
	for i, line := range lines {
		switch {
		case line == oldMark && (part == nil || part == &all[len(all)-1].new):
			all = append(all, edit{})
			part = &all[len(all)-1].old
		case line == newMark && part == &all[len(all)-1].old:
			part = &all[len(all)-1].new
		case line == oldMark || line == newMark:
			return nil, fmt.Errorf("line %d: %q and %q take turns", before+i+1, oldMark, newMark)
		default:
			*part = append(*part, line)
		}
	}
	if part == &all[len(all)-1].old {
		return nil, fmt.Errorf("the last edit has no %q", newMark)
	}
	for i, e := range all {
		switch {
		case len(e.old) == 0:
			return nil, fmt.Errorf("edit %d: no old lines", i+1)
		case slices.Equal(e.old, e.new):
			return nil, fmt.Errorf("edit %d: changes nothing", i+1)
		}
	}
	return all, nil
}

// mutate returns the text of the mutant's file with the bug in it.
func (m *mutant) mutate(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", fmt.Errorf("%s: %w", m.name, err)
	}
	lines := strings.Split(string(src), "\n")
	for i, e := range m.edits {
		var at []int
		for j := range len(lines) - len(e.old) + 1 {
			if slices.Equal(lines[j:j+len(e.old)], e.old) {
				at = append(at, j)
			}
		}
		if len(at) != 1 {
			return "", fmt.Errorf("%s: the old lines of edit %d stand in %s %d times, want once: %q",
				m.name, i+1, m.file, len(at), strings.TrimSpace(e.old[0]))
		}
		lines = slices.Replace(lines, at[0], at[0]+len(e.old), e.new...)
	}
	return strings.Join(lines, "\n"), nil
}

package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// writeTable writes the table of all records to the folder's README.md.
func (l *lab) writeTable() error {
	text, err := l.table()
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(l.dir, "README.md"), []byte(text))
}

func (l *lab) table() (string, error) {
	var b strings.Builder
	b.WriteString("# What was shown\n\n" +
		"Written by `go run ./cmd/internal/prove`; its documentation says what is counted. Each layer's latest record " +
		"is the file with its name.\nA record holds for the commit in its row and for no other; " +
		"none: the tree had changes that were not committed.\nA program is listed under its name at that commit; " +
		"one that was written later is not in the record.\nThe history of this file has the former records.\n\n")
	b.WriteString("| layer | what | goal | done | hours | latest (UTC) | commit | machine |\n" +
		"|---|---|---:|---:|---:|---|---|---|\n")
	var parts strings.Builder
	for i := range layers {
		y := &layers[i]
		r, err := load(l.dir, y.name)
		if err != nil {
			return "", err
		}
		if r == nil {
			fmt.Fprintf(&b, "| %s | %s | %s | not begun | | | | |\n", y.name, y.what, y.target(nil))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f | %s | %s | %s |\n", y.name, y.what, y.target(r), y.soFar(r),
			r.Seconds/3600, r.Latest.Format("2006-01-02 15:04"), cmp.Or(r.Commit, "none"), r.Machine)
		if y.unit == "programs" {
			r.writePrograms(&parts)
		}
	}
	b.WriteString(parts.String())
	return b.String(), nil
}

func (y *layer) target(r *record) string {
	switch {
	case y.goal > 0:
		return grouped(y.goal)
	case r != nil:
		return fmt.Sprintf("%d %s", r.Parts, y.unit)
	default:
		return "all"
	}
}

func (y *layer) soFar(r *record) string {
	if y.goal > 0 {
		done := grouped(r.Done)
		for _, what := range slices.Sorted(maps.Keys(r.Also)) {
			done += fmt.Sprintf("; %s %s", grouped(r.Also[what]), what)
		}
		return done
	}
	return fmt.Sprintf("%d %s, %s", len(r.Results), y.unit, grouped(r.Done))
}

func (r *record) writePrograms(b *strings.Builder) {
	if len(r.Results) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| program | schedules | states | seconds |\n|---|---:|---:|---:|\n", r.Layer)
	for _, p := range r.Results {
		fmt.Fprintf(b, "| `%s` | %s | %s | %.1f |\n", p.Name, grouped(p.Done), grouped(p.States), p.Seconds)
	}
}

// grouped writes a number with spaces between thousands.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

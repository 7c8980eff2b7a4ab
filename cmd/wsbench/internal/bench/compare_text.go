package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// WriteText writes one table for each unit in which more or less is better. If all is set it writes the other units
// too, which only explain those.
func (c *Comparison) WriteText(w io.Writer, all bool) error {
	var b strings.Builder
	for _, d := range c.Differ {
		fmt.Fprintf(&b, "OLD and NEW differ in %s\n", d)
	}
	// If in no unit more or less is better, all units are shown.
	all = all || !slices.ContainsFunc(c.Units, func(u *UnitComparison) bool { return u.Better != 0 })
	var hidden []string
	var notes footnotes
	for _, u := range c.Units {
		if u.Better == 0 && !all {
			hidden = append(hidden, u.Unit)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		writeUnit(&b, u, &notes)
	}
	if len(notes.texts) > 0 {
		b.WriteByte('\n')
	}
	for i, n := range notes.texts {
		fmt.Fprintf(&b, "[%d] %s\n", i+1, n)
	}
	if len(hidden) > 0 {
		fmt.Fprintf(&b, "\nnot shown, for neither more nor less of them is better (see -all): %s\n",
			strings.Join(hidden, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// footnotes are numbered from 1. Equal texts are one footnote.
type footnotes struct{ texts []string }

func (f *footnotes) mark(text string) string {
	i := slices.Index(f.texts, text)
	if i < 0 {
		i = len(f.texts)
		f.texts = append(f.texts, text)
	}
	return fmt.Sprintf("[%d]", i+1)
}

var direction = map[int]string{-1: ", lower is better", +1: ", higher is better"}

func writeUnit(b *strings.Builder, u *UnitComparison, notes *footnotes) {
	var t Table
	names, common := shorten(u.Rows)
	fmt.Fprintf(b, "%s%s%s\n", u.Unit, direction[u.Better], common)
	t.Column("benchmark", false)
	t.Column("OLD", true)
	t.Column("NEW", true)
	t.Column("delta", true)
	t.Column("", false) // footnotes
	for i, r := range u.Rows {
		var marks []string
		for _, w := range r.Warnings {
			marks = append(marks, notes.mark(w))
		}
		scale := rowScale(u.Unit, r)
		t.Row(names[i], scaled(scale, r.Old), scaled(scale, r.New), r.Delta(), strings.Join(marks, " "))
	}
	_ = t.write(b) // a strings.Builder takes everything
}

// rowScale returns the prefix with which both sides of a row are shown.
func rowScale(unit string, r *RowComparison) benchunit.Scaler {
	var centers []float64
	for _, s := range []*benchmath.Summary{r.Old, r.New} {
		if s != nil {
			centers = append(centers, s.Center)
		}
	}
	return benchunit.CommonScale(centers, benchunit.ClassOf(unit))
}

func scaled(scale benchunit.Scaler, s *benchmath.Summary) string {
	if s == nil {
		return "-"
	}
	return scale.Format(s.Center) + " ± " + s.PctRangeString()
}

// shorten cuts, from the names of benchmarks, the parts of the form key=value that have the same value in all names,
// and returns them in common.
func shorten(rows []*RowComparison) (names []string, common string) {
	values := make(map[string]map[string]bool) // by key
	for _, r := range rows {
		for _, p := range nameParts(r.Name) {
			if p.value != "" {
				if values[p.key] == nil {
					values[p.key] = make(map[string]bool)
				}
				values[p.key][p.value] = true
			}
		}
	}
	told := make(map[string]bool)
	for _, r := range rows {
		var kept strings.Builder
		for _, p := range nameParts(r.Name) {
			switch {
			case p.value == "" || len(values[p.key]) > 1 || p.key == "workload" || p.key == "engine":
				kept.WriteString(p.text)
			case !told[p.key]:
				told[p.key] = true
				common += ", " + strings.TrimPrefix(p.text, "/")
			}
		}
		names = append(names, kept.String())
	}
	return names, common
}

// A namePart is a part of a benchmark's name: its base, /key=value, /value or -GOMAXPROCS.
type namePart struct{ text, key, value string } // value is empty if the part has no key

func nameParts(name string) []namePart {
	base, parts := benchfmt.Name(name).Parts()
	all := []namePart{{text: string(base)}}
	for _, part := range parts {
		key, value, _ := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
		all = append(all, namePart{string(part), key, value})
	}
	return all
}

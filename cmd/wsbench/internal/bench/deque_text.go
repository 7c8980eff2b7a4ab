package bench

import (
	"fmt"
	"slices"
	"strings"
)

// writeExperiments writes the tables of all experiments that were made.
func writeExperiments(b *strings.Builder, all []*Group) {
	for _, e := range DequeExperiments() {
		isOther := func(g *Group) bool { return g.Value("experiment") != e.Name }
		if some := slices.DeleteFunc(slices.Clone(all), isOther); len(some) > 0 {
			e.write(b, some)
		}
	}
}

// write writes the tables and notes of e.
func (e *DequeExperiment) write(b *strings.Builder, all []*Group) {
	fmt.Fprintf(b, "\n%s (figure %s): %s\nmedians of %s", e.Name, e.Figure, e.About,
		plural(len(all[0].Rows), "repetition"))
	separator := "; "
	for _, name := range []string{"capacity", "block", "stolen", "thieves", "workers", "tree", "work"} {
		if values := ValuesOf(all, name); len(values) == 1 {
			fmt.Fprintf(b, "%s%s %s", separator, name, values[0])
			separator = ", "
		}
	}
	if e.Size != "" {
		fmt.Fprintf(b, ", %s %s", all[0].Value("n"), e.Size)
	}
	b.WriteByte('\n')
	for i := range e.views {
		e.views[i].write(b, all)
	}
	b.WriteByte('\n')
	for _, n := range e.notes {
		b.WriteString(n + "\n")
	}
}

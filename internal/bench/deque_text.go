package bench

import (
	"fmt"
	"strings"
)

// writeExperiments writes the tables of all experiments that were made.
func writeExperiments(b *strings.Builder, results []DequeResult) {
	for _, e := range DequeExperiments() {
		if cells := dequeCells(e, results); len(cells) > 0 {
			e.write(b, cells)
		}
	}
}

// write writes the tables and notes of e.
func (e *DequeExperiment) write(b *strings.Builder, cells []*dequeCell) {
	fmt.Fprintf(b, "\n%s (figure %s): %s\nmedians of %s; capacity %d", e.Name, e.Figure, e.About,
		plural(cells[0].reps, "repetition"), cells[0].Capacity)
	for _, name := range []string{"block", "stolen", "thieves", "workers", "tree", "work"} {
		if values := valuesOf(cells, name); len(values) == 1 {
			fmt.Fprintf(b, ", %s %s", name, values[0])
		}
	}
	if e.Size != "" {
		fmt.Fprintf(b, ", %d %s", cells[0].N, e.Size)
	}
	b.WriteByte('\n')
	for i := range e.views {
		e.views[i].write(b, cells)
	}
	b.WriteByte('\n')
	for _, n := range e.notes {
		b.WriteString(n + "\n")
	}
}

// A dequeCell has all repetitions at one point.
type dequeCell struct {
	DequePoint
	reps    int
	medians map[string]float64 // by metric
}

// dequeCells groups the results of e by point, in the order of their first occurrence.
func dequeCells(e *DequeExperiment, results []DequeResult) (all []*dequeCell) {
	byPoint := make(map[DequePoint][]DequeResult)
	for _, r := range results {
		if r.Experiment != e.Name {
			continue
		}
		if byPoint[r.DequePoint] == nil {
			all = append(all, &dequeCell{DequePoint: r.DequePoint, medians: make(map[string]float64)})
		}
		byPoint[r.DequePoint] = append(byPoint[r.DequePoint], r)
	}
	for _, c := range all {
		c.reps = len(byPoint[c.DequePoint])
		for i, m := range byPoint[c.DequePoint][0].Metrics {
			var values []float64
			for _, r := range byPoint[c.DequePoint] {
				values = append(values, r.Metrics[i].Value)
			}
			c.medians[m.Name] = median(values)
		}
	}
	return all
}

// valuesOf returns the values of a setting, in the order of their first occurrence. Cells without the setting are
// ignored.
func valuesOf(cells []*dequeCell, name string) (values []string) {
	for _, c := range cells {
		if v := c.key(name); v != "" {
			values = appendNew(values, v)
		}
	}
	return values
}

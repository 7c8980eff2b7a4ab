package replay

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/internal/bench"
)

// A metric is a column of a table: a figure, in a unit for people.
type metric struct {
	figure, heading string
	scale           float64 // 0 is 1
}

// The metrics that many tables have.
var (
	wallMS  = metric{"wall_ns", "time, ms", 1e-6}
	util    = metric{"cpu_util", "CPU utilisation", 1}
	cpuMS   = metric{"cpu_ns", "CPU time, ms", 1e-6}
	peakMiB = metric{"peak_rss_bytes", "peak memory, MiB", 1.0 / (1 << 20)}
	steals  = metric{"steals", "steals", 1}
	parks   = metric{"parks", "sleeps", 1}
)

// A Table has the figures of an experiment.
type Table struct {
	Headings []string
	Texts    int        // the first columns, which are settings
	Rows     [][]string // a cell without a figure is empty
}

// tabulate returns a table with a row for each combination of the settings, in the order of the first occurrence.
func (d *Data) tabulate(columns []string, metrics []metric) *Table {
	t := &Table{Headings: append([]string(nil), columns...), Texts: len(columns)}
	for _, m := range metrics {
		t.Headings = append(t.Headings, m.heading)
	}
	t.Headings = append(t.Headings, "repetitions")
	groups := make(map[string]*Data)
	var order []string
	for _, r := range d.Rows {
		var key []string
		for _, c := range columns {
			key = append(key, r.Settings[c])
		}
		k := strings.Join(key, "\x00")
		if groups[k] == nil {
			groups[k] = &Data{}
			order = append(order, k)
		}
		groups[k].Rows = append(groups[k].Rows, r)
	}
	for _, k := range order {
		row := strings.Split(k, "\x00")
		for _, m := range metrics {
			row = append(row, groups[k].stat(m.figure).text(cmp.Or(m.scale, 1)))
		}
		t.Rows = append(t.Rows, append(row, fmt.Sprint(len(groups[k].Rows))))
	}
	return t
}

// text returns the median and, if there are several values, the least and the most.
func (s Stat) text(scale float64) string {
	switch {
	case s.N == 0:
		return ""
	case s.N == 1 || s.Least == s.Most:
		return significant(s.Median * scale)
	}
	return fmt.Sprintf("%s (%s to %s)",
		significant(s.Median*scale), significant(s.Least*scale), significant(s.Most*scale))
}

// significant formats a figure for people.
var significant = bench.Significant

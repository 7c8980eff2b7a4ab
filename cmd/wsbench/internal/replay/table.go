package replay

import (
	"cmp"
	"fmt"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// A metric is a column of a table: a figure, in a unit for people.
type metric struct {
	figure, heading string
	scale           float64 // 0 is 1
}

// The metrics that many tables have.
var (
	wallMS  = metric{"ns/op", "time, ms", 1e-6}
	util    = metric{"cpu-util", "CPU utilisation", 1}
	cpuMS   = metric{"cpu-ns", "CPU time, ms", 1e-6}
	peakMiB = metric{"peak-rss-bytes", "peak memory, MiB", 1.0 / (1 << 20)}
	steals  = metric{"steals", "steals", 1}
	parks   = metric{"parks", "sleeps", 1}
)

// tabulate returns a table with a row for each combination of the settings, in the order of the first occurrence.
func (d *Data) tabulate(columns []string, metrics []metric) *bench.Table {
	t := new(bench.Table)
	for _, c := range columns {
		t.Column(c, false)
	}
	for _, m := range metrics {
		t.Column(m.heading, true)
	}
	t.Column("repetitions", true)
	for _, g := range bench.GroupBy(d.Rows, columns) {
		var row []string
		for _, c := range columns {
			row = append(row, g.Value(c))
		}
		for _, m := range metrics {
			row = append(row, g.Stat(m.figure).Range(cmp.Or(m.scale, 1)))
		}
		t.Row(append(row, fmt.Sprint(len(g.Rows)))...)
	}
	return t
}

// significant formats a figure for people.
var significant = bench.Significant

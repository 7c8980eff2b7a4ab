package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// textReport writes tables for people when everything has been measured.
type textReport[R any] struct {
	w       io.Writer
	env     *Environment
	notes   []string
	tables  func(*strings.Builder, []R)
	results []R
}

func (t *textReport[R]) Add(results []R) error {
	t.results = append(t.results, results...)
	return nil
}

func (t *textReport[R]) Close() error {
	if len(t.results) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString(t.env.Summary() + "\n")
	t.tables(&b, t.results)
	for i, line := range t.notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// writeResults writes a table of the workloads and one of the probes, if there are any.
func writeResults(b *strings.Builder, results []Result) {
	var runs, probes []*group
	for _, g := range groups(results) {
		if g.isProbe() {
			probes = append(probes, g)
		} else {
			runs = append(runs, g)
		}
	}
	if len(runs) > 0 {
		writeRuns(b, runs)
	}
	if len(probes) > 0 {
		writeProbes(b, probes)
	}
}

// A textColumn is a column of the table of runs. If all rows share a value and the column has a format for that, the
// value is in a line above the table instead. A column without values is left out.
type textColumn struct {
	heading string
	right   bool
	common  string // the format of a value that all rows share
	value   func(g *group, all []*group) string
}

var runColumns = slices.Concat(firstColumns, peerColumns, lastColumns)

var firstColumns = []textColumn{
	{"workload", false, "", func(g *group, _ []*group) string { return g.Workload }},
	{"engine", false, "", func(g *group, _ []*group) string { return g.Engine }},
	{"policy", false, "policy %s", func(g *group, _ []*group) string { return g.Policy }},
	{"deque", false, "deque %s", func(g *group, _ []*group) string { return g.Deque }},
	{"forks", false, "forks %s", func(g *group, _ []*group) string { return g.Forks }},
	{"queue", false, "", func(g *group, _ []*group) string { return cmp.Or(g.Queue, None) }},
	{"inputs", false, "%s", func(g *group, _ []*group) string { return cmp.Or(g.Inputs, None) }},
	{"window", false, "the window of the figures is the %s process", func(g *group, _ []*group) string {
		if g.Whole {
			return "whole"
		}
		return None
	}},
	{"pinned", false, "threads %s", func(g *group, _ []*group) string {
		if g.Pinned {
			return "pinned"
		}
		return None
	}},
	{"workers", true, "", func(g *group, _ []*group) string { return strconv.Itoa(g.Workers) }},
	{"n", true, "", func(g *group, _ []*group) string { return strconv.Itoa(g.N) }},
	{"tasks", true, "", func(g *group, _ []*group) string {
		if !g.isDivision() {
			return None
		}
		return strconv.Itoa(g.Tasks)
	}},
	{"reps", true, "repetitions %s", func(g *group, _ []*group) string { return strconv.Itoa(len(g.reps)) }},
	{"build ns/task", true, "", func(g *group, _ []*group) string { return g.build() }},
	{"ns/task", true, "", func(g *group, _ []*group) string { return spread(g.perTask) }},
	{"wall", true, "", func(g *group, _ []*group) string { return g.wall() }},
	{"CPU util", true, "", func(g *group, _ []*group) string {
		return fmt.Sprintf("%.2f", g.median(func(r *Result) float64 { return r.CPUUtil }))
	}},
	{"steals", true, "", func(g *group, _ []*group) string {
		return g.count(func(r *Result) float64 { return float64(r.Steals) })
	}},
	{"parks", true, "", func(g *group, _ []*group) string {
		return g.count(func(r *Result) float64 { return float64(r.Parks) })
	}},
}

var lastColumns = []textColumn{
	{"busy", true, "", (*group).busy},
	{"queue steals", true, "", func(g *group, _ []*group) string {
		return g.ofPool(func(r *Result) float64 { return float64(r.Pool.Steals) }, whole)
	}},
	{"moved/steal", true, "", func(g *group, _ []*group) string {
		return g.ofPool(func(r *Result) float64 { return r.Pool.movedPerSteal() }, significant)
	}},
	{"failed", true, "", func(g *group, _ []*group) string {
		return g.ofPool(func(r *Result) float64 { return float64(r.Pool.FailedSteals) }, whole)
	}},
	{"lock waits", true, "", func(g *group, _ []*group) string {
		return g.ofPool(func(r *Result) float64 { return float64(r.Pool.LockWaits) }, whole)
	}},
	{"vs bound", true, "", func(g *group, _ []*group) string {
		if g.BoundNS == 0 {
			return None
		}
		return significant(g.median((*Result).vsBound)) + "x"
	}},
	{"vs serial", true, "", versusSerial},
	{"verified", false, "", func(g *group, _ []*group) string { return yes(g.Verified) }},
}

// writeRuns writes the table of workloads.
func writeRuns(b *strings.Builder, all []*group) {
	var shown []textColumn
	var common []string
	for _, c := range runColumns {
		switch v, shared := sharedValue(c, all); {
		case shared && v == None:
		case shared && c.common != "":
			common = append(common, fmt.Sprintf(c.common, v))
		default:
			shown = append(shown, c)
		}
	}
	if len(common) > 0 {
		b.WriteString(strings.Join(common, ", ") + "; ")
	}
	b.WriteString("figures are medians")
	if strings.Contains(spread(all[0].perTask), "±") {
		fmt.Fprintf(b, ", ± their %.0f%% confidence intervals", 100*confidence)
	}
	b.WriteString("\n\n")
	var t table
	for _, c := range shown {
		t.column(c.heading, c.right)
	}
	for _, g := range all {
		row := make([]string, len(shown))
		for i, c := range shown {
			if row[i] = c.value(g, all); row[i] == None {
				row[i] = "-"
			}
		}
		t.row(row...)
	}
	_ = t.write(b) // a strings.Builder takes everything
}

// sharedValue returns the value of a column that is the same in all rows that have one. It is [None] if no row has a
// value.
func sharedValue(c textColumn, all []*group) (value string, shared bool) {
	value = None
	for _, g := range all {
		switch v := c.value(g, all); {
		case v == None || v == value:
		case value == None:
			value = v
		default:
			return "", false
		}
	}
	return value, true
}

// versusSerial returns how many times faster a group is than the serial walk of the same graph, or the serial program.
func versusSerial(g *group, all []*group) string {
	s := serialOf(g, all)
	if s == nil {
		return None
	}
	return significant(s.perTask.Center/g.perTask.Center) + "x"
}

// build returns the time of building a task, or None if nothing was built.
func (g *group) build() string {
	if g.BuildNS == 0 {
		return None
	}
	return significant(g.perBuild.Center)
}

func (g *group) wall() string {
	wall := time.Duration(g.median(func(r *Result) float64 { return float64(r.WallNS) }))
	switch {
	case wall >= time.Second:
		return fmt.Sprintf("%.2fs", wall.Seconds())
	case wall >= time.Millisecond:
		return significant(wall.Seconds()*1e3) + "ms"
	default:
		return significant(wall.Seconds()*1e6) + "µs"
	}
}

// count returns the median of a figure that only magpie's executor has.
func (g *group) count(figure func(*Result) float64) string {
	if g.Policy == None {
		return None
	}
	return fmt.Sprintf("%.0f", g.median(figure))
}

// busy returns the time that the drainers of a pool spent in tasks, of the least and the most busy one.
func (g *group) busy(_ []*group) string {
	if g.Pool == nil {
		return None
	}
	least := g.median(func(r *Result) float64 { return float64(slices.Min(r.Pool.BusyNS)) })
	most := g.median(func(r *Result) float64 { return float64(slices.Max(r.Pool.BusyNS)) })
	return significant(least/1e6) + "–" + significant(most/1e6) + "ms"
}

// ofPool returns the median of a figure that only a pool has.
func (g *group) ofPool(figure func(*Result) float64, format func(float64) string) string {
	if g.Pool == nil {
		return None
	}
	return format(g.median(figure))
}

func whole(x float64) string { return fmt.Sprintf("%.0f", x) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// writeProbes writes a table with one line for each figure of each probe.
func writeProbes(b *strings.Builder, all []*group) {
	b.WriteByte('\n')
	var t table
	for _, h := range []string{"probe", "policy", "deque", "workers", "n", "reps", "figure", "median"} {
		t.column(h, h == "workers" || h == "n" || h == "reps" || h == "median")
	}
	for _, g := range all {
		for i, m := range g.Metrics {
			median := g.summary(func(r *Result) float64 { return r.Metrics[i].Value })
			t.row(g.Workload, g.Policy, g.Deque, strconv.Itoa(g.Workers), strconv.Itoa(g.N), strconv.Itoa(len(g.reps)),
				m.Name, spread(median))
		}
	}
	_ = t.write(b) // a strings.Builder takes everything
}

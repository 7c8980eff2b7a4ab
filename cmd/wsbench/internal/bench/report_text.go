package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
)

// textFormat writes tables for people when everything has been measured.
type textFormat struct {
	w     io.Writer
	env   *environment.Environment
	notes func([]Row) []string // may be nil
	rows  []Row
}

func (t *textFormat) add(r Record) error {
	t.rows = append(t.rows, r.Row())
	return nil
}

func (t *textFormat) close() error {
	if len(t.rows) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString(t.env.Summary() + "\n")
	all := GroupBy(t.rows, nil)
	for _, write := range []struct {
		kind   string
		tables func(*strings.Builder, []*Group)
	}{{"Run", writeRuns}, {"Probe", writeProbes}, {"Deque", writeExperiments}} {
		isOther := func(g *Group) bool { return g.Kind != write.kind }
		if some := slices.DeleteFunc(slices.Clone(all), isOther); len(some) > 0 {
			write.tables(&b, some)
		}
	}
	if slices.ContainsFunc(all, (*Group).isLoose) {
		b.WriteString("\n" + looseNote + "\n")
	}
	if t.notes != nil {
		b.WriteString("\n" + strings.Join(t.notes(t.rows), "\n") + "\n")
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// A textColumn is a column of the table of runs. If all rows share a value and the column has a format for that, the
// value is in a line above the table instead. A column without values is left out.
type textColumn struct {
	heading string
	right   bool
	common  string // the format of a value that all rows share
	value   func(g *Group, all []*Group) string
}

var runColumns = slices.Concat(firstColumns, profileColumns, peerColumns, shareColumns, lastColumns)

var firstColumns = []textColumn{
	settingColumn("workload", false, ""),
	settingColumn("engine", false, ""),
	settingColumn("policy", false, "policy %s"),
	settingColumn("deque", false, "deque %s"),
	settingColumn("forks", false, "forks %s"),
	settingColumn(shareName, false, "shared: %s"),
	settingColumn("queue", false, ""),
	{"inputs", false, "%s", func(g *Group, _ []*Group) string { return cmp.Or(g.inputs(), None) }},
	settingColumn(windowName, false, "the window of the figures is the %s process"),
	settingColumn(pinnedName, false, "threads %s"),
	settingColumn("workers", true, ""),
	settingColumn("n", true, ""),
	settingColumn("tasks", true, ""),
	settingColumn(againName, false, ""),
	{"reps", true, "repetitions %s", func(g *Group, _ []*Group) string { return strconv.Itoa(len(g.Rows)) }},
	figureColumn("build ns/task", "build-ns/task", Significant),
	{"ns/task", true, "", func(g *Group, _ []*Group) string { return g.Stat("ns/task").spread() }},
	figureColumn("wall", "ns/op", wall),
	figureColumn("CPU util", "cpu-util", func(x float64) string { return fmt.Sprintf("%.2f", x) }),
	countColumn("steals"),
	countColumn("parks"),
}

var lastColumns = []textColumn{
	figureColumn("active", "active", Significant),
	{"busy", true, "", busyTime},
	figureColumn("queue steals", "queue-steals", whole),
	figureColumn("moved/steal", "moved/steal", Significant),
	figureColumn("failed", "failed-steals", whole),
	figureColumn("lock waits", "lock-waits", whole),
	figureColumn("vs bound", "vs-bound", func(x float64) string { return Significant(x) + "x" }),
	{"vs serial", true, "", versusSerial},
	{"verified", false, "", func(g *Group, _ []*Group) string { return yes(g.areVerified()) }},
}

// settingColumn returns the column of a setting.
func settingColumn(name string, right bool, common string) textColumn {
	return textColumn{name, right, common, func(g *Group, _ []*Group) string { return cmp.Or(g.Value(name), None) }}
}

// figureColumn returns the column of the medians of the figures in a unit.
func figureColumn(heading, unit string, format func(float64) string) textColumn {
	return textColumn{heading, true, "", func(g *Group, _ []*Group) string {
		if g.Stat(unit).N == 0 {
			return None
		}
		return format(g.median(unit))
	}}
}

// countColumn returns the column of a figure that only magpie's executor has.
func countColumn(unit string) textColumn {
	c := figureColumn(unit, unit, whole)
	return textColumn{unit, true, "", func(g *Group, all []*Group) string {
		if g.Value("policy") == "" {
			return None
		}
		return c.value(g, all)
	}}
}

// writeRuns writes the table of workloads.
func writeRuns(b *strings.Builder, all []*Group) {
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
	if strings.Contains(all[0].Stat("ns/task").spread(), "±") {
		fmt.Fprintf(b, ", ± their %.0f%% confidence intervals", 100*confidence)
	}
	b.WriteString("\n\n")
	var t Table
	for _, c := range shown {
		t.Column(c.heading, c.right)
	}
	for _, g := range all {
		row := make([]string, len(shown))
		for i, c := range shown {
			if row[i] = c.value(g, all); row[i] == None {
				row[i] = "-"
			}
		}
		t.Row(row...)
	}
	_ = t.write(b) // a strings.Builder takes everything
}

// sharedValue returns the value of a column that is the same in all rows that have one. It is [None] if no row has a
// value.
func sharedValue(c textColumn, all []*Group) (value string, shared bool) {
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
func versusSerial(g *Group, all []*Group) string {
	s := serialOf(g, all)
	if s == nil {
		return None
	}
	return Significant(s.median("ns/task")/g.median("ns/task")) + "x"
}

// wall formats a time in ns.
func wall(ns float64) string {
	switch t := time.Duration(ns); {
	case t >= time.Second:
		return fmt.Sprintf("%.2fs", t.Seconds())
	case t >= time.Millisecond:
		return Significant(t.Seconds()*1e3) + "ms"
	default:
		return Significant(t.Seconds()*1e6) + "µs"
	}
}

// busyTime returns the time that the drainers of a pool spent in tasks, of the least and the most busy one.
func busyTime(g *Group, _ []*Group) string {
	if g.Stat("busy-least-ns").N == 0 {
		return None
	}
	return Significant(g.median("busy-least-ns")/1e6) + "–" + Significant(g.median("busy-most-ns")/1e6) + "ms"
}

func whole(x float64) string { return fmt.Sprintf("%.0f", x) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// writeProbes writes a table with one line for each figure of each probe.
func writeProbes(b *strings.Builder, all []*Group) {
	b.WriteByte('\n')
	var t Table
	for _, h := range []string{"probe", "policy", "deque", "workers", "n", "reps", "figure", "median"} {
		t.Column(h, h == "workers" || h == "n" || h == "reps" || h == "median")
	}
	for _, g := range all {
		for _, figure := range g.Rows[0].Figures {
			t.Row(g.Value("workload"), g.Value("policy"), g.Value("deque"), g.Value("workers"), g.Value("n"),
				strconv.Itoa(len(g.Rows)), figure.Name, g.Stat(figure.Name).spread())
		}
	}
	_ = t.write(b) // a strings.Builder takes everything
}

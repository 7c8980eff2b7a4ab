package bench

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchproc"
)

// A dequeView is a table of the results of an experiment, with a row for each deque and a column for each value of a
// setting.
type dequeView struct {
	title  string
	metric string
	scale  float64 // of the metric; 0 is 1
	column string  // the setting of the columns
	table  string  // a setting with a table for each value
	base   string  // a deque by whose figures all are divided; if it was not measured there is no table

	// bar returns the height of a bar, up to 1, given the extremes of the table; nil if there are no bars.
	bar func(v, least, most float64) float64

	metrics []string // the columns, if no setting is
}

// moreIsTaller is for figures of which more is better, lessIsTaller for those of which less is better.
func moreIsTaller(v, _, most float64) float64  { return v / most }
func lessIsTaller(v, least, _ float64) float64 { return least / v }

func (v *dequeView) write(b *strings.Builder, all []*Group) {
	if v.table == "" {
		v.writeGrid(b, v.title, all)
		return
	}
	for _, value := range ValuesOf(all, v.table) {
		isOther := func(g *Group) bool { return g.Value(v.table) != value }
		some := slices.DeleteFunc(slices.Clone(all), isOther)
		v.writeGrid(b, v.title+", "+v.table+" "+value+" of "+some[0].Value("n")+" nodes", some)
	}
}

// A grid has the figures of a table. A figure that was not measured is missing.
type grid struct {
	rows    []benchproc.Key
	columns []string
	values  map[gridCell]float64
}

type gridCell struct {
	row    benchproc.Key
	column string
}

// grid returns the figures of the groups, or nil if they are to be divided by others that were not measured.
func (v *dequeView) grid(all []*Group) *grid {
	var parser benchproc.ProjectionParser
	rowBy := must(parser.Parse("/deque"+v.rest(all), everything))
	columnBy := must(parser.Parse("/"+cmp.Or(v.column, "deque")+"@num", everything))
	g := &grid{columns: v.metrics, values: make(map[gridCell]float64)}
	var headings []benchproc.Key
	for _, one := range all {
		figure := one.median
		if v.base != "" {
			base := v.baseOf(one, all)
			if base == nil {
				return nil
			}
			figure = func(unit string) float64 { return one.median(unit) / base.median(unit) }
		}
		row := rowBy.Project(one.Rows[0].benchResult())
		g.rows = appendNew(g.rows, row)
		for _, m := range v.metrics {
			g.values[gridCell{row, m}] = figure(m)
		}
		if v.metrics == nil {
			heading := columnBy.Project(one.Rows[0].benchResult())
			headings = appendNew(headings, heading)
			g.values[gridCell{row, heading.StringValues()}] = figure(v.metric) * cmp.Or(v.scale, 1)
		}
	}
	benchproc.SortKeys(headings)
	for _, h := range headings {
		g.columns = append(g.columns, h.StringValues())
	}
	if last := len(g.columns) - 1; last > 0 && g.columns[last] == "" { // of deques without the setting: first
		g.columns = append([]string{""}, g.columns[:last]...)
	}
	return g
}

// baseOf returns the group of the deque base in the same settings, or nil. Bases have no blocks.
func (v *dequeView) baseOf(g *Group, all []*Group) *Group {
	isBase := func(b *Group) bool { return b.Value("deque") == v.base && b.isPeer(g, "deque", "block") }
	if i := slices.IndexFunc(all, isBase); i >= 0 {
		return all[i]
	}
	return nil
}

// rest lists the settings that are neither rows, columns nor tables, and not the same everywhere, as a projection.
func (v *dequeView) rest(all []*Group) (projection string) {
	told := []string{"deque", v.column, v.table}
	for _, g := range all {
		for _, s := range g.Settings {
			if !slices.Contains(told, s.Name) && len(ValuesOf(all, s.Name)) > 1 {
				projection += ",/" + s.Name
				told = append(told, s.Name)
			}
		}
	}
	return projection
}

// rowName returns the deque and, of the other settings, names and values.
func rowName(row benchproc.Key) string {
	fields := row.Projection().FlattenedFields()
	s := row.Get(fields[0])
	for _, f := range fields[1:] {
		if value := row.Get(f); value != "" {
			s += ", " + strings.TrimPrefix(f.Name, "/") + " " + value
		}
	}
	return s
}

func (v *dequeView) writeGrid(b *strings.Builder, title string, all []*Group) {
	g := v.grid(all)
	if g == nil {
		return
	}
	var t Table
	t.Column("deque", false)
	for _, c := range g.columns {
		t.Column(cmp.Or(c, "-"), true)
	}
	t.Column("", false)
	for _, r := range g.rows {
		row := []string{rowName(r)}
		for _, c := range g.columns {
			switch x, ok := g.values[gridCell{r, c}]; {
			case !ok:
				row = append(row, "")
			case 0 < x && x < 0.001:
				row = append(row, "0.00") // not 0, which is for events that never happened
			default:
				row = append(row, Significant(x))
			}
		}
		t.Row(append(row, v.bars(g, r))...)
	}
	b.WriteString("\n" + title + "\n")
	_ = t.write(b) // a strings.Builder takes everything
}

// bars draws the bars of a row.
func (v *dequeView) bars(g *grid, row benchproc.Key) string {
	if v.bar == nil {
		return ""
	}
	least, most := math.Inf(1), 0.0
	for _, x := range g.values {
		if x > 0 {
			least, most = min(least, x), max(most, x)
		}
	}
	var s strings.Builder
	for _, c := range g.columns {
		switch x, ok := g.values[gridCell{row, c}]; {
		case !ok:
			s.WriteByte(' ')
		case x <= 0:
			s.WriteRune(barRunes[0])
		default:
			s.WriteRune(barRunes[int(math.Ceil(v.bar(x, least, most)*float64(len(barRunes))))-1])
		}
	}
	return s.String()
}

var barRunes = []rune("▁▂▃▄▅▆▇█")

package bench

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
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

func (v *dequeView) write(b *strings.Builder, cells []*dequeCell) {
	if v.table == "" {
		v.writeGrid(b, v.title, v.grid(cells))
		return
	}
	for _, value := range valuesOf(cells, v.table) {
		some := slices.DeleteFunc(slices.Clone(cells), func(c *dequeCell) bool { return c.key(v.table) != value })
		title := v.title + ", " + v.table + " " + value + " of " + plural(some[0].N, "node")
		v.writeGrid(b, title, v.grid(some))
	}
}

// A grid has the figures of a table. A figure that was not measured is NaN.
type grid struct {
	rows, columns []string
	rests         []string    // by row: the text after the name of the deque
	values        [][]float64 // by row and column
}

func (v *dequeView) grid(cells []*dequeCell) *grid {
	g := &grid{columns: v.metrics}
	if v.metrics == nil {
		g.columns = v.headings(cells)
	}
	for _, c := range cells {
		rest := v.rest(c, cells)
		if g.rows = appendNew(g.rows, c.Deque+rest); len(g.rests) < len(g.rows) {
			g.rests = append(g.rests, rest)
		}
	}
	g.values = make([][]float64, len(g.rows))
	for i := range g.values {
		g.values[i] = slices.Repeat([]float64{math.NaN()}, len(g.columns))
	}
	for _, c := range cells {
		row := g.values[slices.Index(g.rows, c.Deque+v.rest(c, cells))]
		if v.metrics == nil {
			row[slices.Index(g.columns, c.key(v.column))] = c.medians[v.metric] * cmp.Or(v.scale, 1)
			continue
		}
		for i, m := range v.metrics {
			row[i] = c.medians[m]
		}
	}
	return g
}

// headings returns the values of the columns' setting, with "" first if some deques do not have it.
func (v *dequeView) headings(cells []*dequeCell) []string {
	values := valuesOf(cells, v.column)
	slices.SortStableFunc(values, func(x, y string) int {
		a, _ := strconv.Atoi(x)
		b, _ := strconv.Atoi(y)
		return a - b
	})
	if slices.ContainsFunc(cells, func(c *dequeCell) bool { return c.key(v.column) == "" }) {
		values = append([]string{""}, values...)
	}
	return values
}

// rest lists the settings of c that are neither column nor table, and not the same everywhere.
func (v *dequeView) rest(c *dequeCell, cells []*dequeCell) (s string) {
	for _, k := range c.keys() {
		if k.name != v.column && k.name != v.table && len(valuesOf(cells, k.name)) > 1 {
			s += ", " + k.name + " " + k.value
		}
	}
	return s
}

// over divides the figures of each row by those of the deque base in the same settings. It returns false if base was
// not measured.
func (g *grid) over(base string) bool {
	before := make([][]float64, len(g.values))
	for i, row := range g.values {
		before[i] = slices.Clone(row)
	}
	for i, row := range g.values {
		k := slices.Index(g.rows, base+g.rests[i])
		if k < 0 {
			return false
		}
		for j := range row {
			d := before[k][j]
			if math.IsNaN(d) {
				d = before[k][0] // base does not have the setting of the columns
			}
			row[j] /= d
		}
	}
	return true
}

func (v *dequeView) writeGrid(b *strings.Builder, title string, g *grid) {
	if v.base != "" && !g.over(v.base) {
		return
	}
	var t table
	t.column("deque", false)
	for _, c := range g.columns {
		t.column(cmp.Or(c, "-"), true)
	}
	t.column("", false)
	for i, name := range g.rows {
		row := []string{name}
		for _, x := range g.values[i] {
			switch {
			case math.IsNaN(x):
				row = append(row, "")
			case 0 < x && x < 0.001:
				row = append(row, "0.00") // not 0, which is for events that never happened
			default:
				row = append(row, significant(x))
			}
		}
		t.row(append(row, v.bars(g, i))...)
	}
	b.WriteString("\n" + title + "\n")
	_ = t.write(b) // a strings.Builder takes everything
}

// bars draws the bars of a row.
func (v *dequeView) bars(g *grid, row int) string {
	if v.bar == nil {
		return ""
	}
	least, most := math.Inf(1), 0.0
	for _, r := range g.values {
		for _, x := range r {
			if x > 0 { // not NaN
				least, most = min(least, x), max(most, x)
			}
		}
	}
	var s strings.Builder
	for _, x := range g.values[row] {
		switch {
		case math.IsNaN(x):
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

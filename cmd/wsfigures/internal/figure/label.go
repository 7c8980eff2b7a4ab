package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A label names a line at its end, with a sample of the line before the name.
type label struct {
	lines []string
	end   Point // of the line
	line  draw.LineStyle
	glyph draw.GlyphStyle // no shape: none
}

const (
	sample     = 20  // length of a label's sample of its line
	gap        = 10  // between the data and the labels
	mostLabel  = 150 // width of a label's text
	labelSpace = 2   // between labels
)

func (l label) width() vg.Length {
	var w vg.Length
	for _, line := range l.lines {
		w = max(w, labelText.Width(line))
	}
	return gap + sample + 4 + w
}

func (l label) height() vg.Length { return heightOf(len(l.lines), leading(labelText)) + labelSpace }

// hasNames reports whether the series need names to be told apart.
func (f *Figure) hasNames() bool {
	return len(f.Series) > 1 || len(f.Marks) > 0 && !blank(f.Series[0].Name)
}

// findLabels makes the labels: of the bounds, and of lines.
func (s *sheet) findLabels() {
	if s.Kind != Bars && s.hasNames() {
		for i, series := range s.Series {
			l := label{end: s.last(series.Points), line: lineStyle(i)}
			if s.Kind == Lines {
				l.glyph = glyphStyle(i)
			}
			l.lines, _ = wrap(labelText, series.Name, mostLabel)
			s.labels = append(s.labels, l)
		}
	}
	for i, mark := range s.Marks {
		l := label{end: s.last(mark.Points), line: markStyle(i)}
		if s.Kind == Bars {
			l.line = tickStyle(i)
		}
		l.lines, _ = wrap(labelText, mark.Name, mostLabel)
		s.labels = append(s.labels, l)
	}
}

func (s *sheet) labelHeight() (h vg.Length) {
	for _, l := range s.labels {
		h += l.height()
	}
	return h
}

// drawLabels draws each label at the height of its line's end, or as near as the others allow. A thin line leads from
// an end that is elsewhere.
func (s *sheet) drawLabels(data draw.Canvas) {
	if len(s.labels) == 0 {
		return
	}
	at := func(l label) vg.Point {
		x := data.X(s.plot.X.Norm(*l.end.X))
		if s.Kind == Bars {
			pitch := data.Size().X / vg.Length(len(s.X.Categories))
			x += pitch * vg.Length(groupWidth(len(s.Series), pitch)/2)
		}
		y := data.Y(s.plot.Y.Norm(*l.end.Y))
		return vg.Point{X: min(max(x, data.Min.X), data.Max.X), Y: min(max(y, data.Min.Y), data.Max.Y)}
	}
	labels := slices.Clone(s.labels)
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(at(a).Y, at(b).Y) })
	var wanted, heights []vg.Length
	for _, l := range labels {
		wanted = append(wanted, at(l).Y)
		heights = append(heights, l.height())
	}
	centres := spread(wanted, heights, data.Min.Y, data.Max.Y)
	for i, l := range labels {
		end, x, y := at(l), data.Max.X+gap, centres[i]
		if y-end.Y > 1.5 || end.Y-y > 1.5 || end.X < data.Max.X-30 {
			leader := draw.LineStyle{Color: grey, Width: 0.6, Dashes: []vg.Length{0.8, 1.6}}
			stroke(data, leader, []vg.Point{{X: end.X + 4, Y: end.Y}, {X: data.Max.X + 2, Y: end.Y}, {X: x - 1, Y: y}})
		}
		data.StrokeLine2(l.line, x, y, x+sample, y)
		data.DrawGlyphNoClip(l.glyph, vg.Point{X: x + sample/2, Y: y})
		top := y + heightOf(len(l.lines), leading(labelText))/2
		fillLines(data, labelText, vg.Point{X: x + sample + 4, Y: top}, l.lines)
	}
}

// spread moves centres, which rise, apart so that no two of the heights around them overlap, by as little as possible,
// and into the range from low to high if it has room for all.
func spread(wanted, heights []vg.Length, low, high vg.Length) []vg.Length {
	// Each block is a run of labels that touch. It is centred at the mean of where its labels want it.
	type block struct {
		first, n int
		start    vg.Length // of the lowest label's height
		height   vg.Length
	}
	bound := func(b block) block {
		b.start = max(min(b.start, high-b.height), low)
		return b
	}
	var blocks []block
	for i := range wanted {
		b := bound(block{first: i, n: 1, start: wanted[i] - heights[i]/2, height: heights[i]})
		for len(blocks) > 0 && blocks[len(blocks)-1].start+blocks[len(blocks)-1].height > b.start {
			lower := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b = block{first: lower.first, n: lower.n + b.n, height: lower.height + b.height}
			var sum, offset vg.Length
			for j := b.first; j < b.first+b.n; j++ {
				sum += wanted[j] - heights[j]/2 - offset
				offset += heights[j]
			}
			b.start = sum / vg.Length(b.n)
			b = bound(b)
		}
		blocks = append(blocks, b)
	}
	centres := make([]vg.Length, len(wanted))
	for _, b := range blocks {
		at := b.start
		for j := b.first; j < b.first+b.n; j++ {
			centres[j] = at + heights[j]/2
			at += heights[j]
		}
	}
	return centres
}

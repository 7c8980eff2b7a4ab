package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A dotSheet is a figure of dots with its layout. From top to bottom it has the title, a key, a row for each category
// with the category's name at its left, the numbers of the axis, the axis' label and the note.
type dotSheet struct {
	*Figure
	width, height vg.Length
	row           vg.Length // height of a row
	left          vg.Length // of the data
	extent        extent    // of the values

	title, yLabel, note []string

	names []string
	key   [][]keyItem
}

const (
	dotPitch     = 5 // between the dots of a row
	mostRowName  = 170
	dotTickSpace = 14 // the numbers of the axis
)

func newDotSheet(f *Figure) *dotSheet {
	s := &dotSheet{Figure: f, width: usualWidth, row: max(14, vg.Length(len(f.Series))*dotPitch+4)}
	_, s.extent = f.extents()
	for _, c := range f.X.Categories {
		name := shorten(labelText, c, mostRowName)
		s.names = append(s.names, name)
		s.left = max(s.left, margin+labelText.Width(name)+6)
	}
	inner := s.width - 2*margin
	s.title, _ = wrap(titleText, f.Title, inner)
	s.yLabel, _ = wrap(labelText, f.Y.Label, inner)
	s.note, _ = wrap(noteText, f.Note, inner)
	if f.hasNames() || len(f.Marks) > 0 {
		names := namesOf(f.Series)
		s.key = layKey(append(names, namesOf(f.Marks)...), s.width)
	}
	s.height = s.above() + s.row*vg.Length(len(s.names)) + s.below()
	return s
}

func (s *dotSheet) size() (w, h vg.Length) { return s.width, s.height }

func (s *dotSheet) above() vg.Length {
	return titleHeight(s.title) + heightOf(len(s.key), keyHeight) + s.documentKeyHeight() + 3
}

func (s *dotSheet) below() vg.Length {
	h := margin + dotTickSpace + heightOf(len(s.yLabel), leading(labelText))
	if len(s.note) > 0 {
		h += 6 + heightOf(len(s.note), leading(noteText))
	}
	return h
}

// area returns the rectangle of the data.
func (s *dotSheet) area(c draw.Canvas) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: s.left, Y: c.Min.Y + s.below()},
		Max: vg.Point{X: c.Max.X - margin - 8, Y: c.Max.Y - s.above()},
	}
}

// at returns where the dot of a series is in the row of a category, or that of the bound or document that is compared
// with all if there is no such series.
func (s *dotSheet) at(area vg.Rectangle, series int, category, value float64) vg.Point {
	scale := s.Y.scale()
	x := area.Min.X + vg.Length(scale.Normalize(s.extent.min, s.extent.max, value))*area.Size().X
	y := area.Max.Y - s.row*vg.Length(category+0.5)
	if series >= 0 {
		y += dotPitch * (vg.Length(len(s.Series)-1)/2 - vg.Length(series))
	}
	return vg.Point{X: x, Y: y}
}

func (s *dotSheet) draw(c draw.Canvas) {
	top := begin(c, s.title)
	s.drawKey(c, top)
	top.Y -= heightOf(len(s.key), keyHeight)
	s.drawDocumentKey(c, top)

	area := s.area(c)
	s.drawRows(c, area)
	s.drawAxis(c, area)
	inside := func(p vg.Point) bool { return p.X >= area.Min.X-0.01 && p.X <= area.Max.X+0.01 }
	for i, series := range s.Series {
		for _, p := range series.Points {
			if p.hasRange() {
				low, high := s.at(area, i, *p.X, *p.Low), s.at(area, i, *p.X, *p.High)
				low.X, high.X = max(low.X, area.Min.X), min(high.X, area.Max.X)
				if low.X < high.X {
					stroke(c, draw.LineStyle{Color: glyphStyle(i).Color, Width: 1.3}, []vg.Point{low, high})
				}
			}
		}
	}
	for i, m := range s.Marks {
		for _, p := range m.Points {
			if at := s.at(area, -1, *p.X, *p.Y); inside(at) {
				up := s.row/2 - 1
				stroke(c, tickStyle(i), []vg.Point{{X: at.X, Y: at.Y - up}, {X: at.X, Y: at.Y + up}})
			}
		}
	}
	for i, series := range s.Series {
		for _, p := range series.Points {
			if at := s.at(area, i, *p.X, *p.Y); inside(at) {
				c.DrawGlyphNoClip(glyphStyle(i), at)
			}
		}
	}
	for _, d := range s.Document {
		i := s.seriesNamed(d.Name)
		for _, p := range d.Points {
			if at := s.at(area, i, *p.X, *p.Y); inside(at) {
				c.DrawGlyphNoClip(documentGlyph(i), at)
			}
		}
	}
}

// drawRows draws the names of the categories, and every other row darker.
func (s *dotSheet) drawRows(c draw.Canvas, area vg.Rectangle) {
	for i, name := range s.names {
		low := area.Max.Y - s.row*vg.Length(i+1)
		if i%2 == 0 {
			c.SetColor(rgb(0xf4f4f4))
			c.Fill(vg.Rectangle{Min: vg.Point{X: margin, Y: low}, Max: vg.Point{X: area.Max.X, Y: low + s.row}}.Path())
		}
		at := vg.Point{X: area.Min.X - 6 - labelText.Width(name), Y: low + s.row/2 - labelText.Font.Size*0.35}
		c.FillText(labelText, at, name)
	}
}

// drawAxis draws the axis with a line through all rows at each number.
func (s *dotSheet) drawAxis(c draw.Canvas, area vg.Rectangle) {
	var lines [][]vg.Point
	edge := vg.Length(math.Inf(-1)) // of the last number
	for _, t := range s.Y.ticks(s.extent, nil, 7) {
		if t.IsMinor() {
			continue
		}
		x := s.at(area, -1, 0, t.Value).X
		lines = append(lines, []vg.Point{{X: x, Y: area.Min.Y}, {X: x, Y: area.Max.Y}})
		w := tickText.Width(t.Label)
		if x-w/2 < edge+4 {
			continue
		}
		edge = x + w/2
		c.FillText(tickText, vg.Point{X: x - w/2, Y: area.Min.Y - 11}, t.Label)
	}
	stroke(c, draw.LineStyle{Color: faint, Width: 0.5}, lines...)
	stroke(c, draw.LineStyle{Color: grey, Width: 0.7},
		[]vg.Point{area.Min, {X: area.Max.X, Y: area.Min.Y}})
	if s.extent.min < 0 && s.extent.max > 0 {
		x := s.at(area, -1, 0, 0).X
		stroke(c, draw.LineStyle{Color: grey, Width: 0.7}, []vg.Point{{X: x, Y: area.Min.Y}, {X: x, Y: area.Max.Y}})
	}
	y := area.Min.Y - dotTickSpace
	for _, l := range s.yLabel {
		x := max(margin, (area.Min.X+area.Max.X-labelText.Width(l))/2)
		fillLines(c, labelText, vg.Point{X: x, Y: y}, []string{l})
		y -= leading(labelText)
	}
	fillLines(c, noteText, vg.Point{X: margin, Y: y - 6}, s.note)
}

// drawKey draws the names of the series, each after its dot, and of the bounds.
func (s *dotSheet) drawKey(c draw.Canvas, top vg.Point) {
	for i, row := range s.key {
		y := top.Y - vg.Length(i+1)*keyHeight
		for _, item := range row {
			middle := vg.Point{X: item.x + swatch/2, Y: y + 7.5}
			if n := len(s.Series); item.series >= n {
				stroke(c, tickStyle(item.series-n),
					[]vg.Point{{X: middle.X, Y: middle.Y - 5}, {X: middle.X, Y: middle.Y + 5}})
			} else {
				line := draw.LineStyle{Color: glyphStyle(item.series).Color, Width: 1.3}
				stroke(c, line, []vg.Point{{X: item.x, Y: middle.Y}, {X: item.x + swatch, Y: middle.Y}})
				c.DrawGlyphNoClip(glyphStyle(item.series), middle)
			}
			c.FillText(labelText, vg.Point{X: item.x + swatch + 4, Y: y + 4}, item.name)
		}
	}
}

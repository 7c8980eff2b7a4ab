package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points.
const (
	margin      = 8
	usualWidth  = 540
	mostWidth   = 840 // 1120 pixels of a browser
	usualHeight = 230 // of the data
)

// A sheet is a figure with its layout. From top to bottom it has the title, keys to the document's values and to the
// bars, the y axis' label, the data with labels at their right, the categories, the x axis' label and the note.
type sheet struct {
	*Figure
	plot          *plot.Plot
	width, height vg.Length
	data          vg.Length // height of the data
	headroom      vg.Length // above the data, for labels of bars

	title, yLabel, xLabel, note []string

	labels     []label
	labelWidth vg.Length
	key        [][]keyItem
	named      int  // the category whose bars have names above them, -1 if none
	level      bool // the names of bars are not upright
	categories categories
}

// A picture is a figure with its layout.
type picture interface {
	size() (w, h vg.Length)
	draw(draw.Canvas) // on a canvas of that size
}

func layOut(f *Figure) picture {
	if f.Kind == Dots {
		return newDotSheet(f)
	}
	return newSheet(f)
}

func (s *sheet) size() (w, h vg.Length) { return s.width, s.height }

func newSheet(f *Figure) *sheet {
	s := &sheet{Figure: f, plot: newPlot(f), width: usualWidth, data: usualHeight, named: -1}
	if n := len(f.X.Categories); f.Kind == Bars {
		s.width = min(max(s.width, vg.Length(n*(7*len(f.Series)+6)+60)), mostWidth)
	} else if n > 0 {
		s.width = min(max(s.width, vg.Length(n*12+60)), mostWidth)
	}
	s.findLabels()
	for _, l := range s.labels {
		s.labelWidth = max(s.labelWidth, l.width())
	}
	s.data = max(s.data, s.labelHeight())

	inner := s.width - 2*margin
	s.title, _ = wrap(titleText, f.Title, inner)
	s.yLabel, _ = wrap(labelText, f.Y.Label, inner)
	s.xLabel, _ = wrap(labelText, f.X.Label, inner)
	s.note, _ = wrap(noteText, f.Note, inner)

	left, right := s.sides(0)
	s.categories = s.layCategories(left, right-left)
	if f.Kind == Bars && s.hasNames() {
		left, right = s.sides(s.categories.left)
		s.nameBars(right - left)
	}
	s.height = s.below() + s.axisHeight() + s.data + s.above()
	return s
}

// sides returns the left and the right edge of the data.
func (s *sheet) sides(extra vg.Length) (left, right vg.Length) {
	c := draw.NewCanvas(nil, s.width, 1000) // Nothing is drawn on it.
	data := s.plot.DataCanvas(draw.Crop(c, margin+extra, -margin-s.labelWidth, 0, 0))
	return data.Min.X, data.Max.X
}

// axisHeight returns the height of the x axis with its numbers.
func (s *sheet) axisHeight() vg.Length {
	data := s.plot.DataCanvas(draw.NewCanvas(nil, s.width, 1000))
	return data.Min.Y + (1000 - data.Max.Y)
}

func heightOf(n int, l vg.Length) vg.Length { return vg.Length(n) * l }

// below returns the height of everything below the x axis and its numbers.
func (s *sheet) below() vg.Length {
	h := vg.Length(margin) + s.categories.height
	if len(s.xLabel) > 0 {
		h += 4 + heightOf(len(s.xLabel), leading(labelText))
	}
	if len(s.note) > 0 {
		h += 6 + heightOf(len(s.note), leading(noteText))
	}
	return h
}

// above returns the height of everything above the data.
func (s *sheet) above() vg.Length {
	h := titleHeight(s.title) + s.documentKeyHeight()
	if len(s.key) > 0 {
		h += heightOf(len(s.key), keyHeight) + 5
	}
	return h + heightOf(len(s.yLabel), leading(labelText)) + 5 + s.headroom
}

func newPlot(f *Figure) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	x, y := f.extents()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.min, x.max, y.min, y.max
	p.X.Scale, p.Y.Scale = f.X.scale(), f.Y.scale()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: grey, Width: 0.7}
		a.Padding = -a.LineStyle.Width / 2 // the axes meet
		a.Tick.LineStyle = draw.LineStyle{Color: grey, Width: 0.5}
		a.Tick.Length = 4
		a.Tick.Label.Font, a.Tick.Label.Color, a.Tick.Label.Handler = tickText.Font, tickText.Color, tickText.Handler
	}
	p.Y.Tick.Marker = plot.ConstantTicks(f.Y.ticks(y, nil, 6))
	if n := len(f.X.Categories); n == 0 {
		values := make(map[float64]bool)
		for _, s := range f.Series {
			for _, pt := range s.Points {
				values[*pt.X] = true
			}
		}
		p.X.Tick.Marker = plot.ConstantTicks(f.X.ticks(x, values, 8))
	} else {
		ticks := make(plot.ConstantTicks, n) // without labels: drawCategories draws these
		for i := range ticks {
			ticks[i].Value = float64(i)
		}
		p.X.Tick.Marker = ticks
		if f.Kind == Bars {
			p.X.Tick.Length = 0
		}
	}
	p.Add(gridLines{})
	switch f.Kind {
	case Bars:
		p.Add(barPlotter{f})
	default:
		p.Add(linePlotter{f})
	}
	return p
}

// begin makes a canvas white and draws the title. It returns where the next line begins.
func begin(c draw.Canvas, title []string) vg.Point {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	fillLines(c, titleText, vg.Point{X: margin, Y: c.Max.Y - margin}, title)
	return vg.Point{X: margin, Y: c.Max.Y - titleHeight(title)}
}

// titleHeight returns the height of the title, with the margin above it and the gap below it.
func titleHeight(title []string) vg.Length {
	return margin + heightOf(len(title), leading(titleText)) + 5
}

// draw draws the sheet on a canvas of its size.
func (s *sheet) draw(c draw.Canvas) {
	top := begin(c, s.title)
	s.drawDocumentKey(c, top)
	top.Y -= s.documentKeyHeight()
	if len(s.key) > 0 {
		s.drawKey(c, top)
		top.Y -= heightOf(len(s.key), keyHeight) + 5
	}
	fillLines(c, labelText, top, s.yLabel)

	area := draw.Crop(c, margin+s.categories.left, -margin-s.labelWidth, s.below(), -s.above())
	s.plot.Draw(area)
	data := s.plot.DataCanvas(area)
	s.drawLabels(data)
	if s.named >= 0 {
		s.drawNames(data)
	}
	s.drawCategories(c, data, area.Min.Y)

	y := area.Min.Y - s.categories.height
	if len(s.xLabel) > 0 {
		y -= 4
		for _, l := range s.xLabel {
			fillLines(c, labelText, vg.Point{X: max(margin, data.Center().X-labelText.Width(l)/2), Y: y}, []string{l})
			y -= leading(labelText)
		}
	}
	fillLines(c, noteText, vg.Point{X: margin, Y: y - 6}, s.note)
}

// gridLines draws a faint line at each labelled tick of the y axis, and a darker one at 0 if values are on both sides.
type gridLines struct{}

func (gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	var lines [][]vg.Point
	at := func(v float64) []vg.Point {
		y := c.Y(p.Y.Norm(v))
		return []vg.Point{{X: c.Min.X, Y: y}, {X: c.Max.X, Y: y}}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() && t.Value > p.Y.Min {
			lines = append(lines, at(t.Value))
		}
	}
	stroke(c, draw.LineStyle{Color: faint, Width: 0.5}, lines...)
	if p.Y.Min < 0 && p.Y.Max > 0 {
		stroke(c, draw.LineStyle{Color: grey, Width: 0.7}, at(0))
	}
}

// categories is the layout of the categories' names below the x axis.
type categories struct {
	lines  [][]string // of each category
	turned bool       // by 45°
	steep  bool       // by 90°
	style  text.Style
	every  int // category that has its name drawn
	height vg.Length
	left   vg.Length // to add at the left, for turned names
}

// layCategories lays the names out in as few lines as the width of a category allows. In narrow categories, names that
// would need more than three lines, or a break within a word, are turned.
func (s *sheet) layCategories(left, width vg.Length) categories {
	n := len(s.X.Categories)
	if n == 0 {
		return categories{}
	}
	pitch := width / vg.Length(n)
	l := categories{every: 1, style: labelText}
	fits, most := true, 1
	for _, name := range s.X.Categories {
		lines, whole := wrap(labelText, name, pitch-6)
		fits = fits && (whole && len(lines) <= 3 || pitch >= 60 && len(lines) <= 6)
		most = max(most, len(lines))
		l.lines = append(l.lines, lines)
	}
	if fits {
		l.height = 4 + heightOf(most, leading(labelText))
		return l
	}
	const longest = 150
	l.lines = nil
	for _, name := range s.X.Categories {
		l.lines = append(l.lines, []string{shorten(labelText, name, longest)})
	}
	l.turned = pitch >= 1.5*labelText.Font.Size
	l.steep = !l.turned
	if pitch < leading(l.style) {
		const smallest = 6
		l.style.Font.Size = max(smallest, pitch/leading(l.style)*l.style.Font.Size)
		l.every = int(math.Ceil(float64(leading(l.style)/pitch - 1e-9)))
	}
	for i, lines := range l.lines {
		w := l.style.Width(lines[0])
		if l.steep {
			l.height = max(l.height, 6+w)
			continue
		}
		l.height = max(l.height, 6+(w+labelText.Font.Size)*math.Sqrt2/2)
		// Space added at the left moves a category by a part of it, which is 0 at the right edge.
		along := (vg.Length(i) + 0.5) / vg.Length(n)
		at := left + width*along
		l.left = max(l.left, (w*math.Sqrt2/2-at+margin)/(1-along))
	}
	return l
}

// drawCategories draws the names of the categories downwards from top.
func (s *sheet) drawCategories(c, data draw.Canvas, top vg.Length) {
	style := s.categories.style
	size := style.Font.Size
	for i, lines := range s.categories.lines {
		if i%s.categories.every != 0 {
			continue
		}
		x := data.X(s.plot.X.Norm(float64(i)))
		switch {
		case s.categories.turned:
			style.Rotation = math.Pi / 4
			w := style.Width(lines[0]) * math.Sqrt2 / 2
			c.FillText(style, vg.Point{X: x - w + size*0.3, Y: top - 4 - size*0.6 - w}, lines[0])
		case s.categories.steep:
			style.Rotation = math.Pi / 2
			c.FillText(style, vg.Point{X: x + size*0.35, Y: top - 4 - style.Width(lines[0])}, lines[0])
		default:
			for j, l := range lines {
				at := vg.Point{X: x - labelText.Width(l)/2, Y: top - 2 - leading(labelText)*vg.Length(j)}
				fillLines(c, labelText, at, []string{l})
			}
		}
	}
}

// last returns the last point of a series that is within the x axis.
func (s *sheet) last(points []Point) Point {
	for _, p := range slices.Backward(points) {
		if *p.X <= s.plot.X.Max {
			return p
		}
	}
	return points[0]
}

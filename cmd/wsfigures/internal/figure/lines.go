package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// linePlotter draws lines and steps: first all bands, then bounds, lines, points and the document's values.
type linePlotter struct{ *Figure }

func (f linePlotter) Plot(c draw.Canvas, p *plot.Plot) {
	step := plotter.NoStep
	if f.Kind == Steps {
		step = plotter.PostStep
	}
	for i, s := range f.Series {
		f.band(c, p, s.Points, lineStyle(i))
	}
	for i, m := range f.Marks {
		line := plotter.Line{XYs: f.xys(c, p, m.Points), LineStyle: markStyle(i), StepStyle: step}
		line.Plot(c, p)
	}
	for i, s := range f.Series {
		style := lineStyle(i)
		if f.Kind == Steps {
			style.Width = 1.1
		}
		line := plotter.Line{XYs: f.xys(c, p, s.Points), LineStyle: style, StepStyle: step}
		line.Plot(c, p)
	}
	if f.Kind == Lines {
		f.plotPoints(c, p)
	}
	f.plotDocument(c, p)
}

func (f linePlotter) plotPoints(c draw.Canvas, p *plot.Plot) {
	const most = 60 // points drawn as such; more would hide the line
	for i, s := range f.Series {
		every := len(s.Points)/most + 1
		for j, pt := range s.Points {
			if j%every == 0 || j == len(s.Points)-1 {
				c.DrawGlyph(glyphStyle(i), vg.Point{X: c.X(p.X.Norm(*pt.X)), Y: c.Y(p.Y.Norm(*pt.Y))})
			}
		}
	}
}

// band draws the range of each run of neighbours that have one. A point alone has a whisker.
func (f linePlotter) band(c draw.Canvas, p *plot.Plot, points []Point, style draw.LineStyle) {
	x, y := p.Transforms(&c)
	for len(points) > 0 {
		n := 0
		for n < len(points) && points[n].hasRange() {
			n++
		}
		switch run := points[:n]; {
		case n == 0:
			n = 1
		case n == 1 && c.ContainsX(x(*run[0].X)):
			whisker(c, draw.LineStyle{Color: style.Color, Width: 0.8}, x(*run[0].X), y(*run[0].Low), y(*run[0].High), 3)
		case n > 1:
			var around []vg.Point
			add := func(x float64, edge *float64) {
				around = append(around, vg.Point{X: c.X(p.X.Norm(x)), Y: c.Y(p.Y.Norm(*edge))})
			}
			for i, pt := range run {
				if f.Kind == Steps && i > 0 {
					add(*pt.X, run[i-1].High)
				}
				add(*pt.X, pt.High)
			}
			for i := len(run) - 1; i >= 0; i-- {
				add(*run[i].X, run[i].Low)
				if f.Kind == Steps && i > 0 {
					add(*run[i].X, run[i-1].Low)
				}
			}
			c.FillPolygon(pale(style.Color), c.ClipPolygonXY(around))
		}
		points = points[n:]
	}
}

// xys returns the points as the library wants them. In a list with many more points than the figure can show, the
// first, the lowest, the highest and the last point stand for the points of half a point's width.
func (f linePlotter) xys(c draw.Canvas, p *plot.Plot, points []Point) plotter.XYs {
	const dense = 4000
	var xys plotter.XYs
	add := func(p Point) { xys = append(xys, plotter.XY{X: *p.X, Y: *p.Y}) }
	if len(points) <= dense {
		for _, pt := range points {
			add(pt)
		}
		return xys
	}
	column := func(p1 Point) int { return int(2 * c.X(p.X.Norm(*p1.X))) }
	for len(points) > 0 {
		n, low, high := 1, 0, 0
		for n < len(points) && column(points[n]) == column(points[0]) {
			if *points[n].Y < *points[low].Y {
				low = n
			}
			if *points[n].Y > *points[high].Y {
				high = n
			}
			n++
		}
		previous := -1
		for _, i := range []int{0, min(low, high), max(low, high), n - 1} {
			if i > previous {
				add(points[i])
				previous = i
			}
		}
		points = points[n:]
	}
	return xys
}

// whisker draws a range as an upright line with caps. A white edge keeps it apart from a bar below it.
func whisker(c draw.Canvas, style draw.LineStyle, x, low, high, half vg.Length) {
	low, high = max(low, c.Min.Y), min(high, c.Max.Y)
	if high-low < 0.5 { // outside, or shorter than the lines are wide
		return
	}
	lines := [][]vg.Point{
		{{X: x, Y: low}, {X: x, Y: high}},
		{{X: x - half, Y: low}, {X: x + half, Y: low}},
		{{X: x - half, Y: high}, {X: x + half, Y: high}},
	}
	stroke(c, draw.LineStyle{Color: white, Width: style.Width + 0.4*half}, lines...)
	stroke(c, style, lines...)
}

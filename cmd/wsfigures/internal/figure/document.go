package figure

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// What a document has is drawn alike in all figures: as open diamonds, which have the colour of the series that they
// are to be compared with, or are black on bars. Where that series is a line, dashed lines join them.

// seriesNamed returns the index of a series, -1 if there is none of that name.
func (f *Figure) seriesNamed(name string) int {
	return slices.IndexFunc(f.Series, func(s Series) bool { return s.Name == name && name != "" })
}

// documentGlyph is the diamond of what is to be compared with series i, or with all if i is -1.
func documentGlyph(i int) draw.GlyphStyle {
	style := draw.GlyphStyle{Color: black, Radius: 3.6, Shape: openDiamond{}}
	if i >= 0 {
		style.Color = glyphStyle(i).Color
	}
	return style
}

// An openDiamond has nothing inside, so that a point at the same place shows. White edges keep it apart from what is
// below.
type openDiamond struct{}

func (openDiamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	r := s.Radius * 1.35
	corners := []vg.Point{
		{X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y - r},
		{X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y + r},
	}
	stroke(*c, draw.LineStyle{Color: white, Width: 2.6}, corners)
	stroke(*c, draw.LineStyle{Color: s.Color, Width: 1.1}, corners)
}

// plotDocument draws the diamonds of lines and steps.
func (f *Figure) plotDocument(c draw.Canvas, p *plot.Plot) {
	for _, d := range f.Document {
		style := documentGlyph(f.seriesNamed(d.Name))
		var xys plotter.XYs
		for _, pt := range d.Points {
			xys = append(xys, plotter.XY{X: *pt.X, Y: *pt.Y})
		}
		line := plotter.Line{XYs: xys, LineStyle: draw.LineStyle{
			Color: style.Color, Width: 1, Dashes: []vg.Length{3, 2.5},
		}}
		line.Plot(c, p)
		for _, pt := range xys {
			c.DrawGlyph(style, vg.Point{X: c.X(p.X.Norm(pt.X)), Y: c.Y(p.Y.Norm(pt.Y))})
		}
	}
}

// documentKeyHeight returns the height of the line that explains the diamonds.
func (f *Figure) documentKeyHeight() vg.Length {
	if len(f.Document) == 0 {
		return 0
	}
	return keyHeight
}

// drawDocumentKey draws the line that explains the diamonds.
func (f *Figure) drawDocumentKey(c draw.Canvas, top vg.Point) {
	if len(f.Document) == 0 {
		return
	}
	y := top.Y - keyHeight
	c.DrawGlyphNoClip(documentGlyph(-1), vg.Point{X: top.X + swatch/2, Y: y + 7.5})
	c.FillText(labelText, vg.Point{X: top.X + swatch + 4, Y: y + 4}, "document")
}

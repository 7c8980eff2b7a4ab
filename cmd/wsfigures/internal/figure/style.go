package figure

import (
	"image/color"
	"math"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	black = color.Gray{Y: 0x1a}
	grey  = color.Gray{Y: 0x55}
	faint = color.Gray{Y: 0xdd}
	white = color.White
)

// lineColours are colours that people with any kind of colour vision tell apart (Okabe and Ito 2008), without the
// yellow, which is too light for a line.
var lineColours = []color.Color{
	rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), black, rgb(0xe69f00), rgb(0x56b4e9),
}

var dashes = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {10, 3}}

// The numbers of colours, dashes and shapes have no common divisor, so that 210 series differ. Two with one colour
// differ in dashes and in shape.
var shapes = []draw.GlyphDrawer{disc{}, square{}, triangle{}, ring{}, diamond{}, openSquare{}}

// A fill is how the bars of a series look. Neighbours differ in lightness or in hatching.
type fill struct {
	colour color.Color
	hatch  hatch
	ink    color.Color // of the hatching
}

type hatch int

const (
	plain hatch = iota
	rising
	falling
	crossed
	level
	upright
	hatches
)

var fills = []fill{
	{rgb(0x0072b2), plain, white},
	{rgb(0xf0b23c), plain, black},
	{rgb(0xd9effb), rising, rgb(0x0072b2)},
	{rgb(0x00694d), falling, white},
	{rgb(0xf2d5e4), crossed, rgb(0x9c3f74)},
	{rgb(0xd55e00), level, white},
	{rgb(0xf7f1b5), upright, rgb(0x6b6400)},
	{rgb(0x4d4d4d), crossed, white},
}

// fillOf returns the fill of series i. Series with the same colour differ in hatching.
func fillOf(i int) fill {
	f := fills[i%len(fills)]
	f.hatch = (f.hatch + hatch(i/len(fills))) % hatches
	return f
}

func rgb(hex uint32) color.Color {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// pale returns c as a band has it: transparent, so that bands that overlap can be seen.
func pale(c color.Color) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = 0x30
	return n
}

func lineStyle(i int) draw.LineStyle {
	return draw.LineStyle{Color: lineColours[i%len(lineColours)], Width: 1.5, Dashes: dashes[i%len(dashes)]}
}

func glyphStyle(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: lineColours[i%len(lineColours)], Radius: 2.6, Shape: shapes[i%len(shapes)]}
}

// markStyle is the style of bound i. No series is dotted as these are, or grey.
func markStyle(i int) draw.LineStyle {
	patterns := [][]vg.Length{{4, 3}, {1.5, 1.5}, {9, 2, 1.5, 2}}
	return draw.LineStyle{Color: grey, Width: 1.1, Dashes: patterns[i%len(patterns)]}
}

// textStyle is a style of text of one line, aligned at the left end of its baseline.
func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		YAlign:  text.YBottom,
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

var (
	titleText = bold(textStyle(12, black))
	labelText = textStyle(9, black) // series, categories, axis labels
	tickText  = textStyle(8.5, grey)
	noteText  = textStyle(8, grey)
)

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

// leading is the distance between the baselines of two lines of text.
func leading(s text.Style) vg.Length { return s.Font.Size * 1.2 }

// wrap breaks text into lines of at most the width. A word that is wider is broken after a plus, dash or the like, or
// anywhere if it has none, and whole is false then.
func wrap(s text.Style, txt string, width vg.Length) (lines []string, whole bool) {
	whole = true
	current := ""
	for _, word := range strings.Fields(txt) {
		if joined := strings.TrimSpace(current + " " + word); s.Width(joined) <= width {
			current = joined
			continue
		}
		if current != "" {
			lines = append(lines, current)
		}
		for s.Width(word) > width {
			n := fitting(s, word, width)
			if n == len(word) {
				break
			}
			if end := strings.LastIndexAny(word[:n], "+-/=,_"); end > 0 {
				n = end + 1
			} else {
				whole = false
			}
			lines, word = append(lines, word[:n]), word[n:]
		}
		current = word
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines, whole
}

// fitting returns how many bytes of a word have room in the width: whole characters, at least one.
func fitting(s text.Style, word string, width vg.Length) int {
	n := 0
	for i, r := range word {
		end := i + len(string(r))
		if n > 0 && s.Width(word[:end]) > width {
			break
		}
		n = end
	}
	return n
}

// shorten cuts text to the width, with an ellipsis.
func shorten(s text.Style, txt string, width vg.Length) string {
	if s.Width(txt) <= width {
		return txt
	}
	return strings.TrimSpace(txt[:fitting(s, txt, width-s.Width("…"))]) + "…"
}

// fillLines draws lines of text downwards. top is the upper left corner.
func fillLines(c draw.Canvas, s text.Style, top vg.Point, lines []string) {
	for i, l := range lines {
		c.FillText(s, vg.Point{X: top.X, Y: top.Y - leading(s)*vg.Length(i+1) + s.Font.Size*0.25}, l)
	}
}

// The shapes of points. Each has a white edge, or a white inside, which keeps it apart from lines below it.
type (
	disc       struct{}
	ring       struct{}
	square     struct{}
	openSquare struct{}
	triangle   struct{}
	diamond    struct{}
)

func (disc) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	round(c, s, at, s.Color, white)
}
func (ring) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	round(c, s, at, white, s.Color)
}

func round(c *draw.Canvas, s draw.GlyphStyle, at vg.Point, inside, edge color.Color) {
	var p vg.Path
	p.Move(vg.Point{X: at.X + s.Radius, Y: at.Y})
	p.Arc(at, s.Radius, 0, 2*math.Pi)
	p.Close()
	glyph(c, p, inside, edge)
}

func (square) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, at, s.Radius*1.3, 4, math.Pi/4, s.Color, white)
}

func (openSquare) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, at, s.Radius*1.25, 4, math.Pi/4, white, s.Color)
}

func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, at, s.Radius*1.35, 4, 0, s.Color, white)
}

func (triangle) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, at, s.Radius*1.4, 3, math.Pi/2, s.Color, white)
}

// polygon draws a regular polygon whose first corner is at angle start.
func polygon(c *draw.Canvas, at vg.Point, r vg.Length, corners int, start float64, inside, edge color.Color) {
	var p vg.Path
	for i := range corners {
		sin, cos := math.Sincos(start + 2*math.Pi*float64(i)/float64(corners))
		corner := vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	glyph(c, p, inside, edge)
}

func glyph(c *draw.Canvas, p vg.Path, inside, edge color.Color) {
	c.SetColor(inside)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: edge, Width: 0.8})
	c.Stroke(p)
}

// hatched fills a rectangle.
func hatched(c draw.Canvas, r vg.Rectangle, f fill) {
	c.SetColor(f.colour)
	c.Fill(r.Path())
	const gap = 4.0
	w, h := r.Size().X, r.Size().Y
	var lines [][]vg.Point
	slanted := func(x0, y0, x1, y1 vg.Length) {
		lines = append(lines, []vg.Point{{X: r.Min.X + x0, Y: r.Min.Y + y0}, {X: r.Min.X + x1, Y: r.Min.Y + y1}})
	}
	if f.hatch == rising || f.hatch == crossed {
		for d := vg.Length(gap/2) - h; d < w; d += gap {
			slanted(d, 0, d+h, h)
		}
	}
	if f.hatch == falling || f.hatch == crossed {
		for d := vg.Length(gap / 2); d < w+h; d += gap {
			slanted(d, 0, d-h, h)
		}
	}
	if f.hatch == level {
		for d := vg.Length(gap / 2); d < h; d += gap * 0.75 {
			slanted(0, d, w, d)
		}
	}
	if f.hatch == upright {
		for d := vg.Length(gap / 2); d < w; d += gap * 0.75 {
			slanted(d, 0, d, h)
		}
	}
	if len(lines) > 0 {
		inner := draw.Canvas{Canvas: c.Canvas, Rectangle: r}
		stroke(c, draw.LineStyle{Color: f.ink, Width: 0.8}, inner.ClipLinesXY(lines...)...)
	}
	c.SetLineStyle(draw.LineStyle{Color: black, Width: 0.5})
	c.Stroke(r.Path())
}

// stroke draws lines as one path.
func stroke(c draw.Canvas, s draw.LineStyle, lines ...[]vg.Point) {
	var p vg.Path
	for _, l := range lines {
		for i, pt := range l {
			if i == 0 {
				p.Move(pt)
			} else {
				p.Line(pt)
			}
		}
	}
	if len(p) > 0 {
		c.SetLineStyle(s)
		c.Stroke(p)
	}
}

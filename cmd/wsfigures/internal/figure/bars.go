package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// groupWidth returns the width of a group of n bars as a part of a category's width, pitch.
func groupWidth(n int, pitch vg.Length) float64 {
	const mostBar = 52
	return min(0.8, mostBar*float64(n)/float64(pitch))
}

// barPlotter draws groups of bars with whiskers, and bounds as ticks across the groups.
type barPlotter struct{ *Figure }

func (f barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	base := 0.0
	if f.Y.Log || p.Y.Min > 0 {
		base = p.Y.Min
	} else if p.Y.Max < 0 {
		base = p.Y.Max
	}
	x, y := p.Transforms(&c)
	clip := func(v float64) vg.Length { return min(max(y(v), c.Min.Y), c.Max.Y) }
	group := groupWidth(len(f.Series), x(1)-x(0))
	width := group / float64(len(f.Series))
	left := func(i int, category float64) float64 { return category - group/2 + width*float64(i) }
	for i, s := range f.Series {
		for _, pt := range s.Points {
			left := left(i, *pt.X)
			inset := (x(left+width) - x(left)) * 0.06
			low, high := clip(min(base, *pt.Y)), clip(max(base, *pt.Y))
			hatched(c, vg.Rectangle{
				Min: vg.Point{X: x(left) + inset, Y: low},
				Max: vg.Point{X: x(left+width) - inset, Y: high},
			}, fillOf(i))
		}
	}
	for i, s := range f.Series {
		for _, pt := range s.Points {
			if pt.hasRange() {
				left := left(i, *pt.X)
				half := min((x(left+width)-x(left))*0.25, 3)
				whisker(c, draw.LineStyle{Color: black, Width: 0.8}, x(left+width/2), y(*pt.Low), y(*pt.High), half)
			}
		}
	}
	for i, m := range f.Marks {
		for _, pt := range m.Points {
			if at := y(*pt.Y); c.ContainsY(at) {
				line := []vg.Point{{X: x(*pt.X-group/2) - 4, Y: at}, {X: x(*pt.X+group/2) + 4, Y: at}}
				stroke(c, draw.LineStyle{Color: white, Width: tickStyle(i).Width + 1.6}, line)
				stroke(c, tickStyle(i), line)
			}
		}
	}
	for _, d := range f.Document {
		i := f.seriesNamed(d.Name)
		for _, pt := range d.Points {
			centre := *pt.X
			if i >= 0 {
				centre = left(i, *pt.X) + width/2
			}
			glyph := documentGlyph(-1)
			glyph.Radius = min(glyph.Radius, (x(width)-x(0))*0.4)
			c.DrawGlyph(glyph, vg.Point{X: x(centre), Y: y(*pt.Y)})
		}
	}
}

// tickStyle is the style of bound i of bars, and of dots.
func tickStyle(i int) draw.LineStyle {
	patterns := [][]vg.Length{nil, {4, 2}, {1.5, 1.5}}
	return draw.LineStyle{Color: black, Width: 1.8, Dashes: patterns[i%len(patterns)]}
}

// nameBars decides where the names of the series are: above the bars of one category if there is room, upright unless
// all bars are wide enough, and in a key above the figure otherwise. width is that of the data.
func (s *sheet) nameBars(width vg.Length) {
	n := len(s.Series)
	pitch := width / vg.Length(len(s.X.Categories))
	bar := pitch * vg.Length(groupWidth(n, pitch)) / vg.Length(n)
	s.level = true
	for _, series := range s.Series {
		s.level = s.level && labelText.Width(series.Name) <= bar-4
	}
	room := s.data * 0.3
	if bar >= labelText.Font.Size {
		for category := range s.X.Categories {
			need := vg.Length(0)
			for i := range n {
				size := labelText.Width(s.Series[i].Name)
				if s.level {
					size = labelText.Font.Size
				}
				need = max(need, s.barTop(i, category)+aboveBar+size-s.data)
			}
			if need < room {
				room, s.named = need, category
			}
		}
	}
	if s.named >= 0 {
		s.headroom = room
		return
	}
	s.key = layKey(namesOf(s.Series), s.width)
}

// aboveBar is the distance between the end of a bar's whisker, or the middle of a diamond, and its name.
const aboveBar = 8

// barTop returns the height above the axis of the bar of series i in a category, with its whisker and the bounds. It is
// infinite if the series has no bar there.
func (s *sheet) barTop(i, category int) vg.Length {
	top := math.Inf(-1)
	for _, p := range s.Series[i].Points {
		if *p.X == float64(category) {
			top = max(*p.Y, 0)
			if p.hasRange() {
				top = max(top, *p.High)
			}
		}
	}
	if math.IsInf(top, -1) {
		return vg.Length(math.Inf(1))
	}
	for _, m := range slices.Concat(s.Marks, s.Document) {
		for _, p := range m.Points {
			if *p.X == float64(category) {
				top = max(top, *p.Y)
			}
		}
	}
	return s.data * vg.Length(min(max(s.plot.Y.Norm(max(top, s.plot.Y.Min)), 0), 1))
}

// drawNames draws the names of the series above the bars of category s.named.
func (s *sheet) drawNames(data draw.Canvas) {
	style := labelText
	if !s.level {
		style.Rotation = math.Pi / 2
	}
	n := len(s.Series)
	group := groupWidth(n, data.Size().X/vg.Length(len(s.X.Categories)))
	for i, series := range s.Series {
		centre := float64(s.named) - group/2 + group*(float64(i)+0.5)/float64(n)
		at := vg.Point{X: data.X(s.plot.X.Norm(centre)), Y: data.Min.Y + s.barTop(i, s.named) + aboveBar}
		if s.level {
			at.X -= style.Width(series.Name) / 2
		} else {
			at.X += style.Font.Size * 0.35
		}
		data.FillText(style, at, series.Name)
	}
}

// A keyItem is a series' name in the key, with a swatch.
type keyItem struct {
	series int
	name   string
	x      vg.Length
}

const (
	keyHeight = 14
	swatch    = 16
)

// layKey lays the names of series out in rows.
func layKey(names []string, width vg.Length) (key [][]keyItem) {
	x := vg.Length(margin)
	for i, name := range names {
		name = shorten(labelText, name, width-2*margin-swatch-4)
		w := swatch + 4 + labelText.Width(name)
		if i == 0 || x+w > width-margin {
			key = append(key, nil)
			x = margin
		}
		row := &key[len(key)-1]
		*row = append(*row, keyItem{i, name, x})
		x += w + 14
	}
	return key
}

func namesOf(series []Series) (names []string) {
	for _, s := range series {
		names = append(names, s.Name)
	}
	return names
}

func (s *sheet) drawKey(c draw.Canvas, top vg.Point) {
	for i, row := range s.key {
		y := top.Y - vg.Length(i+1)*keyHeight
		for _, item := range row {
			hatched(c, vg.Rectangle{
				Min: vg.Point{X: item.x, Y: y + 3}, Max: vg.Point{X: item.x + swatch, Y: y + 12},
			}, fillOf(item.series))
			c.FillText(labelText, vg.Point{X: item.x + swatch + 4, Y: y + 4}, item.name)
		}
	}
}

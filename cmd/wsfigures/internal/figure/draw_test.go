package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// checkSVG checks that an SVG is well formed, self-contained and without undefined coordinates. It returns its texts.
func checkSVG(t testing.TB, svg []byte) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	depth := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			require.Equal(t, depth == 1, token.Name.Local == "svg", "an element svg around all others")
			require.Contains(t, []string{"svg", "g", "path", "text"}, token.Name.Local)
			if token.Name.Local == "text" {
				texts = append(texts, "")
			}
			for _, a := range token.Attr {
				require.NotContains(t, []string{"id", "href", "class"}, a.Name.Local)
				if a.Name.Local != "aria-label" {
					require.NotContains(t, a.Value, "url(")
					require.NotContains(t, a.Value, "NaN")
					require.NotContains(t, a.Value, "Inf")
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth > 1 && len(texts) > 0 {
				texts[len(texts)-1] = strings.TrimSpace(texts[len(texts)-1] + string(token))
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			require.Fail(t, "it could not be put into HTML", "%v", token)
		}
	}
	return texts
}

func TestSVG(t *testing.T) {
	for _, f := range samples(t) {
		t.Run(f.File, func(t *testing.T) {
			svg, err := f.SVG()
			require.NoError(t, err)
			texts := strings.Join(checkSVG(t, svg), " ")
			for _, want := range []string{f.Title, f.X.Label, f.Y.Label, f.Note} {
				require.Contains(t, texts, want)
			}
			for _, list := range [][]Series{f.Series, f.Marks} {
				for _, s := range list {
					if f.hasNames() {
						require.Contains(t, texts, s.Name)
					}
				}
			}
			require.Equal(t, len(f.Document) > 0, strings.Contains(texts, "document"))
			again, err := f.SVG()
			require.NoError(t, err)
			require.Equal(t, string(svg), string(again))
		})
	}
}

func TestPNG(t *testing.T) {
	for _, f := range samples(t) {
		var b bytes.Buffer
		require.NoError(t, f.PNG(&b))
		picture, err := png.Decode(&b)
		require.NoError(t, err)
		require.GreaterOrEqual(t, picture.Bounds().Dx(), 1500)
		colours := make(map[any]bool)
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				colours[picture.At(x, y)] = true
			}
		}
		require.Greater(t, len(colours), 10, "%s is empty", f.File)
	}
}

func TestUncheckedFiguresAreRefused(t *testing.T) {
	f := samples(t)[0]
	f.Series = []Series{{"a", []Point{{X: new(1.0), Y: new(math.NaN())}}}}
	_, err := f.SVG()
	require.EqualError(t, err, f.File+`: series "a": point 1: y is NaN`)
	require.Error(t, f.PNG(io.Discard))
	f.Series = []Series{{"a", []Point{{X: new(math.Inf(1)), Y: new(1.0)}}}}
	_, err = f.SVG()
	require.EqualError(t, err, f.File+`: series "a": point 1: x is +Inf`)
}

// TestRandomFigures draws figures of every kind with values of every magnitude.
func TestRandomFigures(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const count = 300
	for i := range count {
		f := random(rand.New(rand.NewPCG(seed, uint64(i))))
		require.NoError(t, f.Check(), "figure %d", i)
		svg, err := f.SVG()
		require.NoError(t, err, "figure %d", i)
		checkSVG(t, svg)
		if i%100 == 0 {
			require.NoError(t, f.PNG(io.Discard), "figure %d", i)
		}
	}
}

func FuzzDraw(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		fig := random(rand.New(rand.NewPCG(a, b)))
		svg, err := fig.SVG()
		require.NoError(t, err)
		checkSVG(t, svg)
	})
}

// random returns a figure that Check accepts.
func random(r *rand.Rand) *Figure {
	word := func() string {
		const letters = "abcdefghij ABC +-=,<>&\"'µé世"
		runes := []rune(letters)
		var b strings.Builder
		b.WriteByte('w')
		for range r.IntN(40) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return b.String()
	}
	magnitude := math.Pow(10, float64(r.IntN(13)-6))
	if r.IntN(10) == 0 {
		magnitude = math.Pow(10, float64(r.IntN(199)-99))
	}
	offset := []float64{0, 0, 1, 1e9}[r.IntN(4)]
	value := func(log bool) float64 {
		switch v := r.Float64(); {
		case log:
			return magnitude * math.Pow(10, 0.5*v)
		case r.IntN(5) == 0:
			return 0
		case r.IntN(3) == 0:
			if v = magnitude * (v - 0.5 + offset); math.Abs(v) < least {
				return 0
			}
			return min(max(v, -most), most)
		default:
			return math.Trunc(10 * v)
		}
	}
	f := &Figure{
		File: "f", Title: word(), Kind: []string{Lines, Bars, Steps, Dots}[r.IntN(4)], Note: word(),
		X: Axis{Label: word(), Log: r.IntN(3) == 0}, Y: Axis{Label: word(), Log: r.IntN(3) == 0},
	}
	f.Y.Zero = !f.Y.Log && r.IntN(2) == 0
	categories := f.hasGroups() || r.IntN(4) == 0
	if categories {
		f.X.Log = false
		for range 1 + r.IntN(1+r.IntN(60)) {
			f.X.Categories = append(f.X.Categories, word())
		}
	}
	for _, a := range []*Axis{&f.X, &f.Y} {
		if r.IntN(5) == 0 && !(categories && a == &f.X) {
			a.Min = new(value(a.Log))
		}
		if r.IntN(5) == 0 && !(categories && a == &f.X) {
			if v := value(a.Log); a.Min == nil || v > *a.Min {
				a.Max = &v
			}
		}
	}
	series := func() (points []Point) {
		var xs []float64
		for range 1 + r.IntN(1+r.IntN(50)) {
			x := value(f.X.Log)
			if categories {
				x = float64(r.IntN(len(f.X.Categories)))
			}
			xs = append(xs, x)
		}
		slices.Sort(xs)
		if f.hasGroups() {
			xs = slices.Compact(xs)
		}
		for _, x := range xs {
			p := Point{X: new(x), Y: new(value(f.Y.Log))}
			if r.IntN(3) > 0 {
				ys := []float64{*p.Y, value(f.Y.Log), value(f.Y.Log)}
				slices.Sort(ys)
				p.Low, p.Y, p.High = &ys[0], &ys[1], &ys[2]
			}
			points = append(points, p)
		}
		return points
	}
	for i := range 1 + r.IntN(1+r.IntN(20)) {
		f.Series = append(f.Series, Series{fmt.Sprint(i, word()), series()})
	}
	for range r.IntN(3) {
		f.Marks = append(f.Marks, Series{word(), series()})
	}
	for range r.IntN(3) {
		name := f.Series[r.IntN(len(f.Series))].Name
		if r.IntN(2) == 0 {
			name = ""
		}
		f.Document = append(f.Document, Series{name, series()})
	}
	return f
}

// TestLongSteps: a step function of a million points makes a file that a browser can show, and keeps its peaks.
func TestLongSteps(t *testing.T) {
	points := make([]Point, 1_000_000)
	for i := range points {
		points[i] = Point{X: new(float64(i)), Y: new(float64(i % 3))}
	}
	points[777_777].Y = new(50.0)
	f := &Figure{File: "f", Title: "T", Kind: Steps, X: Axis{Label: "x"}, Y: Axis{Label: "y"},
		Series: []Series{{"a", points}}}
	svg, err := f.SVG()
	require.NoError(t, err)
	checkSVG(t, svg)
	require.Less(t, len(svg), 200_000)
	s := newSheet(f)
	require.Equal(t, 52.5, math.Round(s.plot.Y.Max*10)/10)
}

func TestTicks(t *testing.T) {
	labels := func(ticks []plot.Tick) string {
		var all []string
		for _, tick := range ticks {
			if !tick.IsMinor() {
				all = append(all, tick.Label)
			}
		}
		return strings.Join(all, " ")
	}
	whole := map[float64]bool{1: true, 2: true, 3: true}
	powers := map[float64]bool{1: true, 2: true, 8: true}
	for _, c := range []struct {
		axis   Axis
		within extent
		values map[float64]bool
		want   string
	}{
		{Axis{}, extent{0, 1}, nil, "0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{}, extent{-1, 1}, nil, "−1.0 −0.5 0 0.5 1.0"},
		{Axis{}, extent{0.95, 2.05}, whole, "1 2"},
		{Axis{}, extent{0, 52000}, nil, "0 10k 20k 30k 40k 50k"},
		{Axis{}, extent{0, 3.1e6}, nil, "0 1M 2M 3M"},
		{Axis{}, extent{0, 31e6}, nil, "0 10M 20M 30M"},
		{Axis{}, extent{0, 5e-7}, nil, "0 1e−7 2e−7 3e−7 4e−7 5e−7"},
		{Axis{Log: true}, extent{0.05, 20000}, nil, "0.1 1 10 100 1000 10k"},
		{Axis{Log: true}, extent{8, 220}, nil, "10 20 50 100 200"},
		{Axis{Log: true}, extent{20, 80}, nil, "20 30 40 50 60 70 80"},
		{Axis{Log: true}, extent{0.9, 70}, powers, "1 2 4 8 16 32 64"},
		{Axis{Log: true}, extent{1e-50, 1e50}, nil, "1e−34 1e−17 1 1e17 1e34"},
	} {
		require.Equal(t, c.want, labels(c.axis.ticks(c.within, c.values, 6)), "%+v", c)
	}
}

// TestDots: rows are at least as high as their names, no dot of a row is in another, and all are in the data.
func TestDots(t *testing.T) {
	for _, policies := range []int{1, 3, 9} {
		f := &Figure{File: "f", Title: "T", Kind: Dots, Y: Axis{Label: "y"}}
		for i := range 28 {
			f.X.Categories = append(f.X.Categories, fmt.Sprintf("pair %d", i))
		}
		for i := range policies {
			s := Series{Name: fmt.Sprint(i)}
			for k := range f.X.Categories {
				s.Points = append(s.Points, Point{X: new(float64(k)), Y: new(float64(100 * k * i))})
			}
			f.Series = append(f.Series, s)
		}
		require.NoError(t, f.Check())
		s := newDotSheet(f)
		w, h := s.size()
		require.LessOrEqual(t, float64(w), 1100*0.75, "wider than a laptop's page") // 0.75 points a pixel
		require.GreaterOrEqual(t, float64(s.row), float64(leading(labelText)))
		area := s.area(draw.NewCanvas(nil, w, h))
		for i, series := range f.Series {
			for k, p := range series.Points {
				at := s.at(area, i, *p.X, *p.Y)
				radius := glyphStyle(i).Radius
				require.Less(t, float64(at.Y+radius), float64(area.Max.Y-s.row*vg.Length(k))+0.01)
				require.Greater(t, float64(at.Y-radius), float64(area.Max.Y-s.row*vg.Length(k+1))-0.01)
				require.True(t, at.X >= area.Min.X && at.X <= area.Max.X)
				if i > 0 {
					above := s.at(area, i-1, *p.X, 0)
					require.InDelta(t, dotPitch, float64(above.Y-at.Y), 1e-9)
				}
			}
		}
		require.Greater(t, float64(area.Min.X), float64(margin+labelText.Width("pair 27")))
	}
}

// TestSpread: labels keep their order, do not overlap, stay in the range if there is room, and move only if they must.
func TestSpread(t *testing.T) {
	require.Equal(t, []vg.Length{10, 50}, spread([]vg.Length{10, 50}, []vg.Length{10, 10}, 0, 100))
	require.Equal(t, []vg.Length{45, 55}, spread([]vg.Length{50, 50}, []vg.Length{10, 10}, 0, 100))
	require.Equal(t, []vg.Length{5, 15}, spread([]vg.Length{0, 0}, []vg.Length{10, 10}, 0, 100))
	require.Equal(t, []vg.Length{85, 95}, spread([]vg.Length{99, 100}, []vg.Length{10, 10}, 0, 100))
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var wanted, heights []vg.Length
		sum := vg.Length(0)
		for range 1 + r.IntN(12) {
			wanted = append(wanted, vg.Length(r.Float64()*100))
			heights = append(heights, vg.Length(1+r.Float64()*10))
			sum += heights[len(heights)-1]
		}
		slices.Sort(wanted)
		high := max(100, sum)
		got := spread(wanted, heights, 0, high)
		for i := range got {
			require.GreaterOrEqual(t, float64(got[i]-heights[i]/2), -1e-9)
			require.LessOrEqual(t, float64(got[i]+heights[i]/2), float64(high)+1e-9)
			if i > 0 {
				require.GreaterOrEqual(t, float64(got[i]-heights[i]/2), float64(got[i-1]+heights[i-1]/2)-1e-9)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	lines, whole := wrap(labelText, "one two  three", labelText.Width("one two "))
	require.Equal(t, []string{"one two", "three"}, lines)
	require.True(t, whole)
	lines, whole = wrap(labelText, "padws+half+capacity=256", labelText.Width("padws+half+c"))
	require.Equal(t, []string{"padws+half+", "capacity=256"}, lines)
	require.True(t, whole)
	lines, whole = wrap(labelText, "ééééé", labelText.Width("éé"))
	require.Equal(t, []string{"éé", "éé", "é"}, lines)
	require.False(t, whole)
	lines, _ = wrap(labelText, "ab", 0)
	require.Equal(t, []string{"a", "b"}, lines)
	lines, _ = wrap(labelText, " ", 10)
	require.Empty(t, lines)
}

// TestNeighboursDiffer: two series differ in a print in black and white.
func TestNeighboursDiffer(t *testing.T) {
	seen := make(map[string]int)
	for i := range maxSeries {
		look := fmt.Sprint(i%len(dashes), i%len(shapes), i%len(lineColours))
		require.NotContains(t, seen, look)
		seen[look] = i
	}
	bars := make(map[fill]int)
	for i := range len(fills) * int(hatches) {
		a, b := fillOf(i), fillOf(i+1)
		require.True(t, a.hatch != b.hatch || math.Abs(lightness(a)-lightness(b)) > 0.2, "fills %d and %d", i, i+1)
		require.NotContains(t, bars, a)
		bars[a] = i
	}
}

func lightness(f fill) float64 {
	r, g, b, _ := f.colour.RGBA()
	return (0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b)) / 0xffff
}

package replay

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// A Figure is drawn by the command wsfigures, which is in a module of its own: its drawing library would otherwise be
// among the requirements of everybody that uses Magpie. The JSON form is the whole interface between the two.
type Figure struct {
	File   string   `json:"file"` // without extension
	Title  string   `json:"title"`
	Kind   string   `json:"kind"` // lines, bars, steps or dots
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Marks  []Series `json:"marks,omitempty"` // bounds
	Note   string   `json:"note,omitempty"`

	// Document are the values of the document, each under the name of the series with which it is to be compared.
	Document []Series `json:"document,omitempty"`
}

// An Axis of a figure.
type Axis struct {
	Label      string   `json:"label"`
	Log        bool     `json:"log,omitempty"`
	Zero       bool     `json:"zero,omitempty"` // begins at 0
	Categories []string `json:"categories,omitempty"`
}

// A Series is a line, a kind of bar, or a bound.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// A Point of a series. X is an index of Categories if the axis has them. Low and High are the least and the most of the
// repetitions, of which Y is the median; of dots they are the ends of an interval, of which resampledNote tells.
type Point struct {
	X    float64  `json:"x"`
	Y    float64  `json:"y"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// A chart says how to make a figure of data: the settings of its axis and its series, and the figure on the y axis.
type chart struct {
	file, title string
	x, xLabel   string
	y, yLabel   string
	scale       float64 // of the y axis; 0 is 1
	series      string
	label       func(string) string // of a value of series; nil: itself
	log         bool                // the y axis
	logX        bool
	bound       string // a figure that is drawn as a mark
}

// lines draws a line for each series over an axis of numbers.
func (c chart) lines(d *Data) *Figure {
	f := c.frame("lines")
	f.X.Log, f.Y.Zero = c.logX, !c.log
	for _, s := range d.values(c.series) {
		part := d.where("%s=%s", c.series, s)
		series := Series{Name: c.name(s)}
		for _, x := range part.values(c.x) {
			if at, err := strconv.ParseFloat(x, 64); err == nil {
				series.add(at, part.where("%s=%s", c.x, x).stat(c.y), c.factor())
			}
		}
		f.add(series)
	}
	return f
}

// bars draws a group of bars for each value of x, with one bar for each series.
func (c chart) bars(d *Data) *Figure {
	f := c.frame("bars")
	f.Y.Zero = true
	f.X.Categories = d.values(c.x)
	for _, s := range d.values(c.series) {
		series := Series{Name: c.name(s)}
		for i, x := range f.X.Categories {
			series.add(float64(i), d.where("%s=%s %s=%s", c.series, s, c.x, x).stat(c.y), c.factor())
		}
		f.add(series)
	}
	if c.bound != "" {
		marks := Series{Name: "lower bound"}
		for i, x := range f.X.Categories {
			if s := d.where("%s=%s", c.x, x).stat(c.bound); s.N > 0 {
				marks.Points = append(marks.Points, Point{X: float64(i), Y: s.Median * c.factor()})
			}
		}
		if len(marks.Points) > 0 {
			f.Marks = append(f.Marks, marks)
		}
	}
	return f
}

func (c chart) frame(kind string) *Figure {
	return &Figure{
		File: c.file, Title: c.title, Kind: kind, X: Axis{Label: c.xLabel}, Y: Axis{Label: c.yLabel, Log: c.log},
	}
}

func (c chart) factor() float64 { return cmp.Or(c.scale, 1) }

func (c chart) name(value string) string {
	if c.label != nil {
		return c.label(value)
	}
	return value
}

// add adds a point, unless there is nothing to sum up.
func (s *Series) add(x float64, stat bench.Stat, scale float64) {
	if stat.N == 0 {
		return
	}
	low, high := stat.Least*scale, stat.Most*scale
	s.Points = append(s.Points, Point{x, stat.Median * scale, &low, &high})
}

// at adds the point of a category.
func (s *Series) at(category int, y float64) {
	s.Points = append(s.Points, Point{X: float64(category), Y: y})
}

// add adds a series, without points that were not measured, if there are others.
func (f *Figure) add(s Series) {
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return math.IsNaN(p.Y) || math.IsInf(p.Y, 0) })
	if len(s.Points) > 0 {
		f.Series = append(f.Series, s)
	}
}

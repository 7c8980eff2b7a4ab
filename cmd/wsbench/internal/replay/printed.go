package replay

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A printed is what a document has of figures that an experiment repeats. Its figures are pictures, so that these are
// the values in its text and its tables. What can only be read from a picture is not among them.
type printed struct {
	figures string  // a pattern of names of files, for path.Match
	values  []value // in the units of our figure
	says    string  // what the document has besides, or what its values are of, or where there are more
}

// A value is a number in a document. It is drawn beside our figure. If it is beyond our axis and nothing else is said
// of the figure, it is said below.
type value struct {
	series string // of ours, with which it is to be compared; "": with all
	x      string // a category, or a number
	y      float64
}

// notInNumbers is said where a document has a picture only.
const notInNumbers = "not given in numbers"

// print adds to a figure what the document has of it.
func (e *Experiment) print(f *Figure) error {
	if e.printed == nil {
		return nil // beyond the documents
	}
	i := slices.IndexFunc(e.printed, func(p printed) bool {
		matched, _ := path.Match(p.figures, f.File) // written below
		return matched
	})
	if i < 0 {
		return fmt.Errorf("%s: nothing is said of what the document has of %s", e.ID, f.File)
	}
	p := e.printed[i]
	var beyond []string
	for _, v := range p.values {
		at, ok := f.locate(v)
		if !ok {
			beyond = append(beyond, v.String())
			continue
		}
		k := slices.IndexFunc(f.Document, func(s Series) bool { return s.Name == v.series })
		if k < 0 {
			k = len(f.Document)
			f.Document = append(f.Document, Series{Name: v.series})
		}
		f.Document[k].Points = append(f.Document[k].Points, Point{X: at, Y: v.y})
	}
	for _, s := range f.Document {
		slices.SortStableFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	}
	said := p.says
	if said == "" && len(beyond) > 0 {
		said = "beyond these axes, " + strings.Join(beyond, ", ")
	}
	if said != "" {
		f.Note = strings.TrimSpace(f.Note + " Document: " + said + ".")
	}
	return nil
}

func (v value) String() string {
	s := significant(v.y) + " at " + v.x
	if v.series != "" {
		s = v.series + " " + s
	}
	return s
}

// locate returns where on the x axis a value is. It is nowhere if its series or category was not measured, or if it is
// beyond what was measured.
func (f *Figure) locate(v value) (x float64, ok bool) {
	if v.series != "" && !slices.ContainsFunc(f.Series, func(s Series) bool { return s.Name == v.series }) {
		return 0, false
	}
	if len(f.X.Categories) > 0 {
		i := slices.Index(f.X.Categories, v.x)
		return float64(i), i >= 0
	}
	x, err := strconv.ParseFloat(v.x, 64)
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range f.Series {
		for _, p := range s.Points {
			least, most = min(least, p.X), max(most, p.X)
		}
	}
	return x, err == nil && least <= x && x <= most
}

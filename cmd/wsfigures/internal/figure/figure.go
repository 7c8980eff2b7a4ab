// Package figure reads figures as JSON and draws them as SVG and PNG: lines with a band from least to most, grouped
// bars with whiskers, step functions of time, and rows of dots. Series are told apart by dashes, shapes of points,
// hatches and lightness as well as by colour, so that a print in black and white can be read.
package figure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"unicode"
)

// The kinds of figures.
const (
	Lines = "lines" // a line with points for each series
	Bars  = "bars"  // a group of bars for each category
	Steps = "steps" // a step function for each series
	Dots  = "dots"  // a row for each category, with a dot for each series
)

// A Figure is one picture. Read returns figures that have been checked. Other figures pass Check before they are drawn.
type Figure struct {
	File   string   `json:"file"` // the name of the file to be written, without extension
	Title  string   `json:"title"`
	Kind   string   `json:"kind"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Marks  []Series `json:"marks,omitempty"` // bounds: ticks across groups of bars, otherwise dashed lines
	Note   string   `json:"note,omitempty"`  // a line below the figure

	// Document are the values of a document whose figure this one repeats. The name of each is that of the series
	// that it is to be compared with, or empty.
	Document []Series `json:"document,omitempty"`
}

// An Axis is one axis of a figure.
type Axis struct {
	Label      string   `json:"label"`
	Log        bool     `json:"log,omitempty"`
	Zero       bool     `json:"zero,omitempty"`       // the axis begins at 0, or includes it
	Categories []string `json:"categories,omitempty"` // of the x axis: a point's x is the index of its category
	Min        *float64 `json:"min,omitempty"`
	Max        *float64 `json:"max,omitempty"`
}

// A Series is a list of points under a name. The name may be missing if there is only one series.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// A Point has X and Y, and both or neither of Low and High.
type Point struct {
	X    *float64 `json:"x"`
	Y    *float64 `json:"y"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// hasRange reports whether the point has Low and High.
func (p Point) hasRange() bool { return p.Low != nil && p.High != nil }

// Read decodes a document {"figures": […]} and checks its figures. Unknown fields are errors. An error is one line that
// names the place.
func Read(r io.Reader) ([]Figure, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Figures []Figure `json:"figures"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	switch err := d.Decode(&doc); {
	case err == io.EOF:
		return nil, errors.New("no figures: the input is empty")
	case err != nil:
		return nil, locate(data, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("line %d: more after the end of the figures", line(data, d.InputOffset()+1))
	}
	if len(doc.Figures) == 0 {
		return nil, errors.New("no figures")
	}
	files := make(map[string]int)
	for i, f := range doc.Figures {
		if err := f.Check(); err != nil {
			return nil, fmt.Errorf("figure %d: %w", i+1, err)
		}
		if other := files[f.File]; other != 0 {
			return nil, fmt.Errorf("figures %d and %d have the same file, %s", other, i+1, f.File)
		}
		files[f.File] = i + 1
	}
	return doc.Figures, nil
}

// locate rewrites an error of encoding/json with the line of the input. offset is where the decoder stopped.
func locate(data []byte, offset int64, err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if at := e.Offset - 1; at >= 0 && at < int64(len(data)) && (data[at] == 'N' || data[at] == 'I') {
			return fmt.Errorf("line %d: NaN and infinity cannot be drawn", line(data, e.Offset))
		}
		return fmt.Errorf("line %d: %w", line(data, e.Offset), err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := e.Field
		if field == "" {
			field = "the document"
		}
		return fmt.Errorf("line %d: %s cannot be %s", line(data, e.Offset), field, e.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("line %d: the input ends in the middle", line(data, int64(len(data))))
	}
	return fmt.Errorf("line %d: %s", line(data, offset), strings.TrimPrefix(err.Error(), "json: "))
}

// line returns the number of the line of the byte before offset.
func line(data []byte, offset int64) int {
	offset = min(max(offset-1, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

// fileName excludes separators, hidden files and everything that a shell treats specially.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

// The limits keep a figure readable and its drawing finite.
const (
	maxSeries     = 64
	maxCategories = 500
	maxText       = 2000
	most          = 1e100 // magnitude of a coordinate
	least         = 1e-100
)

// Check returns an error, of one line, if the figure cannot be drawn.
func (f *Figure) Check() error {
	if f.File == "" {
		return errors.New("file is missing")
	}
	if !fileName.MatchString(f.File) {
		return fmt.Errorf("file %q is not a plain name of letters, digits, dots, dashes and underscores", f.File)
	}
	if err := f.check(); err != nil {
		return fmt.Errorf("%s: %w", f.File, err)
	}
	return nil
}

func (f *Figure) check() error {
	texts := []struct{ field, text string }{
		{"title", f.Title}, {"note", f.Note}, {"x.label", f.X.Label}, {"y.label", f.Y.Label},
	}
	for _, c := range f.X.Categories {
		texts = append(texts, struct{ field, text string }{"category", c})
	}
	for _, t := range texts {
		if err := checkText(t.field, t.text); err != nil {
			return err
		}
	}
	switch f.Kind {
	case Lines, Bars, Steps, Dots:
	case "":
		return errors.New("kind is missing: lines, bars, steps or dots")
	default:
		return fmt.Errorf("unknown kind %q: lines, bars, steps or dots", f.Kind)
	}
	switch {
	case blank(f.Title):
		return errors.New("title is missing")
	case blank(f.Y.Label):
		return errors.New("y.label is missing")
	case blank(f.X.Label) && len(f.X.Categories) == 0:
		return errors.New("x.label is missing")
	case f.hasGroups() && len(f.X.Categories) == 0:
		return fmt.Errorf("%s without x.categories", f.Kind)
	case len(f.X.Categories) > maxCategories:
		return fmt.Errorf("%d categories: at most %d", len(f.X.Categories), maxCategories)
	case len(f.Y.Categories) > 0:
		return errors.New("the y axis has categories")
	case len(f.X.Categories) > 0 && (f.X.Log || f.X.Min != nil || f.X.Max != nil):
		return errors.New("the x axis has categories and log, min or max")
	case len(f.Series) == 0:
		return errors.New("series is missing")
	case len(f.Series)+len(f.Marks) > maxSeries:
		return fmt.Errorf("%d series and marks: at most %d", len(f.Series)+len(f.Marks), maxSeries)
	case len(f.Document) > maxSeries:
		return fmt.Errorf("%d series in document: at most %d", len(f.Document), maxSeries)
	}
	if err := f.X.check("x"); err != nil {
		return err
	}
	if err := f.Y.check("y"); err != nil {
		return err
	}
	names := make(map[string]bool)
	for i, s := range f.Series {
		if err := f.checkSeries("series", i, s); err != nil {
			return err
		}
		if blank(s.Name) && len(f.Series) > 1 {
			return fmt.Errorf("series %d: name is missing", i+1)
		}
		if names[s.Name] {
			return fmt.Errorf("two series %q", s.Name)
		}
		names[s.Name] = true
	}
	for i, s := range f.Marks {
		if err := f.checkSeries("mark", i, s); err != nil {
			return err
		}
		if blank(s.Name) {
			return fmt.Errorf("mark %d: name is missing", i+1)
		}
	}
	for i, s := range f.Document {
		if err := f.checkSeries("document", i, s); err != nil {
			return err
		}
		if s.Name != "" && !names[s.Name] {
			return fmt.Errorf("document %d: there is no series %q", i+1, s.Name)
		}
	}
	return nil
}

// hasGroups reports whether the figure has a group, of bars or of dots, for each category.
func (f *Figure) hasGroups() bool { return f.Kind == Bars || f.Kind == Dots }

func (a *Axis) check(name string) error {
	for _, limit := range []struct {
		name string
		at   *float64
	}{{"min", a.Min}, {"max", a.Max}} {
		if limit.at == nil {
			continue
		}
		if err := checkNumber(name+"."+limit.name, *limit.at, a.Log); err != nil {
			return err
		}
	}
	if a.Log && a.Zero {
		return fmt.Errorf("%s has both log and zero", name)
	}
	if a.Min != nil && a.Max != nil && *a.Min >= *a.Max {
		return fmt.Errorf("%s.min %v is not below %s.max %v", name, *a.Min, name, *a.Max)
	}
	return nil
}

func (f *Figure) checkSeries(list string, i int, s Series) error {
	if err := checkText("name of "+list, s.Name); err != nil {
		return err
	}
	at := fmt.Sprintf("%s %q", list, s.Name)
	if s.Name == "" {
		at = fmt.Sprintf("%s %d", list, i+1)
	}
	if len(s.Points) == 0 {
		return fmt.Errorf("%s has no points", at)
	}
	seen := make(map[float64]bool)
	for i, p := range s.Points {
		if err := f.checkPoint(p); err != nil {
			return fmt.Errorf("%s: point %d: %w", at, i+1, err)
		}
		if f.hasGroups() && list == "series" {
			if seen[*p.X] {
				return fmt.Errorf("%s: point %d: a second one for category %v", at, i+1, *p.X)
			}
			seen[*p.X] = true
		}
		if !f.hasGroups() && i > 0 && *p.X < *s.Points[i-1].X {
			return fmt.Errorf("%s: point %d: x %v comes after %v", at, i+1, *p.X, *s.Points[i-1].X)
		}
	}
	return nil
}

func (f *Figure) checkPoint(p Point) error {
	if p.X == nil {
		return errors.New("x is missing")
	}
	if p.Y == nil {
		return errors.New("y is missing")
	}
	if err := checkNumber("x", *p.X, f.X.Log); err != nil {
		return err
	}
	if n := len(f.X.Categories); n > 0 && (*p.X != math.Trunc(*p.X) || *p.X < 0 || *p.X >= float64(n)) {
		return fmt.Errorf("x %v is not the index of one of %d categories", *p.X, n)
	}
	if err := checkNumber("y", *p.Y, f.Y.Log); err != nil {
		return err
	}
	if (p.Low == nil) != (p.High == nil) {
		return errors.New("low without high, or high without low")
	}
	if !p.hasRange() {
		return nil
	}
	if err := checkNumber("low", *p.Low, f.Y.Log); err != nil {
		return err
	}
	if err := checkNumber("high", *p.High, f.Y.Log); err != nil {
		return err
	}
	if *p.Low > *p.Y || *p.Y > *p.High {
		return fmt.Errorf("y %v is not between low %v and high %v", *p.Y, *p.Low, *p.High)
	}
	return nil
}

func checkNumber(name string, v float64, log bool) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%s is %v", name, v)
	case math.Abs(v) > most || v != 0 && math.Abs(v) < least:
		return fmt.Errorf("%s %v is out of range", name, v)
	case log && v <= 0:
		return fmt.Errorf("%s %v is not positive and its axis is logarithmic", name, v)
	}
	return nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// checkText refuses control characters and all others that XML excludes.
func checkText(field, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("%s has %d bytes: at most %d", field, len(text), maxText)
	}
	for _, r := range text {
		if !unicode.IsGraphic(r) {
			return fmt.Errorf("%s %.60q has the character %U, which cannot be drawn", field, text, r)
		}
	}
	return nil
}

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A Record is one repetition: a [Result], a [DequeResult] or a [Row].
type Record interface {
	// Row returns the record as reports see it.
	Row() Row
}

// A Row is one repetition as reports see it.
type Row struct {
	Point
	Figures  []Metric // in the units of the Go benchmark format
	Details  []Metric // figures that the format leaves out: they follow from others, or no run changes them
	Verified bool
}

// Row returns r.
func (r Row) Row() Row { return r }

// Figure returns the figure, or detail, in a unit. If the row has none, ok is false.
func (r Row) Figure(unit string) (value float64, ok bool) {
	for _, some := range [][]Metric{r.Figures, r.Details} {
		for _, m := range some {
			if m.Name == unit {
				return m.Value, true
			}
		}
	}
	return 0, false
}

// benchResult returns the row in the Go benchmark format.
func (r Row) benchResult() *benchfmt.Result {
	b := &benchfmt.Result{Name: benchfmt.Name(r.benchName()), Iters: 1}
	for _, m := range r.Figures {
		b.Values = append(b.Values, benchfmt.Value{Value: m.Value, Unit: m.Name})
	}
	return b
}

// A Point says what was measured, the same for all repetitions. It has the settings of a benchmark, in the order of its
// name.
type Point struct {
	Kind     string // the base of the benchmark's name
	Settings []Attribute
}

// An Attribute is a part of a benchmark's name, a setting.
type Attribute struct {
	Name, Value string
	isInput     bool // a parameter of the workload
}

// windowName and pinnedName are the names of settings with the value of Result.Whole and Result.Pinned.
const (
	windowName = "window"
	pinnedName = "threads"
)

// With returns the point with one more setting, unless its value is empty, 0 or [None].
func (p Point) With(name string, value any) Point {
	v := fmt.Sprint(value)
	if v == "" || v == "0" || v == None {
		return p
	}
	return p.withAny(Attribute{Name: name, Value: v})
}

// again returns the point as that of a second measurement, if it is one.
func (p Point) again(is bool) Point {
	if is {
		return p.With(againName, "yes")
	}
	return p
}

func (p Point) withAny(some ...Attribute) Point {
	return Point{p.Kind, slices.Concat(p.Settings, some)}
}

// Value returns the value of a setting, or "".
func (p Point) Value(name string) string {
	for _, s := range p.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// inputs returns the parameters of the workload.
func (p Point) inputs() string {
	var all []string
	for _, s := range p.Settings {
		if s.isInput {
			all = append(all, s.Name+"="+s.Value)
		}
	}
	return strings.Join(all, "/")
}

// without returns the point without the settings with these names.
func (p Point) without(names []string) Point {
	isOut := func(s Attribute) bool { return slices.Contains(names, s.Name) }
	return Point{p.Kind, slices.DeleteFunc(slices.Clone(p.Settings), isOut)}
}

// benchName returns the name of the point's benchmark, without the word Benchmark, which writers add.
func (p Point) benchName() string {
	var b strings.Builder
	b.WriteString(p.Kind)
	for _, s := range p.Settings {
		b.WriteString("/" + s.Name + "=" + s.Value)
	}
	return b.String()
}

// ReadRecord reads a record in format json.
func ReadRecord(raw []byte) (Record, error) {
	var d DequeResult
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if d.Experiment != "" {
		return d, nil
	}
	var r Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	if r.Workload == "" {
		return nil, errors.New("an object is no result of wsbench")
	}
	return r, nil
}

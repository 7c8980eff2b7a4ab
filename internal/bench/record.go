package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A Record is one repetition as reports see it, a [Result] or a [DequeResult].
type Record interface {
	// point returns what was measured, the same for all repetitions.
	point() point
	// figures returns the figures in the units of the Go benchmark format.
	figures() []Metric
	isVerified() bool
}

// A point has the settings of a benchmark, in the order of its name.
type point struct {
	kind     string // the base of the benchmark's name
	settings []attribute
}

// An attribute is a part of a benchmark's name. The attribute inputs is several parts, and its value has their names.
type attribute struct{ name, value string }

const inputsName = "inputs"

// windowName and pinnedName are the names of settings with the value of Result.Whole and Result.Pinned.
const (
	windowName = "window"
	pinnedName = "threads"
)

// with adds a setting, unless it is empty, 0 or [None].
func (p point) with(name string, value any) point {
	v := fmt.Sprint(value)
	if v == "" || v == "0" || v == None {
		return p
	}
	return point{p.kind, append(p.settings, attribute{name, v})}
}

// value returns the value of a setting, or "".
func (p point) value(name string) string {
	for _, s := range p.settings {
		if s.name == name {
			return s.value
		}
	}
	return ""
}

// without returns the point without the settings with these names.
func (p point) without(names []string) point {
	isOut := func(s attribute) bool { return slices.Contains(names, s.name) }
	return point{p.kind, slices.DeleteFunc(slices.Clone(p.settings), isOut)}
}

// benchName returns the name of the point's benchmark, without the word Benchmark, which writers add.
func (p point) benchName() string {
	var b strings.Builder
	b.WriteString(p.kind)
	for _, s := range p.settings {
		b.WriteByte('/')
		if s.name != inputsName {
			b.WriteString(s.name + "=")
		}
		b.WriteString(s.value)
	}
	return b.String()
}

// benchResult returns a record in the Go benchmark format.
func benchResult(r Record) *benchfmt.Result {
	b := &benchfmt.Result{Name: benchfmt.Name(r.point().benchName()), Iters: 1}
	for _, m := range r.figures() {
		b.Values = append(b.Values, benchfmt.Value{Value: m.Value, Unit: m.Name})
	}
	return b
}

// readRecord reads a record in format json.
func readRecord(raw json.RawMessage) (Record, error) {
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

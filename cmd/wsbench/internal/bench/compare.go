package bench

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// A Comparison holds two files in the Go benchmark format or in format json, with the statistics that benchstat
// computes: medians with their confidence intervals at 0.95, and differences judged by the Mann-Whitney U test at 0.05.
type Comparison struct {
	Units  []*UnitComparison
	Differ []string // keys of the files' configuration that differ, as in `go: "go1.25" and "go1.26"`
}

// A UnitComparison compares all measurements in one unit. The unit is tidied: sec where the files have ns.
type UnitComparison struct {
	Unit   string
	Better int // +1 if higher is better, -1 if lower is, 0 if neither is
	Rows   []*RowComparison
}

// A RowComparison compares one benchmark. Old or New is nil if the benchmark is only in the other file.
type RowComparison struct {
	Name     string
	Old, New *benchmath.Summary
	Test     benchmath.Comparison // if both are there
	Warnings []string
}

// Delta returns the difference in percent, or ~ if it may be chance.
func (r *RowComparison) Delta() string {
	if r.Old == nil || r.New == nil {
		return ""
	}
	return r.Test.FormatDelta(r.Old.Center, r.New.Center) + " (" + r.Test.String() + ")"
}

// Compare reads two files and compares them. It returns an [input.Error] for a file that cannot be read or has no
// benchmark.
func Compare(oldFile, newFile string) (*Comparison, error) {
	c := newComparer()
	var configs [2]map[string]string
	var files [2]*samples
	for i, name := range []string{oldFile, newFile} {
		var err error
		if files[i], configs[i], err = c.read(name); err != nil {
			return nil, err
		}
	}
	return &Comparison{Units: c.compare(files[0], files[1]), Differ: differing(configs[0], configs[1])}, nil
}

// A comparer projects results onto rows and units, in the order of their first occurrence.
type comparer struct {
	rowBy, unitBy *benchproc.Projection
	unit          *benchproc.Field
	rows, units   []benchproc.Key
	metadata      benchfmt.UnitMetadataMap
}

// samples are the values of one file.
type samples struct{ values map[cell][]float64 }

type cell struct{ row, unit benchproc.Key }

func newComparer() *comparer {
	c := &comparer{metadata: make(benchfmt.UnitMetadataMap)}
	var parser benchproc.ProjectionParser
	c.rowBy = must(parser.Parse(".fullname", everything))
	var err error
	c.unitBy, c.unit, err = parser.ParseWithUnit("", everything)
	must(c.unitBy, err)
	return c
}

// everything is a filter that keeps everything.
var everything = must(benchproc.NewFilter("*"))

// must is for expressions of benchproc that are constant, or made of names of settings.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (c *comparer) read(name string) (*samples, map[string]string, error) {
	text, err := benchText(name)
	if err != nil {
		return nil, nil, err
	}
	file := benchfmt.NewReader(bytes.NewReader(text), name)
	s := &samples{values: make(map[cell][]float64)}
	config := make(map[string]string)
	for file.Scan() {
		switch rec := file.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, nil, input.Errorf("%v", rec)
		case *benchfmt.Result:
			row := c.rowBy.Project(rec)
			c.rows = appendNew(c.rows, row)
			for i, unit := range c.unitBy.ProjectValues(rec) {
				c.units = appendNew(c.units, unit)
				at := cell{row, unit}
				s.values[at] = append(s.values[at], rec.Values[i].Value)
			}
			for _, k := range rec.Config {
				if k.File {
					config[k.Key] = string(k.Value)
				}
			}
		}
	}
	if err := file.Err(); err != nil {
		return nil, nil, input.Errorf("%v", err)
	}
	if len(s.values) == 0 {
		return nil, nil, input.Errorf("%s: no benchmark results: "+
			"write it with wsbench run or deque, -format bench -o FILE", name)
	}
	for k, m := range file.Units() {
		c.metadata[k] = m
	}
	return s, config, nil
}

func appendNew[K comparable](keys []K, k K) []K {
	if slices.Contains(keys, k) {
		return keys
	}
	return append(keys, k)
}

func (c *comparer) compare(old, new *samples) (all []*UnitComparison) {
	for _, u := range c.units {
		unit := u.Get(c.unit)
		uc := &UnitComparison{Unit: unit, Better: c.metadata.GetBetter(unit)}
		assume := c.metadata.GetAssumption(unit)
		for _, row := range c.rows {
			at := cell{row, u}
			if len(old.values[at])+len(new.values[at]) > 0 {
				uc.Rows = append(uc.Rows, compareRow(row.StringValues(), old.values[at], new.values[at], assume))
			}
		}
		all = append(all, uc)
	}
	return all
}

// level is the confidence of the intervals, as in benchstat.
const level = 0.95

func compareRow(name string, old, new []float64, assume benchmath.Assumption) *RowComparison {
	r := &RowComparison{Name: name}
	warn := func(ws []error) {
		for _, w := range ws {
			if !slices.Contains(r.Warnings, w.Error()) {
				r.Warnings = append(r.Warnings, w.Error())
			}
		}
	}
	var both []*benchmath.Sample
	for i, values := range [][]float64{old, new} {
		if len(values) == 0 {
			continue
		}
		sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
		both = append(both, sample)
		summary := assume.Summary(sample, level)
		warn(sample.Warnings)
		warn(summary.Warnings)
		if i == 0 {
			r.Old = &summary
		} else {
			r.New = &summary
		}
	}
	if len(both) == 2 {
		r.Test = assume.Compare(both[0], both[1])
		warn(r.Test.Warnings)
	}
	return r
}

// differing lists the keys for which two configurations have different values.
func differing(old, new map[string]string) (all []string) {
	for k, v := range old {
		if w, ok := new[k]; ok && v != w {
			all = append(all, fmt.Sprintf("%s: %q and %q", k, v, w))
		}
	}
	slices.Sort(all)
	return all
}

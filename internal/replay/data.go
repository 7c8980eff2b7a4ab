package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/internal/bench"
)

// A Row is one repetition: its settings and its figures, by name. The names are those of the JSON form of wsbench run
// and wsbench deque; figures that are in an object have its name and a dot before theirs. Tags of the program are
// settings.
type Row struct {
	Settings map[string]string
	Figures  map[string]float64
}

// numbers are the settings that are numbers. All other numbers are figures.
var numbers = []string{
	"workers", "n", "rep", "seed", "tasks", "edges", "block", "stolen_percent", "thieves", "capacity", "work",
}

// parseRow reads one line that wsbench wrote with -format json.
func parseRow(line []byte, tags map[string]string) (Row, error) {
	r := Row{maps.Clone(tags), make(map[string]float64)}
	if r.Settings == nil {
		r.Settings = make(map[string]string)
	}
	var object map[string]any
	if err := json.Unmarshal(line, &object); err != nil {
		return r, fmt.Errorf("not a result: %w", err)
	}
	if verified, _ := object["verified"].(bool); !verified {
		return r, fmt.Errorf("a result that is not verified: %s", line)
	}
	r.add("", object)
	if _, ok := r.Settings["stolen_percent"]; !ok && r.Settings["experiment"] != "" {
		r.Settings["stolen_percent"] = "0" // the JSON form of wsbench deque leaves it out
	}
	for input := range strings.SplitSeq(r.Settings["inputs"], "/") { // of a workload: circuit=c6288
		if name, value, ok := strings.Cut(input, "="); ok {
			r.Settings[name] = value
		}
	}
	return r, nil
}

func (r *Row) add(prefix string, object map[string]any) {
	for name, v := range object {
		name = prefix + name
		switch v := v.(type) {
		case string:
			r.Settings[name] = v
		case float64:
			if slices.Contains(numbers, name) {
				r.Settings[name] = strconv.FormatFloat(v, 'f', -1, 64)
			} else {
				r.Figures[name] = v
			}
		case bool:
			r.Settings[name] = strconv.FormatBool(v)
		case map[string]any:
			r.add(name+".", v)
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok { // a bench.Metric
					metric, _ := m["name"].(string)
					r.Figures[metric], _ = m["value"].(float64)
				}
			}
		}
	}
}

// Data is what was measured for an experiment, or a part of it.
type Data struct {
	Options
	Env  *bench.Environment
	Rows []Row

	Refused    []string // why some measurements could not be made
	Unrecorded []string // why the switches of some co-runs were not recorded
}

func appendNew[T comparable](all []T, v T) []T {
	if slices.Contains(all, v) {
		return all
	}
	return append(all, v)
}

// where returns the part of d whose rows have these settings, given as in "policy=abp workers=2". A setting may have
// several values, separated by |.
func (d *Data) where(format string, args ...any) *Data {
	part := &Data{Options: d.Options, Env: d.Env, Refused: d.Refused, Unrecorded: d.Unrecorded}
	conditions := strings.Fields(fmt.Sprintf(format, args...))
	for _, r := range d.Rows {
		if !slices.ContainsFunc(conditions, func(c string) bool { return !r.meets(c) }) {
			part.Rows = append(part.Rows, r)
		}
	}
	return part
}

func (r *Row) meets(condition string) bool {
	name, value, ok := strings.Cut(condition, "=")
	if !ok {
		panic("replay: no condition: " + condition)
	}
	return slices.Contains(strings.Split(value, "|"), r.Settings[name])
}

// values returns the values of a setting, in the order of numbers if they are numbers, or else of their first row.
func (d *Data) values(setting string) (all []string) {
	for _, r := range d.Rows {
		if v, ok := r.Settings[setting]; ok {
			all = appendNew(all, v)
		}
	}
	values := make(map[string]float64)
	for _, v := range all {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return all
		}
		values[v] = x
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(values[a], values[b]) })
	return all
}

// A Stat sums up a figure over repetitions. Without any, all but N is NaN.
type Stat struct {
	Median, Least, Most, Mean, Deviation float64
	N                                    int
}

// stat sums up a figure of all rows that have it.
func (d *Data) stat(figure string) Stat {
	var values []float64
	for _, r := range d.Rows {
		if v, ok := r.Figures[figure]; ok {
			values = append(values, v)
		}
	}
	return statOf(values)
}

func statOf(values []float64) Stat {
	if len(values) == 0 {
		nan := math.NaN()
		return Stat{nan, nan, nan, nan, nan, 0}
	}
	slices.Sort(values)
	s := Stat{Least: values[0], Most: values[len(values)-1], N: len(values)}
	s.Median = (values[(s.N-1)/2] + values[s.N/2]) / 2
	for _, v := range values {
		s.Mean += v / float64(s.N)
	}
	for _, v := range values {
		s.Deviation += (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(s.Deviation / float64(max(s.N-1, 1)))
	return s
}

// median returns the median of a figure over the rows with these settings.
func (d *Data) median(figure, format string, args ...any) float64 {
	return d.where(format, args...).stat(figure).Median
}

package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// parseRow reads one line that wsbench wrote with -format json. Tags of the program become settings.
func parseRow(line []byte, tags map[string]string) (row bench.Row, err error) {
	record, err := bench.ReadRecord(line)
	if err != nil {
		return row, fmt.Errorf("not a result: %w", err)
	}
	if row = record.Row(); !row.Verified {
		return row, fmt.Errorf("a result that is not verified: %s", line)
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		row.Point = row.With(name, tags[name])
	}
	return row, nil
}

// Data is what was measured for an experiment, or a part of it.
type Data struct {
	Options
	Env  *environment.Environment
	Rows []bench.Row
	// Control are the rows of baselines that were measured a second time, under another name.
	Control []bench.Row
	figures []string // of the experiment's table: those that claims are judged by

	Begun      []*beginning
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
	part := *d
	part.Rows = meeting(d.Rows, strings.Fields(fmt.Sprintf(format, args...)))
	return &part
}

// meeting returns the rows that meet all conditions, which are given as in where.
func meeting(rows []bench.Row, conditions []string) (some []bench.Row) {
	all := parseConditions(conditions)
	for _, r := range rows {
		if all.meets(r) {
			some = append(some, r)
		}
	}
	return some
}

// conditions are settings of a row, each with the values that it may have.
type conditions []struct {
	setting string
	values  []string
}

func parseConditions(texts []string) conditions {
	all := make(conditions, len(texts))
	for i, text := range texts {
		setting, values, ok := strings.Cut(text, "=")
		if !ok {
			panic("replay: no condition: " + text)
		}
		all[i].setting, all[i].values = setting, strings.Split(values, "|")
	}
	return all
}

func (all conditions) meets(r bench.Row) bool {
	for _, c := range all {
		if !slices.Contains(c.values, r.Value(c.setting)) {
			return false
		}
	}
	return true
}

// values returns the values of a setting, in the order of numbers if they are numbers, or else of their first row.
func (d *Data) values(setting string) (all []string) {
	all = bench.ValuesOf(d.Rows, setting)
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

// stat sums up a figure of all rows that have it.
func (d *Data) stat(figure string) bench.Stat { return bench.StatOf(d.Rows, figure) }

// median returns the median of a figure over the rows with these settings.
func (d *Data) median(figure, format string, args ...any) float64 {
	return d.where(format, args...).stat(figure).Median
}

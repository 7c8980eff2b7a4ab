package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStat(t *testing.T) {
	var rows []Row
	for i, x := range []float64{4, 1, math.NaN(), 2, 3} {
		r := Row{Figures: []Metric{{"x", x}}}
		if i > 2 {
			r.Details = []Metric{{"late", 7}}
		}
		rows = append(rows, r)
	}
	s := StatOf(rows, "x")
	require.Equal(t, 4, s.N)
	require.Equal(t, []float64{2.5, 1, 4, 2.5}, []float64{s.Median, s.Least, s.Most, s.Mean})
	require.InDelta(t, math.Sqrt(5.0/3), s.Deviation, 1e-12)
	require.Equal(t, "25.0 (10.0 to 40.0)", s.Range(10))
	require.Equal(t, "2.50!", s.spread(), "four repetitions have no interval")
	require.InDelta(t, 1.5/2.5, s.Spread(), 1e-12, "so that their range counts")
	require.True(t, s.IsLoose())
	require.False(t, StatOf(rows, "late").IsLoose())
	require.False(t, StatOf(rows[:1], "x").IsLoose(), "nothing is known of one repetition")
	require.Zero(t, StatOf(rows, "late").Spread())
	require.Equal(t, "7.00", StatOf(rows, "late").Range(1))
	none := StatOf(rows, "none")
	require.Zero(t, none.N)
	require.True(t, math.IsNaN(none.Median))
	require.Empty(t, none.Range(1))
}

// TestSpread: of nine repetitions the interval of the median leaves out the least and the most.
func TestSpread(t *testing.T) {
	var rows []Row
	for _, x := range []float64{5, 1, 99, 3, 4, 2, 6, 7, 8} {
		rows = append(rows, Row{Figures: []Metric{{"x", x}}})
	}
	require.InDelta(t, (8-2)/2./5, StatOf(rows, "x").Spread(), 1e-12)
}

// TestIsLoose: a median is loose if it may be off by more than a tenth to either side.
func TestIsLoose(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		loose  bool
		text   string
	}{
		{[]float64{100, 109, 98, 100, 101}, false, "100 ± 9%"},
		{[]float64{100, 112, 98, 100, 101}, true, "100 ± 12%!"},
		{[]float64{100, 101, 88, 100, 101}, true, "100 ± 12%!"},
		{[]float64{100, 200, 99, 100, 101, 100, 50, 100}, false, "100 ± 1%"},
		{[]float64{100, 130, 100}, true, "100!"},
		{[]float64{100, 105, 100}, false, "100"},
	} {
		var rows []Row
		for _, v := range tt.values {
			rows = append(rows, Row{Figures: []Metric{{"x", v}}})
		}
		s := StatOf(rows, "x")
		require.Equal(t, tt.loose, s.IsLoose(), tt.values)
		require.Equal(t, tt.text, s.spread())
	}
	require.False(t, StatOf(nil, "x").IsLoose())
}

func TestGroupBy(t *testing.T) {
	at := func(policy, workers string) Row {
		return Row{Point: Point{Kind: "Run"}.With("policy", policy).With("workers", workers)}
	}
	rows := []Row{at("b", "1"), at("a", "2"), at("b", "2"), at("a", "2")}
	sizes := func(names []string) (all []int) {
		for _, g := range GroupBy(rows, names) {
			all = append(all, len(g.Rows))
		}
		return all
	}
	require.Equal(t, []int{1, 2, 1}, sizes(nil))
	require.Equal(t, []int{2, 2}, sizes([]string{"policy"}))
	require.Equal(t, []int{1, 3}, sizes([]string{"workers"}))
	require.Equal(t, []int{4}, sizes([]string{"deque"}))
	require.Equal(t, []string{"b", "a"}, ValuesOf(rows, "policy"))
}

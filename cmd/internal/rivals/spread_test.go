package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSumUp: the spread is how far the 90 % interval of the median goes, or all values if they are too few for one.
func TestSumUp(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		median float64
		spread float64
		mark   string
	}{
		{nil, 0, 0, ""},
		{[]float64{7}, 7, 0, "± unknown"},
		{[]float64{100, 109}, 104.5, 4.5 / 104.5, ""},
		{[]float64{110, 100, 101}, 101, 9. / 101, ""},
		{[]float64{123, 100, 100}, 100, 0.23, "±23 %"},
		{[]float64{70, 100, 100}, 100, 0.3, "±30 %"},
		{[]float64{200, 100, 100, 101, 99}, 100, 1, "±100 %"},
		{[]float64{200, 100, 100, 101, 99, 100, 100, 50}, 100, 0.01, ""}, // of eight it leaves out the outermost
		{[]float64{200, 100, 100, 101, 99, 100, 100}, 100, 0.01, ""},     // of seven only the largest
		{[]float64{50, 100, 100, 101, 99, 100, 100}, 100, 0.5, "±50 %"},
	} {
		m, f := sumUp(tt.values)
		require.Equal(t, tt.median, m, tt.values)
		require.Equal(t, len(tt.values), f.Rounds)
		require.InDelta(t, tt.spread, f.Spread, 1e-9, tt.values)
		require.Equal(t, tt.mark, f.mark(), tt.values)
		require.Equal(t, tt.mark != "", f.Loose, tt.values)
	}
	for n, want := range map[int][]float64{
		1: {0, 0, 0}, 5: {0, 2, 4}, 7: {0, 3, 5}, 8: {1, 3.5, 6}, 10: {1, 4.5, 7}, 11: {2, 5, 8}, 15: {3, 7, 10},
	} {
		var values []float64
		for i := range n {
			values = append(values, float64(i))
		}
		low, median, high := interval(values)
		require.Equal(t, want, []float64{low, median, high}, n)
	}
}

// TestTurns: after the first rounds only what is loose is measured again, beside what it is compared with.
func TestTurns(t *testing.T) {
	tight, loose := []float64{100, 100, 101}, []float64{100, 150, 101}
	for what, tt := range map[string]struct {
		values [][]float64
		want   []int
	}{
		"the first round":        {[][]float64{nil, nil, nil}, []int{0, 1}},
		"no round was missed":    {[][]float64{tight[:2], tight[:2], nil}, []int{0, 1}},
		"all are tight":          {[][]float64{tight, tight, nil}, nil},
		"the other is loose":     {[][]float64{loose, tight, nil}, []int{1, 0}},
		"the yardstick is loose": {[][]float64{tight, loose, nil}, []int{1}},
		"enough rounds":          {[][]float64{append(loose, 100, 150), append(loose, 100, 150), nil}, nil},
	} {
		p := plan{rounds: 3, most: 5}
		require.Equal(t, tt.want, p.turns(tt.values, func(i int) bool { return i == 2 }, 1), what)
	}
	p := plan{rounds: 3}
	require.Empty(t, p.turns([][]float64{loose, tight}, func(int) bool { return false }, 1), "without more rounds")
}

package main

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// enough is the spread up to which a figure is worth reading.
const enough = 0.10

// A figure is a median over rounds.
type figure struct {
	Rounds int     `json:"rounds"`
	Spread float64 `json:"spread,omitempty"` // by how much the median may be off, as a share of it
	// Loose says that Spread is larger than enough, or unknown after one round: the figure is worth nothing.
	Loose bool `json:"loose,omitempty"`
}

// sumUp sorts the values of rounds, and returns the median and what is known about it. The spread is the larger
// distance from the median to an end of its interval.
func sumUp(values []float64) (float64, figure) {
	n := len(values)
	if n == 0 {
		return 0, figure{}
	}
	low, m, high := interval(values)
	spread := max(high-m, m-low) / m
	return m, figure{Rounds: n, Spread: spread, Loose: n == 1 || spread > enough}
}

// interval sorts the values, of which there are some, and returns their median between the ends of its 90 % confidence
// interval, as wsbench has it. Fewer than five values have no interval, and their range is taken.
func interval(values []float64) (low, median, high float64) {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.9)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		s.Lo, s.Hi = values[0], values[len(values)-1]
	}
	return s.Lo, s.Center, s.Hi
}

// mark is what stands beside a loose figure. It is empty for others.
func (f figure) mark() string {
	switch {
	case !f.Loose:
		return ""
	case f.Rounds == 1:
		return "± unknown"
	}
	return fmt.Sprintf("±%.0f %%", 100*f.Spread)
}

// margin is the mark as the last cell of a line.
func (f figure) margin() string {
	if m := f.mark(); m != "" {
		return "\t" + m
	}
	return ""
}

// markNote explains the marks below the tables, if there are any.
const markNote = "± stands where a median may be off by more than 10 % after all rounds: it is worth nothing."

// turns returns which of some rivals are measured in the next round: in the first rounds all, then those whose figures
// are loose. The one that the others are compared with is measured whenever another is. An empty result is the end.
func (p *plan) turns(values [][]float64, missing func(i int) bool, yardstick int) (who []int) {
	most := max(p.most, p.rounds)
	for i, v := range values {
		_, f := sumUp(slices.Clone(v))
		if !missing(i) && (len(v) < p.rounds || f.Loose && len(v) < most) {
			who = append(who, i)
		}
	}
	if len(who) > 0 && !slices.Contains(who, yardstick) {
		who = append([]int{yardstick}, who...)
	}
	return who
}

// round says which round it is.
func (p *plan) round(n int) string {
	if n > p.rounds {
		return fmt.Sprintf("round %d, for what varies by more than 10 %%", n)
	}
	return fmt.Sprintf("round %d of %d", n, p.rounds)
}

package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
)

// Figures draws the distributions of the latencies: one figure for each load and task, in files that begin with name.
func Figures(name string, cases []*Case) (all []*replay.Figure) {
	for len(cases) > 0 {
		group := cases
		if i := slices.IndexFunc(cases, func(c *Case) bool { return !c.isPeer(cases[0]) }); i > 0 {
			group = cases[:i]
		}
		cases = cases[len(group):]
		first := group[0]
		f := &replay.Figure{
			File:  name,
			Title: fmt.Sprintf("Latency with %s work in tasks of %s in the background", first.Load, first.Task),
			Kind:  "lines",
			X:     replay.Axis{Label: "one of so many requests takes longer", Log: true},
			Y:     replay.Axis{Label: "latency in ms", Log: true},
			Note: fmt.Sprintf("%v requests a second, %d rounds of %v s; all rounds together. 100 on the x axis is the 99th "+
				"percentile", first.Rate, first.Rounds, first.Each),
		}
		if len(all) > 0 || len(cases) > 0 {
			f.File = fmt.Sprintf("%s-%s-%s", name, first.Load, strings.ReplaceAll(first.Task, "µ", "u"))
		}
		for _, c := range group {
			f.Series = append(f.Series, replay.Series{Name: c.Name, Points: c.distribution()})
		}
		all = append(all, f)
	}
	return all
}

// distribution returns the latencies, in ms, that one of x requests exceeds, from x = 1.25 on, in steps of a tenth of a
// decade.
func (c *Case) distribution() (points []replay.Point) {
	for x := 1.25; x <= float64(len(c.latencies)); x *= 1.2589254117941673 {
		points = append(points, replay.Point{X: x, Y: float64(quantile(c.latencies, 1-1/x)) / 1e6})
	}
	if len(points) == 0 {
		points = append(points, replay.Point{X: 2, Y: float64(quantile(c.latencies, 0.5)) / 1e6})
	}
	return points
}

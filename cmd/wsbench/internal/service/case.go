package service

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// A Case sums up the rounds of a background with a load and a task. Its fields in format json are part of the command
// line's interface. A figure is the median of the rounds, unless its comment says otherwise.
type Case struct {
	Name   string  `json:"case"` // the background
	Load   string  `json:"load"`
	Task   string  `json:"task"` // about how long a task takes alone
	Units  int     `json:"units_per_task"`
	Rate   float64 `json:"rate_per_s"`
	Rounds int     `json:"rounds"`
	Each   float64 `json:"seconds"`  // that were measured in each round
	Sent   int     `json:"requests"` // of all rounds, each answered and verified

	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p999_us"`
	Max  float64 `json:"max_us"` // of all rounds

	Background float64 `json:"background_per_s"` // verified units of work

	GCPerSecond   float64 `json:"gc_per_s"`
	GCPauseP50    float64 `json:"gc_pause_p50_us"`
	GCPauseP99    float64 `json:"gc_pause_p99_us"`
	GCPauseMax    float64 `json:"gc_pause_max_us"`    // of all rounds
	GCStoppingP99 float64 `json:"gc_stopping_p99_us"` // the part of pauses until all threads had stopped
	Procs         int     `json:"gomaxprocs"`         // of the server, with reserved Ps

	Quota     float64 `json:"quota_cpus"`      // of the server, set by the session; 0 if it has set none
	Throttled float64 `json:"throttled_per_s"` // periods in which the server was stopped for a quota, whoever has set it

	LateP99  float64 `json:"late_p99_us"`   // how late the load process itself was
	Favoured string  `json:"load_favoured"` // how it was run before others; empty if it was not

	RoundsP50        []float64 `json:"rounds_p50_us"`
	RoundsP99        []float64 `json:"rounds_p99_us"`
	RoundsBackground []float64 `json:"rounds_background_per_s"`

	latencies []int64 // of all rounds, sorted
}

// newCase sums up the repetitions of a setting.
func (s *Session) newCase(at setting, all []*repetition) *Case {
	c := &Case{
		Name: at.background.Name, Load: at.load.Name, Task: at.task.String(), Units: at.units, Rate: s.Rate,
		Rounds: len(all), Each: s.Measure.Seconds(), Quota: s.Quota,
	}
	over := func(of func(*repetition) float64) (values []float64) {
		for _, r := range all {
			values = append(values, of(r))
		}
		return values
	}
	latency := func(q float64) []float64 {
		return over(func(r *repetition) float64 { return float64(quantile(r.sorted, q)) / 1e3 })
	}
	gc := func(of func(gcTimes) float64) []float64 {
		return over(func(r *repetition) float64 { return of(r.Window.GC) })
	}
	c.RoundsP50, c.RoundsP99 = latency(0.5), latency(0.99)
	c.RoundsBackground = over(func(r *repetition) float64 { return float64(r.Window.Units) / r.Window.Seconds })
	c.P50, c.P90, c.P99, c.P999 = median(c.RoundsP50), median(latency(0.9)), median(c.RoundsP99), median(latency(0.999))
	c.Max = slices.Max(latency(1))
	c.Background = median(c.RoundsBackground)
	c.GCPerSecond = median(over(func(r *repetition) float64 { return float64(r.Window.GC.Cycles) / r.Window.Seconds }))
	c.GCPauseP50 = median(gc(func(g gcTimes) float64 { return g.PauseP50 }))
	c.GCPauseP99 = median(gc(func(g gcTimes) float64 { return g.PauseP99 }))
	c.GCPauseMax = slices.Max(gc(func(g gcTimes) float64 { return g.PauseMax }))
	c.GCStoppingP99 = median(gc(func(g gcTimes) float64 { return g.StoppingP99 }))
	c.Throttled = median(over(func(r *repetition) float64 { return float64(r.Window.Throttled) / r.Window.Seconds }))
	c.LateP99 = median(over(func(r *repetition) float64 {
		return float64(quantile(slices.Sorted(slices.Values(r.Lateness)), 0.99)) / 1e3
	}))
	for _, r := range all {
		c.Sent += len(r.sorted)
		c.Procs = r.Window.Procs
		c.Favoured = r.Favoured
		c.latencies = append(c.latencies, r.sorted...)
	}
	slices.Sort(c.latencies)
	return c
}

// quantile returns the least of the sorted values that at least the part q of them do not exceed.
func quantile(sorted []int64, q float64) int64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// WriteJSON writes one object on a line for each case.
func WriteJSON(w io.Writer, cases []*Case) error {
	e := json.NewEncoder(w)
	for _, c := range cases {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	return nil
}

// WriteText writes the cases for people: a table for each load and task.
func WriteText(w io.Writer, env *environment.Environment, cases []*Case) error {
	var b strings.Builder
	first := cases[0]
	fmt.Fprintf(&b, "%s\n%v requests a second, answers verified; medians of %d rounds of %v in turn; times in ms\n",
		env.Summary(), first.Rate, first.Rounds, time.Duration(first.Each*float64(time.Second)))
	if first.Quota != 0 {
		fmt.Fprintf(&b, "the service has a quota of %v CPUs\n", first.Quota)
	}
	if first.Favoured != "" {
		fmt.Fprintf(&b, "the load process runs %s\n", first.Favoured)
	}
	for len(cases) > 0 {
		group := cases
		if i := slices.IndexFunc(cases, func(c *Case) bool { return !c.isPeer(cases[0]) }); i > 0 {
			group = cases[:i]
		}
		cases = cases[len(group):]
		fmt.Fprintf(&b, "\nbackground: %s, in tasks of %s\n", group[0].Load, group[0].Task)
		if err := tableOf(group).WriteText(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// isPeer reports whether two cases differ in their backgrounds only.
func (c *Case) isPeer(other *Case) bool { return c.Load == other.Load && c.Task == other.Task }

// tableOf returns a table with a row for each background. Cases are compared with the first, if it is none.
func tableOf(group []*Case) *bench.Table {
	t := new(bench.Table)
	t.Column("background", false)
	for _, h := range []string{
		"p50", "p90", "p99", "p99.9", "max", "p99 vs none", "units/s", "GC/s", "GC pause p50", "p99", "max", "throttled/s",
		"late p99",
	} {
		t.Column(h, true)
	}
	ms := func(us float64) string { return bench.Significant(us / 1e3) }
	for _, c := range group {
		versus := "-"
		if none := group[0]; none.Name == None && c != none {
			versus = fmt.Sprintf("%.2fx", c.P99/none.P99)
		}
		t.Row(c.Name, ms(c.P50), ms(c.P90), ms(c.P99), ms(c.P999), ms(c.Max), versus, bench.Significant(c.Background),
			bench.Significant(c.GCPerSecond), ms(c.GCPauseP50), ms(c.GCPauseP99), ms(c.GCPauseMax),
			bench.Significant(c.Throttled), ms(c.LateP99))
	}
	return t
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A plan is what is to be measured.
type plan struct {
	benches []bench
	loops   []loop
	rivals  []string // none: all
	workers []int    // none: 1 and 2, for loops as many as CPUs
	rounds  int
	most    int     // rounds of a figure that is loose; 0: as many as rounds
	seconds float64 // 0: benchSeconds, for loops loopSeconds
	size    int

	loopSizes []float64
	callers   []loopCaller
}

// How long a measurement takes.
const (
	benchSeconds = 0.5
	loopSeconds  = 0.1 // a block of calls
)

// A row is a line of the table.
type row struct {
	Bench   string  `json:"bench"`
	Size    int     `json:"size"`
	Workers int     `json:"workers"`
	Rival   string  `json:"rival"`
	Unit    string  `json:"unit"`
	NS      float64 `json:"ns"`    // a unit
	Ratio   float64 `json:"ratio"` // to magpie's NS
	figure
	Missing string `json:"missing,omitempty"` // why there is no figure
}

// measure takes the measurements, round by round, and in each round rival by rival.
func (p *plan) measure(ctx context.Context, all []rival, t *teller) (rows []row, err error) {
	workers := p.workers
	if len(workers) == 0 {
		workers = []int{1, 2}
	}
	for _, b := range p.benches {
		if p.size > 0 {
			b.size = p.size
		}
		units := float64(b.units(b.size))
		if units < 1 {
			return nil, fmt.Errorf("%s of size %d does nothing: give a larger -size", b.name, b.size)
		}
		for _, w := range workers {
			here := slices.Collect(func(yield func(rival) bool) {
				for _, q := range all {
					if q.does(b.name) && !yield(q) {
						return
					}
				}
			})
			times := make([][]float64, len(here))
			missing := func(i int) bool { return here[i].missing != "" }
			magpie := slices.IndexFunc(here, func(q rival) bool { return q.name == "magpie" })
			for round := 1; ; round++ {
				who := p.turns(times, missing, magpie)
				if len(who) == 0 {
					break
				}
				for _, i := range who {
					q := here[i]
					t.tell(fmt.Sprintf("%s, %d workers", b.name, w), p.round(round)+": "+q.name)
					ns, err := q.measure(ctx, b.name, w, b.size, cmp.Or(p.seconds, benchSeconds))
					if err != nil {
						return nil, fmt.Errorf("%s, %s with %d workers: %w", b.name, q.name, w, err)
					}
					times[i] = append(times[i], ns/units)
				}
			}
			t.done()
			first := len(rows)
			for i, q := range here {
				r := row{Bench: b.name, Size: b.size, Workers: w, Rival: q.name, Unit: b.unit, Missing: q.missing}
				r.NS, r.figure = sumUp(times[i])
				rows = append(rows, r)
			}
			compare(rows[first:])
		}
	}
	return rows, nil
}

// compare sets the ratios, and puts the fastest first and those that are missing last.
func compare(rows []row) {
	i := slices.IndexFunc(rows, func(r row) bool { return r.Rival == "magpie" })
	own := rows[i].NS
	for i := range rows {
		rows[i].Ratio = rows[i].NS / own
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case (a.Missing == "") != (b.Missing == ""):
			return len(a.Missing) - len(b.Missing)
		case a.NS < b.NS:
			return -1
		case a.NS > b.NS:
			return 1
		}
		return 0
	})
}

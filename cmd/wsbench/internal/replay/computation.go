package replay

import (
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// A Computation makes rows without a run of wsbench: from a document's theory, or of jobs on virtual processors. It
// gives the same rows each time, on any machine.
type Computation struct {
	Name string // distinguishes it from all others
	rows func() []bench.Row
}

// compute plans a computation.
func (p *Plan) compute(expect time.Duration, name string, rows func() []bench.Row) {
	p.add(&Measurement{Computation: &Computation{name, rows}, Expect: expect})
}

// record computes.
func (c *Computation) record(key string) (*record, error) {
	begin := time.Now()
	r := &record{Key: key}
	for _, row := range c.rows() {
		r.Computed = append(r.Computed, newComputedRow(row))
	}
	r.TookNS, r.At = time.Since(begin).Nanoseconds(), time.Now().UTC().Round(time.Second)
	return r, nil
}

// A computedRow is a row as a record has it.
type computedRow struct {
	Settings []computedSetting `json:"settings"`
	Figures  []bench.Metric    `json:"figures"`
}

type computedSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func newComputedRow(row bench.Row) computedRow {
	c := computedRow{Figures: row.Figures}
	for _, s := range row.Settings {
		c.Settings = append(c.Settings, computedSetting{s.Name, s.Value})
	}
	return c
}

func (c *computedRow) row() bench.Row {
	var settings []string
	for _, s := range c.Settings {
		settings = append(settings, s.Name, s.Value)
	}
	return newRow(c.Figures, settings...)
}

// newRow returns a row of a computation. Settings are names and values in turn.
func newRow(figures []bench.Metric, settings ...string) bench.Row {
	row := bench.Row{Point: bench.Point{Kind: "Computed"}, Figures: figures, Verified: true}
	for i := 0; i < len(settings); i += 2 {
		row.Settings = append(row.Settings, bench.Attribute{Name: settings[i], Value: settings[i+1]})
	}
	return row
}

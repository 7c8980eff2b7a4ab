package replay

import (
	"testing"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/stretchr/testify/require"
)

// timed returns rows of a policy with these times.
func timed(policy string, times ...float64) (rows []bench.Row) {
	for _, x := range times {
		figures := []bench.Metric{{Name: "ns/op", Value: x}, {Name: "steals", Value: 1}}
		rows = append(rows, newRow(figures, "policy", policy))
	}
	return rows
}

// TestDecide: what decides a verdict, and in which order.
func TestDecide(t *testing.T) {
	here, two := need{2, "a thief needs a core"}, timed("new", 100)
	for _, tt := range []struct {
		name     string
		needs    need
		refuted  string
		baseline []float64
		control  []float64
		rows     []bench.Row
		outcome  Outcome
		by       Decider
		why      string
	}{
		{"clear", here, "", []float64{200, 202, 204, 206, 208}, nil, two, Held, ByMeasured, ""},
		{"clearly not", here, "", []float64{50, 51, 52, 53, 54}, nil, two, NotHeld, ByOurs, ""},
		{"within the repetitions", here, "", []float64{90, 100, 103, 104, 105}, nil, two, NotResolved, ByNoise,
			"policy=old) is off by its spread, 7 % of its ns/op"},
		{"not, within the repetitions", here, "", []float64{90, 95, 98, 99, 105}, nil, two, NotResolved, ByNoise,
			"8 %"},
		{"within the control's difference", here, "", []float64{110, 111}, []float64{130, 131}, two, NotResolved,
			ByNoise, "18 % of its ns/op"},
		{"the control agrees", here, "", []float64{110, 111}, []float64{111, 112}, two, Held, ByMeasured, ""},
		{"too few cores", need{3, "two thieves need two"}, "", []float64{50}, nil, two, CannotShow, ByMachine,
			"3 cores, and here are 2: two thieves need two"},
		{"too few cores, and it would hold", need{3, "x"}, "", []float64{200}, nil, two, CannotShow, ByMachine,
			"3 cores"},
		{"refuted", here, "arithmetic", []float64{50}, nil, two, NotHeld, ByDocument, "arithmetic"},
		{"refuted, within the noise", here, "arithmetic", []float64{90, 95, 98, 99, 105}, nil, two, NotHeld, ByDocument,
			"arithmetic"},
		{"refuted, and it held within the noise", here, "arithmetic", []float64{90, 100, 103, 104, 105}, nil, two,
			NotHeld, ByDocument, "arithmetic"},
		{"refuted, and it held", here, "arithmetic", []float64{200, 201}, nil, two, Held, ByMeasured,
			"not by the schedule: arithmetic"},
		{"exact", calculated, "", []float64{101}, nil, two, Held, ByExact, ""},
		{"exact, and not", calculated, "", []float64{99}, nil, two, NotHeld, ByOurs, ""},
		{"nothing measured", here, "", nil, nil, nil, CannotShow, ByMachine, "not made"},
		{"half of it measured", here, "arithmetic", nil, nil, two, CannotShow, ByMachine, "not made"},
	} {
		c := &Claim{
			needs: tt.needs, refuted: tt.refuted, baseline: "policy=old",
			judge: func(d *Data) Verdict {
				return verdict(d.median("ns/op", "policy=new") < d.median("ns/op", "policy=old"), "%s",
					d.each("policy", "ns/op", 1)+significant(d.median("ns/op", "policy=old")))
			},
		}
		d := &Data{
			Env: &environment.Environment{Cores: 2}, figures: []string{"absent", "steals", "ns/op"},
			Rows: append(timed("old", tt.baseline...), tt.rows...), Control: timed("old", tt.control...),
		}
		v := c.verdict(d)
		require.Equal(t, tt.outcome, v.Outcome, "%s: %+v", tt.name, v)
		require.Equal(t, tt.by, v.By, tt.name)
		if tt.why == "" {
			require.Empty(t, v.Why, tt.name)
		}
		require.Contains(t, v.Why, tt.why, tt.name)
	}
}

// TestExchanged: a claim about something else than a margin, as a variation, is judged with the control in place of the
// baseline, too.
func TestExchanged(t *testing.T) {
	c := &Claim{needs: aThief, baseline: "policy=old", judge: func(d *Data) Verdict {
		s := d.where("policy=old").stat("ns/op")
		return verdict(s.Deviation < 0.1*s.Mean, "%g", s.Deviation)
	}}
	steady, unsteady := []float64{100, 100, 100, 101}, []float64{50, 100, 100, 150}
	for _, tt := range []struct {
		control []float64
		want    Outcome
	}{{nil, Held}, {steady, Held}, {unsteady, NotResolved}} {
		d := &Data{
			Env: &environment.Environment{Cores: 2}, figures: []string{"ns/op"}, Rows: timed("old", steady...),
			Control: timed("old", tt.control...),
		}
		require.Equal(t, tt.want, c.verdict(d).Outcome)
	}
}

// TestPatterns: all points are off together, and any two apart from each other, each way.
func TestPatterns(t *testing.T) {
	for _, points := range []int{1, 2, 3, 4, 5, 8, 56} {
		together := make(map[bool]bool)
		apart := make(map[[2]int]bool) // of two points, the first larger
		for p := range patterns(points) {
			larger := 0
			for i := range points {
				if !p(i) {
					continue
				}
				larger++
				for j := range points {
					if !p(j) {
						apart[[2]int{i, j}] = true
					}
				}
			}
			if larger%points == 0 {
				together[larger > 0] = true
			}
		}
		require.Len(t, together, 2, points)
		require.Len(t, apart, points*(points-1), points)
	}
}

// TestPointsApart: a difference of two points of the baseline may be noise although both have the same spread.
func TestPointsApart(t *testing.T) {
	c := &Claim{needs: aThief, baseline: "policy=old", judge: func(d *Data) Verdict {
		return verdict(d.median("ns/op", "policy=old n=1") < d.median("ns/op", "policy=old n=2"), "%g", 1.0)
	}}
	for _, tt := range []struct {
		larger float64
		want   Outcome
	}{{102, NotResolved}, {140, Held}} {
		d := &Data{Env: &environment.Environment{Cores: 2}, figures: []string{"ns/op"}}
		for _, p := range []struct {
			n    string
			time float64
		}{{"1", 100}, {"2", tt.larger}} {
			for _, r := range timed("old", 0.95*p.time, p.time, 1.05*p.time) {
				r.Point = r.With("n", p.n)
				d.Rows = append(d.Rows, r)
			}
		}
		require.Equal(t, tt.want, c.verdict(d).Outcome)
	}
}

package replay

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// resamplings is how often repetitions are resampled, a multiple of 40. The middle 95 % are left when a fortieth is cut
// at each end. Tests set it.
var resamplings = 200

// resampledNote says what the intervals of dots are.
const resampledNote = "Dots are of means; lines hold 95 % of what resampled repetitions give."

// intervals95 returns the intervals of figures that are made of the means of several runs, as slowdowns are, and so
// have no repetitions of their own. of returns the figures of data. It is asked of d with its repetitions resampled: at
// each point as many as there are, drawn with replacement. The same data have the same intervals.
func (d *Data) intervals95(of func(*Data) []float64) (low, high []float64) {
	groups := bench.GroupBy(d.Rows, nil)
	var all [][]float64 // by figure
	for i := range resamplings {
		for k, y := range of(resampled(d, groups, rand.New(rand.NewPCG(42, uint64(i))))) {
			if k == len(all) {
				all = append(all, nil)
			}
			all[k] = append(all[k], y)
		}
	}
	for _, ys := range all {
		slices.Sort(ys)
		cut := resamplings / 40
		low, high = append(low, ys[cut]), append(high, ys[len(ys)-1-cut])
	}
	return low, high
}

// resampled returns d with repetitions drawn from each group.
func resampled(d *Data, groups []*bench.Group, r *rand.Rand) *Data {
	other := *d
	other.Rows = make([]bench.Row, 0, len(d.Rows))
	for _, g := range groups {
		for range g.Rows {
			other.Rows = append(other.Rows, g.Rows[r.IntN(len(g.Rows))])
		}
	}
	return &other
}

// dots draws a row for each category and a dot for each series. of returns the figures of data: those of the first
// series by category, then those of the next.
func (d *Data) dots(f *Figure, categories, series []string, of func(*Data) []float64) *Figure {
	f.Kind, f.X.Categories, f.Note = "dots", categories, resampledNote
	ys := of(d)
	low, high := d.intervals95(of)
	for i, name := range series {
		s := Series{Name: name}
		for k := range categories {
			at := i*len(categories) + k
			y := ys[at]
			least, most := min(y, low[at]), max(y, high[at])
			p := Point{X: float64(k), Y: y}
			if !math.IsNaN(least) && !math.IsNaN(most) {
				p.Low, p.High = &least, &most
			}
			s.Points = append(s.Points, p)
		}
		f.add(s)
	}
	return f
}

// split returns the parts of d by the value of a setting, which is quicker than to ask for each.
func (d *Data) split(setting string) map[string]*Data {
	parts := make(map[string]*Data)
	for _, r := range d.Rows {
		v := r.Value(setting)
		if parts[v] == nil {
			part := *d
			part.Rows = nil
			parts[v] = &part
		}
		parts[v].Rows = append(parts[v].Rows, r)
	}
	return parts
}

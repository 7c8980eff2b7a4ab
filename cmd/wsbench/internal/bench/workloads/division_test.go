package workloads

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDivisionSpoilt runs each division correctly, and then spoils the result.
func TestDivisionSpoilt(t *testing.T) {
	const n, count = 24, 6
	for _, w := range Divisions() {
		d := w.Division()
		d.Inputs(n, 42, valuesFor(t, w, "unit=1µs/hit=0.9"))
		d.Reset()
		require.Error(t, d.Verify(), "%s, nothing done", w.Name)
		for _, p := range d.Tasks(count) {
			d.Work(p)
		}
		require.NoError(t, d.Verify(), w.Name)
		switch d := d.(type) {
		case *viewsDivision:
			d.steps[5] ^= 1
		case *matmulKDivision:
			d.c[n*n-1]++
		case *sleepDivision:
			d.slept.Add(-1)
		case *searchDivision:
			d.got.Add(1)
		}
		require.Error(t, d.Verify(), "%s, spoilt", w.Name)
	}
}

// TestSearchPriorities: the task that has the word is among those of the largest priority.
func TestSearchPriorities(t *testing.T) {
	for _, hit := range []float64{0, 0.33, 0.75, 1} {
		d := &searchDivision{}
		d.Inputs(1000, 1, valuesFor(t, search, fmt.Sprintf("hit=%v", hit)))
		require.Equal(t, target, d.words[d.at])
		require.Len(t, d.words, 1000)
		most := math.MinInt
		parts := d.Tasks(50)
		for _, p := range parts {
			most = max(most, p.Priority)
		}
		for _, p := range parts {
			if p.From <= d.at && d.at < p.To {
				require.Equal(t, most, p.Priority, "hit %v", hit)
			}
		}
	}
}

// TestCut: the parts follow on each other, cover everything, and differ by one at most.
func TestCut(t *testing.T) {
	for n := 1; n < 40; n++ {
		for count := 1; count <= n; count++ {
			at := 0
			for i, p := range cut(n, count) {
				require.Equal(t, Part{Number: i, From: at, To: p.To}, p)
				require.Contains(t, []int{n / count, (n + count - 1) / count}, p.To-p.From)
				at = p.To
			}
			require.Equal(t, n, at)
		}
	}
	require.Equal(t, math.MaxInt, share(math.MaxInt, 7, 7))
}

// TestViews: each view is more uneven than the one before. Its unevenness is the share of the steps in its longest
// task.
func TestViews(t *testing.T) {
	last := 0.0
	for view := range views {
		d := &viewsDivision{}
		d.Inputs(128, 0, valuesFor(t, mandelbrotViews, fmt.Sprintf("view=%d", view)))
		total, longest := 0, 0
		for _, p := range d.Tasks(16) {
			steps := 0
			for _, s := range d.steps[p.From*128 : p.To*128] {
				steps += int(s)
			}
			total += steps
			longest = max(longest, steps)
		}
		uneven := float64(longest) / float64(total)
		require.Greater(t, uneven, last, "view %d", view)
		last = uneven
	}
	// View 0 is the picture of the workload mandelbrot.
	p, err := mandelbrot.Program(64, 0, Values{})
	require.NoError(t, err)
	m := p.(*mandelbrotProgram)
	d := &viewsDivision{}
	d.Inputs(64, 0, valuesFor(t, mandelbrotViews, "view=0"))
	require.Equal(t, m.want, d.want)
}

// TestBound compares the lower bounds with those of the guide's table, and with the longest task.
func TestBound(t *testing.T) {
	for _, tt := range []struct {
		workers, n int
		want       float64 // units
	}{{4, 40, 205}, {16, 160, 805}, {64, 320, 802.5}, {100, 40, 40}} {
		for _, w := range []*Workload{sleepLinear, sleepPermuted} {
			d := w.Division().(*sleepDivision)
			d.Inputs(tt.n, 3, valuesFor(t, w, ""))
			bound := d.Bound(d.Tasks(tt.n), tt.workers)
			require.Equal(t, time.Duration(tt.want*float64(time.Millisecond)), bound)
		}
	}
	linear, permuted := &sleepDivision{}, &sleepDivision{permuted: true}
	linear.Inputs(40, 3, valuesFor(t, sleepLinear, ""))
	permuted.Inputs(40, 3, valuesFor(t, sleepPermuted, ""))
	require.NotEqual(t, linear.units, permuted.units)
	require.ElementsMatch(t, linear.units, permuted.units)
}

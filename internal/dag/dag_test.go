package dag

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func draw(s Shape, seed uint64, n int) *Form { return s.Draw(rand.New(rand.NewPCG(seed, 0)), n) }

func TestShapes(t *testing.T) {
	for _, s := range Shapes {
		t.Run(s.Name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 3, 10, 400} {
				for seed := range uint64(5) {
					f := draw(s, seed, n)
					require.Equal(t, s.Name, f.Shape)
					require.Equal(t, n, f.Tasks)
					counts := map[Edge]int{}
					for _, e := range f.Edges {
						if e.From < 0 || e.From >= e.To || e.To >= n {
							require.Fail(t, "no edge of a topological order", "%v among %d", e, n)
						}
						counts[e]++
					}
					before := f.Before()
					require.Len(t, before, n)
					for to, froms := range before {
						for _, from := range froms {
							counts[Edge{int(from), to}]--
						}
					}
					for e, n := range counts {
						if n != 0 {
							require.Fail(t, "Before differs from Edges", "%v", e)
						}
					}
				}
			}
			const large = 40_000
			require.Less(t, len(draw(s, 1, large).Edges), 4*large)
		})
	}
}

func TestSeedDecides(t *testing.T) {
	different := false
	for seed := range uint64(50) {
		f := Draw(rand.New(rand.NewPCG(seed, 1)), 100)
		require.Equal(t, f, Draw(rand.New(rand.NewPCG(seed, 1)), 100))
		different = different || f.String() != Draw(rand.New(rand.NewPCG(seed, 2)), 100).String()
	}
	require.True(t, different)
}

// Each of these is drawn by a shape for some seed.
func TestWhatIsDrawn(t *testing.T) {
	const n = 30
	named := map[string]func(f *Form) bool{
		"one chain": func(f *Form) bool {
			for i, e := range f.Edges {
				if e != (Edge{i, i + 1}) {
					return false
				}
			}
			return len(f.Edges) == n-1
		},
		"a binary tree": func(f *Form) bool {
			for i, e := range f.Edges {
				if e != (Edge{i / 2, i + 1}) {
					return false
				}
			}
			return len(f.Edges) == n-1
		},
		"a join of all others": func(f *Form) bool { return degree(f, func(e Edge) int { return e.To }) == n-1 },
		"one fan from a source to a sink": func(f *Form) bool {
			return len(f.Edges) == 2*(n-2) && degree(f, func(e Edge) int { return e.From }) == n-2 &&
				degree(f, func(e Edge) int { return e.To }) == n-2
		},
		"the same edge twice": func(f *Form) bool {
			seen := map[Edge]bool{}
			for _, e := range f.Edges {
				if seen[e] {
					return true
				}
				seen[e] = true
			}
			return false
		},
		"nearly all edges": func(f *Form) bool { return len(f.Edges) > n*(n-1)/2*9/10 },
		"no edge":          func(f *Form) bool { return len(f.Edges) == 0 },
	}
	for name, is := range named {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10_000) {
				if is(Draw(rand.New(rand.NewPCG(seed, 0)), n)) {
					return
				}
			}
			require.Fail(t, "never drawn")
		})
	}
}

// degree returns how many edges have the same end, at most.
func degree(f *Form, end func(Edge) int) (most int) {
	counts := make([]int, f.Tasks)
	for _, e := range f.Edges {
		counts[end(e)]++
		most = max(most, counts[end(e)])
	}
	return most
}

// TestDensity: a tenth of the pairs have edges if that is the density.
func TestDensity(t *testing.T) {
	d := &drawing{Rand: rand.New(rand.NewPCG(1, 1))}
	sum := 0
	const times = 10_000
	for range times {
		sum += d.skipped(0.1, 1000)
	}
	require.InDelta(t, 9, float64(sum)/times, 0.5)
	require.Equal(t, 100, d.skipped(0, 10))
	require.Zero(t, d.skipped(1, 10))
}

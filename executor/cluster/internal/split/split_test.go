package split

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// check requires all that Split promises.
func check(t testing.TB, g *Graph, target int64, p Parts) {
	t.Helper()
	n := len(g.Cost)
	require.Len(t, p.Of, n)
	cost := make([]int64, p.N)
	tasks := make([]int, p.N)
	for i, part := range p.Of {
		require.GreaterOrEqual(t, part, int32(0))
		require.Less(t, int(part), p.N)
		if cost[part] += g.Cost[i]; cost[part] < 0 {
			cost[part] = math.MaxInt64
		}
		tasks[part]++
	}
	for part, n := range tasks {
		require.Positive(t, n, "partition %d", part)
	}
	for i := range g.from { // so the partitions are acyclic, and convex: no path leaves one and comes back
		require.LessOrEqual(t, p.Of[g.from[i]], p.Of[g.to[i]], "edge %d → %d", g.from[i], g.to[i])
	}
	for _, together := range g.Together {
		for _, i := range together {
			require.Equal(t, p.Of[together[0]], p.Of[i])
		}
	}
	// A partition that costs more has only tasks that must be together.
	must := atoms(g)
	for i, part := range p.Of {
		if tasks[part] > 1 && cost[part] > target {
			first := slices.Index(p.Of, part)
			require.Equal(t, must[first], must[i], "partition %d costs %d", part, cost[part])
		}
	}
}

// atoms returns which tasks must be together, in another way than the package: by all paths.
func atoms(g *Graph) []int32 {
	n := len(g.Cost)
	of := make([]int32, n)
	for i := range of {
		of[i] = int32(i)
	}
	rename := func(from, to int32) {
		for i := range of {
			if of[i] == from {
				of[i] = to
			}
		}
	}
	for _, together := range g.Together {
		for _, i := range together {
			rename(of[i], of[together[0]])
		}
	}
	if len(g.Together) == 0 {
		return of
	}
	for {
		reach := make([][]bool, n) // by atom
		for i := range reach {
			reach[i] = make([]bool, n)
		}
		for k := range g.from {
			reach[of[g.from[k]]][of[g.to[k]]] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		same := true
		for i := range n {
			for j := range n {
				if a, b := of[i], of[j]; a != b && reach[a][b] && reach[b][a] {
					rename(b, a)
					same = false
				}
			}
		}
		if same {
			return of
		}
	}
}

func TestNothing(t *testing.T) {
	p := Split(&Graph{}, 10)
	require.Zero(t, p.N)
	require.Empty(t, p.Of)
}

func TestShapes(t *testing.T) {
	const ms, target = 1, 30
	equal := func(n int) *Graph {
		g := &Graph{Cost: make([]int64, n)}
		for i := range g.Cost {
			g.Cost[i] = ms
		}
		return g
	}
	chain := equal(300)
	for i := range int32(299) {
		chain.Edge(i, i+1, 1)
	}
	loose := equal(300)
	chains := equal(3000) // a thousand of three
	for i := range int32(2000) {
		chains.Edge(i, i+1000, 1)
	}
	fan := equal(302)
	for i := range int32(300) {
		fan.Edge(0, i+1, 1)
		fan.Edge(i+1, 301, 1)
	}
	tree := equal(1023)
	for i := range int32(511) {
		tree.Edge(i, 2*i+1, 1)
		tree.Edge(i, 2*i+2, 1)
	}
	into := equal(1023) // a tree to one sink
	for i := range int32(511) {
		into.Edge(1021-2*i, 1022-i, 1)
		into.Edge(1020-2*i, 1022-i, 1)
	}
	stencil := equal(30 * 300)
	for layer := range int32(29) {
		for i := range int32(300) {
			for d := int32(-1); d <= 1; d++ {
				if j := i + d; j >= 0 && j < 300 {
					stencil.Edge(layer*300+i, (layer+1)*300+j, 1)
				}
			}
		}
	}
	diamonds := equal(301)
	for i := int32(0); i+3 < 301; i += 3 {
		diamonds.Edge(i, i+1, 1)
		diamonds.Edge(i, i+2, 1)
		diamonds.Edge(i+1, i+3, 1)
		diamonds.Edge(i+2, i+3, 1)
	}
	for name, c := range map[string]struct {
		g    *Graph
		most int // the largest number of partitions that is good
	}{
		"chain": {chain, 12}, "loose": {loose, 10}, "chains": {chains, 104}, "fan": {fan, 13}, "tree": {tree, 50},
		"into": {into, 50}, "stencil": {stencil, 320}, "diamonds": {diamonds, 16},
	} {
		p := Split(c.g, target)
		check(t, c.g, target, p)
		require.LessOrEqual(t, p.N, c.most, name)
		require.GreaterOrEqual(t, p.N, len(c.g.Cost)/target, name)
	}
}

// Of two ways to merge, the one that keeps the heavier edge is taken, out of a task and into one.
func TestHeavyEdgesAreKept(t *testing.T) {
	for _, e := range []struct{ light, heavy [2]int32 }{{[2]int32{0, 1}, [2]int32{0, 2}}, {[2]int32{0, 2}, [2]int32{1, 2}}} {
		g := &Graph{Cost: []int64{1, 1, 1}}
		g.Edge(e.light[0], e.light[1], 1)
		g.Edge(e.heavy[0], e.heavy[1], 100)
		p := Split(g, 2)
		check(t, g, 2, p)
		require.Equal(t, p.Of[e.heavy[0]], p.Of[e.heavy[1]])
	}
}

// A task that is too dear for a partition does not keep its neighbours apart.
func TestDearTasks(t *testing.T) {
	g := &Graph{Cost: []int64{1, 9, 1}}
	p := Split(g, 2)
	check(t, g, 2, p)
	require.Equal(t, 2, p.N)
	require.Equal(t, p.Of[0], p.Of[2])
}

func TestTogether(t *testing.T) {
	g := &Graph{Cost: []int64{9, 9, 9, 9, 9}, Together: [][]int32{{0, 2}, {3}, {}}}
	g.Edge(0, 1, 1)
	g.Edge(1, 2, 1)
	g.Edge(2, 3, 1)
	p := Split(g, 10)
	check(t, g, 10, p)
	require.Equal(t, p.Of[0], p.Of[1], "it is on a path between them")
	require.Equal(t, 3, p.N)
}

func TestLargeNumbers(t *testing.T) {
	g := &Graph{Cost: []int64{math.MaxInt64, math.MaxInt64, 1, 0}, Together: [][]int32{{0, 1}}}
	g.Edge(0, 1, math.MaxInt64)
	g.Edge(0, 2, math.MaxInt64)
	g.Edge(1, 2, math.MaxInt64)
	for _, target := range []int64{0, 1, math.MaxInt64} {
		check(t, g, target, Split(g, target))
	}
}

func TestEdgePanics(t *testing.T) {
	g := &Graph{Cost: make([]int64, 3)}
	for _, e := range [][3]int{{1, 1, 0}, {2, 1, 0}, {-1, 1, 0}, {1, 3, 0}, {0, 1, -1}} {
		require.Panics(t, func() { g.Edge(int32(e[0]), int32(e[1]), int64(e[2])) })
	}
}

// randomGraph returns a graph of at most most tasks.
func randomGraph(r *rand.Rand, most int) (g *Graph, target int64) {
	n := r.IntN(most + 1)
	g = &Graph{Cost: make([]int64, n)}
	dear := 1 + r.IntN(40)
	for i := range g.Cost {
		g.Cost[i] = int64(r.IntN(dear))
	}
	near := 1 + r.IntN(n+1)
	for range r.IntN(3*n + 1) {
		from := r.IntN(n)
		if to := from + 1 + r.IntN(near); to < n {
			g.Edge(int32(from), int32(to), int64(r.IntN(3)))
		}
	}
	for range r.IntN(4) * r.IntN(2) {
		var together []int32
		for range r.IntN(min(n+1, 4)) {
			together = append(together, int32(r.IntN(n)))
		}
		g.Together = append(g.Together, together)
	}
	return g, int64(r.IntN(60))
}

func TestRandom(t *testing.T) {
	merged := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		g, target := randomGraph(r, 40)
		p := Split(g, target)
		if merged += len(g.Cost) - p.N; t.Failed() {
			return
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, g, target, p) })

		shuffled := &Graph{Cost: g.Cost}
		for _, k := range r.Perm(len(g.from)) {
			shuffled.Edge(g.from[k], g.to[k], g.weight[k])
		}
		for _, k := range r.Perm(len(g.Together)) {
			together := slices.Clone(g.Together[k])
			r.Shuffle(len(together), func(i, j int) { together[i], together[j] = together[j], together[i] })
			shuffled.Together = append(shuffled.Together, together)
		}
		require.Equal(t, p, Split(shuffled, target), "seed %d", seed)
	}
	require.Greater(t, merged, 1000)
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5}, []byte{0, 1, 1, 3}, []byte{0, 2}, int64(6))
	f.Fuzz(func(t *testing.T, costs, edges, together []byte, target int64) {
		if len(costs) > 40 || len(edges) > 400 || len(together) > 20 {
			return
		}
		g := &Graph{}
		for _, c := range costs {
			g.Cost = append(g.Cost, int64(c))
		}
		for i := 0; i+1 < len(edges); i += 2 {
			if a, b := edges[i], edges[i+1]; a < b && int(b) < len(costs) {
				g.Edge(int32(a), int32(b), int64(a^b))
			}
		}
		var set []int32
		for _, b := range together {
			if int(b) < len(costs) {
				set = append(set, int32(b))
			} else {
				g.Together, set = append(g.Together, set), nil
			}
		}
		g.Together = append(g.Together, set)
		check(t, g, target, Split(g, target))
	})
}

// BenchmarkMillion cuts a graph of a million tasks.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	for name, near := range map[string]int{"near": 1000, "far": n} {
		g := &Graph{Cost: make([]int64, n)}
		r := rand.New(rand.NewPCG(1, 2))
		for i := range g.Cost {
			g.Cost[i] = 1 + int64(r.IntN(10))
		}
		for range 3 * n {
			from := r.IntN(n - 1)
			g.Edge(int32(from), int32(from+1+r.IntN(min(near, n-1-from))), 1)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(Split(g, 500).N), "parts")
			}
		})
	}
}

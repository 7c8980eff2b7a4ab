package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// noop returns n bodies that do nothing.
func noop(n int) []plan.Func {
	funcs := make([]plan.Func, n)
	for i := range funcs {
		funcs[i] = func(context.Context) error { return nil }
	}
	return funcs
}

// randomEdges draws edges among n tasks; if acyclic, only along a random order of the tasks.
func randomEdges(rng *rand.Rand, n, count int, acyclic bool) (edges []plan.Edge) {
	rank := rng.Perm(n)
	for range count {
		from, to := rng.IntN(n), rng.IntN(n)
		if acyclic {
			if rank[from] == rank[to] {
				continue
			}
			if rank[from] > rank[to] {
				from, to = to, from
			}
		}
		edges = append(edges, plan.Edge{From: uint32(from), To: uint32(to)})
	}
	return edges
}

// model is a plan in its plainest form.
type model struct {
	successors map[uint32][]uint32
	join       []uint32
	sources    []uint32
}

func newModel(n int, edges []plan.Edge) *model {
	m := &model{successors: map[uint32][]uint32{}, join: make([]uint32, n)}
	for _, e := range edges {
		m.successors[e.From] = append(m.successors[e.From], e.To)
		m.join[e.To]++
	}
	for i, j := range m.join {
		if j == 0 {
			m.sources = append(m.sources, uint32(i))
		}
	}
	return m
}

// acyclic is Kahn's algorithm in its slowest form.
func (m *model) acyclic() bool {
	join := slices.Clone(m.join)
	gone := make([]bool, len(join))
	for left := len(join); left > 0; left-- {
		i := -1
		for t := range join {
			if !gone[t] && join[t] == 0 {
				i = t
				break
			}
		}
		if i < 0 {
			return false
		}
		gone[i] = true
		for _, s := range m.successors[uint32(i)] {
			join[s]--
		}
	}
	return true
}

func mustFreeze(t *testing.T, funcs []plan.Func, edges []plan.Edge) *plan.Plan {
	t.Helper()
	p, err := plan.Freeze(funcs, edges, nil)
	require.NoError(t, err)
	return p
}

func requireModel(t *testing.T, m *model, p *plan.Plan, edges []plan.Edge) {
	t.Helper()
	n := len(m.join)
	require.Equal(t, n, p.Len())
	require.Equal(t, len(edges), p.Edges())
	require.Len(t, p.Off, n+1)
	require.True(t, slices.Equal(m.join, p.Join))
	require.True(t, slices.Equal(m.sources, p.Sources), "%v, want %v", p.Sources, m.sources)
	require.True(t, slices.Equal(m.sources, p.Succ[len(edges):]), "the sources are the end of Succ")
	for i := range uint32(n) {
		require.True(t, slices.Equal(m.successors[i], p.Successors(i)),
			"task %d: %v, want %v", i, p.Successors(i), m.successors[i])
		single := true
		for _, s := range m.successors[i] {
			single = single && m.join[s] == 1
		}
		require.Equal(t, single, p.OnlyPredecessor(p.Successors(i)))
	}
	sorted := slices.Clone(edges)
	slices.SortStableFunc(sorted, func(a, b plan.Edge) int { return int(a.From) - int(b.From) })
	require.True(t, slices.Equal(sorted, p.EdgeList()), "grouped by predecessor, each group in the order of adding")
}

func TestFreeze(t *testing.T) {
	tests := []struct {
		n     int
		edges []plan.Edge
	}{
		{0, nil},
		{1, nil},
		{3, nil},
		{2, []plan.Edge{{0, 1}}},
		{2, []plan.Edge{{1, 0}}},
		{2, []plan.Edge{{0, 1}, {0, 1}, {0, 1}}},
		{1, []plan.Edge{{0, 0}}},
		{4, []plan.Edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}},
		{4, []plan.Edge{{2, 3}, {0, 2}, {1, 3}, {0, 1}}},
		{3, []plan.Edge{{0, 1}, {1, 2}, {2, 0}}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			requireModel(t, newModel(test.n, test.edges), mustFreeze(t, noop(test.n), test.edges), test.edges)
		})
	}
}

func TestFreezeRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 200 {
		n := 1 + rng.IntN(100)
		edges := randomEdges(rng, n, rng.IntN(4*n), false)
		before := slices.Clone(edges)
		p := mustFreeze(t, noop(n), edges)
		requireModel(t, newModel(n, edges), p, edges)
		require.True(t, slices.Equal(before, edges), "Freeze must leave the edges as they are")

		// Freezing its own edge list gives the same plan.
		again := mustFreeze(t, noop(n), p.EdgeList())
		require.True(t,
			slices.Equal(p.Off, again.Off) && slices.Equal(p.Succ, again.Succ) && slices.Equal(p.Join, again.Join))

		// The plan keeps none of the edges that Freeze was given.
		clear(edges)
		requireModel(t, newModel(n, before), p, before)
	}
}

// requireCycle checks that each task of the cycle precedes the next, and that no task occurs twice.
func requireCycle(t *testing.T, p *plan.Plan, cycle []uint32) {
	t.Helper()
	require.NotEmpty(t, cycle)
	seen := map[uint32]bool{}
	for i, task := range cycle {
		next := cycle[(i+1)%len(cycle)]
		require.Contains(t, p.Successors(task), next, "%d does not precede %d in %v", task, next, cycle)
		require.False(t, seen[task], "%d comes twice in %v", task, cycle)
		seen[task] = true
	}
}

func TestCycle(t *testing.T) {
	tests := []struct {
		name  string
		n     int
		edges []plan.Edge
		want  []uint32
	}{
		{"empty", 0, nil, nil},
		{"one task", 1, nil, nil},
		{"chain", 3, []plan.Edge{{0, 1}, {1, 2}}, nil},
		{"chain backwards", 3, []plan.Edge{{2, 1}, {1, 0}}, nil},
		{"the same edge twice", 2, []plan.Edge{{0, 1}, {0, 1}}, nil},
		{"diamond", 4, []plan.Edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, nil},
		{"self-edge", 1, []plan.Edge{{0, 0}}, []uint32{0}},
		{"self-edge at the end of a chain", 3, []plan.Edge{{0, 1}, {1, 2}, {2, 2}}, []uint32{2}},
		{"self-edge in front of others", 3, []plan.Edge{{1, 1}, {1, 0}, {0, 2}}, []uint32{1}},
		{"two", 2, []plan.Edge{{0, 1}, {1, 0}}, []uint32{0, 1}},
		{"two in the middle", 4, []plan.Edge{{0, 1}, {1, 2}, {2, 1}, {2, 3}}, []uint32{1, 2}},
		{"three", 3, []plan.Edge{{0, 2}, {2, 1}, {1, 0}}, []uint32{0, 2, 1}},
		{"behind the first task left", 4, []plan.Edge{{3, 2}, {2, 3}, {3, 1}, {1, 0}}, []uint32{3, 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := mustFreeze(t, noop(test.n), test.edges)
			got := p.Cycle()
			require.Len(t, got, len(test.want))
			if test.want == nil {
				require.Nil(t, got)
				return
			}
			requireCycle(t, p, got)
			require.ElementsMatch(t, test.want, got)
		})
	}
}

func TestCycleRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	cyclic, acyclic := 0, 0
	for range 500 {
		n := 1 + rng.IntN(60)
		edges := randomEdges(rng, n, rng.IntN(3*n), rng.IntN(2) == 0)
		p := mustFreeze(t, noop(n), edges)
		join := slices.Clone(p.Join)
		cycle := p.Cycle()
		require.True(t, slices.Equal(join, p.Join), "a plan never changes")
		if newModel(n, edges).acyclic() {
			acyclic++
			require.Nil(t, cycle)
		} else {
			cyclic++
			requireCycle(t, p, cycle)
		}
	}
	require.Greater(t, cyclic, 50)
	require.Greater(t, acyclic, 50)
}

// TestCycleInLargeChain: the search needs no stack.
func TestCycleInLargeChain(t *testing.T) {
	const n = 200000
	edges := make([]plan.Edge, 0, n)
	for i := range uint32(n - 1) {
		edges = append(edges, plan.Edge{From: i, To: i + 1})
	}
	funcs := make([]plan.Func, n)
	require.Nil(t, mustFreeze(t, funcs, edges).Cycle())
	edges = append(edges, plan.Edge{From: n - 1, To: 0})
	require.Len(t, mustFreeze(t, funcs, edges).Cycle(), n)
}

// A recorder has tasks that note the order in which they run.
type recorder struct {
	order []uint32
	fail  map[uint32]error
}

func (r *recorder) funcs(n int) []plan.Func {
	funcs := make([]plan.Func, n)
	for i := range uint32(n) {
		funcs[i] = func(context.Context) error {
			if err := r.fail[i]; err != nil {
				return err
			}
			r.order = append(r.order, i)
			return nil
		}
	}
	return funcs
}

// requireLegal checks that every task ran once, after all its predecessors.
func (r *recorder) requireLegal(t *testing.T, n int, edges []plan.Edge) {
	t.Helper()
	at := make([]int, n)
	for i := range at {
		at[i] = -1
	}
	for i, task := range r.order {
		require.Equal(t, -1, at[task], "task %d ran twice", task)
		at[task] = i
	}
	require.Len(t, r.order, n)
	for _, e := range edges {
		require.Less(t, at[e.From], at[e.To], "%d precedes %d", e.From, e.To)
	}
}

func TestSerial(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 100 {
		n := 1 + rng.IntN(80)
		edges := randomEdges(rng, n, rng.IntN(3*n), true)
		r := &recorder{}
		s := plan.NewSerial(mustFreeze(t, r.funcs(n), edges))
		var first []uint32
		for walk := range 3 {
			r.order = nil
			ran, err := s.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, n, ran)
			r.requireLegal(t, n, edges)
			if walk == 0 {
				first = r.order
			}
			require.Equal(t, first, r.order, "every walk is the same")
		}
	}
}

func TestSerialStopsAtTheFirstError(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	boom := errors.New("boom")
	for range 100 {
		n := 1 + rng.IntN(40)
		edges := randomEdges(rng, n, rng.IntN(3*n), true)
		r := &recorder{}
		s := plan.NewSerial(mustFreeze(t, r.funcs(n), edges))
		_, err := s.Run(t.Context())
		require.NoError(t, err)
		whole := r.order

		at := rng.IntN(n)
		r.order, r.fail = nil, map[uint32]error{whole[at]: boom}
		ran, err := s.Run(t.Context())
		require.ErrorIs(t, err, boom)
		require.Equal(t, at, ran, "those before the failing one ran")
		require.True(t, slices.Equal(whole[:at], r.order), "and nothing after it")

		r.order, r.fail = nil, nil
		ran, err = s.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, n, ran)
		r.requireLegal(t, n, edges)
	}
}

func TestSerialOfNothing(t *testing.T) {
	ran, err := plan.NewSerial(mustFreeze(t, nil, nil)).Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, ran)
}

func TestSerialHandsTheContextOn(t *testing.T) {
	type key struct{}
	var got any
	funcs := []plan.Func{func(ctx context.Context) error { got = ctx.Value(key{}); return nil }}
	_, err := plan.NewSerial(mustFreeze(t, funcs, nil)).Run(context.WithValue(t.Context(), key{}, 7))
	require.NoError(t, err)
	require.Equal(t, 7, got)
}

func TestSerialAllocs(t *testing.T) {
	edges := []plan.Edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}
	s := plan.NewSerial(mustFreeze(t, noop(4), edges))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := s.Run(context.Background()); err != nil {
			t.Error(err)
		}
	}))
}

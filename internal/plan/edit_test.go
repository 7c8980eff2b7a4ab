package plan_test

import (
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A draft is a graph whose edges are kept by predecessor.
type draft struct {
	rows    [][]uint32
	exists  []bool
	chooses []bool
}

func (d *draft) fresh(t *testing.T) *plan.Plan {
	var edges []plan.Edge
	for i, row := range d.rows {
		for _, s := range row {
			edges = append(edges, plan.Edge{From: uint32(i), To: s})
		}
	}
	p, err := plan.Freeze(d.funcs(), edges, d.choosers())
	require.NoError(t, err)
	return p
}

func (d *draft) funcs() []plan.Func {
	funcs := noop(len(d.rows))
	for i, exists := range d.exists {
		if !exists {
			funcs[i] = nil
		}
	}
	return funcs
}

func (d *draft) choosers() []bool {
	for _, c := range d.chooses {
		if c {
			return append([]bool(nil), d.chooses...)
		}
	}
	return nil
}

// change makes a random change and notes the rows that it changed.
func (d *draft) change(rng *rand.Rand, rows map[uint32][]uint32) {
	set := func(i uint32, row []uint32) {
		d.rows[i] = row
		rows[i] = row
	}
	n := uint32(len(d.rows))
	i, j := rng.Uint32N(n), rng.Uint32N(n)
	switch rng.IntN(6) {
	case 0: // a new task
		d.rows, d.exists, d.chooses = append(d.rows, nil), append(d.exists, true), append(d.chooses, false)
	case 1: // a task is removed, or added in its place
		d.exists[i] = !d.exists[i]
		d.chooses[i] = d.exists[i] && rng.IntN(2) == 0
		set(i, nil)
		for k, row := range d.rows {
			if left := without(row, i); len(left) < len(row) {
				set(uint32(k), left)
			}
		}
	case 2: // an edge is removed
		set(i, without(d.rows[i], j))
	default:
		if d.exists[i] && d.exists[j] {
			set(i, append(d.rows[i][:len(d.rows[i]):len(d.rows[i])], j))
		}
	}
}

func without(row []uint32, i uint32) (left []uint32) {
	for _, s := range row {
		if s != i {
			left = append(left, s)
		}
	}
	return left
}

func requireSame(t *testing.T, want, got *plan.Plan) {
	t.Helper()
	require.Equal(t, want.Off, got.Off)
	require.Equal(t, want.Succ, got.Succ)
	require.Equal(t, want.Join, got.Join)
	require.Equal(t, want.Chooses, got.Chooses)
	require.ElementsMatch(t, want.Sources, got.Sources)
	require.Equal(t, want.Len(), got.Len())
	require.Equal(t, want.Tasks(), got.Tasks())
	require.Equal(t, want.Edges(), got.Edges())
}

// TestEdit: after any changes the plan is that of a freeze, and the plan before them has not changed.
func TestEdit(t *testing.T) {
	seed := testkit.Seed(t)
	free, choosing := 0, 0
	for k := range testkit.Scale(300) {
		rng := rand.New(rand.NewPCG(seed, uint64(k)))
		n := 1 + rng.IntN(30)
		d := &draft{rows: make([][]uint32, n), exists: make([]bool, n), chooses: make([]bool, n)}
		for i := range n {
			d.exists[i] = true
			d.chooses[i] = k%2 == 0 && rng.IntN(8) == 0
		}
		for range rng.IntN(60) {
			from := rng.IntN(n)
			d.rows[from] = append(d.rows[from], rng.Uint32N(uint32(n)))
		}
		p := d.fresh(t)
		for range 12 {
			before, rows := d.fresh(t), make(map[uint32][]uint32)
			for range rng.IntN(6) {
				d.change(rng, rows)
			}
			requireSame(t, before, p)
			q, err := p.Edit(d.funcs(), rows, d.choosers())
			require.NoError(t, err)
			requireSame(t, d.fresh(t), q)
			p = q
			if p.Tasks() < p.Len() {
				free++
			}
			if p.Chooses != nil {
				choosing++
			}
		}
	}
	testkit.Proved(t, free, "plans with free numbers")
	testkit.Proved(t, choosing, "plans with choices")
}

func TestEditRefusesTooMuch(t *testing.T) {
	p := mustFreeze(t, noop(2), nil)
	_, err := p.Edit(noop(2), map[uint32][]uint32{0: pretendRow()}, nil)
	require.ErrorContains(t, err, "2 tasks and 536870911 edges, at most 536870911 together fit a graph")
}

// TestLeads compares with the paths found by squaring.
func TestLeads(t *testing.T) {
	seed := testkit.Seed(t)
	for k := range testkit.Scale(100) {
		rng := rand.New(rand.NewPCG(seed, uint64(k)))
		n := 1 + rng.IntN(20)
		edges := randomEdges(rng, n, rng.IntN(2*n), k%2 == 0)
		chooses := make([]bool, n)
		for i := range chooses {
			chooses[i] = rng.IntN(5) == 0
		}
		p, err := plan.Freeze(noop(n), edges, chooses)
		require.NoError(t, err)
		leads := make([][]bool, n)
		for i := range leads {
			leads[i] = make([]bool, n)
			leads[i][i] = true
		}
		for range n {
			for _, e := range edges {
				for i := range n {
					if !chooses[e.From] && leads[i][e.From] {
						leads[i][e.To] = true
					}
				}
			}
		}
		for i := range n {
			for j := range n {
				require.Equal(t, leads[i][j], p.Leads(uint32(i), uint32(j)), "%d to %d in %v", i, j, edges)
			}
		}
	}
}

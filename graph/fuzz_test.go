package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/stretchr/testify/require"
)

// fromBytes makes a model of a tape: the number of tasks, how many instructions are faults, then two bytes for each
// fault (task, which) and two for each edge (from, to), in whatever direction: there may be cycles. One byte pair in
// eight makes a fan instead of an edge.
func fromBytes(tape []byte) (*model, script) {
	next := func() int {
		if len(tape) == 0 {
			return 0
		}
		b := tape[0]
		tape = tape[1:]
		return int(b)
	}
	n := 1 + next()%64
	m, tasks := newModel("fuzz", n, false)
	m.nests, _ = newModel("inner", 1, false)
	var s script
	for range next() % 8 {
		i, which := next()%n, next()
		if slices.ContainsFunc(s.faults, func(f fault) bool { return f.task == i }) {
			continue
		}
		f, more := fault{task: i, kind: kind(which % int(kinds))}, which/int(kinds)
		if f.kind.nests() {
			f.sub.faults = []fault{{kind: kind(more) % endsContext}}
		} else {
			s.ending = endings[more%len(endings)]
		}
		s.faults = append(s.faults, f)
	}
	edge := func(from, to int) {
		m.preds[to] = append(m.preds[to], from)
		if (from+to)%2 == 0 {
			tasks[from].Precede(tasks[to])
		} else {
			tasks[to].Succeed(tasks[from])
		}
	}
	for len(tape) > 0 {
		from, to := next(), next()
		edge(from%n, to%n)
		if from >= 224 {
			for i := range to % 16 {
				edge(from%n, (to+i+1)%n)
			}
		}
	}
	return m, s
}

// isCyclic decides by depth-first search, which has nothing in common with counting joins.
func (m *model) isCyclic() bool {
	const white, grey, black = 0, 1, 2
	colour := make([]int, len(m.preds))
	var visit func(i int) bool
	visit = func(i int) bool {
		switch colour[i] {
		case grey:
			return true
		case black:
			return false
		}
		colour[i] = grey
		for _, p := range m.preds[i] {
			if visit(p) {
				return true
			}
		}
		colour[i] = black
		return false
	}
	for i := range m.preds {
		if visit(i) {
			return true
		}
	}
	return false
}

func FuzzGraph(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{4, 0, 0, 1, 1, 2, 2, 3})           // a chain
	f.Add([]byte{2, 0, 0, 1, 1, 2, 2, 0})           // a cycle
	f.Add([]byte{1, 0, 0, 0})                       // a self-edge
	f.Add([]byte{63, 2, 3, 1, 9, 5, 224, 15})       // a fan with an error and a Goexit in it
	f.Add([]byte{63, 1, 0, 6, 0, 1, 1, 2, 192, 10}) // a task that cancels
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		tape := []byte{byte(rng.IntN(256)), byte(rng.IntN(4))}
		for range tape[1] {
			tape = append(tape, byte(rng.IntN(256)), byte(rng.IntN(256)))
		}
		for range rng.IntN(100) {
			from := byte(rng.IntN(255))
			tape = append(tape, from, from+1+byte(rng.IntN(16)))
		}
		f.Add(tape)
	}
	ex, err := executor.New(executor.Config{Workers: 2, Threads: host.Threads{OnlyBlocking: true}})
	require.NoError(f, err)
	f.Cleanup(func() { _ = ex.Close() })
	f.Fuzz(func(t *testing.T, tape []byte) {
		m, faults := fromBytes(tape)
		err := m.g.Validate()
		if m.isCyclic() {
			checkCyclic(t, ex, m, err)
			return
		}
		require.NoError(t, err)
		m.oracle(t)
		within(t, ex, func() {
			m.complete(t, ex)
			m.once(t, ex, faults)
			m.complete(t, ex)
		})
	})
}

// checkCyclic checks that a graph with a cycle is reported correctly and does not run.
func checkCyclic(t *testing.T, ex *executor.Executor, m *model, err error) {
	var told *graph.CycleError
	require.ErrorAs(t, err, &told)
	require.NotEmpty(t, told.Path)
	p, fault := plan.Of(m.g)
	require.Equal(t, err, fault)
	path := p.Cycle()
	seen := make(map[uint32]bool)
	for i, from := range path {
		require.Contains(t, p.Successors(from), path[(i+1)%len(path)])
		require.False(t, seen[from], "%d stands twice in %v", from, path)
		seen[from] = true
	}
	ran, _ := plan.NewSerial(&plan.Plan{Funcs: unrun(p.Len()), Off: p.Off, Succ: p.Succ, Join: p.Join,
		Sources: p.Sources}).
		Run(context.Background())
	require.Less(t, ran, p.Len(), "the serial walk got through a graph with a cycle")
	h := m.newHistory(ex, script{})
	m.log = h
	within(t, ex, func() { err = ex.Run(context.Background(), m.g) })
	require.True(t, errors.As(err, &told))
	require.Zero(t, h.clock.Load(), "a task of an invalid graph ran")
}

// unrun is n functions that do nothing.
func unrun(n int) []plan.Func {
	funcs := make([]plan.Func, n)
	for i := range funcs {
		funcs[i] = nothing
	}
	return funcs
}

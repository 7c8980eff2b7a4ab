package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A permitModel is a graph whose tasks use one semaphore. The edges go to larger numbers.
type permitModel struct {
	permits int
	takes   []int // permits that the task acquires
	gives   []int // permits that the task releases
	lent    []int // permits of its Hold
	succ    [][]int
}

// most returns the largest sum of numbers on a path from a task, that of the task included, and 0 without a path.
func (m *permitModel) most(from int, numbers []int, isEnd func(int) bool) (sum int, reaches bool) {
	if isEnd(from) {
		reaches = true
	}
	for _, s := range m.succ[from] {
		if more, ok := m.most(s, numbers, isEnd); ok {
			sum, reaches = max(sum, more), true
		}
	}
	if !reaches {
		return 0, false
	}
	return sum + numbers[from], true
}

// isStuck says by all paths whether a task can never have its permits.
func (m *permitModel) isStuck() bool {
	acquired, released := 0, 0
	for i := range m.takes {
		acquired += m.takes[i]
		released += m.gives[i]
	}
	if released > acquired || acquired-released > m.permits {
		return true
	}
	for i := range m.takes {
		before := 0
		for j := range i {
			if sum, ok := m.most(j, m.takes, func(k int) bool { return k == i }); ok {
				before = max(before, sum-m.takes[i])
			}
		}
		after, _ := m.most(i, m.gives, func(k int) bool { return true })
		need := m.takes[i] + m.lent[i]
		if need > 0 && before-(released-after)+need > m.permits {
			return true
		}
	}
	return false
}

// TestValidatePermits compares Validate with a look at all paths, for graphs with two semaphores.
func TestValidatePermits(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 5))
	stuck := 0
	for range testkit.Count(t, 20_000) {
		n := 1 + rng.IntN(7)
		g := graph.New("g")
		tasks := make([]graph.Task, n)

		succ := make([][]int, n)
		for i := range tasks {
			tasks[i] = g.Task(nothing)
			for j := range i {
				if rng.IntN(3) == 0 {
					tasks[j].Precede(tasks[i])
					succ[j] = append(succ[j], i)
				}
			}
		}
		want := false
		for range 2 {
			m := &permitModel{permits: 1 + rng.IntN(3), succ: succ}
			m.takes, m.gives, m.lent = make([]int, n), make([]int, n), make([]int, n)
			s := graph.NewSemaphore(m.permits)
			for i, t := range tasks {
				switch need := 1 + rng.IntN(m.permits); rng.IntN(5) {
				case 0:
					m.takes[i] = need
					t.Acquire(repeat(s, need)...)
				case 1:
					m.gives[i] = need
					t.Release(repeat(s, need)...)
				case 2:
					m.lent[i] = need
					t.Hold(repeat(s, need)...)
				}
			}
			want = want || m.isStuck()
		}
		require.Equal(t, want, g.Validate() != nil, "%v", g.Validate())
		if want {
			stuck++
		}
	}
	require.NotZero(t, stuck)
}

func repeat(s *graph.Semaphore, n int) (all []*graph.Semaphore) {
	for range n {
		all = append(all, s)
	}
	return all
}

// chainOf makes a chain of tasks that acquire and release permits of n semaphores, one after the other, twice each. The
// last semaphore is acquired once more than it has permits.
func chainOf(n int) *graph.Graph {
	g := graph.New("g")
	var last graph.Task
	add := func(t graph.Task) {
		if last != (graph.Task{}) {
			last.Precede(t)
		}
		last = t
	}
	var s *graph.Semaphore
	for range n {
		s = graph.NewSemaphore(1)
		for range 2 {
			add(g.Task(nothing).Acquire(s))
			add(g.Task(nothing).Release(s))
		}
	}
	add(g.Task(nothing).Acquire(s))
	add(g.Task(nothing).Acquire(s).Named("stuck"))
	return g
}

// TestValidateManySemaphores: Validate looks at paths only where a semaphore is in use. If it looked at the whole graph
// for each of these, it would give up before the last.
func TestValidateManySemaphores(t *testing.T) {
	require.ErrorContains(t, chainOf(30_000).Validate(), "task stuck can never run")
}

// TestValidateGivesUp has more semaphores in use at a time than Validate says it looks at. It says nothing of the last.
func TestValidateGivesUp(t *testing.T) {
	if testkit.Race {
		t.Skip("one goroutine computes, and would take long")
	}
	g := graph.New("g")
	const n = 4000
	semaphores := make([]*graph.Semaphore, n)
	for i := range semaphores {
		semaphores[i] = graph.NewSemaphore(1)
	}
	var last graph.Task
	for round := range 4 {
		for i, s := range semaphores {
			next := g.Task(nothing)
			if round%2 == 0 {
				next.Acquire(s)
			} else {
				next.Release(s)
			}
			if round+i > 0 {
				last.Precede(next)
			}
			last = next
		}
	}
	stuck := g.Task(nothing).Acquire(semaphores[n-1])
	last.Precede(stuck)
	stuck.Precede(g.Task(nothing).Acquire(semaphores[n-1]))
	require.NoError(t, g.Validate())
	sooner := graph.New("sooner")
	last = sooner.Task(nothing).Acquire(semaphores[0])
	last.Precede(sooner.Task(nothing).Acquire(semaphores[0]))
	require.Error(t, sooner.Validate())
}

// TestUnprecedeMany removes all successors of a task in one call, with and without an index of predecessors.
func TestUnprecedeMany(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		t.Run(fmt.Sprint(indexed), func(t *testing.T) {
			g := graph.New("g")
			hub := g.Task(nothing)
			kept := g.Task(nothing)
			var others []graph.Task
			for range 50_000 {
				o := g.Task(nothing)
				hub.Precede(o, o)
				kept.Precede(o)
				others = append(others, o)
			}
			hub.Precede(kept)
			if indexed {
				for range 20 {
					require.Equal(t, 3, others[0].NumPredecessors())
				}
			}
			hub.Unprecede(others...)
			require.Equal(t, 1, hub.NumSuccessors())
			require.Equal(t, 1, others[0].NumPredecessors())
			require.Equal(t, 50_000, kept.NumSuccessors())
			hub.Unprecede()
			hub.Unprecede(others[0], others[0], kept)
			require.Zero(t, hub.NumSuccessors())
			require.NoError(t, g.Validate())
		})
	}
}

package graph_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func choosesFirst(context.Context) (int, error) { return 0, nil }

// Tasks after several branches of a condition, of which Validate says that they can never run.
func TestJoinOfBranches(t *testing.T) {
	for name, build := range map[string]func(g *graph.Graph, c, begin, join graph.Task){
		"if and else": func(g *graph.Graph, c, _, join graph.Task) {
			yes, no := g.Task(nothing), g.Task(nothing)
			c.Precede(yes, no)
			join.Succeed(yes, no)
		},
		"and a task that always runs": func(g *graph.Graph, c, begin, join graph.Task) {
			yes, no := g.Task(nothing), g.Task(nothing)
			c.Precede(yes, no)
			join.Succeed(yes, begin, no)
		},
		"one further down": func(g *graph.Graph, c, begin, join graph.Task) {
			yes, no, then := g.Task(nothing), g.Task(nothing), g.Task(nothing)
			c.Precede(yes, no)
			then.Succeed(yes, begin)
			join.Succeed(then, no)
		},
		"one in a branch of another condition": func(g *graph.Graph, c, _, join graph.Task) {
			inner, no, yes, other := g.Condition(choosesFirst), g.Task(nothing), g.Task(nothing), g.Task(nothing)
			c.Precede(inner, no)
			inner.Precede(yes, other)
			join.Succeed(no, yes)
		},
		"in branches of two others": func(g *graph.Graph, c, _, join graph.Task) {
			one, two, a, b := g.Condition(choosesFirst), g.Condition(choosesFirst), g.Task(nothing), g.Task(nothing)
			c.Precede(one, two)
			one.Precede(a)
			two.Precede(b)
			join.Succeed(a, b)
		},
		"two of three, after a condition of which all are chosen": func(g *graph.Graph, c, begin, join graph.Task) {
			all := g.MultiCondition(func(context.Context) ([]int, error) { return nil, nil })
			begin.Precede(all)
			x, y, yes, no := g.Task(nothing), g.Task(nothing), g.Task(nothing), g.Task(nothing)
			all.Precede(x, y)
			c.Precede(g.Task(nothing), yes, no)
			join.Succeed(x, yes, y, no)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("g")
			c, begin, join := g.Condition(choosesFirst).Named("c"), g.Task(nothing), g.Task(nothing).Named("join")
			begin.Precede(c)
			build(g, c, begin, join)
			require.EqualError(t, g.Validate(), `graph "g": task join can never run: it comes after tasks of which `+
				`condition c chooses only one: end each of them with a condition that chooses task join`)
		})
	}
}

// Graphs in which a task after several branches may run.
func TestJoinOfBranchesThatMayRun(t *testing.T) {
	for name, build := range map[string]func(g *graph.Graph, begin, join graph.Task){
		"a condition that chooses several": func(g *graph.Graph, begin, join graph.Task) {
			c := g.MultiCondition(func(context.Context) ([]int, error) { return nil, nil })
			yes, no := g.Task(nothing), g.Task(nothing)
			begin.Precede(c)
			c.Precede(yes, no)
			join.Succeed(yes, no)
		},
		"a loop that comes to the condition again": func(g *graph.Graph, begin, join graph.Task) {
			c, yes, no, again := g.Condition(choosesFirst), g.Task(nothing), g.Task(nothing), g.Condition(choosesFirst)
			begin.Precede(c)
			c.Precede(yes, no)
			yes.Precede(again)
			again.Precede(c)
			join.Succeed(yes, no)
		},
		"a condition that two others choose": func(g *graph.Graph, begin, join graph.Task) {
			one, two, c := g.Condition(choosesFirst), g.Condition(choosesFirst), g.Condition(choosesFirst)
			yes, no := g.Task(nothing), g.Task(nothing)
			begin.Precede(one, two)
			one.Precede(c)
			two.Precede(c)
			c.Precede(yes, no)
			join.Succeed(yes, no)
		},
		"branches of two conditions": func(g *graph.Graph, begin, join graph.Task) {
			one, two, a, b := g.Condition(choosesFirst), g.Condition(choosesFirst), g.Task(nothing), g.Task(nothing)
			begin.Precede(one, two)
			one.Precede(a)
			two.Precede(b)
			join.Succeed(a, b)
		},
		"two tasks in one branch": func(g *graph.Graph, begin, join graph.Task) {
			c, yes, no := g.Condition(choosesFirst), g.Task(nothing), g.Task(nothing)
			begin.Precede(c)
			c.Precede(yes, no)
			a, b := g.Task(nothing), g.Task(nothing)
			yes.Precede(a, b)
			join.Succeed(yes, a, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("g")
			begin, join := g.Task(nothing), g.Task(nothing)
			build(g, begin, join)
			require.NoError(t, g.Validate())
		})
	}
}

// A choiceGraph is a random graph without cycles, and what it does in a run.
type choiceGraph struct {
	succ  [][]int
	conds []bool
	join  []int
}

func drawChoices(rng *rand.Rand) *choiceGraph {
	n := 4 + rng.IntN(9)
	c := &choiceGraph{make([][]int, n), make([]bool, n), make([]int, n)}
	chosen := make([]bool, n)
	for i := range n {
		c.conds[i] = rng.IntN(3) == 0
		for range 1 + rng.IntN(3) {
			j := i + 1 + rng.IntN(4)
			switch {
			case j >= n || c.conds[i] && c.join[j] > 1 || !c.conds[i] && chosen[j] && c.join[j] > 0:
				continue
			case c.conds[i]:
				chosen[j] = true
			default:
				c.join[j]++
			}
			c.succ[i] = append(c.succ[i], j)
		}
	}
	return c
}

func (c *choiceGraph) build() *graph.Graph {
	g := graph.New("random")
	var tasks []graph.Task
	for i := range c.succ {
		var task graph.Task
		if c.conds[i] {
			task = g.Condition(choosesFirst)
		} else {
			task = g.Task(nothing)
		}
		tasks = append(tasks, task.Named("n"+strconv.Itoa(i)))
	}
	for i, succ := range c.succ {
		for _, j := range succ {
			tasks[i].Precede(tasks[j])
		}
	}
	return g
}

// simulate notes in ran which tasks run, if each condition chooses at random.
func (c *choiceGraph) simulate(rng *rand.Rand, ran []bool) {
	in, ends := make([]bool, len(c.succ)), make([]int, len(c.succ))
	for _, succ := range c.succ {
		for _, j := range succ {
			in[j] = true
		}
	}
	var ready []int
	for i := range c.succ {
		if !in[i] {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		ran[i] = true
		switch succ := c.succ[i]; {
		case len(succ) == 0:
		case c.conds[i]:
			ready = append(ready, succ[rng.IntN(len(succ))])
		default:
			for _, j := range succ {
				if ends[j]++; ends[j]%c.join[j] == 0 {
					ready = append(ready, j)
				}
			}
		}
	}
}

// No task of which Validate says that it can never run runs, whatever the conditions choose.
func TestJoinOfBranchesRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	name := regexp.MustCompile(`task n(\d+) can never run: it comes after`)
	found, never := 0, 0
	for range testkit.Count(t, 3000) {
		c := drawChoices(rng)
		ran := make([]bool, len(c.succ))
		for range 300 {
			c.simulate(rng, ran)
		}
		for _, r := range ran {
			if !r {
				never++
				break
			}
		}
		if err := c.build().Validate(); err != nil {
			m := name.FindStringSubmatch(err.Error())
			require.NotNil(t, m, "%v", err)
			i, _ := strconv.Atoi(m[1])
			require.False(t, ran[i], "%v: %v", err, c)
			found++
		}
	}
	t.Logf("%d graphs with a task that never runs, %d found", never, found)
	if never >= 30 { // of fewer graphs it may find none
		require.Greater(t, 3*found, never, "Validate finds less than it did")
	}
}

// Conditions in conditions, and a join after each: the check takes little longer for each.
func TestJoinsInDeepBranches(t *testing.T) {
	n := testkit.Scale(100_000)
	g := graph.New("deep")
	first := g.Task(nothing)
	c := g.Condition(choosesFirst)
	first.Precede(c)
	for range n {
		task, next, join := g.Task(nothing), g.Condition(choosesFirst), g.Task(nothing)
		c.Precede(task)
		task.Precede(next)
		join.Succeed(task, first)
		c = next
	}
	testkit.Within(t, time.Minute, func() { require.NoError(t, g.Validate()) })
	yes, no := g.Task(nothing), g.Task(nothing)
	c.Precede(yes, no)
	g.Task(nothing).Named("end").Succeed(yes, no)
	require.ErrorContains(t, g.Validate(), "task end can never run")
}

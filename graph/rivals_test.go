package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// What the test suites and issues of other libraries try with graphs.

// Taskflow: coins are tossed until five have come down heads in a row, which takes 62 tosses on average.
func TestRivalsFlipCoins(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		rng := rand.New(rand.NewPCG(1, 2))
		tosses, heads, best := 0, 0, 0
		toss := func(context.Context) (int, error) {
			tosses++
			heads++
			if rng.IntN(2) == 1 {
				heads = 0
				return 1, nil
			}
			best = max(best, heads)
			return 0, nil
		}
		g := graph.New("coins")
		coins := make([]graph.Task, 5)
		for i := range coins {
			coins[i] = g.Condition(toss)
		}
		end := g.Task(nothing)
		begin := g.Task(func(context.Context) error { heads = 0; return nil })
		begin.Precede(coins[0])
		for i, c := range coins {
			next := end
			if i < 4 {
				next = coins[i+1]
			}
			c.Precede(next, coins[0])
		}
		const rounds = 200
		for range rounds {
			require.NoError(t, ex.Run(t.Context(), g))
			require.Equal(t, 5, heads)
		}
		require.Equal(t, 5, best)
		require.InDelta(t, 62, float64(tosses)/rounds, 25)
	})
}

// Taskflow: three loops, one in another, of conditions.
func TestRivalsNestedLoops(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		g := graph.New("loops")
		var i, j, k, n int
		loop := func(v *int, end int) (set, again graph.Task) {
			return g.Task(func(context.Context) error { *v = 0; return nil }),
				g.Condition(func(context.Context) (int, error) {
					if *v++; *v < end {
						return 0, nil
					}
					return 1, nil
				})
		}
		setI, againI := loop(&i, 4)
		setJ, againJ := loop(&j, 3)
		setK, againK := loop(&k, 2)
		body := g.Task(func(context.Context) error { n++; return nil })
		setI.Precede(setJ)
		setJ.Precede(setK)
		setK.Precede(body)
		body.Precede(againK)
		againK.Precede(body, againJ)
		againJ.Precede(setK, againI)
		againI.Precede(setJ)
		require.NoError(t, g.Validate())
		for range 3 {
			n = 0
			require.NoError(t, ex.Run(t.Context(), g))
			require.Equal(t, 4*3*2, n)
		}
	})
}

// Taskflow: in a tree of conditions one path runs.
func TestRivalsConditionTree(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		const depth = 10
		g := graph.New("tree")
		var path []int
		tasks := make([]graph.Task, 1<<depth) // the children of i are 2i and 2i+1
		for i := 1; i < len(tasks); i++ {
			tasks[i] = g.Condition(func(context.Context) (int, error) {
				path = append(path, i)
				return rand.IntN(2), nil
			})
		}
		for i := 1; i < len(tasks)/2; i++ {
			tasks[i].Precede(tasks[2*i], tasks[2*i+1])
		}
		require.NoError(t, ex.Run(t.Context(), g))
		require.Len(t, path, depth)
		for at := 1; at < depth; at++ {
			require.Equal(t, path[at-1], path[at]/2)
		}
	})
}

// Taskflow: a task that conflicts with two others, which do not conflict with each other, in runs one beside another.
func TestRivalsConflicts(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		ab, ac := graph.NewSemaphore(1), graph.NewSemaphore(1)
		var withB, withC int // guarded by ab and ac
		g := graph.New("conflicts")
		g.Task(func(context.Context) error { withB++; withC++; return nil }).Hold(ab, ac)
		g.Task(func(context.Context) error { withB++; return nil }).Hold(ab)
		g.Task(func(context.Context) error { withC++; return nil }).Hold(ac)
		var runs []*executor.Run
		for range 100 {
			runs = append(runs, ex.Start(t.Context(), g))
		}
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
		require.Equal(t, []int{200, 200}, []int{withB, withC})
	})
}

// Taskflow: tasks that take two semaphores in opposite orders do not wait for each other, and one that fails gives them
// back.
func TestRivalsSemaphoresInAnyOrder(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		a, b := graph.NewSemaphore(1), graph.NewSemaphore(1)
		n := 0 // guarded by both
		g, failing := graph.New("orders"), graph.New("failing")
		for i := range 100 {
			both := []*graph.Semaphore{a, b}
			if i%2 == 0 {
				slices.Reverse(both)
			}
			g.Task(func(context.Context) error { n++; return nil }).Hold(both...)
			failing.Task(func(context.Context) error { return errors.New("no") }).Hold(both...)
		}
		require.Error(t, ex.Run(t.Context(), failing))
		require.NoError(t, ex.Run(t.Context(), g))
		require.Equal(t, 100, n)
	})
}

// Taskflow: tasks of a graph run graphs, to a depth of fifty, with one worker.
func TestRivalsNestedRuns(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var n atomic.Int64
		var level func(depth int) *graph.Graph
		level = func(depth int) *graph.Graph {
			g := graph.New("level")
			g.Task(func(ctx context.Context) error {
				if n.Add(1); depth == 0 {
					return nil
				}
				return ex.Run(ctx, level(depth-1))
			}).Precede(g.Task(func(context.Context) error { n.Add(1); return nil }))
			return g
		}
		require.NoError(t, ex.Run(t.Context(), level(50)))
		require.EqualValues(t, 102, n.Load())
	})
}

// Taskflow: many tasks fail at the same time. Each failure that was not prevented is in the error.
func TestRivalsManyFail(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var failed atomic.Int64
		g := graph.New("failures")
		for range 1000 {
			g.Task(func(context.Context) error { failed.Add(1); return errors.New("x") })
		}
		err := ex.Run(t.Context(), g)
		require.Len(t, taskErrors(err), int(failed.Load()))
		require.Positive(t, failed.Load())
	})
}

// Taskflow: a loop without an end, in a module of a module, is cancelled by its own third round.
func TestRivalsCancelInnerLoop(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		rounds := 0
		third := errors.New("third round")
		inner := graph.New("inner")
		body := inner.Task(func(context.Context) error {
			if rounds++; rounds == 3 {
				return third
			}
			return nil
		})
		again := inner.Condition(func(context.Context) (int, error) { return 0, nil })
		inner.Task(nothing).Precede(body)
		body.Precede(again)
		again.Precede(body)
		middle, outer := graph.New("middle"), graph.New("outer")
		middle.Module(inner)
		outer.Module(middle).Precede(outer.Task(func(context.Context) error { t.Error("called"); return nil }))
		require.ErrorIs(t, ex.Run(t.Context(), outer), third)
		require.Equal(t, 3, rounds)
	})
}

// Taskflow, data pipelines: a pipeline between two tasks of a graph, run several times, passes values of two types on.
func TestRivalsPipelineInGraph(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		for _, n := range []int{0, 1, 7, 100} {
			var in []int
			var out []string
			numbers := pipeline.Source("data", 3, func(t *pipeline.Token) (int, error) {
				if t.Number() == len(in) {
					t.Stop()
					return 0, nil
				}
				return in[t.Number()], nil
			})
			letters := pipeline.Map(numbers, pipeline.Parallel, func(_ *pipeline.Token, n int) (string, error) {
				return string(rune('a' + n%26)), nil
			})
			p, err := pipeline.Sink(letters, pipeline.Serial, func(_ *pipeline.Token, letter string) error {
				out = append(out, letter)
				return nil
			})
			require.NoError(t, err)
			g := graph.New("around")
			fill := g.Task(func(context.Context) error { in, out = rand.Perm(n), nil; return nil })
			pass := g.Task(func(ctx context.Context) error { return ex.Run(ctx, p) })
			check := g.Task(func(context.Context) error {
				require.Len(t, out, n)
				for i, s := range out {
					require.Equal(t, string(rune('a'+in[i]%26)), s)
				}
				return nil
			})
			fill.Precede(pass)
			pass.Precede(check)
			for range 3 {
				require.NoError(t, ex.Run(t.Context(), g))
			}
		}
	})
}

// Taskflow, runs: goroutines run one graph at the same time.
func TestRivalsParallelRuns(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		var n atomic.Int64
		g := graph.New("shared")
		last := g.Task(nothing)
		for range 20 {
			next := g.Task(func(context.Context) error { n.Add(1); return nil })
			last.Precede(next)
			last = next
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 25 {
					if err := ex.Run(t.Context(), g); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 8*25*20, n.Load())
	})
}

package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// TestProgressOfChain: of a chain of tasks, each sees how many have ended, and after the end the numbers stay.
func TestProgressOfChain(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		const tasks = 5
		g := graph.New("chain")
		step, seen := make(chan struct{}), make(chan struct{})
		var last graph.Task
		for i := range tasks {
			next := g.Task(func(context.Context) error {
				step <- struct{}{}
				<-seen
				return nil
			})
			if i > 0 {
				last.Precede(next)
			}
			last = next
		}
		r := ex.Start(context.Background(), g)
		<-step
		r.Progress() // from now on each task is told
		for i := range int64(tasks) {
			if i > 0 {
				<-step
			}
			require.Equal(t, executor.Progress{Total: tasks, Done: i, Left: tasks - i, Running: 1}, r.Progress())
			seen <- struct{}{}
		}
		require.NoError(t, r.Wait())
		require.Equal(t, executor.Progress{Total: tasks, Done: tasks, Over: true}, r.Progress())
	})
}

// TestProgressOfPriorities: of a graph with several priorities, the tasks that are ready and those done are told.
func TestProgressOfPriorities(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("priorities")
	step, seen := make(chan struct{}), make(chan struct{})
	for i := range 4 {
		g.Task(func(context.Context) error {
			step <- struct{}{}
			<-seen
			return nil
		}).Priority(graph.Priority(i % 2))
	}
	r := ex.Start(context.Background(), g)
	<-step
	r.Progress()
	for i := range int64(4) {
		if i > 0 {
			<-step
		}
		p := r.Progress()
		require.Equal(t, i, p.Done)
		require.Equal(t, 4-i, p.Left)
		seen <- struct{}{}
	}
	require.NoError(t, r.Wait())
	require.EqualValues(t, 4, r.Progress().Done)
	require.True(t, r.Progress().Over)
}

// TestProgressLeft: while the first of four tasks runs, all four are left if their number is known. If it is not, one
// is left, and three are when the first has made the others ready: of these, one runs.
func TestProgressLeft(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	step, seen := make(chan struct{}), make(chan struct{})
	see := func() { step <- struct{}{}; <-seen }
	for _, known := range []bool{true, false} {
		g := graph.New("fan")
		first := g.Task(func(context.Context) error { see(); return nil })
		if known {
			first.Precede(g.Task(func(context.Context) error { see(); return nil }))
		} else {
			first.Precede(g.Condition(func(context.Context) (int, error) { see(); return -1, nil }))
		}
		for range 2 {
			first.Precede(g.Task(func(context.Context) error { see(); return nil }))
		}
		r := ex.Start(context.Background(), g)
		var left []int64
		for range 4 {
			<-step
			p := r.Progress()
			left = append(left, p.Left)
			require.Equal(t, 1, p.Running)
			seen <- struct{}{}
		}
		require.NoError(t, r.Wait())
		if known {
			require.Equal(t, []int64{4, 3, 2, 1}, left)
		} else {
			require.Equal(t, []int64{1, 3, 2, 1}, left)
		}
	}
}

// TestProgressOfOthers: what a job of NewJob, a pipeline, a run that did not begin and a layer that tells nothing have
// to tell.
func TestProgressOfOthers(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	begun, end := make(chan struct{}), make(chan struct{})
	r := ex.Start(context.Background(), executor.NewJob("f", func(*executor.Scope) error {
		close(begun)
		<-end
		return nil
	}))
	<-begun
	require.Equal(t, executor.Progress{Total: 1, Left: 1, Running: 1}, r.Progress())
	close(end)
	require.NoError(t, r.Wait())
	require.Equal(t, executor.Progress{Total: 1, Done: 1, Over: true}, r.Progress())

	r = ex.Start(context.Background(), executor.NewJob("fails", func(*executor.Scope) error { return errTest }))
	require.Error(t, r.Wait())
	require.Equal(t, executor.Progress{Total: 1, Failed: 1, Over: true}, r.Progress())

	begun, end = make(chan struct{}), make(chan struct{})
	before := ex.Start(context.Background(), executor.NewJob("before", func(*executor.Scope) error {
		close(begun)
		<-end
		return nil
	}))
	<-begun
	r = ex.Start(context.Background(), executor.NewJob("cancelled", func(*executor.Scope) error { return nil }))
	r.Cancel(nil)
	close(end)
	require.NoError(t, before.Wait())
	require.Error(t, r.Wait())
	require.Equal(t, executor.Progress{Total: 1, Skipped: 1, Over: true}, r.Progress())

	p, err := pipeline.New("p", 2, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
		if t.Number() == 9 {
			t.Stop()
		}
		return nil
	}}, pipeline.Stage{Run: func(*pipeline.Token) error { return nil }})
	require.NoError(t, err)
	r = ex.Start(context.Background(), p)
	require.NoError(t, r.Wait())
	require.True(t, r.Progress().Over)
	require.EqualValues(t, 9, r.Progress().Done)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r = ex.Start(ctx, graph.New("never"))
	require.Error(t, r.Wait())
	require.Equal(t, executor.Progress{Over: true}, r.Progress())

	r = ex.Start(context.Background(), newLayer("l", func(*executor.Worker, *executor.Item) *executor.Item { return nil }))
	require.NoError(t, r.Wait())
	require.Equal(t, executor.Progress{Over: true}, r.Progress())
}

// TestProgressGoesForward: while tasks fail and others are skipped, no number of those that have ended goes back, and
// all numbers together are the total.
func TestProgressGoesForward(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		const each = 5000
		g := graph.New("failing")
		for range each {
			bad := g.Task(func(context.Context) error { return errTest })
			bad.Precede(g.Task(nothing))
			g.Task(nothing)
		}
		r := ex.Start(t.Context(), graph.KeepGoing(g))
		var was executor.Progress
		for !was.Over {
			p := r.Progress()
			if p.Done < was.Done || p.Failed < was.Failed || p.Skipped < was.Skipped {
				require.Fail(t, "the progress goes back", "from %+v to %+v", was, p)
			}
			if p.Done+p.Failed+p.Skipped+p.Left != p.Total {
				require.Fail(t, "the sum is not the total", "%+v", p)
			}
			was = p
		}
		require.Equal(t, executor.Progress{Total: 3 * each, Done: each, Failed: each, Skipped: each, Over: true}, was)
		require.ErrorIs(t, r.Wait(), errTest)
	})
}

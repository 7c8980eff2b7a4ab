package executor_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("the test's own")

func nothing(context.Context) error { return nil }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Start returns while the work goes on. Done and Wait report the end to any number of callers.
func TestStartDoesNotWait(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error {
			<-gate
			return errTest
		}))
		require.False(t, closed(r.Done()))
		results := make(chan error)
		for range 4 {
			go func() { results <- r.Wait() }()
		}
		close(gate)
		for range 4 {
			require.ErrorIs(t, <-results, errTest)
		}
		<-r.Done()
		require.ErrorIs(t, r.Wait(), errTest, "after the end Wait still tells")
		require.Equal(t, r.Done(), r.Done())
	})
}

// Tasks see what happens before Start, and a caller of Wait sees what they do. The variables are plain, so the race
// detector checks it.
func TestRunPublishes(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		in := 0
		out := make([]int, 32)
		g := graph.New("publish")
		for i := range out {
			g.Task(func(context.Context) error {
				out[i] = in + i
				return nil
			})
		}
		for round := range testkit.Scale(1000) {
			in = round
			require.NoError(t, ex.Run(t.Context(), g))
			for i, v := range out {
				require.Equal(t, round+i, v)
			}
		}
	})
}

func TestNilArguments(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	const says = "executor: Run and Start need a context and a job, got nil"
	var none context.Context
	require.PanicsWithValue(t, says, func() { _ = ex.Run(none, one(nothing)) })
	require.PanicsWithValue(t, says, func() { ex.Start(none, one(nothing)) })
	require.PanicsWithValue(t, says, func() { _ = ex.Run(t.Context(), nil) })
	require.PanicsWithValue(t, says, func() { ex.Start(t.Context(), nil) })
	require.NoError(t, ex.Run(t.Context(), one(nothing)))
}

// Jobs that have nothing to run, or cannot, are over at once.
func TestNothingToRun(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		r := ex.Start(t.Context(), graph.New("empty"))
		require.True(t, closed(r.Done()))
		require.NoError(t, r.Wait())
		r.Cancel(errTest)
		require.NoError(t, r.Wait())
		require.ErrorIs(t, r.Context().Err(), context.Canceled, "the run's context is cancelled at its end")

		g := graph.New("cycle")
		a, b := g.Task(nothing), g.Task(nothing)
		a.Precede(b)
		b.Precede(a)
		var cycle *graph.CycleError
		require.ErrorAs(t, ex.Run(t.Context(), g), &cycle)
		require.NoError(t, ex.Close(), "such runs do not count as being in progress")
	})
}

// A job whose Begin panics leaves nothing behind that Close would wait for.
func TestBeginPanics(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		require.Panics(t, func() { ex.Start(t.Context(), (*graph.Graph)(nil)) })
		err := ex.Run(t.Context(), one(func(ctx context.Context) error { return ex.Run(ctx, (*graph.Graph)(nil)) }))
		var p *executor.PanicError
		require.ErrorAs(t, err, &p)
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
		require.NoError(t, ex.Close())
	})
}

// A goroutine that waits for a run, which it got from Begin, is not left waiting when Begin panics.
func TestBeginPanicsLate(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	var r *executor.Run
	j := &early{do: func(begun *executor.JobRun) error {
		r = &begun.Run
		panic("late")
	}}
	within(t, ex, func() {
		require.PanicsWithValue(t, "late", func() { ex.Start(t.Context(), j) })
		<-r.Done()
		<-r.Context().Done()
		require.EqualError(t, r.Wait(), "executor: the job's Begin panicked")
		require.NoError(t, ex.Close())
	})
}

// An early job calls methods of its run in Begin.
type early struct {
	*layer
	do func(*executor.JobRun) error
}

func (e *early) Begin(r *executor.JobRun) (*executor.Item, error) {
	if err := e.do(r); err != nil {
		return nil, err
	}
	return e.layer.Begin(r)
}

// A job that cancels its run in Begin, or sees the caller's context end there, runs nothing if it looks; one that then
// returns an error ends with that. Waiters are told.
func TestCancelInBegin(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := false
		l := newLayer("early", func(w *executor.Worker, it *executor.Item) *executor.Item {
			stopped = it.Body.Stopped()
			return nil
		})
		for name, do := range map[string]func(r *executor.JobRun) error{
			"Cancel":  func(r *executor.JobRun) error { r.Cancel(errTest); return nil },
			"context": func(r *executor.JobRun) error { cancel(errTest); <-r.Context().Done(); return nil },
		} {
			stopped = false
			err := ex.Run(ctx, &early{l, do})
			require.ErrorIs(t, err, errTest, name)
			require.True(t, stopped, name)
			ctx, cancel = context.WithCancelCause(t.Context())
		}
		defer cancel(nil)
		var done <-chan struct{}
		r := ex.Start(ctx, &early{l, func(r *executor.JobRun) error { r.Cancel(nil); done = r.Done(); return errTest }})
		require.True(t, closed(done))
		require.Equal(t, errTest, r.Wait())
		require.Equal(t, context.Canceled, r.Context().Err())
	})
}

// Runs that overlap in every way, from many goroutines, of graphs of their own and of one they share.
func TestManySubmitters(t *testing.T) {
	onEach(t, []int{1, 2, 8}, func(t *testing.T, ex *executor.Executor) {
		const submitters = 8
		each := testkit.Scale(300)
		var own, shared atomic.Int64
		common := fan(20, func(context.Context) error {
			shared.Add(1)
			return nil
		})
		var wg sync.WaitGroup
		for range submitters {
			wg.Go(func() {
				g := fan(3, func(context.Context) error {
					own.Add(1)
					return nil
				})
				for range each {
					r := ex.Start(t.Context(), g)
					if err := ex.Run(t.Context(), common); err != nil {
						t.Error(err)
					}
					if err := r.Wait(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 3*submitters*each, own.Load())
		require.EqualValues(t, 20*submitters*each, shared.Load())
	})
}

// Executors are independent: each runs its runs on threads of its own, and one that is stuck does not hold up another.
func TestSeveralExecutors(t *testing.T) {
	a := newExecutor(t, executor.Config{Workers: 2})
	b := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Policy: "adaptive-published"}})
	within(t, a, func() {
		gate := make(chan struct{})
		stuck := a.Start(t.Context(), fan(2, func(context.Context) error {
			<-gate
			return nil
		}))
		inB := meetAll(t, b)
		close(gate)
		require.NoError(t, stuck.Wait())
		for thread := range meetAll(t, a) {
			require.NotContains(t, inB, thread)
		}
	})
}

// A task of one executor may run something on another, which may run something on the first: only the waiting worker
// is blocked.
func TestRunOnAnothersWorker(t *testing.T) {
	a := newExecutor(t, executor.Config{Workers: 2})
	b := newExecutor(t, executor.Config{Workers: 1})
	within(t, a, func() {
		var depth atomic.Int64
		err := a.Run(t.Context(), one(func(ctx context.Context) error {
			onA := executor.Thread()
			return b.Run(ctx, one(func(ctx context.Context) error {
				onB := executor.Thread()
				if onA == onB {
					return errors.New("the worker of one executor ran a task of the other")
				}
				return a.Run(ctx, one(func(context.Context) error {
					if thread := executor.Thread(); thread == onA || thread == onB {
						return errors.New("a worker that is blocked ran a task")
					}
					depth.Add(1)
					return nil
				}))
			}))
		}))
		require.NoError(t, err)
		require.EqualValues(t, 1, depth.Load())
	})
}

// A goroutine that a task starts is no worker, even if it has the task's context.
func TestGoroutineOfATaskIsNoWorker(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		err := ex.Run(t.Context(), one(func(ctx context.Context) error {
			result := make(chan error)
			go func() {
				result <- ex.Run(ctx, one(func(context.Context) error {
					time.Sleep(time.Millisecond)
					return nil
				}))
			}()
			return <-result // blocks this worker; another runs the task
		}))
		require.NoError(t, err)
	})
}

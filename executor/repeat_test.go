package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// repeating returns Times and Until of a job that is to run n times.
func repeating(j executor.Job, n int) map[string]func() executor.Job {
	return map[string]func() executor.Job{
		"times": func() executor.Job { return executor.Times(j, n) },
		"until": func() executor.Job {
			ran := 0
			return executor.Until(j, func() bool { ran++; return ran > n })
		},
	}
}

// The runs come one after the other, as many as they should, inside tasks too.
func TestRepeat(t *testing.T) {
	onInlineToo(t, func(t *testing.T, ex *executor.Executor) {
		for _, n := range []int{0, 1, 3, 200} {
			var ran, at atomic.Int64
			g := graph.New("g")
			begin := g.Task(func(context.Context) error {
				if at.Add(1) != 1 {
					t.Error("two runs at a time")
				}
				return nil
			})
			end := g.Task(func(context.Context) error { at.Add(-1); ran.Add(1); return nil })
			for range 4 {
				middle := g.Task(nothing)
				begin.Precede(middle)
				middle.Precede(end)
			}
			for name, job := range repeating(g, n) {
				within(t, ex, func() {
					ran.Store(0)
					require.NoError(t, ex.Run(t.Context(), job()), name)
					require.EqualValues(t, n, ran.Load(), name)
					ran.Store(0)
					nested := one(func(ctx context.Context) error { return ex.Run(ctx, job()) })
					require.NoError(t, ex.Run(t.Context(), nested))
					require.EqualValues(t, n, ran.Load(), name)
				})
			}
		}
	})
}

// The first failure, or the end of the context, ends the whole. A failure is told as the run has told it.
func TestRepeatEnds(t *testing.T) {
	onInlineToo(t, func(t *testing.T, ex *executor.Executor) {
		for name, c := range map[string]struct {
			end  func(cancel context.CancelCauseFunc) error
			text string
			want error
		}{
			"error": {
				func(context.CancelCauseFunc) error { return errTest },
				`graph "one": task #0: ` + errTest.Error(), errTest,
			},
			"panic": {
				func(context.CancelCauseFunc) error { panic(errTest) },
				`graph "one": task #0: panic: ` + errTest.Error(), errTest,
			},
			"cancel": {
				func(cancel context.CancelCauseFunc) error { cancel(errTest); return nil },
				`run of "one": context canceled: ` + errTest.Error(), context.Canceled,
			},
		} {
			for kind := range repeating(one(nothing), 5) {
				within(t, ex, func() {
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					ran := 0
					job := repeating(one(func(ctx context.Context) error {
						if ran++; ran < 3 {
							return nil
						}
						err := c.end(cancel)
						for err == nil && ctx.Err() == nil {
							runtime.Gosched()
						}
						return err
					}), 5)[kind]()
					err := ex.Run(ctx, job)
					require.EqualError(t, err, c.text, name)
					require.ErrorIs(t, err, c.want)
					require.Equal(t, 3, ran)
				})
			}
		}
	})
}

// Cancelled between two runs, by the function of Until, which may panic as well.
func TestUntilFunction(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			ran := 0
			job := one(func(context.Context) error { ran++; return nil })
			ctx, cancel := context.WithCancelCause(t.Context())
			err := ex.Run(ctx, executor.Until(job, func() bool {
				if ran == 2 {
					cancel(errTest)
				}
				return ran == 100_000_000
			}))
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, err, context.Canceled)

			err = ex.Run(t.Context(), executor.Until(job, func() bool { panic(errTest) }))
			require.EqualError(t, err, `run of "one": panic: `+errTest.Error())
			err = ex.Run(t.Context(), executor.Until(job, func() bool { runtime.Goexit(); return true }))
			require.ErrorIs(t, err, executor.ErrGoexit)
		})
	})
}

// The options of the job count for the whole, and so does its name. Progress counts runs.
func TestRepeatOptions(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, MaxRuns: 1})
	within(t, ex, func() {
		var r *executor.Run
		ready := make(chan struct{})
		var seen []int64
		low := executor.With(one(func(context.Context) error {
			<-ready
			seen = append(seen, r.Progress().Done)
			return nil
		}), executor.RunOptions{Name: "nightly", Workers: 1})
		r = ex.Start(t.Context(), executor.Times(low, 3))
		require.Equal(t, "nightly", r.Name())
		close(ready)
		require.NoError(t, r.Wait())
		require.Equal(t, []int64{0, 1, 2}, seen)
		p := r.Progress()
		require.Equal(t, executor.Progress{Total: 3, Done: 3, Over: true, Running: p.Running}, p)

		twice := executor.With(executor.Times(one(nothing), 2), executor.RunOptions{Name: "twice"})
		require.Equal(t, "twice", twice.Name())
		require.NoError(t, ex.Run(t.Context(), twice))
		require.Equal(t, "one", executor.Until(one(nothing), func() bool { return true }).Name())
	})
}

// After the end nothing is left. What Times does not begin because of a failure is skipped, and so is a run that was
// cut short.
func TestRepeatProgressAtEnd(t *testing.T) {
	const n = 5
	for name, c := range map[string]struct {
		last int // the run that ends the job
		end  func(r *executor.Run) error
		want map[string]executor.Progress
	}{
		"success": {n, func(*executor.Run) error { return nil }, map[string]executor.Progress{
			"times": {Total: n, Done: n, Over: true}, "until": {Done: n, Over: true},
		}},
		"first fails": {1, func(*executor.Run) error { return errTest }, map[string]executor.Progress{
			"times": {Total: n, Failed: 1, Skipped: n - 1, Over: true}, "until": {Failed: 1, Over: true},
		}},
		"third fails": {3, func(*executor.Run) error { return errTest }, map[string]executor.Progress{
			"times": {Total: n, Done: 2, Failed: 1, Skipped: n - 3, Over: true}, "until": {Done: 2, Failed: 1, Over: true},
		}},
		"panic": {3, func(*executor.Run) error { panic(errTest) }, map[string]executor.Progress{
			"times": {Total: n, Done: 2, Failed: 1, Skipped: n - 3, Over: true}, "until": {Done: 2, Failed: 1, Over: true},
		}},
		"cancelled": {3, func(r *executor.Run) error { r.Cancel(errTest); return nil }, map[string]executor.Progress{
			"times": {Total: n, Done: 2, Skipped: n - 2, Over: true}, "until": {Done: 2, Skipped: 1, Over: true},
		}},
	} {
		for kind, want := range c.want {
			onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
				ready, ran := make(chan struct{}), 0
				var r *executor.Run
				r = ex.Start(t.Context(), repeating(one(func(context.Context) error {
					<-ready
					if ran++; ran < c.last {
						return nil
					}
					return c.end(r)
				}), n)[kind]())
				close(ready)
				err := r.Wait()
				require.Equal(t, name == "success", err == nil, "%s: %v", name, err)
				require.Equal(t, want, r.Progress(), "%s, %s", name, kind)
				require.Equal(t, c.last, ran, "%s, %s", name, kind)
			})
		}
	}
}

// A job of Times may be in several runs, and on an executor that runs the oldest item first.
func TestRepeatTogether(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Deque: deque.KindBWoSFIFO}})
	within(t, ex, func() {
		var ran atomic.Int64
		job := executor.Times(executor.Times(one(func(context.Context) error { ran.Add(1); return nil }), 10), 10)
		var runs []*executor.Run
		for range 10 {
			runs = append(runs, ex.Start(t.Context(), job))
		}
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
		require.EqualValues(t, 1000, ran.Load())
	})
}

func TestRepeatInline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Minute)
		defer cancel()
		ran := 0
		sleeps := one(func(context.Context) error {
			time.Sleep(time.Hour)
			ran++
			return nil
		})
		err := ex.Run(ctx, executor.Times(sleeps, 5))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 3, ran)
		require.Equal(t, 3*time.Hour, time.Since(begin))
		require.NoError(t, ex.Close())
	})
}

func TestRepeatMistakes(t *testing.T) {
	require.PanicsWithValue(t, "executor: Times of a nil job", func() { executor.Times(nil, 1) })
	var none *graph.Graph
	require.PanicsWithValue(t, "graph: a nil Graph is used: make one with New", func() { executor.Times(none, 1) })
	require.PanicsWithValue(t, "executor: Times of -1 runs", func() { executor.Times(one(nothing), -1) })
	yes := func() bool { return true }
	require.PanicsWithValue(t, "executor: Until of a nil job", func() { executor.Until(nil, yes) })
	require.PanicsWithValue(t, "executor: Until of a nil function", func() { executor.Until(one(nothing), nil) })
	ex := newExecutor(t, executor.Config{Workers: 1})
	g := graph.New("cycle")
	a, b := g.Task(nothing), g.Task(nothing)
	a.Precede(b)
	b.Precede(a)
	var cycle *graph.CycleError
	require.True(t, errors.As(ex.Run(t.Context(), executor.Times(g, 2)), &cycle))
}

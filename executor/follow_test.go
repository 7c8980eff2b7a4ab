package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// startedDeep starts runs in runs with their contexts, none of which is waited for by the run around it, and calls leaf
// in the innermost. It returns when all have ended.
func startedDeep(ctx context.Context, ex *executor.Executor, levels int, leaf func(context.Context) error) error {
	var mu sync.Mutex // a level may begin before Start of the level around it has returned
	var runs []*executor.Run
	var start func(level int) func(*executor.Scope) error
	open := make(chan struct{})
	start = func(level int) func(*executor.Scope) error {
		return func(s *executor.Scope) error {
			if level == levels {
				defer close(open)
				return leaf(s.Context())
			}
			r := ex.Start(s.Context(), executor.NewJob("level", start(level+1)))
			mu.Lock()
			runs = append(runs, r)
			mu.Unlock()
			executor.Blocking(func() { <-open }) // so that all are in progress
			return s.Context().Err()
		}
	}
	err := ex.Run(ctx, executor.NewJob("level", start(1)))
	for i := 0; ; i++ {
		mu.Lock() // a run that is waited for has added the one that it has started
		if i == len(runs) {
			mu.Unlock()
			return err
		}
		r := runs[i]
		mu.Unlock()
		err = errors.Join(err, r.Wait())
	}
}

// TestFollowNested: a run that a task has started with its context is cancelled with the task's run, and when that one
// ends.
func TestFollowNested(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: 20})
	for _, levels := range []int{2, 3, 10} {
		within(t, ex, func() {
			ctx, cancel := context.WithCancelCause(t.Context())
			var cause atomic.Value
			err := startedDeep(ctx, ex, levels, func(ctx context.Context) error {
				cancel(errTest)
				if ctx.Err() == nil {
					t.Error("the caller has cancelled, and a task does not see it")
				}
				<-ctx.Done()
				cause.Store(context.Cause(ctx))
				return ctx.Err()
			})
			require.ErrorIs(t, err, errTest)
			require.Equal(t, errTest, cause.Load())
		})
	}
	within(t, ex, func() {
		var inner *executor.Run
		begun := make(chan struct{})
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("outer", func(s *executor.Scope) error {
			inner = ex.Start(s.Context(), executor.NewJob("inner", func(s *executor.Scope) error {
				close(begun)
				executor.Blocking(func() { <-s.Context().Done() })
				return s.Context().Err()
			}))
			executor.Blocking(func() { <-begun })
			return nil
		})))
		require.ErrorIs(t, inner.Wait(), context.Canceled)
	})
}

// TestFollowDeep: contexts of runs in runs are asked in constant time, and started in linear time. A run in a helper's
// stack is not looked at here: package graph has that.
func TestFollowDeep(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	levels := max(1000, testkit.Scale(4000))
	var asked int
	var nest func(level int) func(*executor.Scope) error
	nest = func(level int) func(*executor.Scope) error {
		return func(s *executor.Scope) error {
			for range 1000 {
				if err := s.Context().Err(); err != nil {
					return err
				}
				asked++
			}
			if level == levels {
				return nil
			}
			return ex.Run(s.Context(), executor.NewJob("nest", nest(level+1)))
		}
	}
	within(t, ex, func() { require.NoError(t, ex.Run(t.Context(), executor.NewJob("nest", nest(1)))) })
	require.Equal(t, 1000*levels, asked)
}

// A heldJob is a job whose run ends when it is stopped, after a call of onStop.
type heldJob struct {
	executor.Body
	item   executor.Item
	left   atomic.Int64
	onStop func()
}

func newHeldJob(onStop func()) *heldJob {
	j := &heldJob{onStop: onStop}
	j.Body.Init(j)
	j.item = executor.Item{Body: &j.Body, Exec: func(*executor.Worker, *executor.Item) *executor.Item {
		j.left.Add(-1) // not the end: the worker is counted
		return nil
	}}
	j.left.Store(2)
	return j
}

func (j *heldJob) out() {
	if j.left.Add(-1) == 0 {
		j.Body.Run().Finish()
	}
}

func (j *heldJob) Name() string                                                { return "held" }
func (j *heldJob) Begin(*executor.JobRun) (*executor.Item, error)              { return &j.item, nil }
func (j *heldJob) Enter(*executor.Worker)                                      { j.left.Add(1) }
func (j *heldJob) Leave(*executor.Worker)                                      { j.out() }
func (j *heldJob) Flush(*executor.Worker)                                      {}
func (j *heldJob) Fail(*executor.Worker, *executor.Item, error) *executor.Item { return nil }
func (j *heldJob) Release()                                                    {}
func (j *heldJob) OnStop()                                                     { j.onStop(); j.out() }

// While a failure tells the runs that follow, another task of the same run may fail, and its worker goes on.
func TestFollowFailingTogether(t *testing.T) {
	for name, layer := range map[string]func(x, y func(context.Context) error) (executor.Job, error){
		"graph": func(x, y func(context.Context) error) (executor.Job, error) {
			g := graph.New("g")
			g.Task(x)
			g.Task(y)
			return g, nil
		},
		"scope": func(x, y func(context.Context) error) (executor.Job, error) {
			return executor.NewJob("scope", func(s *executor.Scope) error {
				s.Go(y)
				return x(s.Context())
			}), nil
		},
		"pipeline": func(x, y func(context.Context) error) (executor.Job, error) {
			return pipeline.New("p", 2,
				pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
					if t.Number() == 2 {
						t.Stop()
					}
					return nil
				}},
				pipeline.Stage{Run: func(t *pipeline.Token) error {
					if t.Number() == 0 {
						return x(t.Context())
					}
					return y(t.Context())
				}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			begun, fails := make(chan struct{}), make(chan struct{})
			var held *executor.Run
			job, err := layer(func(ctx context.Context) error {
				held = ex.Start(ctx, newHeldJob(func() {
					close(fails)
					other := ex.Start(context.Background(), one(nothing))
					select {
					case <-other.Done():
					case <-time.After(testkit.Patience / 2):
						t.Error("the worker of the other failing task waits")
					}
				}))
				<-begun
				return errTest
			}, func(context.Context) error {
				close(begun)
				<-fails
				return errors.New("another")
			})
			require.NoError(t, err)
			within(t, ex, func() {
				require.ErrorIs(t, ex.Run(t.Context(), job), errTest)
				require.Error(t, held.Wait())
			})
		})
	}
}

// The end of a run may have an inline executor run tasks of others, when it stops the runs that follow. If one of the
// tasks calls Goexit, the run has ended all the same.
func TestFollowGoexitAtTheEnd(t *testing.T) {
	ex := executor.NewInline(1)
	within(t, ex, func() {
		kept, byHand := graph.NewSemaphore(1), graph.NewSemaphore(1)
		require.True(t, byHand.TryAcquire(1))
		follower := graph.New("follower")
		first := follower.Task(nothing)
		first.Acquire(kept)
		first.Precede(follower.Task(nothing).Hold(byHand)) // waits until the run is stopped, and has kept's permit
		waits := graph.New("waits")
		waits.Task(func(context.Context) error { runtime.Goexit(); return nil }).Hold(kept)

		g, _ := executor.GroupWithContext(t.Context(), ex)
		var runs []*executor.Run
		g.GoContext(func(ctx context.Context) error {
			runs = append(runs, ex.Start(ctx, follower))
			return nil
		})
		runs = append(runs, ex.Start(t.Context(), waits))
		var wg sync.WaitGroup
		exits := true
		wg.Go(func() {
			_ = g.Wait()
			exits = false
		})
		wg.Wait()
		require.True(t, exits, "the end of the group has run no task that calls Goexit")
		require.NoError(t, g.Wait())
		require.ErrorIs(t, runs[0].Wait(), context.Canceled)
		require.ErrorIs(t, runs[1].Wait(), executor.ErrGoexit)
		byHand.Release(1)
		require.NoError(t, ex.Close())
	})
}

package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/stretchr/testify/require"
)

// withholding makes an executor at rest whose next groups withhold their functions, and whose next futures are withheld.
func withholding(t *testing.T, cfg executor.Config) *executor.Executor {
	cfg.Callers = executor.BusyCallers
	ex := newExecutor(t, cfg)
	hushAsyncs(t, ex)
	ex.HushGroups()
	return ex
}

// A group that withholds its functions until Wait wakes nobody: the caller runs them. The system may take the caller's
// core away. So one group of many must be silent.
func TestGroupWakesNobody(t *testing.T) {
	for _, p := range admitting {
		ex := withholding(t, executor.Config{Workers: 3, Experiment: experiment.Options{Policy: p}})
		within(t, ex, func() {
			for silent := false; !silent; {
				comesToRest(t, ex)
				ex.HushGroups()
				before := ex.Stats().Total
				g, _ := executor.GroupWithContext(t.Context(), ex)
				var called atomic.Int64 // by several workers, if some wake up
				for range 5 {
					g.Go(func() error { called.Add(1); return nil })
				}
				require.NoError(t, g.Wait())
				require.EqualValues(t, 5, called.Load())
				comesToRest(t, ex) // before that, a worker that woke up may not have counted it
				silent = ex.Stats().Total.Wakeups == before.Wakeups
			}
		})
	}
}

// A group without functions has no worker do anything.
func TestGroupWithoutFunctions(t *testing.T) {
	ex := withholding(t, executor.Config{Workers: 2})
	before := ex.Stats().Total
	for range 10 {
		g, ctx := executor.GroupWithContext(t.Context(), ex)
		require.NoError(t, g.Wait())
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	}
	comesToRest(t, ex)
	require.Equal(t, before.Wakeups, ex.Stats().Total.Wakeups)
	require.Zero(t, ex.RunsInProgress())
}

// The first callers of Wait tell how long their groups took, whether these withheld their functions or not.
func TestGroupNotesItsTime(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BusyCallers})
	g := executor.NewGroup(ex)
	for i := range int64(3) {
		g.Go(func() error { return nil })
		require.NoError(t, g.Wait())
		require.Equal(t, i+1, ex.NotedGroups())
		noted := ex.GroupTempo()
		time.Sleep(time.Millisecond)
		require.NoError(t, g.Wait())
		require.Equal(t, noted, ex.GroupTempo(), "the second Wait has noted a time")
	}
}

// If the caller does not come to Wait, but waits for what its function does, workers are told all the same. Groups of
// that place in the program then withhold nothing for a while.
func TestGroupShowsLate(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := withholding(t, executor.Config{Workers: w})
		within(t, ex, func() {
			for round := range 3 {
				ex.HushGroups()
				for _, quiet := range []bool{true, false} {
					require.Equal(t, quiet, ex.LoudGroups() == 0, "round %d", round)
					g := executor.NewGroup(ex)
					done := make(chan struct{})
					g.Go(func() error { close(done); return nil })
					if !quiet {
						require.Zero(t, ex.Withheld())
					}
					<-done
					require.Zero(t, ex.Withheld())
					require.NoError(t, g.Wait())
				}
			}
		})
	}
}

// If a function takes long that the caller of Wait runs, others of its group are called meanwhile. Groups of that place
// in the program then withhold nothing for a while.
func TestGroupTakesLong(t *testing.T) {
	for name, meet := range map[string]func(met *atomic.Int32, all chan struct{}){
		"sleeps": func(met *atomic.Int32, _ chan struct{}) {
			for met.Load() < 2 {
				time.Sleep(time.Millisecond)
			}
		},
		"waits": func(_ *atomic.Int32, all chan struct{}) { <-all },
	} {
		ex := withholding(t, executor.Config{Workers: 2})
		within(t, ex, func() {
			for late := false; !late; {
				comesToRest(t, ex)
				ex.HushGroups()
				g := executor.NewGroup(ex)
				var met atomic.Int32
				all := make(chan struct{})
				for range 2 {
					g.Go(func() error {
						if met.Add(1) == 2 {
							close(all)
						}
						meet(&met, all)
						return nil
					})
				}
				require.NoError(t, g.Wait(), name)
				late = ex.LoudGroups() != 0 // else another worker was awake, and was quick
			}
		})
	}
}

// TestGroupCancelAfterEnd: the end of the caller's context comes before a Cancel, although nobody has asked the
// group's.
func TestGroupCancelAfterEnd(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	early, late := errors.New("early"), errors.New("late")
	ctx, cancel := context.WithCancelCause(t.Context())
	g, within := executor.GroupWithContext(ctx, ex)
	release := make(chan struct{})
	g.Go(func() error { <-release; return nil })
	cancel(early)
	g.Cancel(late)
	require.Equal(t, early, context.Cause(within))
	close(release)
	err := g.Wait()
	require.ErrorIs(t, err, early)
	require.NotErrorIs(t, err, late)
}

// Many functions are not withheld.
func TestGroupShowsMany(t *testing.T) {
	ex := withholding(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		g := executor.NewGroup(ex)
		called := 0 // of the only worker
		const n = executor.MaxBatch + 2
		for range n {
			g.Go(func() error { called++; return nil })
		}
		require.Zero(t, ex.Withheld())
		require.NoError(t, g.Wait())
		require.Equal(t, n, called)
	})
}

// What is withheld is called too if Wait is called where it cannot run it: in a task, in one of another executor, after
// Close, or by nobody.
func TestGroupWithheldElsewhere(t *testing.T) {
	for name, wait := range map[string]func(t *testing.T, ex *executor.Executor, g *executor.Group) error{
		"a task": func(t *testing.T, ex *executor.Executor, g *executor.Group) error {
			return ex.Run(t.Context(), one(func(context.Context) error { return g.Wait() }))
		},
		"a task of another executor": func(t *testing.T, _ *executor.Executor, g *executor.Group) error {
			other := newExecutor(t, executor.Config{Workers: 1})
			return other.Run(t.Context(), one(func(context.Context) error {
				here := executor.Thread()
				g.Go(func() error {
					if executor.Thread() == here {
						t.Error("a worker of another executor runs a function")
					}
					return nil
				})
				return g.Wait()
			}))
		},
		"after Close": func(_ *testing.T, ex *executor.Executor, g *executor.Group) error {
			if err := ex.Close(); err != nil {
				return err
			}
			return g.Wait()
		},
		"nobody": func(_ *testing.T, ex *executor.Executor, _ *executor.Group) error { return ex.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			ex := withholding(t, executor.Config{Workers: 1})
			ex.StopQuietClock()
			within(t, ex, func() {
				for range 2 {
					g := executor.NewGroup(ex)
					called := false
					g.Go(func() error { called = true; return nil })
					require.NoError(t, wait(t, ex, g))
					require.True(t, called)
					if name != "a task" {
						break
					}
				}
			})
		})
	}
}

// Goexit of a function that the caller of Wait runs ends the caller, after all functions.
func TestGroupWithheldGoexit(t *testing.T) {
	ex := withholding(t, executor.Config{Workers: 2})
	within(t, ex, func() {
		for ended := false; !ended; {
			comesToRest(t, ex)
			ex.HushGroups()
			returned := make(chan bool)
			var called [3]bool
			go func() {
				back := false
				defer func() { returned <- back }()
				g := executor.NewGroup(ex)
				for i := range called {
					g.Go(func() error {
						called[i] = true
						if i == 1 {
							runtime.Goexit()
						}
						return nil
					})
				}
				if err := g.Wait(); err == nil {
					t.Error("no error")
				}
				back = true
			}()
			ended = !<-returned
			require.Equal(t, [3]bool{true, true, true}, called)
		}
	})
}

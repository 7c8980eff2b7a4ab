package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A brief caller leaves a run of many tasks after a while, and the run goes on without it.
func TestCallerLeaves(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BriefCallers})
	eventually(func() bool { // a caller that has lost its core leaves at once
		comesToRest(t, ex)
		time.Sleep(time.Millisecond)
		here, elsewhere := runChain(t, ex)
		require.LessOrEqual(t, here, 16, "the caller runs tasks of 20 µs for a tenth of a millisecond")
		return here > 0 && elsewhere > 0
	})
}

// A brief caller that has run many quick tasks looks at the clock at each poll, every 64 tasks.
func TestCallerLeavesAfterManyItems(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BriefCallers})
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Scale(10) {
		comesToRest(t, ex)
		ex.AdmitCallers()
		quick, slow, here := 64+rng.IntN(1000), 500, 0
		within(t, ex, func() {
			osthread.Lock()
			defer osthread.Unlock()
			caller := executor.Thread()
			step := func(w *executor.Worker, self *executor.Item) *executor.Item {
				for slow > 0 {
					if quick--; quick < 0 {
						if executor.Thread() == caller {
							here++
						}
						spend(20 * time.Microsecond)
						slow--
					}
					if !w.Continue(self) {
						return self
					}
				}
				return nil
			}
			require.NoError(t, ex.Run(t.Context(), newLayer("quick, then slow", step)))
		})
		require.LessOrEqual(t, here, 2*64)
	}
}

// By default a caller stays to the end of its run.
func TestCallerStays(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	for range testkit.Scale(20) {
		comesToRest(t, ex)
		here, elsewhere := runChain(t, ex)
		require.Positive(t, here)
		require.Zero(t, elsewhere)
	}
	require.NoError(t, ex.Close())
}

// runChain runs a chain of a hundred tasks of 20 µs, and returns how many of them ran on the caller's thread.
func runChain(t *testing.T, ex *executor.Executor) (here, elsewhere int) {
	t.Helper()
	osthread.Lock()
	defer osthread.Unlock()
	caller := executor.Thread()
	g := graph.New("chain")
	last := g.Task(nothing)
	for range 100 {
		next := g.Task(func(context.Context) error {
			if executor.Thread() == caller {
				here++
			} else {
				elsewhere++
			}
			spend(20 * time.Microsecond)
			return nil
		})
		last.Precede(next)
		last = next
	}
	require.NoError(t, ex.Run(t.Context(), g))
	require.Equal(t, 100, here+elsewhere)
	return here, elsewhere
}

// A caller that makes one long run after the other lets other goroutines run in between: it does not wait until the
// runtime preempts it.
func TestCallerLetsGoroutinesRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ex, err := executor.New(executor.Config{Workers: 1, Host: host.Options{KeepGOMAXPROCS: true}})
	require.NoError(t, err)
	job := one(func(context.Context) error { spend(400 * time.Microsecond); return nil })
	for name, run := range map[string]func() error{
		"Run":  func() error { return ex.Run(t.Context(), job) },
		"Wait": func() error { return ex.Start(t.Context(), job).Wait() },
		"Async": func() error {
			_, err := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
				spend(400 * time.Microsecond)
				return 0, nil
			}).Wait()
			return err
		},
	} {
		comesToRest(t, ex)
		var ran atomic.Bool
		go ran.Store(true)
		for range 3 {
			require.NoError(t, run())
		}
		require.True(t, ran.Load(), name)
	}
	require.NoError(t, ex.Close())
}

// spend keeps the core for a while. time.Sleep would leave it, and for far longer.
func spend(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// Run returns although a run that a task has started goes on, and waits for what the caller does next.
func TestCallerReturnsFirst(t *testing.T) {
	for _, w := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: w, Callers: executor.BusyCallers})
		within(t, ex, func() {
			for range testkit.Scale(50) {
				comesToRest(t, ex)
				quit := make(chan struct{})
				var server *executor.Run
				require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
					server = ex.Start(context.Background(), fan(3, func(context.Context) error { <-quit; return nil }))
					return nil
				})))
				close(quit)
				require.NoError(t, server.Wait())
			}
		})
	}
}

// With one worker a busy caller of a long run lets other runs have their turn.
func TestCallerLetsOthersIn(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BusyCallers})
	within(t, ex, func() {
		for range testkit.Scale(20) {
			comesToRest(t, ex)
			var over atomic.Bool
			go func() { _ = ex.Start(context.Background(), count(new(atomic.Int64))).Wait(); over.Store(true) }()
			endless := newLayer("endless", func(_ *executor.Worker, self *executor.Item) *executor.Item {
				if over.Load() {
					return nil
				}
				return self
			})
			require.NoError(t, ex.Run(t.Context(), endless))
		}
	})
}

// A caller that has been here for long goes on as long as one of its tasks waits: with one worker nobody else would run
// what the task waits for.
func TestCallerStaysBelowAWait(t *testing.T) {
	var ran atomic.Int64
	task := func(context.Context) error {
		spend(20 * time.Microsecond)
		ran.Add(1)
		return nil
	}
	var tree func(s *executor.Scope, n int) int
	tree = func(s *executor.Scope, n int) int {
		if n > 1 {
			f := executor.Fork(s, tree, n/2)
			tree(s, n-n/2)
			return f.Join(s)
		}
		return len(fmt.Sprint(task(s.Context())))
	}
	waits := map[string]func(ex *executor.Executor) executor.Job{
		"a run": func(ex *executor.Executor) executor.Job {
			return one(func(ctx context.Context) error { return ex.Run(ctx, fan(50, task)) })
		},
		"children": func(*executor.Executor) executor.Job {
			return executor.NewJob("children", func(s *executor.Scope) error {
				for range 50 {
					s.Go(task)
				}
				return s.Wait()
			})
		},
		"forks": func(*executor.Executor) executor.Job {
			return executor.NewJob("forks", func(s *executor.Scope) error { tree(s, 50); return nil })
		},
		"futures": func(ex *executor.Executor) executor.Job {
			return one(func(ctx context.Context) (err error) {
				for range 50 {
					f := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, task(ctx) })
					_, failure := f.Wait()
					err = errors.Join(err, failure)
				}
				return err
			})
		},
		"a group": func(ex *executor.Executor) executor.Job {
			return one(func(ctx context.Context) error {
				g := executor.NewGroup(ex)
				for range 50 {
					g.Go(func() error { return task(ctx) })
				}
				return g.Wait()
			})
		},
	}
	for name, job := range waits {
		for _, w := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, W=%d", name, w), func(t *testing.T) {
				for range testkit.Scale(20) {
					ex, err := executor.New(executor.Config{Workers: w, Callers: executor.BriefCallers})
					require.NoError(t, err)
					comesToRest(t, ex)
					ran.Store(0)
					within(t, ex, func() { require.NoError(t, ex.Run(t.Context(), job(ex))) })
					require.EqualValues(t, 50, ran.Load())
					require.NoError(t, ex.Close())
				}
			})
		}
	}
}

// A brief caller leaves between tasks that wait for nested runs, however many items these have, and wherever polls come,
// every 64 items. Where only the first task waits, it leaves as soon as it would have without.
func TestCallerLeavesBetweenWaits(t *testing.T) {
	for _, c := range []struct{ items, waits, most int }{
		{1, 60, 50}, {63, 60, 50}, {64, 60, 50}, {100, 60, 50}, {1, 1, 16},
	} {
		ex, err := executor.New(executor.Config{Workers: 1, Callers: executor.BriefCallers})
		require.NoError(t, err)
		for range 64 {
			comesToRest(t, ex)
			ex.AdmitCallers()
			here, left, waits := 0, 60, c.waits
			within(t, ex, func() {
				osthread.Lock()
				defer osthread.Unlock()
				caller := executor.Thread()
				task := func() {
					if executor.Thread() == caller {
						here++
					}
					spend(20 * time.Microsecond)
					if waits--; waits < 0 {
						return
					}
					nested := 0
					inner := newLayer("nested", func(_ *executor.Worker, self *executor.Item) *executor.Item {
						if nested++; nested == c.items {
							return nil
						}
						return self
					})
					if err := ex.Run(t.Context(), inner); err != nil {
						t.Error(err)
					}
				}
				outer := newLayer("tasks", func(w *executor.Worker, self *executor.Item) *executor.Item {
					for task(); left > 0; task() {
						if left--; !w.Continue(self) {
							return self
						}
					}
					return nil
				})
				require.NoError(t, ex.Run(t.Context(), outer))
				// The polls come one item earlier next time.
				require.NoError(t, ex.Run(t.Context(), newLayer("one", does(func() {}))))
			})
			require.LessOrEqual(t, here, c.most, c)
		}
		require.NoError(t, ex.Close())
	}
}

// In a run that takes long, an item on a caller that stays goes on to the next by itself, as on a worker's own thread.
func TestCallerContinues(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.BusyCallers})
	for name, takes := range map[string]time.Duration{"long items": time.Millisecond, "many items": 0} {
		t.Run(name, func(t *testing.T) {
			comesToRest(t, ex)
			here, continues := false, false
			items := 0
			step := func(w *executor.Worker, self *executor.Item) *executor.Item {
				spend(takes)
				if continues = w.Continue(self); continues {
					return nil
				}
				if items++; items > 1_000_000 || takes > 0 && items > 1000 {
					return nil
				}
				return self
			}
			within(t, ex, func() {
				osthread.Lock()
				defer osthread.Unlock()
				caller := executor.Thread()
				first := func(w *executor.Worker, self *executor.Item) *executor.Item {
					here = executor.Thread() == caller
					return step(w, self)
				}
				require.NoError(t, ex.Run(t.Context(), newLayer(name, first)))
			})
			require.True(t, here)
			require.True(t, continues, "each item came back to the loop")
		})
	}
}

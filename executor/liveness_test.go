package executor_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A short run completes beside endless ones that keep every worker busy.
func TestShortRunBesideEndlessOnes(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		var runs []*executor.Run
		for range ex.Workers() + 1 {
			runs = append(runs, ex.Start(t.Context(), endless(&stop)))
		}
		for range 20 {
			var ran atomic.Int64
			require.NoError(t, ex.Run(t.Context(), fan(10, func(context.Context) error {
				ran.Add(1)
				return nil
			})))
			require.EqualValues(t, 10, ran.Load())
		}
		stop.Store(true)
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
	})
}

// waitingFor are waits for something small, each of which has a worker run items on top of the one that waits.
var waitingFor = map[string]func(ctx context.Context, ex *executor.Executor){
	"future": func(ctx context.Context, ex *executor.Executor) {
		_, _ = executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }).Wait()
	},
	"two futures": func(ctx context.Context, ex *executor.Executor) {
		for range 2 {
			_, _ = executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, nil }).Wait()
		}
	},
	"run": func(ctx context.Context, ex *executor.Executor) {
		_ = ex.Run(ctx, one(func(context.Context) error { return nil }))
	},
	"children": func(ctx context.Context, ex *executor.Executor) {
		_, _ = executor.Call(ctx, ex, func(s *executor.Scope, n int) int {
			for range n {
				s.Go(func(context.Context) error { return nil })
			}
			return n
		}, 2)
	},
	"group": func(_ context.Context, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		g.Go(func() error { return nil })
		_ = g.Wait()
	},
}

// endlessWaits returns a job of one item that waits again and again until told to stop.
func endlessWaits(ex *executor.Executor, wait func(context.Context, *executor.Executor), stop *atomic.Bool) *layer {
	return newLayer("endless", func(_ *executor.Worker, self *executor.Item) *executor.Item {
		wait(self.Body.Run().Context(), ex)
		if stop.Load() {
			return nil
		}
		return self
	})
}

// A run completes beside endless ones whose tasks wait, also where each poll, every 64 items, would come while a task
// waits.
func TestShortRunBesideEndlessWaits(t *testing.T) {
	for name, wait := range waitingFor {
		t.Run(name, func(t *testing.T) {
			onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
				for before := range 4 { // items: with one number of two all polls come in the waits
					for range before {
						require.NoError(t, ex.Run(t.Context(), count(new(atomic.Int64))))
					}
					var stop atomic.Bool
					var runs []*executor.Run
					for range ex.Workers() {
						runs = append(runs, ex.Start(t.Context(), endlessWaits(ex, wait, &stop)))
					}
					for range 3 {
						require.NoError(t, ex.Start(t.Context(), count(new(atomic.Int64))).Wait())
					}
					stop.Store(true)
					for _, r := range runs {
						require.NoError(t, r.Wait())
					}
				}
			})
		})
	}
}

// Stats tells of what a task waits for while that task still runs.
func TestStatsBesideWaits(t *testing.T) {
	advances := func(ex *executor.Executor, wait func()) bool {
		before := ex.Stats().Total.Tasks
		for range 5000 {
			if wait(); ex.Stats().Total.Tasks >= before+500 {
				return true
			}
		}
		return false
	}
	cases := map[string]func(context.Context, *executor.Executor) bool{
		"future in a future": func(ctx context.Context, ex *executor.Executor) (ok bool) {
			ok, _ = executor.Async(ctx, ex, func(ctx context.Context) (bool, error) {
				return advances(ex, func() { waitingFor["future"](ctx, ex) }), nil
			}).Wait()
			return ok
		},
		"function that Go calls": func(_ context.Context, ex *executor.Executor) (ok bool) {
			g := executor.NewGroup(ex)
			g.SetLimit(1)
			g.Go(func() error {
				ok = advances(ex, func() { g.Go(func() error { return nil }) })
				return nil
			})
			_ = g.Wait()
			return ok
		},
	}
	for name, wait := range waitingFor {
		cases[name] = func(ctx context.Context, ex *executor.Executor) bool {
			return advances(ex, func() { wait(ctx, ex) })
		}
	}
	for name, advance := range cases {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers})
			require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
				if !advance(ctx, ex) {
					return errTest
				}
				return nil
			})))
		})
	}
}

// Of more endless runs than workers all make progress: none is put aside for good because of another.
func TestEndlessRunsShareTheWorkers(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var stop atomic.Bool
		progress := make([]atomic.Int64, ex.Workers()+2)
		var runs []*executor.Run
		for i := range progress {
			runs = append(runs, ex.Start(t.Context(),
				newLayer("endless", func(_ *executor.Worker, self *executor.Item) *executor.Item {
					if progress[i].Add(1); stop.Load() {
						return nil
					}
					return self
				})))
		}
		for range 5 {
			for i := range progress {
				before := progress[i].Load()
				eventually(func() bool { return progress[i].Load() > before+2*executor.PollInterval })
			}
		}
		stop.Store(true)
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
	})
}

// As many tasks as there are workers run at once, each on a thread of its own.
func TestAllWorkersAtOnce(t *testing.T) {
	onEach(t, []int{1, 2, 3, 8}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(50) {
			meetAll(t, ex)
		}
	})
}

// The lost wake-up: submissions that come while workers are anywhere between looking for work and sleeping. Each must
// be run without a later one causing it.
func TestNoWakeUpIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 1))
	onEach(t, []int{1, 2, 8}, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		g := count(&ran)
		rounds := testkit.Scale(2500)
		for i := range rounds {
			require.NoError(t, ex.Run(t.Context(), g))
			spend(time.Duration(rng.IntN(300)) * time.Microsecond)
			if i%32 == 0 {
				comesToRest(t, ex)
			}
		}
		require.EqualValues(t, rounds, ran.Load())
		require.Positive(t, ex.Stats().Total.Parks, "no worker ever slept: nothing was tested")
	})
}

// One worker pushes items now and then, from inside a long task. Each must be run by another worker meanwhile.
func TestPushWakesASleeper(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 2))
	onEach(t, []int{2, 3, 8}, func(t *testing.T, ex *executor.Executor) {
		rounds := testkit.Scale(1000)
		byOthers := 0
		l := newLayer("pusher", nil)
		l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			pusher := w.Index()
			for range rounds {
				var ran atomic.Bool
				l.push(w, func(w *executor.Worker, _ *executor.Item) *executor.Item {
					if w.Index() != pusher {
						byOthers++
					}
					ran.Store(true)
					return nil
				})
				eventually(ran.Load)
				spend(time.Duration(rng.IntN(200)) * time.Microsecond)
			}
			return nil
		}
		require.NoError(t, ex.Run(t.Context(), l))
		require.Equal(t, rounds, byOthers)
		comesToRest(t, ex)
	})
}

// Two items pushed one after the other wake two workers; the first of these may wake the second.
func TestWakingSpreads(t *testing.T) {
	onEach(t, []int{3, 8}, func(t *testing.T, ex *executor.Executor) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 3))
		for range testkit.Scale(500) {
			b := barrier{n: int64(ex.Workers())}
			l := newLayer("spread", nil)
			l.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
				for range ex.Workers() - 1 {
					l.push(w, func(*executor.Worker, *executor.Item) *executor.Item {
						b.meet()
						return nil
					})
				}
				b.meet()
				return nil
			}
			require.NoError(t, ex.Run(t.Context(), l))
			spend(time.Duration(rng.IntN(300)) * time.Microsecond)
		}
		comesToRest(t, ex)
	})
}

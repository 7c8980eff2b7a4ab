package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// rests waits until no worker runs or looks for items, and checks what is left then.
func rests(t *testing.T, ex *executor.Executor) {
	t.Helper()
	// A worker that was woken may not have got up yet: then an item is left in the injector.
	eventually(func() bool { return ex.Injected() == 0 && ex.Resting() })
	require.Zero(t, ex.Blocked(), dump(ex))
	require.Zero(t, ex.SleepingHelpers(), dump(ex))
	require.Zero(t, ex.Actives(), dump(ex))
	require.Zero(t, ex.Injected(), dump(ex))
}

// both is a graph of n tasks f and one g, in no order.
func both(n int, f, g func(context.Context) error) *graph.Graph {
	b := graph.New("both")
	for range n {
		b.Task(f)
	}
	b.Task(g)
	return b
}

// All tasks of a run wait for each other, one more than there are workers.
func TestBlocking(t *testing.T) {
	onEach(t, []int{1, 2, 3}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(50) {
			gate := make(chan struct{})
			var blocked atomic.Int64
			err := ex.Run(t.Context(), both(ex.Workers(), func(context.Context) error {
				executor.Blocking(func() {
					blocked.Add(1)
					<-gate
				})
				return nil
			}, func(context.Context) error {
				executor.Blocking(func() { // it may come first
					eventually(func() bool { return int(blocked.Load()) == ex.Workers() })
				})
				close(gate)
				return nil
			}))
			require.NoError(t, err)
		}
		rests(t, ex)
	})
}

// A task that waits in Blocking lets the rest of its run go on, however it was started.
func TestBlockingInside(t *testing.T) {
	wait := func(gate chan struct{}) { executor.Blocking(func() { <-gate }) }
	for _, c := range []struct {
		name string
		run  func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error
	}{
		{"fork", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
				open := executor.Fork(s, func(*executor.Scope, int) int { close(gate); return 0 }, 0)
				inner := executor.Fork(s, func(*executor.Scope, int) int { wait(gate); return 0 }, 0)
				return inner.Join(s) + open.Join(s)
			}, 0)
			return err
		}},
		{"forked elsewhere", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			_, err := executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
				begun := make(chan struct{})
				f := executor.Fork(s, func(s *executor.Scope, _ int) int {
					open := executor.Fork(s, func(*executor.Scope, int) int { close(gate); return 1 }, 0)
					close(begun)
					wait(gate)
					return open.Join(s)
				}, 0)
				executor.Blocking(func() { <-begun })
				return f.Join(s)
			}, 0)
			return err
		}},
		{"child", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			return ex.Run(ctx, executor.NewJob("children", func(s *executor.Scope) error {
				s.Go(func(context.Context) error { close(gate); return nil })
				s.Go(func(context.Context) error { wait(gate); return nil })
				return s.Wait()
			}))
		}},
		{"future", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			f := executor.Async(ctx, ex, func(context.Context) (int, error) {
				executor.Async(ctx, ex, func(context.Context) (int, error) { close(gate); return 0, nil })
				wait(gate)
				return 0, nil
			})
			_, err := f.Wait()
			return err
		}},
		{"nested run", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				return ex.Run(ctx, both(1,
					func(context.Context) error { wait(gate); return nil },
					func(context.Context) error { close(gate); return nil }))
			}))
		}},
		{"run within", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			return ex.Run(ctx, one(func(ctx context.Context) (err error) {
				executor.Blocking(func() {
					err = ex.Run(ctx, both(1,
						func(context.Context) error { <-gate; return nil }, // a spare has to run the other
						func(context.Context) error { close(gate); return nil }))
				})
				return err
			}))
		}},
		{"limited", func(ctx context.Context, ex *executor.Executor, gate chan struct{}) error {
			g := both(1,
				func(context.Context) error { wait(gate); return nil },
				func(context.Context) error { close(gate); return nil })
			permits := graph.NewSemaphore(1)
			g.Task(nothing).Hold(permits)
			g.Task(func(context.Context) error { wait(gate); return nil }).Hold(permits)
			return ex.Run(ctx, g)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stores := forkStores
			if c.name == "run within" {
				stores = openStores // a task on the spare waits without Blocking: no thief sees what the spare hides
			}
			for _, s := range testkit.Part(t, stores) {
				for _, w := range []int{1, 2} {
					t.Run(fmt.Sprintf("%v/W=%d", s, w), func(t *testing.T) {
						ex := newExecutor(t, s.in(executor.Config{Workers: w, Spares: 2}))
						within(t, ex, func() {
							for range testkit.Scale(20) {
								require.NoError(t, c.run(t.Context(), ex, make(chan struct{})))
							}
							rests(t, ex)
							require.Empty(t, ex.ForksLeft())
						})
					})
				}
			}
		})
	}
}

func TestBlockingTwiceCountsOnce(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			executor.Blocking(func() {
				executor.Blocking(func() {
					if b, s := ex.Blocked(), ex.Serving(); b != 1 || s != 1 {
						t.Errorf("%d blocked, %d spares", b, s)
					}
				})
				if b := ex.Blocked(); b != 1 {
					t.Errorf("%d blocked after the inner one", b)
				}
			})
			return nil
		})))
		rests(t, ex)
	})
}

// However fn ends, its worker is no longer blocked.
func TestBlockingEnds(t *testing.T) {
	guests.None(t)
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			err := ex.Run(t.Context(), one(func(context.Context) error {
				executor.Blocking(func() { panic("oops") })
				return nil
			}))
			var p *executor.PanicError
			require.ErrorAs(t, err, &p)
			require.Equal(t, "oops", p.Value)
			require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
				defer func() { _ = recover() }()
				executor.Blocking(func() { panic("oops") })
				return nil
			})))
			require.ErrorIs(t, ex.Run(t.Context(), both(1, func(context.Context) error {
				executor.Blocking(runtime.Goexit)
				return nil
			}, nothing)), executor.ErrGoexit)
			require.Zero(t, ex.Blocked())
		}
		meetApart(t, ex)
		rests(t, ex)
	})
}

// Where there is no worker to stand in for, Blocking only calls fn.
func TestBlockingElsewhere(t *testing.T) {
	ran := 0
	executor.Blocking(func() { ran++ })
	require.Equal(t, 1, ran)
	require.PanicsWithValue(t, "executor: Blocking of a nil function", func() { executor.Blocking(nil) })

	inline := executor.NewInline(1)
	require.NoError(t, inline.Run(t.Context(), one(func(context.Context) error {
		executor.Blocking(func() { ran++ })
		return nil
	})))
	require.Equal(t, 2, ran)
	require.NoError(t, inline.Close())

	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		ran := 0
		require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
			var wg sync.WaitGroup
			wg.Go(func() { executor.Blocking(func() { ran++ }) })
			wg.Wait()
			return nil
		})))
		require.Equal(t, 1, ran)
		require.Len(t, ex.Threads(), 1, "a goroutine that a task has started is no worker")
	})
}

// holder is a layer that holds an item back until it is told to flush.
type holder struct {
	*layer
	held *executor.Item
}

func (h *holder) Flush(w *executor.Worker) {
	if it := h.held; it != nil {
		h.held = nil
		w.Push(it)
	}
}

// Other workers can run the items that a layer holds back while its worker blocks.
func TestBlockingFlushes(t *testing.T) {
	test := func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		h := &holder{layer: newLayer("holder", nil)}
		h.Body.Init(h)
		h.first = func(w *executor.Worker, _ *executor.Item) *executor.Item {
			h.held = h.item(func(*executor.Worker, *executor.Item) *executor.Item {
				close(gate)
				return nil
			})
			executor.Blocking(func() {
				if h.held != nil {
					t.Error("an item is held back")
				} else {
					<-gate
				}
			})
			h.Flush(w)
			return nil
		}
		require.NoError(t, ex.Run(t.Context(), h))
	}
	onEach(t, []int{1, 2}, test)
	for _, d := range hidingDeques {
		t.Run(d.String(), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Deque: d}})
			within(t, ex, func() { test(t, ex) })
		})
	}
}

// The first spare of an executor with one worker starts in the middle of graphs and forks.
func TestBlockingEndsAlone(t *testing.T) {
	for _, p := range testkit.Thorough(t, usable()) {
		for _, s := range testkit.Part(t, forkStores) {
			t.Run(fmt.Sprintf("%v/%v", p, s), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
				for round := range testkit.Scale(30) {
					ex := newExecutor(t, s.in(executor.Config{Workers: 1, Experiment: experiment.Options{Policy: p}}))
					var ran atomic.Int64
					at := 1 + rng.Int64N(200)
					now := func() {
						if ran.Add(1) == at {
							executor.Blocking(func() { time.Sleep(100 * time.Microsecond) })
						}
					}
					within(t, ex, func() {
						if round%2 == 0 {
							g := wide(8, 25, func(context.Context) error { now(); return nil })
							require.NoError(t, ex.Run(t.Context(), g))
							require.EqualValues(t, g.Len(), ran.Load())
						} else {
							var fib func(s *executor.Scope, n int) int
							fib = func(s *executor.Scope, n int) int {
								now()
								if n < 2 {
									return n
								}
								f := executor.Fork(s, fib, n-1)
								y := fib(s, n-2)
								return f.Join(s) + y
							}
							r, err := executor.Call(t.Context(), ex, fib, 12)
							require.NoError(t, err)
							require.Equal(t, 144, r)
							require.Empty(t, ex.ForksLeft())
						}
						require.Len(t, ex.Threads(), 2)
						rests(t, ex)
						require.NoError(t, ex.Run(t.Context(), fan(100, func(context.Context) error {
							now()
							return nil
						})))
					})
					require.NoError(t, ex.Close())
				}
			})
		}
	}
}

// wide is a graph of so many layers of width tasks: each task of a layer precedes two of the next.
func wide(layers, width int, f func(context.Context) error) *graph.Graph {
	g := graph.New("wide")
	var above []graph.Task
	for range layers {
		var layer []graph.Task
		for range width {
			layer = append(layer, g.Task(f))
		}
		for i, t := range above {
			t.Precede(layer[i], layer[(i+1)%width])
		}
		above = layer
	}
	return g
}

// BenchmarkBlocking is one task that calls Blocking again and again: with nothing for a spare to do.
func BenchmarkBlocking(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("W=%d", workers), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: workers})
			err := ex.Run(context.Background(), one(func(context.Context) error {
				for b.Loop() {
					executor.Blocking(func() {})
				}
				return nil
			}))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

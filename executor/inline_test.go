package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// trail runs a graph inline and returns the order of its tasks: one before n others before one, and a loop of three
// beside.
func trail(t *testing.T, seed uint64, n int) (order []int) {
	ex := executor.NewInline(seed)
	defer func() { require.NoError(t, ex.Close()) }()
	g := graph.New("g")
	note := func(i int) func(context.Context) error {
		return func(context.Context) error { order = append(order, i); return nil } // plain: it is one goroutine
	}
	first, last := g.Task(note(0)), g.Task(note(n+1))
	for i := range n {
		task := g.Task(note(i + 1))
		first.Precede(task)
		task.Precede(last)
	}
	require.NoError(t, ex.Run(t.Context(), g))
	return order
}

// The order is one that the edges allow, the same for the same seed, and not the same for all.
func TestInlineOrder(t *testing.T) {
	const n = 12 // a span, in an executor with threads
	distinct := map[string]bool{}
	for seed := range uint64(50) {
		order := trail(t, seed, n)
		require.Equal(t, order, trail(t, seed, n), "seed %d", seed)
		distinct[fmt.Sprint(order)] = true
		require.Equal(t, 0, order[0])
		require.Equal(t, n+1, order[n+1])
		slices.Sort(order)
		for i, o := range order {
			require.Equal(t, i, o)
		}
	}
	require.Greater(t, len(distinct), 40)
}

// Everything runs inline, on the goroutine that calls.
func TestInlineEverything(t *testing.T) {
	for seed := range uint64(30) {
		ex := executor.NewInline(seed)
		ctx := t.Context()
		require.Equal(t, 1, ex.Workers())
		n, err := executor.Call(ctx, ex, fib, 12)
		require.NoError(t, err)
		require.Equal(t, 144, n)

		a := executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, nil })
		b := executor.Async(ctx, ex, func(context.Context) (int, error) { n, err := a.Wait(); return n + 1, err }, a)
		n, err = b.Wait()
		require.NoError(t, err)
		require.Equal(t, 2, n)

		ran := 0
		require.NoError(t, ex.Run(ctx, executor.NewJob("scope", func(s *executor.Scope) error {
			for range 5 {
				s.Go(func(context.Context) error { ran++; return nil })
				s.Spawn(func(s *executor.Scope) error {
					s.Go(func(context.Context) error { ran++; return nil })
					return nil
				})
			}
			if err := s.Wait(); err != nil || ran != 10 {
				return errors.Join(err, fmt.Errorf("%d ran", ran))
			}
			return ex.Run(ctx, one(func(context.Context) error { ran++; return nil })) // nested
		})))
		require.Equal(t, 11, ran)

		o := parallel.Options{Executor: ex}
		s := []int{3, 1, 2}
		require.NoError(t, parallel.Sort(ctx, o, s))
		require.Equal(t, []int{1, 2, 3}, s)

		out := 0
		p, err := pipeline.New("p", 3,
			pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				if t.Number() == 20 {
					t.Stop()
				}
				return nil
			}},
			pipeline.Stage{Run: func(*pipeline.Token) error { return nil }},
			pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				if out != t.Number() {
					return fmt.Errorf("token %d came out in place of %d", t.Number(), out)
				}
				out++
				return nil
			}})
		require.NoError(t, err)
		require.NoError(t, ex.Run(ctx, p))
		require.Equal(t, 20, out)

		limit := graph.NewSemaphore(2)
		g := graph.New("g")
		rounds := 0
		flow := g.Subflow(func(_ context.Context, sub *graph.Graph) error {
			for range 3 {
				sub.Task(func(context.Context) error { rounds++; return nil }).Hold(limit)
			}
			return nil
		}).Hold(limit)
		again := g.Condition(func(context.Context) (int, error) {
			if rounds < 12 {
				return 0, nil
			}
			return 1, nil
		})
		begin := g.Task(func(context.Context) error { return nil })
		begin.Precede(flow)
		flow.Precede(again)
		again.Precede(flow)
		require.NoError(t, ex.Run(ctx, g))
		require.Equal(t, 12, rounds)

		require.ErrorIs(t, ex.Run(ctx, one(func(context.Context) error { return errTest })), errTest)
		var p2 *executor.PanicError
		require.ErrorAs(t, ex.Run(ctx, one(func(context.Context) error { panic(1) })), &p2)
		r := ex.Start(ctx, one(func(context.Context) error { ran++; return nil }))
		require.Equal(t, 12, ran, "Start has run it")
		require.NoError(t, r.Wait())
		require.NoError(t, ex.Close())
		require.ErrorIs(t, ex.Run(ctx, one(nothing)), executor.ErrClosed)
	}
}

// Goexit, such as that of a test that fails in a task, ends the goroutine. The executor serves the next one.
func TestInlineGoexit(t *testing.T) {
	ex := executor.NewInline(1)
	reached := false
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = ex.Run(t.Context(), one(func(context.Context) error { runtime.Goexit(); return nil }))
		reached = true
	})
	wg.Wait()
	require.False(t, reached)
	require.NoError(t, ex.Run(t.Context(), one(nothing)))
	require.NoError(t, ex.Close())
}

// The items that a task has pushed before it calls Goexit are run before the goroutine ends. Otherwise Close would wait
// for them.
func TestInlineGoexitLeavesNothing(t *testing.T) {
	for seed := range uint64(20) {
		ex := executor.NewInline(seed)
		ran := 0
		note := func(context.Context) error { ran++; return nil }
		exit := func(context.Context) error { runtime.Goexit(); return nil }
		for _, c := range []struct {
			name string
			ran  int // -1: as chance has it
			job  func(context.Context)
		}{
			{"graph", -1, func(ctx context.Context) {
				g := graph.New("g")
				for i := range 9 {
					task := g.Task(note)
					if i == 4 {
						task = g.Task(exit)
					}
					task.Precede(g.Task(note))
				}
				_ = ex.Run(ctx, g)
			}},
			{"another run", 15, func(ctx context.Context) {
				_ = ex.Run(ctx, one(func(ctx context.Context) error {
					for range 5 {
						ex.Start(t.Context(), chain(3, note))
					}
					return ex.Run(ctx, fan(3, exit))
				}))
			}},
			{"several", 15, func(ctx context.Context) {
				_ = ex.Run(ctx, one(func(context.Context) error {
					for range 5 {
						ex.Start(t.Context(), fan(3, exit))
						executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) { return 0, exit(ctx) })
						ex.Start(t.Context(), chain(3, note))
					}
					return nil
				}))
			}},
			{"deferred", 3, func(ctx context.Context) {
				_ = ex.Run(ctx, one(func(ctx context.Context) error {
					defer func() {
						if err := ex.Run(t.Context(), chain(3, note)); err != nil {
							t.Error(err)
						}
					}()
					return ex.Run(ctx, fan(3, exit))
				}))
			}},
		} {
			ran = 0
			var wg sync.WaitGroup
			wg.Go(func() {
				c.job(t.Context())
				t.Errorf("%s: the goroutine goes on", c.name)
			})
			within(t, ex, wg.Wait)
			require.Zero(t, ex.RunsInProgress(), c.name)
			if c.ran >= 0 {
				require.Equal(t, c.ran, ran, c.name)
			}
		}
		within(t, ex, func() { require.NoError(t, ex.Close()) })
	}
}

// What a task has started after a run that fails is waited for and run, whatever is run first.
func TestInlineBesideFailedRun(t *testing.T) {
	for seed := range uint64(testkit.Scale(50)) {
		ex := executor.NewInline(seed)
		ran := 0
		within(t, ex, func() {
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("outer", func(s *executor.Scope) error {
				fails := func(*executor.Scope) error { panic(errTest) }
				count := func(context.Context) error { ran++; return nil }
				first := ex.Start(s.Context(), executor.NewJob("first", fails))
				s.Go(count)
				require.ErrorIs(t, first.Wait(), errTest)
				require.NoError(t, s.Wait())
				require.Equal(t, 1, ran)
				second := ex.Start(s.Context(), executor.NewJob("second", fails))
				third := ex.Start(s.Context(), fan(5, count))
				s.Go(count)
				require.ErrorIs(t, second.Wait(), errTest)
				require.NoError(t, third.Wait())
				return s.Wait()
			})))
		})
		require.Equal(t, 7, ran)
	}
}

// A goroutine that injects while the worker's goroutine ends by Goexit is not left waiting. The moment that matters is
// some hundred nanoseconds long: between that goroutine's last look at the injector and its unlock. Each round draws
// nearer to it: an item that the other goroutine runs was injected too early, and one that is run here too late.
func TestInlineGoexitBesideOthers(t *testing.T) {
	ex := executor.NewInline(1)
	within(t, ex, func() {
		here, delay := osthread.Goroutine(), 0
		for i := range testkit.Scale(6000) {
			var exiting atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				_ = ex.Run(t.Context(), one(func(context.Context) error {
					exiting.Store(true)
					runtime.Goexit()
					return nil
				}))
			})
			for !exiting.Load() {
				runtime.Gosched()
			}
			for range delay {
				exiting.Load()
			}
			step := 1 + i%7
			if err := ex.Run(t.Context(), one(func(context.Context) error {
				if osthread.Goroutine() == here {
					step = -step
				}
				return nil
			})); err != nil {
				t.Error(err)
			}
			delay = max(0, delay+step)
			wg.Wait()
		}
	})
	within(t, ex, func() { require.NoError(t, ex.Close()) })
}

// Goroutines take turns.
func TestInlineTurns(t *testing.T) {
	ex := executor.NewInline(7)
	inside := 0 // plain
	var wg sync.WaitGroup
	var failed atomic.Int32
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if err := ex.Run(t.Context(), one(func(context.Context) error { inside++; return nil })); err != nil {
					failed.Add(1)
				}
				if _, err := executor.Async(t.Context(), ex,
					func(context.Context) (int, error) { inside++; return 0, nil }).Wait(); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, failed.Load())
	require.Equal(t, 8*400, inside)
	require.NoError(t, ex.Close())
}

// Under testing/synctest time passes when the tasks wait for it, and not before.
func TestInlineUnderSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(3)
		begin := time.Now()
		g := graph.New("g")
		for range 5 {
			g.Task(func(context.Context) error { time.Sleep(time.Hour); return nil })
		}
		require.NoError(t, ex.Run(t.Context(), g))
		require.Equal(t, 5*time.Hour, time.Since(begin), "one after the other")

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, ex.Run(ctx, one(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })),
			context.DeadlineExceeded)
		require.NoError(t, ex.Close())
	})
}

// A caller's context that calls Goexit, whenever it is asked, ends the calling goroutine, and no task is run twice. The
// executor is not closed: at the end of the run such a context keeps the run from ending.
func TestInlineContextGoexit(t *testing.T) {
	for last := int64(1); ; last++ {
		ex := executor.NewInline(1)
		var asked atomic.Int64
		ctx := &hostile{Context: t.Context()}
		ctx.says = func() error {
			if asked.Add(1) == last {
				runtime.Goexit()
			}
			return ctx.Context.Err()
		}
		var calls [2]atomic.Int64
		g := graph.New("chain")
		first := g.Task(func(context.Context) error { calls[0].Add(1); return nil })
		first.Precede(g.Task(func(context.Context) error { calls[1].Add(1); return nil }))
		var wg sync.WaitGroup
		wg.Go(func() { _ = ex.Run(ctx, g) })
		within(t, ex, wg.Wait)
		for i := range calls {
			require.LessOrEqual(t, calls[i].Load(), int64(1), "task %d, Goexit at question %d", i, last)
		}
		if asked.Load() < last {
			return // it was asked no more often
		}
	}
}

// TestInlineVariable: with MAGPIE_INLINE New returns an executor without threads, and the order of its tasks is that of
// NewInline with the same seed.
func TestInlineVariable(t *testing.T) {
	order := func(ex *executor.Executor) (names string) {
		g := graph.New("g")
		for _, name := range strings.Split("abcdefgh", "") {
			g.Task(func(context.Context) error { names += name; return nil })
		}
		require.NoError(t, ex.Run(t.Context(), g))
		require.NoError(t, ex.Close())
		return names
	}
	orders := map[string]bool{}
	for _, seed := range []uint64{0, 7, 1 << 63} {
		t.Setenv("MAGPIE_INLINE", fmt.Sprint(seed))
		var seen int
		ex, err := executor.New(executor.Config{
			Workers: 4, Name: "repeatable", Observers: []*executor.Observer{{TaskEnd: func(*executor.Event) { seen++ }}},
		})
		require.NoError(t, err)
		require.Equal(t, "repeatable", ex.Name())
		require.Equal(t, 1, ex.Workers())
		names := order(ex)
		require.Equal(t, order(executor.NewInline(seed)), names)
		require.Equal(t, 8, seen)
		orders[names] = true
		_, err = executor.New(executor.Config{Workers: -1})
		require.ErrorContains(t, err, "Config.Workers is -1")
	}
	require.Greater(t, len(orders), 1)
	t.Setenv("MAGPIE_INLINE", "often")
	_, err := executor.New(executor.Config{})
	require.EqualError(t, err, `executor: MAGPIE_INLINE is "often": give the seed of NewInline, or leave it empty`)
	t.Setenv("MAGPIE_INLINE", "")
	require.Equal(t, 2, newExecutor(t, executor.Config{Workers: 2}).Workers())
}

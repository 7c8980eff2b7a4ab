package executor_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Tasks that run at once have different indices below WorkersAndSpares.
func TestWorkerIndex(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		require.Equal(t, -1, ex.WorkerIndex())
		require.Equal(t, 256+ex.Workers(), ex.WorkersAndSpares())
		seen := make([]int, ex.WorkersAndSpares()) // a data race, or a second one, if an index is not exclusive
		met := barrier{n: int64(ex.Workers())}
		require.NoError(t, ex.Run(t.Context(), fan(ex.Workers(), func(context.Context) error {
			seen[ex.WorkerIndex()]++
			met.meet()
			return nil
		})))
		for i, n := range seen {
			if i < ex.Workers() {
				require.Equal(t, 1, n, "worker %d", i)
			} else {
				require.Zero(t, n, "worker %d", i)
			}
		}
	})
}

// A spare has an index of its own, and a goroutine that a task starts has none.
func TestWorkerIndexOfSpare(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Spares: 1})
	require.Equal(t, 2, ex.WorkersAndSpares())
	within(t, ex, func() {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			require.Zero(t, ex.WorkerIndex())
			index := make(chan int)
			go func() { index <- ex.WorkerIndex() }()
			require.Equal(t, -1, <-index)
			f := executor.Async(ctx, ex, func(context.Context) (int, error) { return ex.WorkerIndex(), nil })
			executor.Blocking(func() { <-f.Done() })
			spare, err := f.Wait()
			require.Equal(t, 1, spare)
			require.Zero(t, ex.WorkerIndex())
			return err
		})))
	})
}

// An index is that of one executor: a task of another has none here. The worker of an inline executor has index 0 while
// a task of it is on the stack.
func TestWorkerIndexOfTwo(t *testing.T) {
	a, b := newExecutor(t, executor.Config{Workers: 2}), executor.NewInline(1)
	require.Equal(t, 1, b.WorkersAndSpares())
	require.NoError(t, a.Run(t.Context(), one(func(ctx context.Context) error {
		require.Equal(t, -1, b.WorkerIndex())
		mine := a.WorkerIndex()
		require.NotEqual(t, -1, mine)
		err := b.Run(ctx, executor.NewJob("inner", func(s *executor.Scope) error {
			require.Zero(t, b.WorkerIndex())
			require.Zero(t, s.WorkerIndex())
			require.Equal(t, mine, a.WorkerIndex())
			return nil
		}))
		require.Equal(t, -1, b.WorkerIndex())
		return err
	})))
	require.Equal(t, -1, b.WorkerIndex())
}

// A scope tells the same index as its executor, in functions, children and forks.
func TestWorkerIndexOfScope(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var kept *executor.Scope
		var walk func(s *executor.Scope, depth int) int
		walk = func(s *executor.Scope, depth int) int {
			bad := 0
			if s.WorkerIndex() != ex.WorkerIndex() {
				bad = 1
			}
			if depth == 0 {
				return bad
			}
			f := executor.Fork(s, walk, depth-1)
			bad += walk(s, depth-1)
			return bad + f.Join(s)
		}
		bad, err := executor.Call(t.Context(), ex, func(s *executor.Scope, depth int) int {
			kept = s
			return walk(s, depth)
		}, 10)
		require.NoError(t, err)
		require.Zero(t, bad)
		require.NoError(t, mustPanic(func() { kept.WorkerIndex() }, outside))
	})
}

// knows checks that a context has the executor.
func knows(t *testing.T, ctx context.Context, ex *executor.Executor) {
	t.Helper()
	got, ok := executor.FromContext(ctx)
	require.True(t, ok)
	require.Same(t, ex, got)
}

// Every kind of task finds its executor in its context, and in those derived from it.
func TestFromContext(t *testing.T) {
	type key struct{}
	check := func(t *testing.T, ctx context.Context, ex *executor.Executor) {
		knows(t, ctx, ex)
		knows(t, context.WithValue(ctx, key{}, 1), ex)
		late, cancel := context.WithTimeout(context.WithValue(ctx, key{}, 1), time.Hour)
		defer cancel()
		knows(t, late, ex)
		knows(t, context.WithoutCancel(late), ex)
		require.Nil(t, ctx.Value(key{}))
	}
	onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		task := func(ctx context.Context) error { check(t, ctx, ex); return nil }
		g := graph.New("g")
		g.Subflow(func(ctx context.Context, sf *graph.Graph) error {
			sf.Task(task)
			return task(ctx)
		}).Succeed(g.Task(task))
		require.NoError(t, ex.Run(t.Context(), g))
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			s.Go(task)
			return task(s.Context())
		})))
		_, err := executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) { return 0, task(ctx) }).Wait()
		require.NoError(t, err)
		group, ctx := executor.GroupWithContext(t.Context(), ex)
		check(t, ctx, ex)
		group.GoContext(task)
		require.NoError(t, group.Wait())
		lines, err := pipeline.New("p", 2, pipeline.Stage{Mode: pipeline.Serial, Run: func(tok *pipeline.Token) error {
			tok.Stop()
			return task(tok.Context())
		}})
		require.NoError(t, err)
		require.NoError(t, ex.Run(t.Context(), lines))
		r := ex.Start(t.Context(), one(nothing))
		require.NoError(t, r.Wait())
		check(t, r.Context(), ex)
	})
	none, ok := executor.FromContext(t.Context())
	require.Nil(t, none)
	require.False(t, ok)
	require.NoError(t, mustPanic(func() { executor.FromContext(nil) }, "FromContext needs a context"))
}

// Of several executors around a context, FromContext tells the innermost.
func TestFromContextInnermost(t *testing.T) {
	a, b := newExecutor(t, executor.Config{Workers: 1}), newExecutor(t, executor.Config{Workers: 1})
	in := executor.NewInline(testkit.Seed(t))
	require.NoError(t, a.Run(t.Context(), one(func(outer context.Context) error {
		knows(t, outer, a)
		return b.Run(outer, one(func(inner context.Context) error {
			knows(t, inner, b)
			knows(t, outer, a)
			return in.Run(inner, one(func(ctx context.Context) error {
				knows(t, ctx, in)
				return nil
			}))
		}))
	})))
}

// A context that is not asked for its executor costs what it did, and asking allocates nothing.
func TestFromContextIsFree(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
		testkit.Fits(t, func() (wrong string) { // other goroutines of the process may allocate meanwhile
			if n := testing.AllocsPerRun(100, func() { _, _ = executor.FromContext(ctx) }); n != 0 {
				wrong = fmt.Sprintf("%v allocations", n)
			}
			return wrong
		})
		return nil
	})))
}

// In a task, a nil executor stands for the task's own. Elsewhere it panics, as a nil context does, with the name of the
// function.
func TestNilExecutor(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	calls := map[string]func(ctx context.Context) (*executor.Executor, error){
		"Async": func(ctx context.Context) (*executor.Executor, error) {
			return executor.Async(ctx, nil, func(ctx context.Context) (*executor.Executor, error) {
				ex, _ := executor.FromContext(ctx)
				return ex, nil
			}).Wait()
		},
		"Call": func(ctx context.Context) (*executor.Executor, error) {
			return executor.Call(ctx, nil, func(s *executor.Scope, _ int) *executor.Executor { return s.Executor() }, 0)
		},
		"First": func(ctx context.Context) (*executor.Executor, error) {
			return executor.First(ctx, nil, func(ctx context.Context) (*executor.Executor, error) {
				ex, _ := executor.FromContext(ctx)
				return ex, nil
			})
		},
		"GroupWithContext": func(ctx context.Context) (*executor.Executor, error) {
			g, ctx := executor.GroupWithContext(ctx, nil)
			got, _ := executor.FromContext(ctx)
			return got, g.Wait()
		},
		"NewPromise": func(ctx context.Context) (*executor.Executor, error) {
			p := executor.NewPromise[int](ctx, nil)
			p.Resolve(0)
			got, _ := executor.FromContext(p.Context())
			return got, nil
		},
		"Timer": func(ctx context.Context) (*executor.Executor, error) {
			_, err := executor.Timer(ctx, nil, 0).Wait()
			got, _ := executor.FromContext(ctx)
			return got, err
		},
		"Collect": func(ctx context.Context) (*executor.Executor, error) {
			one := pipeline.SourceSeq("one", 1, slices.Values([]int{1}))
			got, err := pipeline.Collect(ctx, nil, pipeline.Map(one, pipeline.Serial,
				func(tok *pipeline.Token, _ int) (*executor.Executor, error) {
					ex, _ := executor.FromContext(tok.Context())
					return ex, nil
				}))
			if err != nil {
				return nil, err
			}
			return got[0], nil
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
				got, err := call(ctx)
				require.Same(t, ex, got)
				return err
			})))
			require.NoError(t, mustPanic(func() { _, _ = call(nil) }, name+" needs a context, got nil"))
		})
	}
}

func BenchmarkPlace(b *testing.B) {
	ex := newExecutor(b, executor.Config{Workers: 1})
	inTask := func(f func(s *executor.Scope)) {
		if err := ex.Run(context.Background(), executor.NewJob("b", func(s *executor.Scope) error {
			f(s)
			return nil
		})); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("WorkerIndex/task", func(b *testing.B) {
		inTask(func(*executor.Scope) {
			for b.Loop() {
				ex.WorkerIndex()
			}
		})
	})
	b.Run("WorkerIndex/outside", func(b *testing.B) {
		for b.Loop() {
			ex.WorkerIndex()
		}
	})
	b.Run("WorkerIndex/scope", func(b *testing.B) {
		inTask(func(s *executor.Scope) {
			for b.Loop() {
				s.WorkerIndex()
			}
		})
	})
	for levels := range 3 {
		b.Run("FromContext/derived="+strconv.Itoa(levels), func(b *testing.B) {
			inTask(func(s *executor.Scope) {
				ctx := s.Context()
				for range levels {
					ctx = context.WithValue(ctx, contextKey{}, 1)
				}
				for b.Loop() {
					executor.FromContext(ctx)
				}
			})
		})
	}
}

// TestChoose: an executor that is given comes before that of the context. Where there is neither, see the tests of
// cmd/internal/defaults.
func TestChoose(t *testing.T) {
	given, around := newExecutor(t, executor.Config{Workers: 1}), newExecutor(t, executor.Config{Workers: 1})
	require.NoError(t, around.Run(t.Context(), one(func(ctx context.Context) error {
		require.Same(t, given, executor.Choose(ctx, given))
		require.Same(t, around, executor.Choose(ctx, nil))
		return nil
	})))
	require.PanicsWithValue(t, "executor: Choose needs a context, got nil", func() { executor.Choose(nil, given) })
	require.Panics(t, func() { executor.Choose(t.Context(), &executor.Executor{}) })
}

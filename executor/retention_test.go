package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/executor/pool"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A burden is too large to share an object's memory with others. It is also an error, a context's value, and a job's
// data.
type burden [1 << 10]int

func (*burden) Error() string { return "burden" }

// deep forks a closure over a burden in each of n frames.
func deep(s *executor.Scope, n int, load func() *burden) int {
	if n == 0 {
		return 0
	}
	b := load()
	f := executor.Fork(s, func(*executor.Scope, int) int { return b[0] }, 0)
	return deep(s, n-1, load) + f.Join(s)
}

// An idle executor keeps nothing alive of the work that it has done. A future or a graph that is kept does not keep
// alive values of others.
func TestIdleKeepsNothingAlive(t *testing.T) {
	bg := context.Background()
	type key struct{}
	for name, use := range map[string]func(ex *executor.Executor, load func() *burden) (kept any){
		"forks": func(ex *executor.Executor, load func() *burden) any {
			_, err := executor.Call(bg, ex, func(s *executor.Scope, n int) int { return deep(s, n, load) }, 50)
			return err
		},
		"forks of two types": func(ex *executor.Executor, load func() *burden) any {
			_, err := executor.Call(bg, ex, func(s *executor.Scope, n int) int {
				b := load()
				small := func(*executor.Scope, int8) int8 { return int8(b[0]) }
				large := func(*executor.Scope, int) int { return b[0] }
				f1, f2, f3 := executor.Fork(s, small, 0), executor.Fork(s, large, 0), executor.Fork(s, small, 0)
				return int(f3.Join(s)) + f2.Join(s) + int(f1.Join(s))
			}, 0)
			return err
		},
		"forks in forks": func(ex *executor.Executor, load func() *burden) any {
			_, err := executor.Call(bg, ex, func(s *executor.Scope, n int) int {
				var all []executor.Forked[int, int]
				for range 5 {
					all = append(all, executor.Fork(s, func(s *executor.Scope, n int) int {
						return deep(s, n, load)
					}, n))
				}
				for _, f := range all { // the oldest first
					f.Join(s)
				}
				return deep(s, n, load)
			}, 10)
			return err
		},
		"a nested run": func(ex *executor.Executor, load func() *burden) any {
			_, err := executor.Call(bg, ex, func(s *executor.Scope, n int) int {
				b := load()
				f := executor.Fork(s, func(*executor.Scope, int) int { return b[0] }, 0)
				_, err := executor.Call(s.Context(), ex, func(s *executor.Scope, n int) int {
					return deep(s, n, load)
				}, n)
				if err != nil {
					panic(err)
				}
				return f.Join(s)
			}, 10)
			return err
		},
		"failures": func(ex *executor.Executor, load func() *burden) any {
			for i := range 20 {
				_ = ex.Run(bg, executor.NewJob("f", func(s *executor.Scope) error {
					b := load()
					s.Go(func(context.Context) error { return b })
					f := executor.Fork(s, func(*executor.Scope, int) int { panic(b) }, 0)
					switch i % 4 {
					case 0:
						recovered(func() { f.Join(s) })
					case 1:
						f.Join(s)
					case 2:
						panic(b)
					}
					return b
				}))
			}
			return nil
		},
		"children": func(ex *executor.Executor, load func() *burden) any {
			return ex.Run(bg, executor.NewJob("f", func(s *executor.Scope) error {
				for range 20 {
					b := load()
					s.Go(func(context.Context) error { b[0]++; return nil })
					s.Spawn(func(s *executor.Scope) error {
						s.Go(func(context.Context) error { b[1]++; return nil })
						return nil
					})
				}
				return nil
			}))
		},
		"futures after a kept one": func(ex *executor.Executor, load func() *burden) any {
			free := make(chan struct{})
			first := executor.Async(bg, ex, func(context.Context) (int, error) { <-free; return 1, nil })
			next := executor.Async(bg, ex, func(context.Context) (*burden, error) { return load(), nil }, first)
			b := load()
			first.OnEnd(func(int, error) { _ = b[0] })
			done := first.Done() // the list of what is told of the end has both
			close(free)
			<-done
			if _, err := next.Wait(); err != nil {
				return err
			}
			return first
		},
		"graph": func(ex *executor.Executor, load func() *burden) any {
			g := graph.New("g")
			v := graph.Source(g, func(context.Context) (*burden, error) { return load(), nil })
			graph.Sink(v, func(context.Context, *burden) error { return nil })
			g.Subflow(func(_ context.Context, sub *graph.Graph) error {
				b := load()
				for range 10 {
					sub.Task(func(context.Context) error { _ = b[0]; return nil }).Hold(graph.NewSemaphore(1))
				}
				return nil
			})
			if err := ex.Run(context.WithValue(bg, key{}, load()), g); err != nil {
				return err
			}
			return g
		},
		"failed graph": func(ex *executor.Executor, load func() *burden) any {
			g := graph.New("g")
			for range 5 {
				g.Task(func(context.Context) error { return load() }).Priority(graph.High)
				g.Task(func(context.Context) error { panic(load()) })
			}
			_ = ex.Run(context.WithValue(bg, key{}, load()), g)
			return g
		},
		"pipeline": func(ex *executor.Executor, load func() *burden) any {
			b := load()
			p, err := pipeline.New("p", 3, pipeline.Stage{Mode: pipeline.Serial, Run: func(t *pipeline.Token) error {
				if b[0]++; t.Number() == 20 {
					t.Stop()
				}
				return nil
			}}, pipeline.Stage{Run: func(*pipeline.Token) error { b := load(); b[0]++; return nil }})
			if err != nil {
				return err
			}
			return ex.Run(bg, p)
		},
		"pool": func(ex *executor.Executor, load func() *burden) any {
			b := load()
			p, err := pool.New("p", pool.Options{Queue: pool.PerThread, Stealing: pool.NeighbourHalf})
			if err != nil {
				return err
			}
			for i := range 20 {
				p.Add(func(*pool.Task) error { _ = b[i]; load(); return nil })
			}
			return ex.Run(bg, p)
		},
		"parallel": func(ex *executor.Executor, load func() *burden) any {
			b := load()
			return parallel.For(bg, parallel.Options{Executor: ex}, 0, 10_000, func(i int) { _ = b[i%2] })
		},
		"First": func(ex *executor.Executor, load func() *burden) any {
			_, err := executor.First(bg, ex, func(context.Context) (*burden, error) { return nil, load() },
				func(context.Context) (*burden, error) { return load(), nil })
			return err
		},
		"Blocking": func(ex *executor.Executor, load func() *burden) any {
			b := load()
			return ex.Run(bg, fan(5, func(context.Context) error {
				executor.Blocking(func() { _ = b[0] })
				return nil
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(t *testing.T, ex *executor.Executor) {
				burdens := make(chan weak.Pointer[burden], 1000)
				kept := use(ex, func() *burden {
					b := &burden{1}
					burdens <- weak.Make(b)
					return b
				})
				if err, ok := kept.(error); ok {
					require.NoError(t, err)
				}
				close(burdens)
				var all []weak.Pointer[burden]
				for p := range burdens {
					all = append(all, p)
				}
				require.NotEmpty(t, all)
				eventually(func() bool {
					collect()
					return !slices.ContainsFunc(all, func(p weak.Pointer[burden]) bool { return p.Value() != nil })
				})
				runtime.KeepAlive(kept)
				runtime.KeepAlive(ex)
			}
			onEach(t, []int{1, 2}, check)
			for _, s := range testkit.Part(t, []store{
				{deque.KindChaseLev, "pushed"}, {deque.KindPadWS, "private"},
				{deque.KindPDQS, "pushed"},
			}) {
				t.Run(fmt.Sprint(s), func(t *testing.T) {
					ex := newExecutor(t, s.in(executor.Config{Workers: 2}))
					within(t, ex, func() { check(t, ex) })
				})
			}
			if name == "futures after a kept one" {
				return // they wait for what the caller does next
			}
			t.Run("inline", func(t *testing.T) {
				ex := newInline(t)
				within(t, ex, func() { check(t, ex) })
			})
		})
	}
}

package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestNestedRunWaitsForPermit: every worker waits, inside a task, for a run that needs a permit. Another run has the
// permit, and the task that gives it back needs a worker.
func TestNestedRunWaitsForPermit(t *testing.T) {
	for name, needs := range map[string]func(graph.Task, *graph.Semaphore) graph.Task{
		"Hold":    func(t graph.Task, s *graph.Semaphore) graph.Task { return t.Hold(s) },
		"Acquire": func(t graph.Task, s *graph.Semaphore) graph.Task { return t.Acquire(s) },
	} {
		t.Run(name, func(t *testing.T) {
			everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
				bg := context.Background()
				within(t, ex, func() {
					s := graph.NewSemaphore(1)
					holder := graph.New("holder")
					var end func(error)
					begun := make(chan struct{})
					first := holder.Task(nothing).Acquire(s)
					waits := holder.External(func(_ context.Context, done func(error)) error {
						end = done
						close(begun)
						return nil
					})
					last := holder.Task(nothing).Release(s)
					first.Precede(waits)
					waits.Precede(last)
					held := ex.Start(bg, holder)
					<-begun

					var waiting sync.WaitGroup
					outer := graph.New("outer")
					waiting.Add(ex.Workers())
					for range ex.Workers() {
						inner := graph.New("inner")
						needs(inner.Task(nothing), s)
						outer.Task(func(ctx context.Context) error {
							waiting.Done()
							return ex.Run(ctx, inner)
						})
					}
					run := ex.Start(bg, outer)
					waiting.Wait()
					end(nil)
					require.NoError(t, run.Wait())
					require.NoError(t, held.Wait())
				})
			})
		})
	}
}

// TestNestedRunWaitsForExternal: every worker waits, inside a task, for a run whose external task another run ends.
func TestNestedRunWaitsForExternal(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		bg := context.Background()
		within(t, ex, func() {
			n := ex.Workers()
			ends := make(chan func(error), n)
			outer := graph.New("outer")
			for range n {
				inner := graph.New("inner")
				inner.External(func(_ context.Context, done func(error)) error { ends <- done; return nil })
				outer.Task(func(ctx context.Context) error { return ex.Run(ctx, inner) })
			}
			run := ex.Start(bg, outer)
			var all []func(error)
			for range n {
				all = append(all, <-ends)
			}
			end := graph.New("end")
			for _, done := range all {
				end.Task(func(context.Context) error { done(nil); return nil })
			}
			require.NoError(t, ex.Start(bg, end).Wait())
			require.NoError(t, run.Wait())
		})
	})
}

// TestRandomNestedPermits: several goroutines start runs of tasks that start runs, to any depth, which need permits of
// a few semaphores. A task that waits for a run has none, so that no circle of waits is the program's. A graph has at
// most one such task, so that there are spares for all that may wait at once.
func TestRandomNestedPermits(t *testing.T) {
	const goroutines, depth = 4, 3
	cfg := executor.Config{Spares: goroutines * depth}
	everyExecutorWith(t, cfg, []int{1, 2, 3}, func(t *testing.T, ex *executor.Executor) {
		seed := testkit.Seed(t)
		within(t, ex, func() {
			semaphores := []*graph.Semaphore{graph.NewSemaphore(1), graph.NewSemaphore(1), graph.NewSemaphore(2)}
			var nest func(rng *rand.Rand, depth int) *graph.Graph
			nest = func(rng *rand.Rand, depth int) *graph.Graph {
				g := graph.New(fmt.Sprint("depth ", depth))
				var last graph.Task
				add := func(t graph.Task) {
					if last != (graph.Task{}) && rng.IntN(2) == 0 {
						last.Precede(t)
					}
					last = t
				}
				waits := false
				for range 1 + rng.IntN(4) {
					s := semaphores[rng.IntN(len(semaphores))]
					switch rng.IntN(4) {
					case 0:
						a, b, c := g.Task(nothing).Acquire(s), g.Task(nothing), g.Task(nothing).Release(s)
						a.Precede(b)
						b.Precede(c)
						return g // a second Acquire while the run has a permit might wait for one that waits for the first
					case 1, 2:
						add(g.Task(nothing).Hold(s))
					default:
						if depth > 0 && !waits {
							waits = true
							inner := nest(rng, depth-1)
							add(g.Task(func(ctx context.Context) error { return ex.Run(ctx, inner) }))
						}
					}
				}
				return g
			}
			n := testkit.Count(t, 300)
			var all sync.WaitGroup
			for k := range uint64(goroutines) {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(seed, k))
					for range n {
						if err := ex.Run(context.Background(), nest(rng, depth)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			testkit.Proved(t, goroutines*n, "runs that start others and need permits")
		})
	})
}

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A garden grows graphs of detached and other subflows, modules and loops at random, also while they run.
type garden struct {
	mu        sync.Mutex
	rng       *rand.Rand
	semaphore *graph.Semaphore

	made, ran atomic.Int64 // tasks, outside modules, that count themselves
	failing   int64        // which of them fails; 0: none
	fail      func() error
	threads   bool
}

func (g *garden) draw(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rng.IntN(n)
}

func (g *garden) do(context.Context) error {
	n := g.ran.Add(1)
	if n%5 == 0 && g.threads {
		executor.Blocking(runtime.Gosched)
	}
	if n == g.failing {
		return g.fail()
	}
	return nil
}

// fill adds one to three tasks to sub, and subflows that do the same, to the given depth.
func (g *garden) fill(sub *graph.Graph, depth int) {
	grow := func(_ context.Context, sub *graph.Graph) error { g.fill(sub, depth-1); return nil }
	var last graph.Task
	for i := range 1 + g.draw(3) {
		var task graph.Task
		kind := g.draw(6)
		switch {
		case depth == 0 || kind == 0:
			kind = 0
			g.made.Add(1)
			task = sub.Task(g.do)
		case kind <= 2:
			task = sub.DetachedSubflow(grow)
		case kind == 3:
			task = sub.Subflow(grow)
		case kind == 4:
			module := graph.New("module")
			module.DetachedSubflow(grow)
			task = sub.Module(module)
		default: // a loop that begins the same detached subflow three times
			task = sub.Task(nothing)
			again := sub.DetachedSubflow(grow)
			round := 0
			choose := sub.MultiCondition(func(context.Context) ([]int, error) {
				if round++; round < 3 {
					return []int{0, 0}, nil
				}
				return nil, nil
			})
			task.Precede(again)
			again.Precede(choose)
			choose.Precede(again)
		}
		if kind <= 2 && g.draw(4) == 0 { // others would wait for what needs the same permits
			task.Hold(g.semaphore)
		}
		if g.draw(4) == 0 {
			task.Priority(graph.High - graph.Priority(g.draw(3)))
		}
		if i > 0 && g.draw(2) == 0 {
			last.Precede(task)
		}
		last = task
	}
}

// TestRandomDetached: with any nesting of detached subflows, a run without a fault ends when all tasks have run, and a
// run with a fault reports it. Neither leaves anything behind.
func TestRandomDetached(t *testing.T) {
	seed := testkit.Seed(t)
	for _, workers := range []int{1, 2, 4, 0} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			ex := executor.NewInline(seed) // 0 workers: without threads
			if workers > 0 {
				require.NoError(t, ex.Close())
				ex = newExecutor(t, executor.Config{Workers: workers})
			}
			rng := rand.New(rand.NewPCG(seed, uint64(workers)))
			for range 200 {
				within(t, ex, func() {
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					gn := &garden{rng: rng, semaphore: graph.NewSemaphore(2), threads: workers > 0}
					fault := rng.IntN(4)
					if fault > 0 {
						gn.failing = 1 + rng.Int64N(30)
					}
					gn.fail = func() error {
						switch fault {
						case 1:
							return errTask
						case 2:
							panic(errTask)
						}
						cancel(errTask)
						return nil
					}
					g := graph.New("garden")
					gn.fill(g, 3)
					err := run(t, ex, ctx, g)
					switch failed := gn.failing > 0 && gn.ran.Load() >= gn.failing; {
					case !failed:
						require.NoError(t, err)
						require.Equal(t, gn.made.Load(), gn.ran.Load())
					case fault < 3:
						require.ErrorIs(t, err, errTask)
					default: // the last task may have cancelled
						require.True(t, err == nil || errors.Is(err, errTask), err)
					}
					free, waiting := graph.Permits(gn.semaphore)
					require.Equal(t, 2, free)
					require.Zero(t, waiting)
				})
			}
		})
	}
}

package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A medley is a graph of tasks of every kind, and the tallies of its runs.
type medley struct {
	*graph.Graph
	fail  func(ctx context.Context, task string) error // called by every task
	limit *graph.Semaphore
}

// A tally has the counts of one run of a medley.
type tally struct {
	ran     atomic.Int32
	rounds  int
	limited int // with a permit
	product int
}

type tallyKey struct{}

func tallyOf(ctx context.Context) *tally { return ctx.Value(tallyKey{}).(*tally) }

const (
	medleyRounds  = 30
	medleyLimited = 12
)

// newMedley draws the priorities.
func newMedley(rng *rand.Rand) *medley {
	k := &medley{Graph: graph.New("medley"), limit: graph.NewSemaphore(1)}
	k.fail = func(context.Context, string) error { return nil }
	some := func(t graph.Task) graph.Task { return t.Priority(priorities[rng.IntN(3)]) }
	task := func(name string) func(context.Context) error {
		return func(ctx context.Context) error {
			tallyOf(ctx).ran.Add(1)
			return k.fail(ctx, name)
		}
	}

	wide := graph.New("wide") // is copied
	for range 10 {
		some(wide.Task(task("in a module"))).Precede(some(wide.Task(task("in a module"))))
	}
	loop := graph.New("loop") // is run by itself
	begin := some(loop.Task(task("before the loop")))
	again := some(loop.Condition(func(ctx context.Context) (int, error) {
		tally := tallyOf(ctx)
		if tally.rounds++; tally.rounds%medleyRounds != 0 {
			return 0, k.fail(ctx, "in a nested loop")
		}
		return 1, nil
	}))
	begin.Precede(again)
	again.Precede(again, some(loop.Task(task("after the loop"))))

	g := k.Graph
	source := some(g.Task(task("source")))
	sink := some(g.Task(task("sink")))
	between := func(t graph.Task) {
		some(t).Succeed(source)
		t.Precede(sink)
	}
	between(g.Module(wide))
	between(g.Module(wide))
	between(g.Module(loop))
	between(g.Subflow(func(ctx context.Context, sub *graph.Graph) error {
		for i := range 11 {
			sub.Task(task("in a subflow")).Priority(priorities[i%3])
		}
		return k.fail(ctx, "subflow")
	}))
	for range medleyLimited {
		between(g.Task(func(ctx context.Context) error {
			tallyOf(ctx).limited++
			return k.fail(ctx, "limited")
		}).Hold(k.limit))
	}
	two := graph.Source(g, func(ctx context.Context) (int, error) { return 2, k.fail(ctx, "value") })
	three := graph.Source(g, func(ctx context.Context) (int, error) { return 3, nil })
	some(two.Task()).Succeed(source)
	some(three.Task()).Succeed(source)
	between(graph.Sink2(two, three, func(ctx context.Context, a, b int) error {
		tallyOf(ctx).product = a * b
		return nil
	}))
	turn := some(g.MultiCondition(func(ctx context.Context) ([]int, error) {
		if tallyOf(ctx).ran.Load()%3 == 0 {
			return []int{1, 2, 2}, nil
		}
		tallyOf(ctx).ran.Add(1)
		return []int{0}, k.fail(ctx, "condition")
	}))
	sink.Precede(turn)
	turn.Precede(turn, some(g.Task(nothing)), some(g.Task(nothing)))
	return k
}

// once runs the medley, and checks the tally of a run without failures.
func (k *medley) once(ex *executor.Executor) error {
	tally := new(tally)
	if err := ex.Run(context.WithValue(context.Background(), tallyKey{}, tally), k.Graph); err != nil {
		return err
	}
	// Those around it, two modules, a loop, a subflow; then on to a multiple of three.
	const want = 2 + 2*20 + 2 + 11 + 2
	if tally.ran.Load() != want || tally.rounds != medleyRounds || tally.limited != medleyLimited ||
		tally.product != 6 {
		return fmt.Errorf("%d tasks instead of %d, %d rounds, %d limited, product %d", tally.ran.Load(), want,
			tally.rounds, tally.limited, tally.product)
	}
	return nil
}

// Tasks of every kind and priority, in runs after and beside each other.
func TestPriorityKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	check := func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(10) {
			k := newMedley(rng)
			within(t, ex, func() {
				require.NoError(t, k.once(ex))
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						for range 3 {
							if err := k.once(ex); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
			})
			require.True(t, graph.IsRanked(k.Graph))
			require.Zero(t, graph.LeftInRanks(k.Graph))
		}
	}
	everyExecutor(t, []int{2, 4}, check)
	oneAfterTheOther(t, check)
}

// A run that fails or is cancelled at any place ends, reports it, and leaves nothing behind for the next.
func TestPriorityFailures(t *testing.T) {
	guests.None(t)
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	places := []string{"source", "sink", "in a module", "before the loop", "in a nested loop", "after the loop",
		"subflow", "in a subflow",
		"limited", "value", "condition"}
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		for name, fail := range map[string]func() error{
			"error":  func() error { return errTask },
			"panic":  func() error { panic(errTask) },
			"goexit": func() error { runtime.Goexit(); return nil },
		} {
			for range testkit.Scale(3) {
				k := newMedley(rng)
				for _, place := range places {
					var visits atomic.Int32
					nth := int32(1 + rng.IntN(3))
					k.fail = func(_ context.Context, task string) error {
						if task == place && (visits.Add(1) == nth || nth == 1) {
							return fail()
						}
						return nil
					}
					within(t, ex, func() {
						err := k.once(ex)
						if visits.Load() >= nth {
							var failed *graph.TaskError
							require.ErrorAs(t, err, &failed, "%s in %s", name, place)
						} else {
							require.NoError(t, err)
						}
						require.Zero(t, graph.LeftInRanks(k.Graph), "%s in %s", name, place)
						k.fail = func(context.Context, string) error { return nil }
						require.NoError(t, k.once(ex), "after %s in %s", name, place)
					})
				}
			}
		}
		// Cancelled by another goroutine, at any time.
		k := newMedley(rng)
		for range testkit.Scale(30) {
			within(t, ex, func() {
				ctx := context.WithValue(t.Context(), tallyKey{}, new(tally))
				r := ex.Start(ctx, k.Graph)
				for range rng.IntN(200) {
					runtime.Gosched()
				}
				r.Cancel(errTask)
				if err := r.Wait(); err != nil {
					require.ErrorIs(t, err, errTask)
				}
				require.Zero(t, graph.LeftInRanks(k.Graph))
			})
		}
		within(t, ex, func() { require.NoError(t, k.once(ex)) })
	})
}

// A task may run on top of another task of its run, if that one waits for an enclosing run. A failure is reported for
// the task that failed.
func TestPriorityOnTopOfEachOther(t *testing.T) {
	guests.None(t) // a caller gives away what is nested in its run
	for _, inner := range []error{nil, errTask} {
		ex := newExecutor(t, executor.Config{Workers: 1})
		var outer, part *executor.Run
		onTop := false
		g := graph.New("g")
		g.Task(func(context.Context) error {
			require.NoError(t, outer.Wait())
			require.True(t, onTop)
			panic("below")
		}).Named("below").Priority(graph.High)
		g.Task(func(context.Context) error {
			if onTop = true; inner != nil {
				panic(inner)
			}
			return nil
		}).Named("on top")
		whole := graph.New("whole")
		whole.Task(nothing).Succeed(whole.Task(func(ctx context.Context) error {
			part = ex.Start(context.WithoutCancel(ctx), g)
			return nil
		}))
		ready := make(chan struct{})
		whole.Task(func(context.Context) error { <-ready; return nil }) // until outer is known
		within(t, ex, func() {
			outer = ex.Start(t.Context(), whole)
			close(ready)
			require.NoError(t, outer.Wait())
			err := part.Wait()
			if inner == nil {
				require.Equal(t, []string{"below"}, failedTasks(err))
			} else {
				require.Equal(t, []string{"below", "on top"}, failedTasks(err))
			}
		})
		require.Zero(t, graph.LeftInRanks(g))
	}
}

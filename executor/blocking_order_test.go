package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A strand is a sequence of steps, some of which call other strands. A step may need that another step was made
// before, of any strand: one that is earlier in an order of all steps in which a single thread could run the strands
// in turns.
type strand struct {
	steps []strandStep
	next  int       // steps that have a place in the order
	calls []*strand // by the last of those, unless all steps of these have
}

type strandStep struct {
	made   chan struct{}
	needs  <-chan struct{} // or nil
	how    int             // one of strandCalls
	within bool            // it calls within a Blocking
	calls  []*strand
}

const strandCalls = 6

// makeStrand draws a strand. room is how many may still be made.
func makeStrand(rng *rand.Rand, room *int, depth int) *strand {
	s := &strand{steps: make([]strandStep, 1+rng.IntN(4))}
	for i := range s.steps {
		step := &s.steps[i]
		step.made = make(chan struct{})
		step.how, step.within = rng.IntN(strandCalls), rng.IntN(4) == 0
		for depth < 4 && *room > 0 && len(step.calls) < 4 && rng.IntN(2) == 0 {
			*room--
			step.calls = append(step.calls, makeStrand(rng, room, depth+1))
		}
	}
	return s
}

// order has every step need one that comes before it in an order that it draws.
func order(rng *rand.Rand, strands []*strand) {
	var made []chan struct{}
	for len(strands) > 0 {
		i := rng.IntN(len(strands))
		s := strands[i]
		switch {
		case len(s.calls) > 0 && s.calls[0].over():
			s.calls = s.calls[1:]
		case len(s.calls) > 0: // it waits
		case s.next == len(s.steps):
			strands = append(strands[:i], strands[i+1:]...)
		default:
			step := &s.steps[s.next]
			s.next++
			if len(made) > 0 && rng.IntN(4) > 0 {
				step.needs = made[rng.IntN(len(made))]
			}
			made = append(made, step.made)
			s.calls = step.calls
			strands = append(strands, step.calls...)
		}
	}
}

func (s *strand) over() bool { return s.next == len(s.steps) && len(s.calls) == 0 }

// run makes the steps. s is the calling function's scope, or nil.
func (st *strand) run(ctx context.Context, ex *executor.Executor, s *executor.Scope) (err error) {
	for i := range st.steps {
		step := &st.steps[i]
		if step.needs != nil {
			executor.Blocking(func() { <-step.needs })
		}
		close(step.made)
		if len(step.calls) == 0 {
			continue
		}
		call := func() { err = errors.Join(err, step.call(ctx, ex, s)) }
		if step.within {
			executor.Blocking(call)
		} else {
			call()
		}
	}
	return err
}

// call runs the strands that the step calls, and returns when they have ended.
func (step *strandStep) call(ctx context.Context, ex *executor.Executor, s *executor.Scope) (err error) {
	switch step.how {
	case 0:
		return ex.Run(ctx, strandGraph(ex, step.calls))
	case 1:
		var runs []*executor.Run
		for _, c := range step.calls {
			runs = append(runs, ex.Start(ctx, strandGraph(ex, []*strand{c})))
		}
		for _, r := range runs {
			err = errors.Join(err, r.Wait())
		}
		return err
	case 2:
		var futures []*executor.Future[int]
		for _, c := range step.calls {
			futures = append(futures, executor.Async(ctx, ex, func(ctx context.Context) (int, error) {
				return 0, c.run(ctx, ex, nil)
			}))
		}
		for _, f := range futures {
			_, e := f.Wait()
			err = errors.Join(err, e)
		}
		return err
	}
	if s == nil {
		return ex.Run(ctx, executor.NewJob("scope", func(s *executor.Scope) error { return step.call(ctx, ex, s) }))
	}
	if step.how == 3 {
		for i, c := range step.calls {
			if i%2 == 0 {
				s.Go(func(ctx context.Context) error { return c.run(ctx, ex, nil) })
			} else {
				s.Spawn(func(s *executor.Scope) error { return c.run(ctx, ex, s) })
			}
		}
		return s.Wait()
	}
	var forks []executor.Forked[*strand, error]
	last := len(step.calls) - 1
	for _, c := range step.calls[:last] {
		forks = append(forks, executor.Fork(s, func(s *executor.Scope, c *strand) error {
			return c.run(ctx, ex, s)
		}, c))
	}
	err = step.calls[last].run(ctx, ex, s)
	for i := last - 1; i >= 0; i-- {
		err = errors.Join(err, forks[i].Join(s))
	}
	return err
}

// strandGraph is a graph with a task for each strand.
func strandGraph(ex *executor.Executor, strands []*strand) *graph.Graph {
	g := graph.New("strands")
	for _, s := range strands {
		g.Task(func(ctx context.Context) error { return s.run(ctx, ex, nil) })
	}
	return g
}

// Tasks wait for each other's steps in Blocking, and in every other way for work that they have started:
// with enough spares none waits for ever, with any number of workers.
func TestRandomBlockingForEachOther(t *testing.T) {
	seed := testkit.Seed(t)
	const most, perExecutor = 24, 50
	n := testkit.Count(t, 600)
	for i := 0; i < n; i += perExecutor {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		cfg := executor.Config{
			// A strand takes a thread, and one more that sleeps in the run of its scope.
			Workers: 1 + rng.IntN(3), Spares: 2 * most,
			Experiment: experiment.Options{Policy: oneOf(rng, usable())},
		}
		if rng.IntN(2) == 0 {
			cfg = oneOf(rng, forkStores).in(cfg)
		}
		ex := newExecutor(t, cfg)
		for k := i; k < min(i+perExecutor, n); k++ {
			dumped := func() string { return fmt.Sprintf("program %d, %+v\n%s", k, cfg, dump(ex)) }
			testkit.Within(t, testkit.Patience, func() { runStrands(t, ex, rng, most) }, dumped)
		}
	}
	testkit.Proved(t, n, "programs of tasks that wait for each other in Blocking")
}

// runStrands runs strands that it draws, several in each run.
func runStrands(t *testing.T, ex *executor.Executor, rng *rand.Rand, most int) {
	var strands []*strand
	for room := most; room > 0 && len(strands) < 6; {
		room--
		strands = append(strands, makeStrand(rng, &room, 0))
	}
	order(rng, slices.Clone(strands))
	var runs []*executor.Run
	for len(strands) > 0 {
		first := 1 + rng.IntN(len(strands))
		runs = append(runs, ex.Start(t.Context(), strandGraph(ex, strands[:first])))
		strands = strands[first:]
	}
	for _, r := range runs {
		require.NoError(t, r.Wait())
	}
	rests(t, ex)
}

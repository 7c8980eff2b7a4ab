package bench

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A specimen is a small instance of a workload.
type specimen struct {
	name  string
	queue bool // it is a list of tasks
	forks bool // it does not run where the deque does not give the newest item back
	data  data
	run   func(ctx context.Context, ex *executor.Executor) error
}

// specimens returns a small instance of each workload, and of each list of tasks one for each queue.
func specimens(t *testing.T) (all []specimen) {
	const seed = 3
	for _, w := range workloads.All() {
		n := max(1, w.Small)
		for w.Small == 0 && n < 12 && w.Shape(n+1).Tasks <= 100 { // some programs grow exponentially
			n++
		}
		switch {
		case w.IsProgram():
			p, err := w.Program(n, seed, valuesFor(t, w, ""))
			require.NoError(t, err)
			all = append(all, specimen{w.Name, false, true, p, func(_ context.Context, ex *executor.Executor) error {
				return p.Magpie(ex)
			}})
		case w.IsDivision():
			d := w.Division()
			d.Inputs(n, seed, valuesFor(t, w, "unit=10µs"))
			for _, queue := range everyQueue() {
				p, err := newDivided(w.Name, d, n, queue, seed)
				require.NoError(t, err)
				run := func(_ context.Context, ex *executor.Executor) error { return p.Magpie(ex) }
				all = append(all, specimen{w.Name + " " + queue, true, false, p, run})
			}
		default:
			work := w.Make(n, seed)
			check, target, err := newOrderCheck(w.Name, work)
			require.NoError(t, err)
			run := func(ctx context.Context, ex *executor.Executor) error { return ex.Run(ctx, target.Graph) }
			all = append(all, specimen{w.Name, false, false, check, run})
		}
	}
	return all
}

// TestEveryCombination: every workload gives the right result under every policy, with every kind of deque, on 1, 2 and
// 4 workers, and every list of tasks from every queue, if not in every combination.
func TestEveryCombination(t *testing.T) {
	all := specimens(t)
	// Of the lists of tasks each combination runs every 31st, and every fifth of the others; package pool's tests run all
	// lists. If tests are quick, it is every 71st and every eleventh. These numbers are prime to that of the numbers of
	// workers.
	ofLists, ofOthers := 31, 5
	combination := 0
	policies := testkit.Usable(experiment.Policies(), experiment.Available)
	switch {
	case testkit.All():
		ofLists, ofOthers = 7, 1
	case testkit.Quick():
		ofLists, ofOthers = 71, 11
		policies = testkit.Some(t, policies)
	}
	for _, p := range policies {
		for _, k := range deque.Kinds() {
			for _, workers := range []int{1, 2, 4} {
				ex, err := executor.New(executor.Config{Workers: workers, Experiment: experiment.Options{Policy: p, Deque: k}})
				combination++
				require.NoError(t, err, "%v %v: there is no pair that New refuses", p, k)
				for i, s := range all {
					if s.forks && k.FIFO() {
						continue // TestForksNeedTheNewest
					}
					stride := ofOthers
					if s.queue {
						stride = ofLists
					}
					if i%stride != combination%stride {
						continue
					}
					s.data.Reset()
					err := s.run(t.Context(), ex)
					require.NoError(t, err, "%s, %v, %v, %d workers", s.name, p, k, workers)
					require.NoError(t, s.data.Verify(), "%s, %v, %v, %d workers", s.name, p, k, workers)
				}
				require.NoError(t, ex.Close())
			}
		}
	}
}

// TestForksNeedTheNewest: a program is refused where the deque does not give the newest item back.
func TestForksNeedTheNewest(t *testing.T) {
	refused := 0
	for _, k := range deque.Kinds() {
		if !k.FIFO() {
			continue
		}
		a := Axes{Policies: []string{"adaptive"}, Deques: []string{k.String()}, Forks: bothForks, Workers: []int{1}}
		for _, w := range workloads.All() {
			s := &Session{Workloads: []*workloads.Workload{w}, Engines: Engines()[:1], Axes: a, N: 2, Reps: 1}
			if w.IsProgram() {
				require.ErrorContains(t, s.validate(), "choose another deque")
				refused++
			}
		}
	}
	require.Positive(t, refused)
}

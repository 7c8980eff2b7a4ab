package graph_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func size(rng *rand.Rand) int {
	if rng.IntN(3) == 0 {
		return 1 + rng.IntN(10)
	}
	return 1 + rng.IntN(400)
}

var oracleWorkers = []int{1, 2, 4, 8}

// TestOracle compares runs of random graphs with a sequential walk of the same plan.
func TestOracle(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(150) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			m.oracle(t)
			within(t, ex, func() {
				for range 4 {
					m.complete(t, ex)
				}
			})
		}
	})
}

// TestOracleFaults does the same with tasks that fail in every way, also many of one run. After each such run the same
// graph must run completely: a failed run must leave nothing in the run state that the graph keeps.
func TestOracleFaults(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(120) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			m.oracle(t)
			probability := []float64{0.005, 0.05, 0.5, 1}[rng.IntN(4)]
			within(t, ex, func() {
				for range 3 {
					m.once(t, ex, m.drawFaults(rng, probability))
					m.complete(t, ex)
				}
			})
		}
	})
}

// TestOracleOverlap runs one graph many times at once, some of the runs with a task that fails. Each run has its
// history in its context, so this also shows that values come through.
func TestOracleOverlap(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		for i := range testkit.Scale(10) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			m := randomModel(rng, size(rng))
			m.oracle(t)
			// Fails in those runs whose context is cancelled before they get there.
			s := script{faults: []fault{{task: rng.IntN(m.g.Len()), kind: echoes}}, ending: endCause}
			before := ex.Stats()
			const submitters, each = 8, 6
			within(t, ex, func() {
				var done sync.WaitGroup
				for n := range submitters {
					done.Go(func() {
						for k := range each {
							h := m.newHistory(ex, s)
							doomed := (n+k)%3 == 0
							h.start(context.Background())
							if doomed {
								h.endContext(true)
							}
							h.finish(t)
							if h.run.Wait() == nil {
								h.checkValues(t)
							} else if !doomed {
								require.FailNow(t, "nobody ended this run", "%v", h)
							}
						}
					})
				}
				done.Wait()
			})
			total := ex.Stats().Sub(before).Total
			require.EqualValues(t, submitters*each*m.g.Len(), total.Tasks+total.Skipped)
		}
	})
}

// TestOracleManyGraphs runs different graphs at once, so that workers turn from one run to another all the time.
func TestOracleManyGraphs(t *testing.T) {
	seed := testkit.Seed(t)
	everyExecutor(t, oracleWorkers, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			var done sync.WaitGroup
			for s := range 6 {
				done.Go(func() {
					for i := range testkit.Scale(20) {
						rng := rand.New(rand.NewPCG(seed, uint64(1000*s+i)))
						m := randomModel(rng, size(rng))
						var faults script
						if rng.IntN(2) == 0 {
							faults = m.drawFaults(rng, 0.05)
						}
						h := m.newHistory(ex, faults)
						m.log = h
						h.start(context.Background())
						h.finish(t)
					}
				})
			}
			done.Wait()
		})
	})
}

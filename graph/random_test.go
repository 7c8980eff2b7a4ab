package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A site is an executor on which many graphs run, one after the other.
type site struct {
	name string
	ex   *executor.Executor
}

// newSites makes a site for each policy and number of workers, one for each policy with Options.Verbatim, and one for
// each policy and other kind of deque, with these numbers in turn. All sites are drawn equally often.
func newSites(t *testing.T, workers ...int) (sites []*site) {
	add := func(name string, cfg executor.Config) {
		sites = append(sites, &site{name: name, ex: newExecutor(t, cfg)})
	}
	several := workers[1:] // one worker alone has the same lane for every kind
	for _, policy := range testkit.Some(t, testkit.Usable(experiment.Policies(), experiment.Available)) {
		for _, w := range workers {
			add(fmt.Sprintf("%v/W=%d", policy, w), executor.Config{Workers: w, Experiment: experiment.Options{Policy: policy}})
		}
		add(fmt.Sprintf("%v/W=%d/verbatim", policy, several[0]),
			executor.Config{Workers: several[0], Experiment: experiment.Options{Policy: policy, Verbatim: true}})
		for i, d := range deque.Kinds() {
			if d == deque.KindChaseLev {
				continue
			}
			cfg := executor.Config{
				Workers: several[len(sites)%len(several)], Experiment: experiment.Options{Policy: policy, Deque: d},
			}
			if d.Batches() {
				cfg.Experiment.Steal = deque.Half
			}
			if i%2 == 1 && d != deque.KindADWS { // small: it overflows
				cfg.Experiment.Capacity = 4
			}
			add(fmt.Sprintf("%v/W=%d/%v/capacity=%d/%v", policy, cfg.Workers, d,
				cfg.Experiment.Capacity, cfg.Experiment.Steal), cfg)
		}
	}
	return sites
}

// muster checks that the number of workers has not changed: a worker that ends by Goexit is replaced by one.
func (s *site) muster(t testing.TB) {
	t.Helper()
	w := s.ex.Workers()
	b := newBarrier(w)
	threads := make([]int64, w)
	var runs []*executor.Run // one for each: a worker that waits for others may hide its items
	for i := range w {
		g := graph.New("muster")
		g.Task(func(context.Context) error {
			threads[i] = osthread.ID()
			b.meet()
			return nil
		})
		runs = append(runs, s.ex.Start(context.Background(), g))
	}
	for _, r := range runs {
		require.NoError(t, r.Wait())
	}
	slices.Sort(threads)
	require.Len(t, slices.Compact(threads), w)
}

// The largest graphs that are run with every fault at every task, and with a fault at every task. Larger graphs are run
// with a part of the faults, so that on average they take no longer.
const (
	everyFault = 4
	everyTask  = 12
)

// examine runs m on the site without a fault, then with many faults, and after each without.
func (s *site) examine(t testing.TB, rng *rand.Rand, m *model) (injected int) {
	m.oracle(t)
	m.complete(t, s.ex)
	suffer := func(sc script) {
		injected += m.once(t, s.ex, sc).injected()
		m.complete(t, s.ex)
	}
	switch n := len(m.preds); {
	case n <= everyFault && rng.IntN(16) == 0:
		suffer(script{ending: beforeCancel})
		suffer(script{ending: beforeDeadline})
		for task := range n {
			for i := range singles {
				suffer(m.single(rng, i, task))
			}
		}
	case rng.IntN(8) == 0:
		injected += s.overlap(t, rng, m)
	default:
		if rng.IntN(n) < everyTask {
			for task := range n {
				suffer(m.single(rng, rng.IntN(len(singles)), task))
			}
		}
		for range 1 + rng.IntN(3) {
			suffer(m.drawScript(rng))
		}
	}
	return injected
}

// overlap runs m several times at once, each with faults of its own, and once more without.
func (s *site) overlap(t testing.TB, rng *rand.Rand, m *model) (injected int) {
	before := s.ex.Stats()
	runs := make([]*history, 2+rng.IntN(4))
	for i := range runs {
		runs[i] = m.newHistory(s.ex, script{})
		if i > 0 {
			runs[i] = m.newHistory(s.ex, m.drawScript(rng))
		}
	}
	for _, h := range runs {
		h.start(context.Background())
	}
	for _, h := range runs {
		h.finish(t)
		injected += h.injected()
	}
	runs[0].checkValues(t)
	checkStats(t, s.ex.Stats().Sub(before), runs...)
	m.complete(t, s.ex)
	return injected
}

// TestRandomGraphs runs random graphs with faults of every kind at every position, and checks each run by
// history.verdict. MAGPIE_SEED is the seed of the first graph.
func TestRandomGraphs(t *testing.T) {
	seed, graphs := testkit.Seed(t), testkit.Count(t, 800)
	sites := newSites(t, 1, 2, 4, 16)
	injected := 0
	for i := range graphs {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		s := sites[own%uint64(len(sites))]
		rng := rand.New(rand.NewPCG(own, 0))
		var n int
		switch rng.IntN(16) {
		case 0:
			n = 1 + rng.IntN(400)
		case 1, 2, 3, 4, 5:
			n = 1 + rng.IntN(60)
		default:
			n = 1 + rng.IntN(12)
		}
		m := randomModel(rng, n)
		tell := func() string {
			return fmt.Sprintf("graph %d on %s; %s\n%s", i, s.name, testkit.Only(t, own), m.edges())
		}
		testkit.Within(t, testkit.Patience, func() {
			injected += s.examine(telling{t, tell}, rng, m)
			if i%256 < len(sites) {
				s.muster(telling{t, tell})
			}
		}, dumpOf(s.ex), tell)
	}
	for _, s := range sites {
		within(t, s.ex, func() { s.muster(t) })
	}
	testkit.Proved(t, graphs, "random graphs against the oracle")
	testkit.Proved(t, injected, "faults injected")
}

// telling is a test that logs more about its failures.
type telling struct {
	testing.TB
	tell func() string
}

func (t telling) Errorf(format string, args ...any) {
	t.TB.Helper()
	t.TB.Errorf("%s\n%s", fmt.Sprintf(format, args...), t.tell())
}

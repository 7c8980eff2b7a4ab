package bench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// everySetting has some policies, all ways to fork, several numbers of workers, and the deques that have code of their
// own in the executor and are usable by programs.
func everySetting(t *testing.T) Axes {
	a := Axes{Deques: []string{"chaselev", "padws", "locked"}, Workers: []int{1, 2, 4}}
	a.Forks = experiment.Forks()
	a.Policies = testkit.Some(t, testkit.Usable(experiment.Policies(), experiment.Available))
	return a
}

// oneIn returns every 23rd of the settings if tests are quick, every fifth if they are long, or all. Each setting has
// its turn within that many turns. The seed draws the first turn of a test.
func oneIn(turn int, all []Setting) (some []Setting) {
	stride := 23 // prime, as is 5, to the numbers of values in everySetting: the choices have each of them
	switch {
	case testkit.All():
		stride = 1
	case !testkit.Quick():
		stride = 5
	}
	for i := turn % min(stride, len(all)); i < len(all); i += stride {
		some = append(some, all[i])
	}
	return some
}

// settingsOf returns the engine's settings, and those with executor.Config.Experiment.Verbatim if they differ.
func settingsOf(e *Engine, a Axes) []Setting {
	all := e.Settings(a)
	a.Verbatim = true
	for _, s := range e.Settings(a) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// TestEnginesAgree has every engine run the same random graphs, with tasks that check the order of the edges, several
// times each.
func TestEnginesAgree(t *testing.T) {
	times := 3
	if testkit.Quick() {
		times = 2
	}
	turn := testkit.Drawer(t).IntN(1000)
	for seed := range uint64(2) {
		for _, w := range []*workloads.Workload{chain, btree, dag, fan, matmul} {
			work := w.Make(int(20+900*seed), seed)
			check, target, err := newOrderCheck(w.Name, work)
			require.NoError(t, err)
			turn++
			for _, e := range Engines() {
				for _, s := range oneIn(turn, settingsOf(e, axesOf(w, everySetting(t)))) {
					j, err := openJob(e, s, w.Name, check, target)
					require.NoError(t, err)
					for range times {
						r, err := j.repeat(context.Background())
						require.NoError(t, err)
						require.True(t, r.Verified)
						require.Equal(t, target.Plan.Len(), r.Tasks)
						require.Positive(t, r.WallNS)
					}
				}
			}
		}
	}
}

// TestEngineErrors has a task fail on every engine: the run ends with its error.
func TestEngineErrors(t *testing.T) {
	broken := errors.New("broken")
	g := graph.New("failing")
	first := g.Task(empty)
	first.Precede(g.Task(func(context.Context) error { return broken }), g.Task(empty))
	p, err := plan.Of(g)
	require.NoError(t, err)
	for _, e := range Engines() {
		for _, s := range e.Settings(everySetting(t)) {
			r, err := e.Open(s, Target{g, p})
			require.NoError(t, err)
			require.NoError(t, r.Start())
			require.ErrorIs(t, r.Run(context.Background()), broken, "%v", s)
			require.NoError(t, r.Stop())
		}
	}
}

func TestSettings(t *testing.T) {
	// A program has each way to fork, a graph the first only.
	asked := Axes{Policies: []string{"p"}, Deques: []string{"d", "e"}, Forks: []string{"f", "g"}, Workers: []int{1}}
	require.Equal(t, asked, axesOf(fib, asked))
	one := asked
	one.Forks = []string{"f"}
	require.Equal(t, one, axesOf(chain, asked))
	require.Equal(t, Axes{}, axesOf(chain, Axes{}))

	asked = Axes{Policies: []string{"p", "q"}, Deques: []string{"d"}, Forks: []string{"f"}, Workers: []int{1, 4}}
	want := map[string][]Setting{
		"magpie": {
			{"magpie", "p", "d", "f", 1, nil, false}, {"magpie", "p", "d", "f", 4, nil, false},
			{"magpie", "q", "d", "f", 1, nil, false}, {"magpie", "q", "d", "f", 4, nil, false},
		},
		"serial":     {{"serial", None, None, None, 1, nil, false}},
		"goroutines": {{"goroutines", None, None, None, 1, nil, false}, {"goroutines", None, None, None, 4, nil, false}},
	}
	for _, e := range Engines() {
		require.Equal(t, want[e.Name], e.Settings(asked), e.Name)
	}

	// Only engine magpie has a verbatim form, with a name of its own.
	asked.Verbatim = true
	for i := range want["magpie"] {
		want["magpie"][i].Engine = "magpie-verbatim"
	}
	for _, e := range Engines() {
		require.Equal(t, want[e.Name], e.Settings(asked), e.Name)
	}
	require.Equal(t, "magpie-verbatim (p, d, f), 1 worker", want["magpie"][0].String())
}

// TestVerbatimEngine: the form that a setting names is that of its executor. On one worker, that of the name runs the
// middle of a fan task by task.
func TestVerbatimEngine(t *testing.T) {
	const n = 100
	g := graph.New("fan")
	source := g.Task(empty)
	for range n {
		source.Precede(g.Task(empty))
	}
	for _, verbatim := range []bool{false, true} {
		a := Axes{
			Policies: []string{"adaptive"}, Deques: []string{"chaselev"}, Forks: bothForks[:1], Workers: []int{1},
			Verbatim: verbatim,
		}
		ex, err := executorFor(magpieSettings(a)[0])
		require.NoError(t, err)
		require.NoError(t, ex.Run(context.Background(), g))
		require.Equal(t, verbatim, ex.Stats().Total.Pops == n-1)
		require.NoError(t, ex.Close())
	}
}

// TestGOMAXPROCS checks each engine's GOMAXPROCS, and that it is restored.
func TestGOMAXPROCS(t *testing.T) {
	base := runtime.GOMAXPROCS(0)
	var seen int
	g := graph.New("look")
	g.Task(func(context.Context) error {
		seen = runtime.GOMAXPROCS(0)
		return nil
	})
	p, err := plan.Of(g)
	require.NoError(t, err)
	const workers = 3
	want := map[string]int{"magpie": base + (workers+2)/3, "serial": base, "goroutines": workers}
	for _, e := range Engines() {
		a := Axes{
			Policies: []string{"adaptive"}, Deques: []string{"chaselev"}, Forks: bothForks, Workers: []int{workers},
		}
		s := e.Settings(a)[0]
		r, err := e.Open(s, Target{g, p})
		require.NoError(t, err)
		require.NoError(t, r.Start())
		require.NoError(t, r.Run(context.Background()))
		require.NoError(t, r.Stop())
		if e.Name != "magpie" || seen != want[e.Name]+workers { // a worker that is slow to fall asleep has it take all
			require.Equal(t, want[e.Name], seen, e.Name)
		}
		require.Equal(t, base, runtime.GOMAXPROCS(0), "after %s", e.Name)
	}
}

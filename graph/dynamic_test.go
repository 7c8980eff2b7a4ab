package graph_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// drawScript draws the faults of one execution and their places. An inline executor has no other goroutine.
func (p *program) drawScript(rng *rand.Rand, inline bool) script {
	var s script
	faults := 1
	switch rng.IntN(8) {
	case 0:
		return script{ending: beforeCancel + ending(rng.IntN(2))}
	case 1:
		faults = 0
	case 2:
		faults = 2 + rng.IntN(4)
	}
	for range faults {
		v := p.vertices[rng.IntN(len(p.vertices))]
		k := kind(rng.IntN(int(kinds)))
		if n := p.expected[v]; n > 0 && !k.nests() && !(inline && k.exits()) {
			s.faults = append(s.faults, fault{task: v.id, round: rng.IntN(n), kind: k})
		}
	}
	s.ending = endings[rng.IntN(len(endings))]
	if len(s.faults) == 0 || rng.IntN(4) == 0 {
		s.outside, s.delay = cancelsRun+outside(rng.IntN(2)), rng.IntN(1<<rng.IntN(10))
	}
	return s
}

// exits reports whether the task ends its goroutine.
func (k kind) exits() bool { return k == exits || k == exitsPanicking || k == panicsExiting }

// A place is an executor on which programs are run.
type place struct {
	site
	inline bool
}

// atOnce runs some executions of b at the same time.
func (pl *place) atOnce(t testing.TB, b *built, scripts ...script) {
	t.Helper()
	clock := new(atomic.Int64)
	before := pl.ex.Stats().Total.Tasks
	all := make([]*execution, len(scripts))
	waits := make([]func() error, len(scripts))
	for i, s := range scripts {
		all[i] = b.newExecution(pl.ex, s, clock)
		waits[i] = all[i].start()
	}
	whole := true
	for i, x := range all {
		x.finish(t, waits[i])
		whole = whole && x.result == nil
	}
	if tasks := len(all) * b.tasks; whole {
		require.EqualValues(t, tasks, pl.ex.Stats().Total.Tasks-before, "Stats")
	}
	require.NoError(t, b.limited(all))
	for i, s := range b.semaphores {
		free, waiting := graph.Permits(s)
		require.Equal(t, b.permits[i], free, "permits of semaphore %d after all runs", i)
		require.Zero(t, waiting, "runs with tasks that wait for semaphore %d", i)
	}
}

// examine runs a program without a fault, with faults, several times at once, and after each without.
func (pl *place) examine(t testing.TB, rng *rand.Rand, p *program) {
	t.Helper()
	b := p.build()
	require.NoError(t, b.graphs[p.root].Validate())
	pl.atOnce(t, b, script{})
	for range 1 + rng.IntN(4) {
		pl.atOnce(t, b, p.drawScript(rng, pl.inline))
		pl.atOnce(t, b, script{})
	}
	scripts := []script{{}, {}}
	for range rng.IntN(3) {
		scripts = append(scripts, p.drawScript(rng, pl.inline))
	}
	pl.atOnce(t, b, scripts...)
	pl.atOnce(t, b, script{})
}

// TestRandomDynamic runs random programs of all kinds of tasks, without and with faults, on executors with threads and
// without, and compares them with the documentation. MAGPIE_SEED is the seed of the first program.
func TestRandomDynamic(t *testing.T) {
	seed, programs := testkit.Seed(t), testkit.Count(t, 1000)
	var places []*place
	for _, s := range newSites(t, 1, 2, 4) {
		places = append(places, &place{site: *s})
	}
	for i := range programs {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		rng := rand.New(rand.NewPCG(own, 0))
		p := randomProgram(rng)
		n := rng.IntN(len(places) + 2)
		pl := &place{site{"inline", executor.NewInline(own)}, true}
		if n < len(places) {
			pl = places[n]
		}
		tell := func() string {
			return fmt.Sprintf("program %d on %s; %s\n%v", i, pl.name, testkit.Only(t, own), p)
		}
		testkit.Within(t, testkit.Patience, func() { pl.examine(telling{t, tell}, rng, p) }, dumpOf(pl.ex), tell)
	}
	for _, pl := range places {
		within(t, pl.ex, func() { pl.muster(t) })
	}
	testkit.Proved(t, programs, "random programs of all kinds of tasks")
}

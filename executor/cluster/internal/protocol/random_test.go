package protocol

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/internal/dag"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A faultPlan is what goes wrong during a run of a random graph.
type faultPlan struct {
	name string
	// often is how likely a fault is, beside a step that is none.
	often float64
	scenario
}

const many = 1000

// Faults are rare enough that a run ends, and no partition is given up because of crashes beside it, unless a plan says
// so by Limits.Lost.
var faultPlans = []faultPlan{
	{"calm", 0, scenario{}},
	{"one worker", 0.01, scenario{workers: 1, faults: many, kinds: allFaults}},
	{"eight workers", 0.01, scenario{workers: 8, faults: many, kinds: allFaults}},
	{"crashes", 0.01, scenario{faults: many, kinds: crash}},
	{"storm of crashes", 0.05, scenario{faults: many, kinds: crash}},
	{"duplicates", 0.02, scenario{faults: 40, kinds: double}},
	{"lost acks", 0.2, scenario{faults: many, kinds: lost}},
	{"writes in doubt", 0.02, scenario{faults: many, kinds: doubt}},
	{"stale reads", 0.1, scenario{faults: many, kinds: stale}},
	{"window of duplicates", 0.2, scenario{faults: many, kinds: window | crash}},
	{"queue that forgets", 0.01, scenario{faults: many, kinds: amnesia}},
	{"queue that forgets, and faults", 0.01, scenario{faults: many, kinds: allFaults | amnesia}},
	{"mended without a need", 0.01, scenario{faults: many, kinds: allFaults &^ stale, mends: true}},
	{"slow workers", 0.02, scenario{faults: many, kinds: slow}},
	{"stale reads and writes in doubt", 0.03, scenario{faults: many, kinds: stale | doubt}},
	{"all faults", 0.01, scenario{faults: many, kinds: allFaults}},
	{"storm of faults", 0.03, scenario{faults: many, kinds: allFaults}},
	{"small blocks", 0.01, scenario{faults: many, kinds: allFaults, limits: Limits{Width: 3}}},
	{"submitter dies", 0.02, scenario{faults: many, kinds: allFaults, submits: true}},
	{"cancel", 0, scenario{cancels: true}},
	{"cancel and faults", 0.01, scenario{faults: many, kinds: allFaults, cancels: true, submits: true}},
	{"functions may fail", 0.01, scenario{faults: many, kinds: allFaults, failing: all}},
	{"a function fails", 0.01, scenario{faults: many, kinds: allFaults, failing: someParts, failsOnly: true}},
	{"poison", 0.01, scenario{faults: many, kinds: allFaults &^ crash, poison: someParts, limits: Limits{Lost: 3}}},
	{"poison, failures and cancel", 0.01, scenario{faults: many, kinds: allFaults &^ crash, poison: someParts,
		failing: all, cancels: true, limits: Limits{Lost: 3}}},
	{"deadline", 0.01, scenario{faults: many, kinds: allFaults, ages: true, deadline: true}},
	{"removed records", 0.01, scenario{faults: many, kinds: allFaults, ages: true, removes: true}},
	{"hidden plan", 0.02, scenario{faults: many, kinds: stale, hidesPlan: true}},
	{"lacking workers", 0.02, scenario{faults: many, kinds: allFaults | lack}},
}

// Partitions that a plan draws.
var (
	all       = map[int]bool{-1: true}
	someParts = map[int]bool{-2: true}
)

func drawn(rng *rand.Rand, which map[int]bool, parts int) map[int]bool {
	chosen := make(map[int]bool)
	switch {
	case which[-1]:
		for i := range parts {
			chosen[i] = true
		}
	case which[-2]:
		chosen[rng.IntN(parts)] = true
	}
	return chosen
}

// on returns the scenario of the faults on a graph.
func (p *faultPlan) on(rng *rand.Rand, plan *wire.Plan) *scenario {
	s := p.scenario
	s.name = p.name
	s.plan = plan
	if s.workers == 0 {
		s.workers = 4
	}
	s.failing = drawn(rng, p.failing, len(plan.Parts))
	s.poison = drawn(rng, p.poison, len(plan.Parts))
	s.limits = limitsOr(s.limits,
		Limits{Lost: many, Missing: many, Wait: Defaults.Wait, Width: Defaults.Width, Delay: Defaults.Delay})
	return &s
}

// drawPlan draws a graph of partitions.
func drawPlan(rng *rand.Rand) *wire.Plan {
	form := dag.Draw(rng, 1+rng.IntN(40))
	var edges [][2]int
	for to, froms := range form.Before() {
		slices.Sort(froms)
		for _, from := range slices.Compact(froms) {
			edges = append(edges, [2]int{int(from), to})
		}
	}
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	plan := planOf(form.Tasks, edges...)
	for i := range plan.Parts {
		plan.Parts[i].Class = fmt.Sprint("c", rng.IntN(3))
		plan.Parts[i].Retries = rng.IntN(4)
	}
	return read(plan)
}

// weight says how likely a step is: cancels, removals and the passing of time are rare.
func (p *faultPlan) weight(w *world, s step) float64 {
	switch {
	case s.fault != 0:
		return p.often
	case s.kind == stepAges, s.kind == stepSweep, s.kind == stepForget, s.kind == stepRunFails:
		return 0.03
	case s.kind == stepCall && s.actor >= w.workers:
		return 0.03
	}
	return 1
}

// A walk takes random steps until nothing can happen any more. It returns how the run has ended, the steps, and what is
// wrong, or "".
func (p *faultPlan) walk(rng *rand.Rand, w *world) (end string, steps []step, wrong string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case violation:
			wrong = string(p)
		default:
			panic(p)
		}
	}()
	var choices []step
	var weights []float64
	for {
		choices, weights = w.steps(choices[:0]), weights[:0]
		if len(choices) == 0 {
			w.checkEnd()
			return w.end(), steps, ""
		}
		sum := 0.0
		for _, s := range choices {
			sum += p.weight(w, s)
			weights = append(weights, sum)
		}
		at := rng.Float64() * sum
		chosen := slices.IndexFunc(weights, func(upTo float64) bool { return at < upTo })
		s := choices[max(0, chosen)]
		steps = append(steps, s)
		w.take(s)
	}
}

// TestRandom: random graphs keep every promise under each plan of faults.
func TestRandom(t *testing.T) {
	seed := testkit.Seed(t)
	graphs := 30
	if !testkit.Quick() {
		graphs = testkit.Count(t, 1000)
	}
	ends := make(map[string]map[string]int)
	walks, taken, faults := 0, 0, 0
	for i := range graphs {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		plan := drawPlan(rng)
		for _, p := range faultPlans {
			s := p.on(rng, plan)
			end, steps, wrong := p.walk(rng, newWorld(walking(s)))
			if wrong != "" {
				t.Fatalf("graph %d of %d partitions, plan %q: %s\n%s", i, len(plan.Parts), p.name, wrong,
					last(newWorld(walking(s)), steps))
			}
			if ends[p.name] == nil {
				ends[p.name] = make(map[string]int)
			}
			ends[p.name][end]++
			walks++
			taken += len(steps)
			for _, s := range steps {
				faults += int(bit(s.fault != 0))
			}
		}
	}
	for _, p := range faultPlans {
		t.Logf("%s: %v", p.name, ends[p.name])
	}
	t.Logf("%d steps, %d faults", taken, faults)
	testkit.Proved(t, walks, "random runs of the protocol")
}

// last tells the last steps of a walk.
func last(w *world, steps []step) string {
	var told []string
	for i, s := range steps {
		told = append(told, w.tell(s))
		if i < len(steps)-1 {
			w.take(s)
		}
	}
	return strings.Join(told[max(0, len(told)-60):], "")
}

package protocol

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/internal/testkit"
)

// planOf returns a plan with these edges.
func planOf(parts int, edges ...[2]int) *wire.Plan {
	p := &wire.Plan{V: wire.Version, Graph: []byte("null"), Parts: make([]wire.PlanPart, parts)}
	for i := range p.Parts {
		p.Parts[i].Class = "c"
	}
	for _, e := range edges {
		p.Parts[e[0]].Succs = append(p.Parts[e[0]].Succs, e[1])
		p.Parts[e[1]].Preds = append(p.Parts[e[1]].Preds, e[0])
	}
	return read(p)
}

// read returns p as a worker reads it.
func read(p *wire.Plan) *wire.Plan {
	p, err := wire.DecodePlan(wire.Encode(p))
	if err != nil {
		panic(err)
	}
	return p
}

// retried returns p with as many retries for each partition.
func retried(p *wire.Plan, retries int) *wire.Plan {
	c := *p
	c.Parts = slices.Clone(p.Parts)
	for i := range c.Parts {
		c.Parts[i].Retries = retries
	}
	return read(&c)
}

var (
	single  = planOf(1)
	pair    = planOf(2, [2]int{0, 1})
	chain   = planOf(3, [2]int{0, 1}, [2]int{1, 2})
	join    = planOf(3, [2]int{0, 2}, [2]int{1, 2})
	spread  = planOf(3, [2]int{0, 1}, [2]int{0, 2})
	loose   = planOf(3)
	diamond = planOf(4, [2]int{0, 1}, [2]int{0, 2}, [2]int{1, 3}, [2]int{2, 3})
	first   = map[int]bool{0: true}
	second  = map[int]bool{1: true}
)

// An exploredScenario is a row of the table of scenarios.
type exploredScenario struct {
	scenario
	quick, long int      // how many faults there may be
	ends        []string // how the run may end: it does end in each of these ways
}

// All have two workers, and faults of all kinds unless they say otherwise.
var scenarios = []exploredScenario{
	{scenario{name: "single", plan: single}, 2, 3, []string{"done"}},
	{scenario{name: "chain", plan: chain}, 1, 2, []string{"done"}},
	{scenario{name: "join", plan: join}, 1, 2, []string{"done"}},
	{scenario{name: "spread", plan: spread}, 1, 2, []string{"done"}},
	{scenario{name: "diamond", plan: diamond}, 1, 2, []string{"done"}},
	{scenario{name: "three workers", plan: join, workers: 3}, 0, 1, []string{"done"}},
	{scenario{name: "blocks", plan: loose, limits: Limits{Width: 2}}, 0, 1, []string{"done"}},
	{scenario{name: "blocks and crashes", plan: loose, kinds: crash, limits: Limits{Width: 2}}, 1, 2, []string{"done"}},
	{scenario{name: "tree of blocks", plan: planOf(5), workers: 1, limits: Limits{Width: 2}}, 0, 2, []string{"done"}},
	{scenario{name: "submitter", plan: single, submits: true}, 2, 3, []string{"done", "none"}},
	{scenario{name: "cancel", plan: single, cancels: true}, 1, 2, []string{"done", "cancel"}},
	{scenario{name: "cancel a join", plan: join, cancels: true}, 0, 1, []string{"done", "cancel"}},
	{scenario{name: "cancel what is submitted", plan: single, submits: true, cancels: true, kinds: crash}, 2, 3,
		[]string{"cancel", "done", "none"}},
	{scenario{name: "function may fail", plan: retried(pair, 1), failing: second}, 1, 2, []string{"done", "task"}},
	{scenario{name: "function fails", plan: retried(join, 1), failing: first, failsOnly: true}, 1, 2,
		[]string{"task"}},
	{scenario{name: "poison", plan: pair, poison: second, limits: Limits{Lost: 1}}, 1, 2, []string{"poison"}},
	{scenario{name: "poison beside a failure", plan: join, poison: first, failing: second, limits: Limits{Lost: 1}},
		1, 2, []string{"poison", "task"}},
	{scenario{name: "removed records", plan: single, ages: true, removes: true}, 1, 2, []string{"none", "gone"}},
	{scenario{name: "deadline", plan: pair, ages: true, deadline: true}, 1, 2, []string{"done", "deadline", "gone"}},
	{scenario{name: "hidden plan", plan: pair, hidesPlan: true}, 1, 3, []string{"done"}},
	{scenario{name: "no plan", plan: single, noPlan: true, limits: Limits{Missing: 1}}, 1, 2, []string{"lost"}},
	{scenario{name: "plan that kills", plan: single, killing: true, limits: Limits{Lost: 1}}, 1, 2, []string{"poison"}},
	{scenario{name: "lacking worker", plan: single, kinds: allFaults | lack}, 2, 3, []string{"done"}},
	{scenario{name: "lacking workers are not lost", plan: single, kinds: lack, limits: Limits{Lost: 1}}, 3, 4,
		[]string{"done"}},
	{scenario{name: "resumed chain", plan: chain, kinds: amnesia}, 2, 4, []string{"done"}},
	{scenario{name: "resumed join", plan: join, kinds: amnesia}, 1, 3, []string{"done"}},
	{scenario{name: "resumed spread", plan: spread, kinds: amnesia | crash}, 1, 2, []string{"done"}},
	{scenario{name: "mended without a need", plan: chain, mends: true, submits: true, kinds: allFaults &^ stale}, 1, 2,
		[]string{"done", "none"}},
	{scenario{name: "mended join", plan: join, mends: true, kinds: amnesia | slow | double}, 1, 2, []string{"done"}},
	{scenario{name: "mended in doubt", plan: pair, mends: true, kinds: amnesia | allFaults}, 1, 2, []string{"done"}},
	{scenario{name: "alien messages", plan: single, alien: true}, 0, 1, []string{"done", "gone"}},
}

// with returns the scenario with its defaults and a number of faults.
func (s exploredScenario) with(faults int) *scenario {
	c := s.scenario
	c.faults = faults
	if c.workers == 0 {
		c.workers = 2
	}
	if c.kinds == 0 {
		c.kinds = allFaults
	}
	c.limits = limitsOr(c.limits, Limits{Lost: 6, Missing: 3, Wait: time.Hour, Width: 64, Delay: time.Second})
	return &c
}

// limitsOr returns defaults with the numbers of l that are set.
func limitsOr(l, defaults Limits) Limits {
	defaults.Lost = cmp.Or(l.Lost, defaults.Lost)
	defaults.Missing = cmp.Or(l.Missing, defaults.Missing)
	defaults.Width = cmp.Or(l.Width, defaults.Width)
	return defaults
}

// TestExplore: in every order of steps, with every choice of some faults, every promise is kept, and the run ends.
func TestExplore(t *testing.T) {
	exploreAll(t, func(s exploredScenario) int { return s.quick })
}

// TestExploreLong is TestExplore with more faults.
func TestExploreLong(t *testing.T) {
	if testkit.Quick() {
		t.Skip("MAGPIE_TESTS=long, or medium, runs it: it takes minutes")
	}
	exploreAll(t, func(s exploredScenario) int { return s.long })
}

func exploreAll(t *testing.T, faults func(exploredScenario) int) {
	explored, worlds := 0, 0
	var kinds [stepKinds]int
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			begin := time.Now()
			e, wrong := explore(s.with(faults(s)))
			t.Logf("%d faults: %d worlds, %d steps, ends %v, %v", faults(s), len(e.seen), e.steps, e.ends,
				time.Since(begin).Round(time.Millisecond))
			if wrong != "" {
				t.Fatal(wrong)
			}
			for _, end := range s.ends {
				if e.ends[end] == 0 {
					t.Errorf("the run never ends as %s", end)
				}
			}
			if len(e.ends) > len(s.ends) {
				t.Errorf("the run ends as %v, expected %v", e.ends, s.ends)
			}
			explored++
			worlds += len(e.seen)
			for kind, n := range e.kinds {
				kinds[kind] += n
			}
		})
	}
	for kind, n := range kinds {
		if n == 0 && explored == len(scenarios) {
			t.Errorf("there is no step %q: what it is there for is not explored", stepKind(kind))
		}
	}
	testkit.Proved(t, worlds, "worlds of the protocol")
}

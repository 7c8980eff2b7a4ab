package replay

import (
	"fmt"
	"strings"
	"time"
)

// The experiments of document 004: ABP is its original Cilk++, and bws-same its BWS, whose thief yields to a busy peer
// that was last on the thief's own CPU, and so has no core: there the peer gets the core, as with the document's
// yield_to. 004/stand-ins compares it with others. adaptive is our default policy, in the same co-runs.
var document004 = []*Experiment{sec2, table1Of004, solo004, fig2Of004, fig3Of004, fig4Of004, fig5Of004, fig6Of004,
	standInsOf004, sec55}

const (
	balanced    = "bws-same"
	policies004 = "abp," + balanced + ",adaptive"
	// controlled004 are those and the control.
	controlled004 = policies004 + "," + abpAgain
	// privateForks tags runs alone with forks as Magpie's own programs have them.
	privateForks = "private-forks"
	document4    = "The document has 32 cores, 32 workers a program and a kernel with two more system calls. Here " +
		"each program has as many workers as there are cores, the kernel is a stock one, and bws-same stands for " +
		"BWS (see 004/stand-ins). Forks are pushed when they are made, as in Cilk++. With the document's setting " +
		"sched_compat_yield (footnote 3) a yield let every " +
		"other thread of the core go first. Kernels since 3.0 do not have it, and their plain sched_yield stands for " +
		"it: it moves the thread back by a slice at most, and the kernel may choose it again at once. So ABP may give " +
		"less of its cores away than the document's."
)

// An app is one of the document's benchmarks.
type app struct {
	name           string // of the workload
	group          int    // 1 scales well, 2 does not
	here, document int    // n
}

var apps = []app{
	{"bfs", 1, 1 << 18, 10000000},
	{"ep", 1, 22, 30},
	{"mm", 1, 512, 1600},
	{"raytracer", 1, 200, 800},
	{"loop", 1, 150, 100000},
	{"cg", 2, 1400, 75000},
	{"clip", 2, 20000, 1000000},
	{"mi", 2, 400, 500},
}

// isLoop reports whether a is the one that is not of work stealing: plain threads.
func (a app) isLoop() bool { return a.name == "loop" }

// args returns the run of a under a policy with that many workers.
func (a app) args(p *Plan, policy string, workers int) string {
	if a.isLoop() {
		return fmt.Sprintf("run loop -engine goroutines -n %d -workers %d", p.size(a.here, a.document), workers)
	}
	return a.forking(p, "pushed", policy, workers)
}

// forking returns the run of a, not LOOP, whose forks are pushed or private.
func (a app) forking(p *Plan, forks, policy string, workers int) string {
	return fmt.Sprintf("run %s -forks %s -policy %s -n %d -workers %d", a.name, forks, policy,
		p.size(a.here, a.document), workers)
}

// A pair of benchmarks that run together.
type pair struct{ a, b app }

func (c pair) String() string { return c.a.name + "+" + c.b.name }

// pairs returns all combinations of two benchmarks.
func pairs() (all []pair) {
	for i, a := range apps {
		for _, b := range apps[i+1:] {
			all = append(all, pair{a, b})
		}
	}
	return all
}

// somePairs are those that the document names, and some more of each kind. Ablations take them at default size.
func somePairs() (some []pair) {
	for _, c := range pairs() {
		switch c.String() {
		case "bfs+ep", "mm+cg", "mm+clip", "ep+mi", "bfs+cg", "raytracer+clip":
			some = append(some, c)
		}
	}
	return some
}

// kind returns the panel of figure 2 in which c is.
func (c pair) kind() string {
	switch {
	case c.a.group != c.b.group:
		return "mixed"
	case c.a.group == 1:
		return "group_1"
	}
	return "group_2"
}

// planSolo plans each benchmark alone.
func planSolo(p *Plan, policies string) {
	for _, a := range apps {
		if a.isLoop() {
			p.alone(2*time.Second, map[string]string{"co": "alone"}, a.args(p, "", p.Cores)+fmt.Sprintf(" -reps %d",
				p.reps(7, 5)))
			continue
		}
		p.alone(3*time.Second, map[string]string{"co": "alone"}, a.args(p, policies, p.Cores)+fmt.Sprintf(" -reps %d",
			p.reps(7, 5)))
	}
}

// planPrivate plans each benchmark alone with private forks, as Magpie's own programs have them.
func planPrivate(p *Plan) {
	for _, a := range apps {
		if !a.isLoop() {
			p.alone(3*time.Second, map[string]string{"co": privateForks},
				a.forking(p, "private", policies004, p.Cores)+fmt.Sprintf(" -reps %d", p.reps(5, 5)))
		}
	}
}

// planSerial plans benchmarks alone on one core, without a scheduler.
func planSerial(p *Plan, some ...app) {
	for _, a := range some {
		p.alone(2*time.Second, map[string]string{"co": "serial"},
			fmt.Sprintf("run %s -engine serial -n %d -reps %d", a.name, p.size(a.here, a.document), p.reps(7, 5)))
	}
}

// planPairs plans co-runs of both programs under the same policy. The policies of a pair take turns.
func planPairs(p *Plan, some []pair, policies string) {
	for _, c := range some {
		p.inTurns(2, func() {
			for policy := range strings.SplitSeq(policies, ",") {
				tags := func(other app) map[string]string {
					return map[string]string{"co": c.String(), "under": policy, "kind": c.kind(), "beside": other.name}
				}
				p.together(time.Second, p.program(tags(c.b), c.a.args(p, policy, p.Cores)),
					p.program(tags(c.a), c.b.args(p, policy, p.Cores)))
			}
		})
	}
}

// planAllPairs plans what figures 2 to 4 share.
func planAllPairs(p *Plan) {
	planSolo(p, controlled004)
	planPairs(p, pairs(), controlled004)
}

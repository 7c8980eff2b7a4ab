package replay

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// A question is which of several policies, deques or queues a kind of program should have. It is answered by what an
// experiment measured.
type question struct {
	program    string // the kind of program
	experiment string // its ID
	rows       string // the conditions of the rows that answer it; onAllCores may be the last
	flags      string // of wsbench: a format for a candidate
	candidates []string
	control    string // the conditions of the baseline that was measured twice, if any
	less       string // of what less is better
	cost       func(d *Data, candidate string) float64
}

// medianOf is the cost that is the geometric mean, over the points of a setting, of the medians of a figure.
func medianOf(figure, by, setting string) func(*Data, string) float64 {
	return func(d *Data, candidate string) float64 {
		return geometricMean(d.where("%s=%s", by, candidate).ofParts(setting, func(part *Data) float64 {
			return part.stat(figure).Median
		}))
	}
}

// ofParts returns f of each part of d by the value of a setting, in the order of these values.
func (d *Data) ofParts(setting string, f func(part *Data) float64) (all []float64) {
	parts := d.split(setting)
	for _, value := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, f(parts[value]))
	}
	return all
}

// geometricMean returns the geometric mean, not a number without any.
func geometricMean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(all)))
}

// overPairs is the cost that is the mean of f over all co-runs.
func overPairs(f func(d *Data, co, policy string) float64) func(*Data, string) float64 {
	return func(d *Data, policy string) float64 {
		runs := d.where("under=%s", policy).coRuns("")
		parts := d.byCoRun(runs)
		return mean(runs, func(co string) float64 { return f(parts[co], co, policy) })
	}
}

const (
	dashPolicy, poolQueue, deques = "-policy %s", "-queue %s", "-deque %s"

	// onAllCores is the condition that there are as many workers as cores.
	onAllCores = "workers=all"
	verbatim   = "engine=magpie-verbatim window= " + onAllCores
)

var (
	policies  = []string{"adaptive", ours, "mbws", "abp"}
	forkers   = []string{"adaptive", balanced, "abp"}
	allDeques = []string{"chaselev", "padws", "bwos", "abp", "adws", "pdqr", "pdqs"}
)

// questions are answered in the order of their experiments. The first candidate is the one to take if none is better.
var questions = []question{
	{"a graph with one task at a time, beside other programs", "000/fig2", "workload=chain " + verbatim, dashPolicy,
		policies, "policy=abp", "CPU time", medianOf("cpu-ns", "policy", "workload")},
	{"a graph of many small tasks", "000/fig2", "workload=btree|dag " + verbatim, dashPolicy, policies, "policy=abp",
		"time", medianOf("ns/op", "policy", "workload")},
	{"a graph of even tasks of some work", "000/fig2", "workload=matmul " + verbatim, dashPolicy, policies,
		"policy=abp", "time", medianOf("ns/op", "policy", "workload")},
	{"several processes of incremental graphs at once", "000/fig5-corun", "", dashPolicy, []string{ours, "mbws", "abp"},
		"policy=abp", "time", func(d *Data, policy string) float64 {
			return 1 / geometricMean(d.ofParts("circuit", func(circuit *Data) float64 {
				return circuit.speedup(policy, circuit.last("processes"))
			}))
		}},
	{"a list of even tasks", "001/f1", "input=dense " + onAllCores, poolQueue,
		[]string{"perthread+spin", "centralised+spin", "perthread+neighbour+one+spin", "perthread+random+half+spin"},
		"queue=centralised+spin", "time", medianOf("ns/op", "queue", "tasks")},
	{"a search that ends with the first hit, with a guess where it is", "001/f5", "", poolQueue,
		[]string{"priority+spin", "centralised+spin"}, "queue=centralised+spin", "time", medianOf("ns/op", "queue", "tasks")},
	{"a list of uneven tasks", "001/summary", "workload=mandelbrot-views view=6", poolQueue,
		[]string{"perthread+random+half+spin", "perthread+neighbour+one+spin", "perthread+spin"}, "queue=perthread+spin",
		"time", medianOf("ns/op", "queue", "tasks")},
	{"a deque from which nothing is stolen", "002/fig2a", "stolen=0", deques, allDeques, control2a,
		"time of a push or pop", medianOf("ns/op", "deque", "stolen")},
	{"a deque from which four of ten are stolen", "002/fig2a", "stolen=40", deques, allDeques, control2a,
		"time of a push or pop", medianOf("ns/op", "deque", "stolen")},
	{"a deque whose thieves must not wait", "002/fig2b", "", deques, allDeques, "deque=padws", "time of a steal",
		medianOf("mean-ns", "deque", "stolen")},
	{"an executor whose forks are all pushed", "002/forks", onAllCores, deques, allDeques, "deque=chaselev",
		"time of a fork", medianOf("ns/task", "deque", "workload")},
	{"an executor that runs graphs, Verbatim", "002/graphs", onAllCores, deques, allDeques, "deque=chaselev",
		"time of a task", medianOf("ns/task", "deque", "workload")},
	{"services that share a machine", "003/services", "under=adaptive", "%s", []string{sharedControl, kernelControl},
		"control=" + kernelControl,
		"mean response", medianOf("ns/op", "control", "service")},
	{"a fork-join program that is alone", "004/solo", "co=alone", dashPolicy, forkers, "policy=abp", "time",
		func(d *Data, policy string) float64 {
			var times []float64
			for _, a := range apps {
				if !a.isLoop() {
					times = append(times, d.solo(a.name, policy))
				}
			}
			return geometricMean(times)
		}},
	{"fork-join programs beside each other, for throughput", "004/fig3", "", dashPolicy, forkers, "under=abp",
		"time over the time alone", overPairs(func(d *Data, co, policy string) float64 {
			return 1 / d.weighted(co, policy, "abp")
		})},
	{"fork-join programs beside each other, for fairness", "004/fig2", "", dashPolicy, forkers, "under=abp", "unfairness",
		overPairs((*Data).unfairness)},
}

// An answer is what to take, and what was measured that says so.
type answer struct {
	Program, Anchor, Take, Because string
}

// nameOf returns a candidate for people.
func nameOf(candidate string) string {
	switch candidate {
	case sharedControl:
		return "-share"
	case kernelControl:
		return "no -share"
	}
	return strings.TrimSuffix(candidate, "+spin")
}

// answers returns the answers that an experiment gives.
func (d *Data) answers(e *Experiment) (all []answer) {
	for _, q := range questions {
		if q.experiment == e.ID {
			all = append(all, answer{Program: q.program, Anchor: fileName(e.ID)}.by(q, d))
		}
	}
	return all
}

// by answers q. The first candidate is taken, unless another costs less by more than the noise. A difference is not
// resolved if resampled repetitions have one in either direction, or if the control is as far from its baseline.
func (a answer) by(q question, d *Data) answer {
	rows, onAll := strings.CutSuffix(q.rows, onAllCores)
	if d = d.where("%s", rows); onAll {
		d = d.where("workers=%s", d.allCores())
	}
	var names []string
	var costs []float64
	for _, c := range q.candidates {
		if x := q.cost(d, c); !math.IsNaN(x) && !math.IsInf(x, 0) && x > 0 {
			names, costs = append(names, c), append(costs, x)
		}
	}
	if len(names) < 2 {
		a.Because = "not measured here"
		return a
	}
	n := len(names)
	low, high := d.intervals95(func(d *Data) (ratios []float64) {
		var costs []float64
		for _, c := range names {
			costs = append(costs, q.cost(d, c))
		}
		for _, x := range costs {
			for _, y := range costs {
				ratios = append(ratios, x/y)
			}
		}
		return ratios
	})
	noise, few := q.noise(d, names), d.repetitions() < fewest
	resolved := func(i, k int) bool {
		x, at := costs[i]/costs[k], i*n+k
		return !few && (low[at] > 1 || high[at] < 1) && math.Abs(x-1) > noise
	}
	take := 0
	for i := range names {
		if costs[i] < costs[take] && resolved(i, take) {
			take = i
		}
	}
	var less, open []string
	for k := range names {
		switch at := take*n + k; {
		case k == take:
		case resolved(take, k):
			less = append(less, fmt.Sprintf("%.2f of %s (%.2f to %.2f)", costs[take]/costs[k], nameOf(names[k]),
				low[at], high[at]))
		default:
			open = append(open, nameOf(names[k]))
		}
	}
	a.Take = fmt.Sprintf(q.flags, nameOf(names[take]))
	var said []string
	if len(less) > 0 {
		said = append(said, q.less+" "+strings.Join(less, ", "))
	}
	if len(open) > 0 {
		said = append(said, "not resolved against "+strings.Join(open, ", "))
	}
	a.Because = strings.Join(said, "; ")
	return a
}

// fewest is the least number of repetitions that resolve a difference.
const fewest = 3

// repetitions returns the least number of repetitions at a point.
func (d *Data) repetitions() int {
	least := math.MaxInt
	for _, g := range bench.GroupBy(d.Rows, nil) {
		least = min(least, len(g.Rows))
	}
	return least
}

// noise returns how far the control is from its baseline, at the points that have one: 0 without any.
func (q question) noise(d *Data, names []string) (most float64) {
	if q.control == "" {
		return 0
	}
	d = d.covered(q.control)
	other := d.exchanged(q.control)
	if other == nil {
		return 0
	}
	for _, c := range names {
		if x := q.cost(other, c)/q.cost(d, c) - 1; !math.IsNaN(x) {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

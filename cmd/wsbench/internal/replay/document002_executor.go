package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The kinds of deque in an executor: those whose owner pays for a thief that may come, and those whose owner does not.
const inExecutor002 = "chaselev,abp,bwos,padws"

var forksOf002 = &Experiment{
	ID: "002/forks", Place: "beyond the document",
	About: "a fork and its join by kind of deque, in an executor whose forks are all pushed",
	Notes: "The document measures deques by themselves. Here tasks of a few instructions fork, so that the owner's push " +
		"and pop are a large part of the time. fib forks into both halves of its tree, thin along a spine. A row is " +
		"the time of one fork and its join; chaselev, Magpie's own, has a locked instruction in each of push and pop, " +
		"as abp does.",
	plan: func(p *Plan) {
		for _, tree := range []string{"fib -n 27" + againFlag + "deque=chaselev", "thin -n 20"} {
			p.run(10*time.Second, "%s -forks pushed -deque %s -workers %s -reps %d", tree, inExecutor002,
				executors002(p), p.reps(9, 30))
		}
	},
	figures: func(d *Data) []*Figure { return d.inExecutor("002-forks", "A fork and its join") },
	printed: []printed{{figures: "002-forks-*", says: "no such experiment"}},
	columns: []string{"workload", "deque", "workers", "n"},
	metrics: []metric{{"ns/task", "ns a fork", 1}, {"steals", "steals", 1}},
	claims: []*Claim{inExecutorClaim("002/forks padws", "workload=fib deque=chaselev",
		"With PadWS a fork and its join take one worker at most two thirds of the time with Chase-Lev, for the owner has "+
			"no locked instruction.", twoThirds)},
}

var graphsOf002 = &Experiment{
	ID: "002/graphs", Place: "beyond the document",
	About: "a task of a graph by kind of deque, Verbatim",
	Notes: "btree is a tree of two successors a task, dag a random graph. Verbatim each ready task but one is pushed. " +
		"Time per task of bwos with two workers is that of one where its block hides all tasks from the thief.",
	plan: func(p *Plan) {
		for _, graph := range []string{"btree -n 4194303" + againFlag + "deque=chaselev", "dag -n 1000000"} {
			p.run(15*time.Second, "%s -verbatim -deque %s -workers %s -reps %d", graph, inExecutor002,
				executors002(p), p.reps(9, 30))
		}
	},
	figures: func(d *Data) []*Figure { return d.inExecutor("002-graphs", "A task of a graph") },
	printed: []printed{{figures: "002-graphs-*", says: "no such experiment"}},
	columns: []string{"workload", "deque", "workers", "n"},
	metrics: []metric{{"ns/task", "ns a task", 1}, {"steals", "steals", 1}},
	claims: []*Claim{inExecutorClaim("002/graphs padws", "workload=btree deque=chaselev",
		"With PadWS a task of a graph takes no longer than with Chase-Lev, on average.", noLonger)},
}

// executors002 returns the numbers of workers of the executors: one, and all cores.
func executors002(p *Plan) string {
	if p.Cores == 1 {
		return "1"
	}
	return "1," + itoa(p.Cores)
}

// inExecutor draws the times of a task by kind of deque, a figure for each workload.
func (d *Data) inExecutor(file, title string) (all []*Figure) {
	for _, workload := range d.values("workload") {
		all = append(all, chart{
			file: file + "-" + workload, title: title + ", " + workload, x: "deque", y: "ns/task", yLabel: "ns",
			series: "workers",
		}.bars(d.where("workload=%s", workload)))
	}
	return all
}

// inExecutorClaim says what the ratios of the times with chaselev and padws have in common.
func inExecutorClaim(id, baseline, says string, holds func(ratios []ratio002) bool) *Claim {
	return &Claim{
		ID: id, Place: "beyond the document",
		needs: anOwner, baseline: baseline, Says: says,
		judge: func(d *Data) Verdict {
			var ratios []ratio002
			var found []string
			for _, workload := range d.values("workload") {
				for _, workers := range d.values("workers") {
					of := func(kind string) float64 {
						return d.median("ns/task", "workload=%s deque=%s workers=%s", workload, kind, workers)
					}
					r := ratio002{workers, of("chaselev") / of("padws")}
					ratios = append(ratios, r)
					found = append(found, fmt.Sprintf("%s, %s worker(s) %s (%s and %s ns)", workload, workers,
						significant(r.ratio), significant(of("chaselev")), significant(of("padws"))))
				}
			}
			return verdict(holds(ratios), "chaselev over padws: %s", strings.Join(found, "; "))
		},
	}
}

// A ratio002 is that of the median times with chaselev and with padws.
type ratio002 struct {
	workers string
	ratio   float64
}

// twoThirds reports whether one worker takes at most two thirds of the time. Of two, each waits for the other at times.
func twoThirds(ratios []ratio002) bool {
	return !slices.ContainsFunc(ratios, func(r ratio002) bool { return r.workers == "1" && r.ratio < 1.5 })
}

// noLonger reports whether the geometric mean of the ratios is at least 1.
func noLonger(ratios []ratio002) bool {
	product := 1.0
	for _, r := range ratios {
		product *= r.ratio
	}
	return product >= 1
}

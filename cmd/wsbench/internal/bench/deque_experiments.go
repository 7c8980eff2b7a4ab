package bench

import (
	"runtime"
	"strconv"
	"time"
)

const ownerExperimentName = "owner"

var ownerExperiment = &DequeExperiment{
	Name:    ownerExperimentName,
	Figure:  "2a",
	About:   "the cost of a push or pop, by the share of the items that one thief steals",
	Size:    "pushes",
	Default: 500000,
	Short:   100000,
	points:  shares([]int{0, 1, 5, 10, 20, 30, 40}, []int{0, 10, 40}, 0),
	bare:    true,
	prepare: sharing(func(_ *dequeRun, s *shared) dequeTrial {
		s.waits = true
		return ownerTrial{s}
	}),
	views: []dequeView{
		{title: "ns per push or pop", metric: "ns/op", column: "stolen", bar: lessIsTaller},
		reachedView,
		{title: "retries per steal", metric: "retries/steal", column: "stolen"},
	},
	notes: []string{
		"Columns: percent of the pushed items that were to be stolen. A flat row is an owner that thieves do not",
		"disturb. The bars show its throughput; the best of the table has the full height. The clock stops while the",
		"owner waits for a thief that is behind. A share that was still not reached is more than an owner of that",
		"kind gives. Both need a core: other work on this machine shows as noise. About 2 ns of each figure are the",
		"loop's own.",
	},
}

var reachedView = dequeView{title: "share that was stolen, in percent", metric: "stolen-percent", column: "stolen"}

type ownerTrial struct{ *shared }

func (t ownerTrial) figures() []Metric {
	ops := t.owner.pushes + t.owner.pops
	return append([]Metric{{"ns/op", t.spent() / float64(max(ops, 1))}, t.reached()}, failures(t.thieves()...)...)
}

var latencyExperiment = &DequeExperiment{
	Name:    "latency",
	Figure:  "2b",
	About:   "how long one thief takes for an item, from its first attempt",
	Size:    "pushes",
	Default: 500000,
	Short:   100000,
	points:  shares([]int{10}, []int{10}, 1),
	prepare: sharing(func(r *dequeRun, s *shared) dequeTrial {
		s.latencies = make([]time.Duration, 0, s.due(r.N))
		return latencyTrial{s}
	}),
	views: []dequeView{
		{
			title:   "ns per successful steal, and how it went",
			metrics: []string{"mean-ns", "p50-ns", "p99-ns", "retries/steal", "stolen-percent"},
		},
		{
			title:   "latency in proportion to that of pdqr",
			metrics: []string{"mean-ns", "p50-ns", "p99-ns"}, base: "pdqr",
		},
	},
	notes: []string{
		"In the paper PadWS takes about 0.32 of the time of pdqr and pdqs. On cores that are shared with other work",
		"the median says more than the mean: a thread that loses its core waits for milliseconds.",
	},
}

type latencyTrial struct{ *shared }

func (t latencyTrial) figures() []Metric {
	sum := time.Duration(0)
	for _, l := range t.latencies {
		sum += l
	}
	// The cost is taken off the figures, not off each time: times that come out negative for the clock's tick would
	// have to count as zero, and raise the mean.
	cost := t.thiefWatch.cost()
	figure := func(name string, ns float64) Metric { return Metric{name, max(0, ns-cost)} }
	return append([]Metric{
		figure("mean-ns", float64(sum.Nanoseconds())/float64(len(t.latencies))),
		figure("p50-ns", quantile(t.latencies, 0.50)),
		figure("p99-ns", quantile(t.latencies, 0.99)),
		t.reached(),
	}, failures(t.thief)...)
}

var thievesExperiment = &DequeExperiment{
	Name:    "thieves",
	Figure:  "2c",
	About:   "how many items all thieves of a queue get in a second, by their number",
	Size:    "steals",
	Default: 300000,
	Short:   60000,
	points: func(s *DequeSession, n int) (all []dequeRun) {
		for _, thieves := range pick(s.Thieves, s.Short, numbersOfThieves(), []int{1, 2}) {
			all = append(all, dequeRun{DequePoint: DequePoint{Thieves: thieves, N: n}})
		}
		return all
	},
	prepare: newBesieged,
	views: []dequeView{
		{title: "million steals per second", metric: "steals/s", scale: 1e-6, column: "thieves", bar: moreIsTaller},
		{title: "retries per steal", metric: "retries/steal", column: "thieves"},
	},
	notes: []string{
		"Columns: number of thieves. The paper's machine has 88 hardware threads, this one " +
			plural(runtime.NumCPU(), "core") + ".",
		"With more threads than cores, owner and thieves take turns. Then rows show how a kind copes with that,",
		"not how it scales.",
	},
}

var retriesExperiment = &DequeExperiment{
	Name:    "retries",
	Figure:  "2d",
	About:   "how often one thief has to try again, by the share that it steals",
	Size:    "pushes",
	Default: 500000,
	Short:   100000,
	points:  shares([]int{1, 5, 10, 20, 30, 40}, []int{10, 40}, 1),
	prepare: sharing(func(_ *dequeRun, s *shared) dequeTrial {
		if s.thief != nil {
			s.passes = &ball{}
		}
		return retriesTrial{s}
	}),
	views: []dequeView{
		{
			title:  "retries per steal: a race lost, or nothing ready yet",
			metric: "retries/steal", column: "stolen", bar: moreIsTaller,
		},
		{title: "items that were stolen without a retry, in percent", metric: "at-once-percent", column: "stolen"},
		{title: "times found empty, per steal", metric: "empties/steal", column: "stolen"},
		{title: "ns that a cache line took from core to core, before each run", metric: "pass-ns", column: "stolen"},
		reachedView,
	},
	notes: []string{
		"Columns: percent of the pushed items that were to be stolen. The owner never waits: if a thief cannot keep",
		"up, the share is smaller. Of each item the first " + strconv.Itoa(MostRetries) +
			" retries count: after more, the owner has lost its core.",
		"Empty may be right, if the thief was quick. With the kinds that hide items it may be wrong.",
	},
}

type retriesTrial struct{ *shared }

func (t retriesTrial) figures() []Metric {
	return append(failures(t.thief), t.reached(), Metric{"pass-ns", t.pass})
}

var treeExperiment = &DequeExperiment{
	Name:   "tree",
	Figure: "1",
	About:  "how long workers take for a tree that begins in one queue, by the size of blocks",
	points: func(s *DequeSession, _ int) (all []dequeRun) {
		for _, t := range pick(s.Trees, s.Short, Trees(), shortTrees()) {
			point := DequePoint{Tree: t.Name, Workers: s.Workers, N: int(t.size())}
			all = append(all, dequeRun{tree: t, DequePoint: point})
		}
		return all
	},
	blocks:  treeBlocks,
	work:    TreeWork,
	prepare: newTraversal,
	views: []dequeView{
		{title: "ns per node", metric: "ns/node", column: "block", table: "tree", bar: lessIsTaller},
		{title: "steals", metric: "steals", column: "block", table: "tree"},
		{title: "time in proportion to that of abp", metric: "ns/node", column: "block", table: "tree", base: "abp"},
	},
	notes: []string{
		"Columns: items in a block; the first is for the kinds without blocks. The bars show speed. In the paper",
		"BWoS is slow on the fat tree with small blocks and on the thin one with large blocks; PadWS is good with",
		"all but the smallest and largest. What a change of block costs shows most with nodes without work: -work 0.",
		"With " + plural(runtime.NumCPU(), "core") + " a tree can be faster than with one by that factor at most.",
	},
}

// TreeWork is the work for a node of a tree. Without it a thief would need the time of many nodes to get one, and the
// owner of a thin tree would be done first, whatever it hides from thieves.
const TreeWork = 300

// treeBlocks returns the powers of two up to a quarter of the capacity, or some of them.
func treeBlocks(s *DequeSession) (sizes []int) {
	step := 2
	if s.Short {
		step = 8
	}
	most := min(max(s.Capacity/4, 1), mostBlock)
	for b := 1; b < most; b *= step {
		sizes = append(sizes, b)
	}
	return append(sizes, most)
}

const mostBlock = 1 << 15 // that the kinds allow

package replay

import (
	"fmt"
	"strings"
	"time"
)

// micro are the four graphs of figures 2 and 3, with their sizes here and in the document.
var micro = []struct {
	name           string
	here, document int
	reps           int // here
	panel          string
	expect         time.Duration // of all repetitions here
}{
	{"chain", 1 << 22, 8388608, 5, "a", 10 * time.Second},
	{"btree", 1<<22 - 1, 8388607, 5, "b", 12 * time.Second},
	{"dag", 400000, 4000000, 5, "c", 9 * time.Second},
	{"matmul", 512, 2048, 15, "d", 10 * time.Second}, // its time varies the most
}

var fig2 = &Experiment{
	ID: "000/fig2", Place: "Section III-A, figures 2 and 3",
	About: "time and CPU utilisation of four graphs, by workers and policy",
	Notes: "Each graph runs in both windows: the run alone, and the whole process with the building of the graph, " +
		"which is what perf stat measured for the document. Threads are pinned as with its taskset. The policies " +
		"take turns in one process. They run verbatim, without the executor's own spans of tasks and polling; " +
		"what ours takes with these is in the rows with engine magpie. In the whole process, building the graph " +
		"and collecting its garbage take most of the time, whatever the policy.",
	plan: func(p *Plan) {
		for _, g := range micro {
			for _, w := range p.workers() {
				n, reps := p.size(g.here, g.document), p.reps(g.reps, 10)
				p.run(g.expect*5/4, "%s -policy %s -verbatim -workers %d -n %d -reps %d -pin", g.name, policies000,
					w, n, reps)
				if g.name == "chain" {
					p.run(g.expect/2, "chain -policy %s -workers %d -n %d -reps %d -pin", ours, w, n, reps)
				}
				p.run(g.expect*5/4, "%s -policy %s -verbatim -workers %d -n %d -reps %d -pin -whole", g.name,
					policies000, w, n, min(reps, p.size(3, 10)))
			}
		}
	},
	figures: func(d *Data) (all []*Figure) {
		for _, g := range micro {
			part := d.where("workload=%s engine=magpie-verbatim window=", g.name)
			all = append(all,
				chart{
					file: "000-fig2" + g.panel, title: "Time, " + g.name, x: "workers", xLabel: "workers",
					y: "ns/op", yLabel: "time, ms", scale: 1e-6, series: "policy",
				}.lines(part),
				chart{
					file: "000-fig3" + g.panel, title: "CPU utilisation, " + g.name, x: "workers", xLabel: "workers",
					y: "cpu-util", yLabel: "busy cores", series: "policy",
				}.lines(part))
		}
		return append(all, chart{
			file: "000-fig3a-whole", title: "CPU utilisation, chain, whole process", x: "workers", xLabel: "workers",
			y: "cpu-util", yLabel: "busy cores", series: "policy",
		}.lines(d.where("workload=chain window=whole")))
	},
	printed: printedFig2,
	columns: []string{"workload", "engine", "policy", "window", "workers", "n"},
	metrics: []metric{wallMS, util, cpuMS, peakMiB, steals, parks},
	claims: []*Claim{
		{
			ID: "000/fig2 chain-time", Place: "III-A, fig. 2 (a)",
			needs: aThief, baseline: "workers=1",
			Says: "The time of the linear chain does not fall when cores are added, under any scheduler.",
			judge: func(d *Data) Verdict {
				chain := d.where("workload=chain engine=magpie-verbatim window=")
				held, found := true, []string{}
				for _, p := range chain.values("policy") {
					part := chain.where("policy=%s", p)
					least, _ := part.extremes("workers", "ns/op", 1)
					one := part.median("ns/op", "workers=1")
					held = held && least >= 0.75*one // with 1, all else of the process shares its core
					found = append(found, fmt.Sprintf("%s: %s alone, at best %s with more", p, ms(one), ms(least)))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
		{
			ID: "000/fig3 chain-ours", Place: "III-A, fig. 3 (a)",
			needs: aSleeper000, baseline: "policy=" + ours,
			Says: "On the chain the CPU utilisation of ours stays around 1.2 from 4 to 40 cores.",
			judge: func(d *Data) Verdict {
				chain := d.where("workload=chain policy=%s", ours)
				run, own := chain.where("engine=magpie-verbatim window="), chain.where("engine=magpie window=")
				whole := chain.where("window=whole")
				least, most := run.extremes("workers", "cpu-util", 1)
				return verdict(most <= 1.5 && most-least <= 0.3,
					"the run alone, by workers: %s; with spans and polling: %s; the whole process: %s",
					run.curve("workers", "cpu-util", 1), own.curve("workers", "cpu-util", 1),
					whole.curve("workers", "cpu-util", 1))
			},
		},
		{
			ID: "000/fig3 chain-mbws", Place: "III-A, fig. 3 (a)",
			needs: aSleeper000, baseline: "policy=mbws",
			Says: "On the chain the CPU utilisation of MBWS stays around 2.0 from 4 to 40 cores.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=chain engine=magpie-verbatim window= policy=mbws")
				least, most := run.extremes("workers", "cpu-util", 1)
				return verdict(least >= 1.6 && most <= 2.4, "the run alone, by workers: %s",
					run.curve("workers", "cpu-util", 1))
			},
		},
		{
			ID: "000/fig3 chain-adaptive", Place: "beyond the document",
			needs: aThief, baseline: "policy=adaptive",
			Says: "On the chain policy adaptive keeps one core busy, whatever the number of workers.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=chain engine=magpie-verbatim window= policy=adaptive")
				_, most := run.extremes("workers", "cpu-util", 0)
				return verdict(most <= 1.2, "by workers: %s", run.curve("workers", "cpu-util", 1))
			},
		},
		{
			ID: "000/fig3 chain-abp", Place: "III-A, fig. 3 (a)",
			needs: aThief, baseline: "policy=abp",
			Says: "On the chain the CPU utilisation of ABP grows with the cores.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=chain engine=magpie-verbatim window= policy=abp")
				one := run.median("cpu-util", "workers=1")
				_, most := run.extremes("workers", "cpu-util", 1)
				return verdict(most >= one+0.8*float64(min(d.Env.Cores, 40)-1), "by workers: %s; here are %d cores",
					run.curve("workers", "cpu-util", 1), d.Env.Cores)
			},
		},
		{
			ID: "000/fig2 tree-time", Place: "III-A, fig. 2 (b)",
			needs: beyondFour, baseline: "workers=1",
			Says:  "On the binary tree the times of all schedulers fall until 4 cores, and are stable from there on.",
			judge: fallsThenStable("btree"),
		},
		{
			ID: "000/fig3 tree-util", Place: "III-A, fig. 3 (b)",
			needs: aSleeper000, baseline: "policy=abp",
			Says: "On the binary tree ABP has the highest CPU utilisation, ours the lowest, and that of ABP grows " +
				"fastest.",
			judge: abpHighest("btree"),
		},
		{
			ID: "000/fig2 dag-time", Place: "III-A, fig. 2 (c)",
			needs: beyondFour, baseline: "workers=1",
			Says: "In the graph traversal the times of all schedulers fall until 4 cores, and are stable from there " +
				"on.",
			judge: fallsThenStable("dag"),
		},
		{
			ID: "000/fig3 dag-util", Place: "III-A, fig. 3 (c)",
			needs: aSleeper000, baseline: "policy=abp",
			Says: "In the graph traversal ABP has the highest CPU utilisation, ours the lowest, and that of ABP " +
				"grows fastest.",
			judge: abpHighest("dag"),
		},
		{
			ID: "000/fig2 matmul", Place: "III-A, figures 2 (d) and 3 (d)",
			needs: aThief, baseline: "policy=abp",
			Says: "For the matrix multiplication the times of all schedulers are very close, and their CPU " +
				"utilisations grow alike.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=matmul engine=magpie-verbatim window= policy=%s|mbws|abp", ours)
				w := run.allCores()
				at := run.where("workers=%s", w)
				least, most := at.extremes("policy", "ns/op", 0)
				leastUtil, mostUtil := at.extremes("policy", "cpu-util", 0)
				return verdict(most <= 1.15*least && mostUtil <= 1.15*leastUtil,
					"with %s workers, times in ms: %s; CPU utilisation: %s", w, at.each("policy", "ns/op", 1e-6),
					at.each("policy", "cpu-util", 1))
			},
		},
	},
}

// fallsThenStable judges whether the time of a graph falls until 4 workers and is stable from there on.
func fallsThenStable(graph string) func(*Data) Verdict {
	return func(d *Data) Verdict {
		held, found := true, []string{}
		run := d.where("workload=%s engine=magpie-verbatim window= policy=%s|mbws|abp", graph, ours)
		for _, p := range run.values("policy") {
			part := run.where("policy=%s", p)
			least, most := part.extremes("workers", "ns/op", 2)
			held = held && least < part.median("ns/op", "workers=1") && most <= 1.3*least
			found = append(found, p+", ms by workers: "+part.curve("workers", "ns/op", 1e-6))
		}
		return verdict(held, "%s", strings.Join(found, "; "))
	}
}

// abpHighest judges whether the CPU utilisation of ABP is the highest and grows fastest, and ours is the lowest.
func abpHighest(graph string) func(*Data) Verdict {
	return func(d *Data) Verdict {
		run := d.where("workload=%s engine=magpie-verbatim window= policy=%s|mbws|abp", graph, ours)
		w := run.allCores()
		most := run.where("workers=%s", w)
		growth := func(p string) float64 {
			return most.median("cpu-util", "policy=%s", p) - run.median("cpu-util", "policy=%s workers=1", p)
		}
		u := func(p string) float64 { return most.median("cpu-util", "policy=%s", p) }
		// Two utilisations that differ by less than this are equal.
		const eps = 0.02
		held := u("abp") > u("mbws")+eps && u("mbws") > u(ours)-eps && u("abp") > u(ours)+eps &&
			growth("abp") > growth("mbws") && growth("abp") > growth(ours)
		return verdict(held, "with %s workers: %s; growth from 1 worker: ABP %s, MBWS %s, ours %s", w,
			most.each("policy", "cpu-util", 1), significant(growth("abp")), significant(growth("mbws")),
			significant(growth(ours)))
	}
}

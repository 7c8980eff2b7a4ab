package replay

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// c6288 is the smallest circuit of Table I, with as many gates as there.
const c6288 = "c6288-mapped"

// corners000 is the work of a task: with 16 corners some 0.4 µs, whatever the circuit. The document's tasks take no
// more: with 40 cores an operation on tv80 takes 1.2 ms, and here it has 2500 tasks on average.
const corners000 = 16

// circuits are those of Table I, with the operations here and in the document.
var circuits = []struct {
	name           string
	here, document int
	expect         time.Duration // of three repetitions
}{
	{c6288, 300, 80800, 2 * time.Second},
	{"tv80", 150, 51000, 1500 * time.Millisecond},
	{"b19", 4, 10100, 5 * time.Second},
}

// fig4Policies are those of figures 4 and 5.
const fig4Policies = ours + ",mbws,abp," + abpAgain

// planTiming plans the runs of the timing analysis, which figures 4 and 5 share.
func planTiming(p *Plan) {
	for _, c := range circuits {
		for _, w := range p.workers() {
			p.run(4*c.expect, "sta -circuit %s -corners %d -n %d -policy %s -verbatim -workers %d -reps %d -pin",
				c.name, corners000, p.size(c.here, c.document), fig4Policies, w, p.reps(5, 5))
		}
	}
}

// byCircuit calls judge with the runs of the analysis of each circuit alone.
func byCircuit(name string, judge func(*Data) Verdict) func(*Data) Verdict {
	return func(d *Data) Verdict { return judge(d.where("circuit=%s", name)) }
}

var table1 = &Experiment{
	ID: "000/table1", Place: "Section III-B, Table I",
	About: "the circuits of the timing analysis",
	Notes: "c6288 is the ISCAS multiplier, mapped to a library with XNOR gates as the document's is: that has 1667 " +
		"cells in OpenTimer's repository. tv80 and b19 have the published numbers of gates, in an order that a seed " +
		"chooses; their nets include the outputs of flip-flops, which are inputs here. The document prints thousands, " +
		"with one digit after the point.",
	plan: func(p *Plan) {
		for _, c := range circuits {
			p.run(time.Second, "sta -circuit %s -n 1 -reps 1 -workers 1", c.name)
		}
	},
	columns: []string{"circuit"},
	metrics: []metric{{"gates", "gates", 1}, {"nets", "nets", 1}},
	claims: []*Claim{{
		ID: "000/table1 sizes", Place: "III-B, Table I",
		needs: counted,
		Says:  "c6288 has 1.7 thousand gates, tv80 5.3 and b19 255.3, and each as many nets.",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, c := range []struct {
				name     string
				hundreds float64
			}{{c6288, 17}, {"tv80", 53}, {"b19", 2553}} {
				gates := d.median("gates", "circuit=%s", c.name)
				held = held && math.Round(gates/100) == c.hundreds
				found = append(found, fmt.Sprintf("%s has %.0f gates and %.0f nets", c.name, gates,
					d.median("nets", "circuit=%s", c.name)))
			}
			return verdict(held, "%s", strings.Join(found, "; "))
		},
	}},
}

var fig4 = &Experiment{
	ID: "000/fig4", Place: "Section III-B, figure 4",
	About: "time and CPU utilisation of incremental timing analysis, by workers and policy",
	Notes: "The analysis is workload sta, which stands for OpenTimer. The policies take turns in one process.",
	plan:  planTiming,
	figures: func(d *Data) (all []*Figure) {
		for _, c := range circuits {
			part := d.where("circuit=%s", c.name)
			all = append(all,
				chart{
					file: "000-fig4-" + c.name + "-time", title: "Time, " + c.name, x: "workers", xLabel: "workers",
					y: "ns/op", yLabel: "time, ms", scale: 1e-6, series: "policy",
				}.lines(part),
				chart{
					file: "000-fig4-" + c.name + "-util", title: "CPU utilisation, " + c.name, x: "workers",
					xLabel: "workers", y: "cpu-util", yLabel: "busy cores", series: "policy",
				}.lines(part))
		}
		return all
	},
	printed: printedFig4,
	columns: []string{"circuit", "policy", "workers", "n"},
	metrics: []metric{wallMS, util, cpuMS, peakMiB, steals, parks},
	claims: []*Claim{
		{
			ID: "000/fig4 c6288-time", Place: "III-B, fig. 4, c6288",
			needs: fromFour, baseline: "circuit=" + c6288 + " workers=1",
			Says: "The smallest circuit's time does not scale with the cores.",
			judge: byCircuit(c6288, func(d *Data) Verdict {
				held, found := true, []string{}
				for _, p := range d.values("policy") {
					part := d.where("policy=%s", p)
					least, _ := part.extremes("workers", "ns/op", 1)
					held = held && least > 0.8*part.median("ns/op", "workers=1")
					found = append(found, p+", ms by workers: "+part.curve("workers", "ns/op", 1e-6))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			}),
		},
		{
			ID: "000/fig4 c6288-util", Place: "III-B, fig. 4, c6288",
			needs: aSleeper000, baseline: "circuit=" + c6288 + " policy=abp",
			Says: "The CPU utilisations of all grow with the cores; ABP has the highest, then MBWS, and ours the " +
				"lowest.",
			judge: byCircuit(c6288, func(d *Data) Verdict {
				most := d.where("workers=%s", d.allCores())
				u := func(p string) float64 { return most.median("cpu-util", "policy=%s", p) }
				const eps = 0.02 // what is closer is equal
				grows := true
				for _, p := range d.values("policy") {
					grows = grows && u(p) > d.median("cpu-util", "policy=%s workers=1", p)+eps
				}
				return verdict(grows && u("abp") > u("mbws")+eps && u("mbws") > u(ours)+eps, "with %s workers: %s",
					d.allCores(), most.each("policy", "cpu-util", 1))
			}),
		},
		{
			ID: "000/fig4 tv80", Place: "III-B, fig. 4, tv80",
			needs: aSleeper000, baseline: "circuit=tv80 policy=abp",
			Says: "ABP is faster than the others except with one core: 52.5 s at 40 cores, ours 60.4 s, MBWS 60.8 s; " +
				"and its CPU utilisation is the highest.",
			judge: byCircuit("tv80", func(d *Data) Verdict {
				most := d.where("workers=%s", d.allCores())
				t := func(p string) float64 { return most.median("ns/op", "policy=%s", p) }
				u := func(p string) float64 { return most.median("cpu-util", "policy=%s", p) }
				return verdict(max(t("abp")/t(ours), t("abp")/t("mbws")) < 0.98 && min(u("abp")/u(ours),
					u("abp")/u("mbws")) > 1.02,
					"with %s workers, times in ms: %s; CPU utilisation: %s", most.last("workers"),
					most.each("policy", "ns/op", 1e-6), most.each("policy", "cpu-util", 1))
			}),
		},
		{
			ID: "000/fig4 b19", Place: "III-B, fig. 4, b19",
			needs: aSleeper000, baseline: "circuit=b19 policy=abp",
			Says: "On the large circuit ours takes 5 % less time than MBWS and 15 % less than ABP at 40 cores, with " +
				"CPU utilisations of 22.7 (ours), 21.7 (MBWS) and 38.5 (ABP).",
			judge: byCircuit("b19", func(d *Data) Verdict {
				most := d.where("workers=%s", d.allCores())
				t := func(p string) float64 { return most.median("ns/op", "policy=%s", p) }
				u := func(p string) float64 { return most.median("cpu-util", "policy=%s", p) }
				return verdict(t(ours) < 0.98*t("mbws") && t(ours) < 0.93*t("abp") && u("abp") > 1.02*u(ours),
					"with %s workers ours takes %s against MBWS and %s against ABP; CPU utilisation: %s",
					most.last("workers"), percent(t(ours), t("mbws")), percent(t(ours), t("abp")),
					most.each("policy", "cpu-util", 1))
			}),
		},
	},
}

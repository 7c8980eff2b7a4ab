package replay

import (
	"fmt"
	"math"
	"time"
)

// complementJobs are jobs A and B of experiment P2, by their first phases.
var complementJobs = []struct{ name, first string }{{"A", "serial"}, {"B", "parallel"}}

var p2OnMachine = &Experiment{
	ID: "003/p2-machine", Place: "Section 7.2.2, experiment P2, figure 7-9",
	About: "two jobs of a serial tree and a parallel one, in opposite orders, on this machine",
	Notes: machine003 + "The phases are the document's knary(11,4,4) and knary(11,5,0), with a level less at default " +
		"size. With static partitions (Cilk) a job has half of the processors. With sharing it has as many workers as " +
		"there are processors, and P̄ is its mean usage over all cycles. Without a control (kernel) it has as many " +
		"workers, too.",
	plan: func(p *Plan) {
		together := Rounds{Arrivals: []float64{0, 0}}
		plan := func(control, flags string, workers int) []Program {
			var all []Program
			for _, j := range complementJobs {
				tags := map[string]string{"control": control, "job": j.name}
				all = append(all, p.program(tags, fmt.Sprintf("run complement -forks pushed -first %s -n %d -workers %d%s",
					j.first, p.size(10, 11), workers, flags)))
			}
			p.rounds(5*time.Second, together, p.reps(5, 5), all...)
			return all
		}
		half := max(1, p.Cores/2)
		static := plan(staticControl, "", half)
		plan(kernelControl, "", p.Cores)
		plan(sharedControl, " -share", p.Cores)
		// As many repetitions would take a third more.
		p.rounds(2*time.Second, together, max(1, p.reps(5, 5)/2), allAgain(static)...)
	},
	figures: func(d *Data) []*Figure {
		c := chart{
			file: "003-p2-machine", title: "Serial and parallel phases", x: "control", y: "response-ns", scale: 1e-6,
			yLabel: "response, ms", series: "job",
		}
		return []*Figure{c.bars(d)}
	},
	printed: []printed{{figures: "003-p2-machine", says: "22.12 s with sharing and 31.33 s without on 16 processors"}},
	columns: []string{"control", "job", "workers", "n"},
	metrics: []metric{{"response-ns", "response time, ms", 1e-6}, {"round-ns", "both jobs, ms", 1e-6},
		{"share-mean-usage", "P̄", 1}, wallMS, util},
	claims: []*Claim{
		{
			ID: "003/p2-machine response", Place: "7.2.2, fig. 7-9",
			needs: complementary, baseline: "control=" + staticControl,
			Says: "The mean response is 22.12 s, and 31.33 s with static partitions: 29 % less.",
			judge: func(d *Data) Verdict {
				of := func(control string) float64 { return d.where("control=%s", control).response() }
				gain := 1 - of(sharedControl)/of(staticControl)
				// What an ideal machine gains with as many processors: 20 % with 4, a third with very many.
				p := float64(d.Env.Cores)
				ideal := (p - 2) / (3*p - 2)
				return verdict(gain >= ideal/2, "%s less; an ideal machine with %d processors, whose phases take as long as "+
					"each other, gains %s; without a control %s", pct(gain), d.Env.Cores, pct(ideal),
					pct(1-of(kernelControl)/of(staticControl)))
			},
		},
		{
			ID: "003/p2-machine usage", Place: "7.2.2, fig. 7-9",
			needs: complementary, baseline: "control=" + sharedControl,
			Says: "Jobs A and B use 8.275 and 9.756 of 16 processors on average, more than the 8 of static partitions, and " +
				"together more than there are.",
			judge: func(d *Data) Verdict {
				of := func(job string) float64 { return d.median("share-mean-usage", "control=%s job=%s", sharedControl, job) }
				a, b, p := of("A"), of("B"), float64(d.Env.Cores)
				return verdict(math.Min(a, b) > p/2 && a+b > p, "%.2f and %.2f of %g", a, b, p)
			},
		},
	},
}

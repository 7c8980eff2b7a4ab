package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/virtual"
)

// lagGrains are the steps of a task of the parallel phase. Workers that are to sleep end their tasks first.
var lagGrains = []int{1, 10, 50, 100, 300}

// knaryTrees is the row of the document's own phases.
const knaryTrees = "trees"

var p2LagOf003 = &Experiment{
	ID: "003/p2-lag", Place: "Section 7.2.2, figure 7-9, and section 6.1",
	About: "experiment P2 on 16 virtual processors by the length of tasks, which is the lag of process control",
	Notes: virtual003 + "A cycle is 50 steps. The phases are those of 003/p2, with tasks of 1 to 300 steps in the " +
		"parallel one, and knary(10,4,4) and knary(10,5,0), the document's trees with a level less. While a worker that " +
		"is to sleep ends its task, another job may have its processor already: more workers are awake than there are " +
		"processors.",
	plan: func(p *Plan) {
		p.compute(30*computing, "003-p2-lag", func() (rows []bench.Row) {
			const processors = 16
			run := func(tasks string, jobs []virtual.Job) {
				static, shared := staticOn(processors).Run(jobs), sharedOn(processors).Run(jobs)
				a, b := shared.Jobs[0].Usage, shared.Jobs[1].Usage
				rows = append(rows, newRow([]bench.Metric{
					{Name: "usage-a", Value: a}, {Name: "usage-b", Value: b}, {Name: "usage", Value: a + b},
					{Name: "response", Value: shared.MeanResponse() / static.MeanResponse()},
				}, "tasks", tasks, "control", shared003))
			}
			for _, grain := range lagGrains {
				jobs := complements003(processors, 6*length003/5) // which all grains divide
				for _, j := range jobs {
					for i, phase := range j.Phases {
						if phase.Width == 0 {
							j.Phases[i].Tasks, j.Phases[i].Grain = phase.Tasks/grain, grain
						}
					}
				}
				run(itoa(grain), jobs)
			}
			serial, parallel := virtual.Knary(10, 4, 4), virtual.Knary(10, 5, 0)
			run(knaryTrees, []virtual.Job{
				{Phases: slices.Concat(serial, parallel)}, {Phases: slices.Concat(parallel, serial)},
			})
			return rows
		})
	},
	figures: func(d *Data) []*Figure {
		f := chart{
			file: "003-p2-lag", title: "Mean usages of A and B together, 16 virtual processors",
			xLabel: "steps of a task (a cycle: 50)", yLabel: "workers awake", logX: true,
		}.frame("lines")
		f.X.Log = true
		s := Series{Name: shared003}
		for _, grain := range lagGrains {
			s.Points = append(s.Points, Point{X: float64(grain), Y: d.median("usage", "tasks=%d", grain)})
		}
		f.add(s)
		return []*Figure{f}
	},
	printed: []printed{{figures: "003-p2-lag", says: "18.0 with the trees of knary, 8.275 of A and 9.756 of B"}},
	columns: []string{"tasks", "control"},
	metrics: []metric{{"usage-a", "P̄ of A", 1}, {"usage-b", "P̄ of B", 1}, {"usage", "together", 1},
		{"response", "mean response, times that of static partitions", 1}},
	claims: []*Claim{{
		ID: "003/p2-lag usage", Place: "7.2.2, fig. 7-9",
		needs: calculated,
		Says:  "The mean usages of A and B, 8.275 and 9.756, are more together than the 16 processors.",
		judge: func(d *Data) Verdict {
			var found []string
			most := 0.0
			for _, tasks := range d.values("tasks") {
				x := d.median("usage", "tasks=%s", tasks)
				if tasks == knaryTrees {
					found = append(found, fmt.Sprintf("%.1f with the trees", x))
					continue
				}
				most = max(most, x)
				found = append(found, fmt.Sprintf("%.1f with tasks of %s steps", x, tasks))
			}
			return verdict(most > 16, "on virtual processors, where a cycle is 50 steps: %s", strings.Join(found, ", "))
		},
	}},
}

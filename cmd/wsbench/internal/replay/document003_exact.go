package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/internal/allot"
)

// theoryProcessors divide by two and by three, so that the halves and thirds of the theory are whole. theoryLength
// divides by them, too.
const (
	theoryProcessors = 12
	theoryLength     = 24
)

var fig21Of003 = &Experiment{
	ID: "003/fig2-1", Place: "Section 2.1, figure 2-1",
	About: "theory: three jobs of half the machine, and two jobs of which one is serial while the other is parallel",
	Notes: ideal003 + " Scenario (b) has phases that take as long as each other on all processors but one.",
	plan: func(p *Plan) {
		p.compute(computing, "003-fig2-1", func() (rows []bench.Row) {
			for _, c := range []control003{controls003[0], controls003[2]} {
				m := c.machine(theoryProcessors)
				rows = append(rows,
					newRow(performance(m.Run(arrival003(theoryProcessors, theoryLength, 0)), theoryLength),
						"scenario", "arrival", "control", c.name),
					newRow(performance(m.Run(complements003(theoryProcessors, theoryLength)), theoryLength),
						"scenario", "complements", "control", c.name))
			}
			return rows
		})
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-fig2-1", title: "Throughput in the scenarios of Fig 2-1, theory", x: "scenario",
			y: "throughput", yLabel: "jobs in T", series: "control",
		}.bars(d)}
	},
	printed: printedFig21,
	columns: []string{"scenario", "control"},
	metrics: performanceMetrics,
	claims: []*Claim{
		dynamicClaim("arrival", "When a third job arrives, dynamic allocation has the higher throughput."),
		dynamicClaim("complements", "When two jobs' parallelism is complementary, dynamic allocation has the higher "+
			"throughput."),
	},
}

func dynamicClaim(scenario, says string) *Claim {
	return &Claim{
		ID: "003/fig2-1 " + scenario, Place: "2.1, fig. 2-1", Says: says,
		needs: calculated,
		judge: func(d *Data) Verdict {
			throughput := d.overStatic("throughput", known003, "scenario=%s", scenario)
			response := d.overStatic("response", known003, "scenario=%s", scenario)
			return verdict(throughput > 1, "%s the throughput, %s the mean response", significant(throughput)+"×",
				significant(response)+"×")
		},
	}
}

// An allotmentEvent is a row of Fig 5-2. Jobs are numbered from 1, as there.
type allotmentEvent struct {
	job, desire int // desire 0: the job completes
	printed     []int
}

// dpTrace is Fig 5-2, on 16 processors.
var dpTrace = []allotmentEvent{
	{1, 4, []int{4}},
	{2, 16, []int{4, 12}},
	{3, 2, []int{4, 10, 2}},
	{3, 16, []int{4, 6, 6}},
	{4, 8, []int{4, 4, 4, 4}},
	{5, 8, []int{3, 3, 3, 3, 4}},
	{6, 8, []int{2, 2, 3, 3, 3, 3}},
	{2, 0, []int{3, 4, 3, 3, 3}},
	{3, 0, []int{4, 4, 4, 4}},
	{6, 0, []int{4, 6, 6}},
}

// The forms of allotment.
const (
	incrementalForm = "DP"
	waterForm       = "water-filling"
)

// traceRows returns a row for each job after each event, for both forms of allotment.
func traceRows() (rows []bench.Row) {
	const processors = 16
	dp, seats := allot.NewIncremental(processors), make(map[int]int)
	desires := make(map[int]int)
	for i, e := range dpTrace {
		seat, present := seats[e.job]
		desires[e.job] = e.desire
		switch {
		case !present:
			seats[e.job] = dp.Join(e.desire)
		case e.desire > 0:
			dp.SetDesire(seat, e.desire)
		default:
			dp.Leave(seat)
		}
		var jobs []allot.Job
		for job := 1; job <= len(seats); job++ {
			if desires[job] > 0 {
				jobs = append(jobs, allot.Job{Key: uint64(job), Desire: desires[job]})
			}
		}
		filled := allot.WaterFill(processors, jobs)
		for k, j := range jobs {
			for _, form := range []struct {
				name      string
				allotment int
			}{{incrementalForm, dp.Allotment(seats[int(j.Key)])}, {waterForm, filled[k]}} {
				rows = append(rows, newRow([]bench.Metric{
					{Name: "desire", Value: float64(j.Desire)}, {Name: "allotment", Value: float64(form.allotment)},
				}, "form", form.name, "event", itoa(i+1), "job", itoa(int(j.Key))))
			}
		}
	}
	return rows
}

// after returns the desires and allotments after an event, by job.
func (d *Data) after(form string, event int) (desires, allotments []int) {
	for _, r := range d.where("form=%s event=%d", form, event).Rows {
		desire, _ := r.Figure("desire")
		allotment, _ := r.Figure("allotment")
		desires, allotments = append(desires, int(desire)), append(allotments, int(allotment))
	}
	return desires, allotments
}

var fig52Of003 = &Experiment{
	ID: "003/fig5-2", Place: "Section 5.2, figure 5-2",
	About: "allotments after ten events on 16 processors, by algorithm DP and by water-filling",
	Notes: "DP moves processors one at a time from the allotments before. Executors use water-filling, which follows " +
		"from the desires alone.",
	plan: func(p *Plan) { p.compute(computing, "003-fig5-2", traceRows) },
	figures: func(d *Data) (all []*Figure) {
		for _, form := range []string{incrementalForm, waterForm} {
			all = append(all, chart{
				file: "003-fig5-2-" + form, title: "Allotments, " + form, x: "event", y: "allotment", yLabel: "processors",
				series: "job", label: func(job string) string { return "job " + job },
			}.bars(d.where("form=%s", form)))
		}
		return all
	},
	printed: printedFig52,
	columns: []string{"form", "event", "job"},
	metrics: []metric{{"desire", "desire", 1}, {"allotment", "allotment", 1}},
	claims: []*Claim{
		{
			ID: "003/fig5-2 trace", Place: "5.2, fig. 5-2",
			needs: calculated,
			Says: "After the ten events the allotments are {4}, {4,12}, {4,10,2}, {4,6,6}, {4,4,4,4}, {3,3,3,3,4}, " +
				"{2,2,3,3,3,3}, {3,4,3,3,3}, {4,4,4,4}, {4,6,6}.",
			judge: func(d *Data) Verdict {
				differ := make(map[string][]string)
				for i, e := range dpTrace {
					for _, form := range []string{incrementalForm, waterForm} {
						if _, got := d.after(form, i+1); fmt.Sprint(got) != fmt.Sprint(e.printed) {
							differ[form] = append(differ[form], fmt.Sprintf("%d: %v", i+1, got))
						}
					}
				}
				return verdict(len(differ[incrementalForm]) == 0,
					"DP: %d of %d rows are the document's; water-filling: %d, and in the others the jobs that lack most "+
						"have the odd processors, not the one that has just arrived (rows %s)",
					len(dpTrace)-len(differ[incrementalForm]), len(dpTrace), len(dpTrace)-len(differ[waterForm]),
					strings.Join(differ[waterForm], ", "))
			},
		},
		{
			ID: "003/fig5-2 conditions", Place: "5.1 and 5.2",
			needs: calculated,
			Says:  "The allotments are fair, efficient and conservative after each event.",
			judge: func(d *Data) Verdict {
				held, cases := 0, 0
				for i := range dpTrace {
					for _, form := range []string{incrementalForm, waterForm} {
						desires, allotments := d.after(form, i+1)
						cases++
						if len(allotments) > 0 && allot.Fair(desires, allotments) &&
							allot.Efficient(16, desires, allotments) && allot.Conservative(desires, allotments) {
							held++
						}
					}
				}
				return verdict(held == cases, "all three hold after %d of %d events, of both forms", held, cases)
			},
		},
	},
}

// desireTrace is Fig 6-2: 16 processors, η = 0.5, and another job that desires more than 8 all the time.
var desireTrace = []struct {
	pure, usage       int // of 100 attempts; workers awake
	desire, allotment int // as printed
}{
	{15, 4, 8, 8}, {45, 8, 16, 8}, {70, 8, 5, 5}, {55, 5, 5, 5}, {50, 5, 10, 8}, {95, 8, 1, 1},
}

func desireRows() (rows []bench.Row) {
	rule := allot.WSAP{Efficiency: 500}
	dp := allot.NewIncremental(16)
	_, job := dp.Join(16), dp.Join(desireTrace[0].usage)
	desire := 1
	for i, e := range desireTrace {
		desire = rule.Next(desire, allot.Count{Attempts: 100, Pure: uint64(e.pure), Usage: e.usage})
		dp.SetDesire(job, desire)
		filled := allot.WaterFill(16, []allot.Job{{Key: 0, Desire: 16}, {Key: 1, Desire: desire}})
		rows = append(rows, newRow([]bench.Metric{
			{Name: "pus", Value: float64(e.pure) / 100}, {Name: "usage", Value: float64(e.usage)},
			{Name: "desire", Value: float64(desire)}, {Name: "allotment", Value: float64(dp.Allotment(job))},
			{Name: "filled", Value: float64(filled[1])},
		}, "interval", itoa(i+1)))
	}
	return rows
}

var fig62Of003 = &Experiment{
	ID: "003/fig6-2", Place: "Section 6.1, figure 6-2",
	About: "desires and allotments of a job over six intervals, by the share of purely unsuccessful steal attempts",
	Notes: "The shares and usages are the document's; the other job desires more than 8 of 16 processors. η is 0.5.",
	plan:  func(p *Plan) { p.compute(computing, "003-fig6-2", desireRows) },
	figures: func(d *Data) []*Figure {
		f := chart{file: "003-fig6-2", title: "A job's desire", xLabel: "interval", yLabel: "processors"}.frame("lines")
		f.Y.Zero = true
		for _, figure := range []string{"usage", "desire", "allotment"} {
			s := Series{Name: figure}
			for _, interval := range d.values("interval") {
				at, _ := strconv.ParseFloat(interval, 64)
				s.Points = append(s.Points, Point{X: at, Y: d.median(figure, "interval=%s", interval)})
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	printed: printedFig62,
	columns: []string{"interval"},
	metrics: []metric{{"pus", "purely unsuccessful", 1}, {"usage", "usage", 1}, {"desire", "desire", 1},
		{"allotment", "allotment by DP", 1}, {"filled", "allotment by water-filling", 1}},
	claims: []*Claim{{
		ID: "003/fig6-2 trace", Place: "6.1, fig. 6-2",
		needs: calculated,
		Says:  "The desires are 8, 16, 5, 5, 10, 1, and the allotments 8, 8, 5, 5, 8, 1.",
		judge: func(d *Data) Verdict {
			equal, desires, allotments := 0, []string{}, []string{}
			for i, e := range desireTrace {
				at := d.where("interval=%d", i+1)
				desire, allotment := at.stat("desire").Median, at.stat("allotment").Median
				if desire == float64(e.desire) && allotment == float64(e.allotment) &&
					at.stat("filled").Median == float64(e.allotment) {
					equal++
				}
				desires, allotments = append(desires, significant(desire)), append(allotments, significant(allotment))
			}
			return verdict(equal == len(desireTrace), "%d of %d rows are the document's, with DP and with water-filling: "+
				"desires %s; allotments %s", equal, len(desireTrace), strings.Join(desires, ", "),
				strings.Join(allotments, ", "))
		},
	}},
}

var fig77Of003 = &Experiment{
	ID: "003/fig7-7", Place: "Section 7.2.1, figure 7-7",
	About: "theory: response, throughput and power of three jobs of half the machine, the third at 0 or at T/2",
	Notes: ideal003 + " T is the time of a job on half of the processors; half is T/2.",
	plan: func(p *Plan) {
		p.compute(computing, "003-fig7-7", func() (rows []bench.Row) {
			for _, c := range []control003{controls003[0], controls003[2]} {
				for _, a := range arrivals {
					jobs := arrival003(theoryProcessors, theoryLength, a.at(theoryLength))
					rows = append(rows, newRow(performance(c.machine(theoryProcessors).Run(jobs), theoryLength),
						"t", a.name, "control", c.name))
				}
			}
			return rows
		})
	},
	figures: func(d *Data) (all []*Figure) {
		for _, m := range performanceMetrics {
			all = append(all, chart{
				file: "003-fig7-7-" + m.figure, title: "Theory of scenario (a): " + m.figure, x: "t", xLabel: "job C arrives",
				y: m.figure, yLabel: m.heading, series: "control",
			}.bars(d))
		}
		return all
	},
	printed: printedFig77,
	columns: []string{"t", "control"},
	metrics: performanceMetrics,
	claims: []*Claim{
		theoryClaim("start", "0", [3]float64{4. / 3, 3. / 2, 9. / 8}, [3]float64{3. / 2, 2, 4. / 3},
			"For t = 0: response 4T/3 and 3T/2 (1.125), throughput 3/2T and 2/T (1.333), power 9/8T² and 4/3T² (1.185)."),
		theoryClaim("half", "half", [3]float64{7. / 6, 3. / 2, 9. / 7}, [3]float64{5. / 4, 12. / 7, 48. / 35},
			"For t = T/2: response 7T/6 and 5T/4 (1.071), throughput 3/2T and 12/7T (1.143), power 9/7T² and 48/35T² "+
				"(1.067)."),
	},
}

// theoryClaim holds the three figures of Fig 7-7 against those printed, which the machine gives but for rounding.
func theoryClaim(name, t string, static, shared [3]float64, says string) *Claim {
	return &Claim{
		ID: "003/fig7-7 " + name, Place: "7.2.1, fig. 7-7", Says: says,
		needs: calculated,
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for i, m := range performanceMetrics {
				for control, want := range map[string]float64{static003: static[i], known003: shared[i]} {
					got := d.median(m.figure, "t=%s control=%s", t, control)
					held = held && math.Abs(got-want) < 1e-9
				}
				found = append(found, fmt.Sprintf("%s ratio %.3f", m.figure, d.overStatic(m.figure, known003, "t=%s", t)))
			}
			return verdict(held, "%s", strings.Join(found, ", "))
		},
	}
}

package replay

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A scenario003 is jobs that arrive, with static partitions and with sharing.
type scenario003 struct {
	name     string
	arrivals []float64 // in units of the time of a job on half of the processors
	limited  bool      // a job that shares has a limit of half of the processors
}

// scenarios003 are the two of experiment P1, and one with no more jobs than two processors have.
var scenarios003 = []scenario003{
	{"t=0", []float64{0, 0, 0}, true},
	{"t=T/2", []float64{0, 0, 0.5}, true},
	{"pair", []float64{0, 0.25}, false},
}

const (
	staticControl = "static" // each job has half of the processors from its begin to its end
	sharedControl = "shared"
	kernelControl = "kernel" // each job has as many workers as there are processors
)

var p1OnMachine = &Experiment{
	ID: "003/p1-machine", Place: "Section 7.2.1, experiment P1, figure 7-8",
	About: "three jobs that can use half of the processors each, on this machine; and two jobs without a limit",
	Notes: machine003 + "Each job has half as many workers, and two of them run at the same time with static " +
		"partitions (Cilk). In scenario pair, the second of two jobs arrives when the first has had half of the " +
		"processors for a quarter of its time; with sharing, a job has as many workers as there are processors. With " +
		"two processors, three jobs are more than processors: each has one worker, and the kernel divides. Response " +
		"times include what wsbench does before and after a run.",
	plan: func(p *Plan) {
		half := max(1, p.Cores/2)
		fib := fmt.Sprintf("run fib -forks pushed -n %d", p.size(35, 38))
		programs := func(s scenario003, control, flags string) (all []Program) {
			for i := range s.arrivals {
				all = append(all, p.program(map[string]string{
					"scenario": s.name, "control": control, "job": string(rune('A' + i)),
				}, fib+flags))
			}
			return all
		}
		plan := func(s scenario003, control, flags string, r Rounds) {
			p.rounds(8*time.Second, r, p.reps(5, 5), programs(s, control, flags)...)
		}
		all := func(s scenario003) {
			static, r := fmt.Sprintf(" -workers %d", half), Rounds{Slots: 2, Arrivals: s.arrivals}
			plan(s, staticControl, static, r)
			workers, arrivals := half, s.arrivals
			if !s.limited {
				// Arrivals are in units of the time of a job alone, which has all processors.
				workers, arrivals = p.Cores, make([]float64, len(s.arrivals))
				for i, at := range s.arrivals {
					arrivals[i] = at * float64(p.Cores) / float64(half)
				}
				plan(s, kernelControl, fmt.Sprintf(" -workers %d", workers), Rounds{Arrivals: arrivals})
			}
			plan(s, sharedControl, fmt.Sprintf(" -workers %d -share -share-maximum %d", workers, workers),
				Rounds{Arrivals: arrivals})
			if !s.limited {
				p.rounds(8*time.Second, r, p.reps(5, 5), allAgain(programs(s, staticControl, static))...)
			}
		}
		for _, s := range scenarios003 {
			if s.limited {
				all(s)
			} else {
				p.inTurns(2, func() { all(s) })
			}
		}
	},
	figures: func(d *Data) (all []*Figure) {
		for _, c := range []struct {
			name, label string
			of          func(*Data) float64
		}{
			{"response", "mean response time, s", (*Data).response},
			{"throughput", "jobs a second", (*Data).throughput},
			{"power", "jobs/s²", (*Data).power},
		} {
			f := chart{file: "003-p1-machine-" + c.name, title: "Arrivals: " + c.name, yLabel: c.label}.frame("bars")
			f.Y.Zero = true
			for _, control := range []string{staticControl, sharedControl, kernelControl} {
				s := Series{Name: control}
				f.X.Categories = nil
				for i, scenario := range scenarios003 {
					f.X.Categories = append(f.X.Categories, scenario.name)
					s.at(i, c.of(d.scenario(scenario.name, control)))
				}
				f.add(s)
			}
			all = append(all, f)
		}
		return all
	},
	printed: printedP1OnMachine,
	columns: []string{"scenario", "control", "job", "workers", "n"},
	metrics: []metric{{"response-ns", "response time, ms", 1e-6}, {"round-ns", "all jobs, ms", 1e-6}, wallMS, util},
	claims: []*Claim{
		p1Claim("throughput", "The throughput is 1.37 times that of static partitions (theory: 1.333), and 1.08 times "+
			"with t = T/2 (1.143).", (*Data).throughput, 1.2, 1.05),
		p1Claim("power", "The power is 1.24 times that of static partitions (theory: 1.185), and 1.01 times with "+
			"t = T/2 (1.067).", (*Data).power, 1, 1),
		{
			ID: "003/p1-machine pair", Place: "2.1 and 7.2.1",
			needs: twoJobs, baseline: "control=" + staticControl,
			Says: "A job that arrives late does not wait, and until then the first uses all processors: with two jobs, " +
				"the second at T/4, the throughput is 1.25 times that of static partitions in theory.",
			judge: func(d *Data) Verdict {
				of := func(control string) *Data { return d.scenario("pair", control) }
				x := of(sharedControl).throughput() / of(staticControl).throughput()
				r := of(sharedControl).response() / of(staticControl).response()
				return verdict(x >= 1.1 && r < 1, "throughput %s×, mean response %s×; without sharing and with as many "+
					"workers %s× and %s×", significant(x), significant(r),
					significant(of(kernelControl).throughput()/of(staticControl).throughput()),
					significant(of(kernelControl).response()/of(staticControl).response()))
			},
		},
	},
}

// p1Claim judges a ratio of sharing to static partitions, which must be at least start with t = 0, and half with t =
// T/2.
func p1Claim(name, says string, of func(*Data) float64, start, half float64) *Claim {
	return &Claim{
		ID: "003/p1-machine " + name, Place: "7.2.1, figs. 7-7 and 7-8", Says: says,
		needs: halfOfFour, baseline: "control=" + staticControl,
		judge: func(d *Data) Verdict {
			at := func(scenario string) (x, response float64) {
				static, shared := d.scenario(scenario, staticControl), d.scenario(scenario, sharedControl)
				return of(shared) / of(static), shared.response() / static.response()
			}
			a, responseA := at("t=0")
			b, responseB := at("t=T/2")
			return verdict(a >= start && b >= half, "%s× with t = 0 (mean response %s×), %s× with t = T/2 (%s×)",
				significant(a), significant(responseA), significant(b), significant(responseB))
		},
	}
}

// scenario returns the runs of a scenario under one control.
func (d *Data) scenario(name, control string) *Data {
	return d.where("scenario=%s control=%s", name, control)
}

// response returns the mean response time in seconds.
func (d *Data) response() float64 { return d.stat("response-ns").Mean / 1e9 }

// throughput returns the jobs a second.
func (d *Data) throughput() float64 {
	return float64(len(d.values("job"))) / (d.stat("round-ns").Mean / 1e9)
}

// power is the throughput divided by the mean response time.
func (d *Data) power() float64 { return d.throughput() / d.response() }

// A service003 is a program that two processes repeat at the same time.
type service003 struct {
	name, args string
	reps       int
}

var servicePair = []service003{
	{"fine", "run fib -forks pushed -n 31", 40},
	{"coarse", "run loopy -forks pushed -n 64 -iterations 1000000", 40},
}

// policiesOfServices are those under which the services run. The first is the default.
var policiesOfServices = []string{"adaptive", "abp"}

var services003 = &Experiment{
	ID: "003/services", Place: "Chapters 1 and 2",
	About: "two processes with as many workers as processors each, with sharing and without",
	Notes: "Not an experiment of the document, but its motive: programs that each believe in having all processors. " +
		"Both processes repeat the same work without a pause, fine (fib) or coarse (loopy), on one executor each. " +
		"Switches are those of both processes, a repetition each.",
	plan: func(p *Plan) {
		for _, s := range servicePair {
			p.inTurns(4, func() {
				for _, policy := range policiesOfServices {
					planServices(p, s, policy)
				}
			})
		}
	},
	figures: func(d *Data) (all []*Figure) {
		for _, policy := range policiesOfServices {
			part := d.where("under=%s", policy)
			c := chart{
				file: "003-services-" + policy, title: "Two services, " + policy, x: "service", y: "ns/op", scale: 1e-6,
				yLabel: "response, ms", series: "control",
			}
			response := c.bars(part)
			c.file, c.y, c.scale, c.yLabel = c.file+"-cpu", "cpu-ns", 1e-6, "CPU time, ms"
			all = append(all, response, c.bars(part))
		}
		return all
	},
	printed: printedServices,
	columns: []string{"service", "under", "control", "process", "workers", "n"},
	metrics: []metric{
		wallMS, cpuMS, util, {"vctx", "voluntary switches", 1}, {"ictx", "involuntary switches", 1},
		{"switches", "recorded switches", 1}, {"external-switches", "to the other program", 1}, steals,
	},
	claims: []*Claim{
		servicesClaim("response", "The mean response of two such services is better with sharing.",
			"both services can use all processors all the time, so that in an ideal schedule each has half of them and "+
				"the same response, with sharing or without",
			func(d *Data) float64 { return d.stat("ns/op").Mean }),
		servicesClaim("switches", "There are fewer switches of processors with sharing.", "",
			func(d *Data) float64 {
				sum := 0.0
				for _, process := range []string{"1", "2"} {
					part := d.where("process=%s", process)
					if part.recorded() {
						sum += part.stat("switches").Mean
					} else {
						sum += part.stat("vctx").Mean + part.stat("ictx").Mean
					}
				}
				return sum
			}),
	},
}

// planServices plans two services: left to the kernel, sharing, and left to the kernel again as the control.
func planServices(p *Plan, s service003, policy string) {
	co := func(control, flag string) *Measurement {
		m := &Measurement{Reps: p.reps(s.reps, 5*s.reps), Expect: 2 * time.Second}
		for i := range 2 {
			m.Programs = append(m.Programs, p.program(map[string]string{
				"service": s.name, "under": policy, "control": control, "process": fmt.Sprint(i + 1),
			}, fmt.Sprintf("%s -keep -policy %s -workers %d%s", s.args, policy, p.Cores, flag)))
		}
		return m
	}
	kernel := co(kernelControl, "")
	second := *kernel
	second.Programs = allAgain(kernel.Programs)
	p.add(kernel)
	p.add(co(sharedControl, " -share"))
	p.add(&second)
}

// servicesClaim judges whether a figure is less with sharing than without, under the default policy.
func servicesClaim(name, says, refuted string, of func(*Data) float64) *Claim {
	return &Claim{
		ID: "003/services " + name, Place: "1 and 2", Says: says,
		needs: twoJobs, refuted: refuted, baseline: "control=" + kernelControl,
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for i, policy := range policiesOfServices {
				for _, s := range servicePair {
					part := d.where("service=%s under=%s", s.name, policy)
					x := of(part.where("control=%s", sharedControl)) / of(part.where("control=%s", kernelControl))
					held = held && (i > 0 || x < 1)
					found = append(found, fmt.Sprintf("%s under %s %s", s.name, policy, percent(x, 1)))
				}
			}
			return verdict(held, "%s", strings.Join(found, ", "))
		},
	}
}

// jobs710 are those of Fig 7-10, of which the document names loopy pfloop.
var jobs710 = []job003{
	{"knary-serial", "knary -n 13 -branching 3 -serial 3", "knary -n 11 -branching 3 -serial 3"},
	{"knary-parallel", "knary -n 11 -branching 4 -serial 0", "knary -n 11 -branching 4 -serial 0"},
	{"knary-mixed", "knary -n 11 -branching 4 -serial 2", "knary -n 10 -branching 4 -serial 2"},
	{"strassen", "strassen -n 1024", "strassen -n 1024"},
	{"loopy", "loopy -n 64 -iterations 4000000", "loopy -n 64 -iterations 4000000"},
	{"fib", "fib -n 31", "fib -n 33"},
	{"cholesky", "cholesky -n 1024 -nonzeros 5000", "cholesky -n 2048 -nonzeros 10000"},
}

var p3OnMachine = &Experiment{
	ID: "003/p3-machine", Place: "Section 7.2.3, experiment P3, figure 7-10",
	About: "the time of seven jobs against the greedy bound T1/P̄ + T∞, on this machine",
	Notes: machine003 + "The target efficiency is 0.75. P̄ is the mean usage over all cycles. T1 is the time with one " +
		"worker, and T∞ is from the profile, as in the document. Runs with one worker and runs that share have turns.",
	plan: func(p *Plan) {
		for i, j := range jobs710 {
			program := func(run, flags string, args ...any) Program {
				return p.program(map[string]string{"job": j.name, "run": run},
					fmt.Sprintf("run "+j.size(p)+" -forks pushed "+flags, args...))
			}
			turns := []Program{
				program("T1", "-workers 1"), program("T", "-workers %d -share -share-efficiency 0.75", p.Cores),
			}
			if i%3 == 0 { // all jobs would take a quarter more
				turns = append(turns, allAgain(turns[1:])...)
			}
			p.rounds(4*time.Second, Rounds{Slots: 1}, p.reps(5, 5), turns...)
			p.add(&Measurement{
				Programs: []Program{program("profile", "-workers 1 -profile -reps 1")}, Expect: 2 * time.Second,
			})
		}
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "003-p3-machine", title: "Time and greedy bound", yLabel: "s"}.frame("bars")
		f.Y.Zero = true
		bound, time := Series{Name: "T1/P̄ + T∞"}, Series{Name: "T"}
		for i, j := range jobs710 {
			f.X.Categories = append(f.X.Categories, j.name)
			t, b, _ := d.greedy(j.name)
			time.at(i, t/1e9)
			bound.at(i, b/1e9)
		}
		f.add(time)
		f.add(bound)
		return []*Figure{f}
	},
	printed: printedP3OnMachine,
	columns: []string{"job", "run", "engine", "workers", "n"},
	metrics: []metric{
		{"work-ns", "work, ms", 1e-6}, {"span-ns", "T∞, ms", 1e-6}, {"share-mean-usage", "P̄", 1}, wallMS,
		{"share-cycles", "cycles", 1},
	},
	claims: []*Claim{{
		ID: "003/p3-machine bound", Place: "7.2.3, fig. 7-10",
		needs: twoProcessors, baseline: "run=T",
		Says: "The time is within a factor of 2 of T1/P̄ + T∞: 0.83 (strassen) to 1.90 times.",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, j := range jobs710 {
				t, b, usage := d.greedy(j.name)
				held = held && t <= 2*b
				found = append(found, fmt.Sprintf("%s %s (P̄ %s)", j.name, significant(t/b), significant(usage)))
			}
			return verdict(held, "%s", strings.Join(found, ", "))
		},
	}},
}

// greedy returns the time of a job, the bound T1/P̄ + T∞, and P̄. All but P̄ are in nanoseconds. A run without a cycle
// has no P̄: not a number.
func (d *Data) greedy(job string) (t, bound, usage float64) {
	shared := d.where("job=%s run=T", job)
	usage = shared.stat("share-mean-usage").Median
	if usage == 0 {
		usage = math.NaN()
	}
	t1 := d.median("ns/op", "job=%s run=T1", job)
	return shared.stat("ns/op").Median, t1/usage + d.median("span-ns", "job=%s run=profile", job), usage
}

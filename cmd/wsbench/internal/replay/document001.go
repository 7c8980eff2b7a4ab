package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// The experiments of document 001, with its queues: centralised, one per thread with six ways to steal, and a priority
// queue. As in the document, workers without a task look again and again (+spin).
var document001 = []*Experiment{f1, f2, f3, f4, f5, summary001}

// queues001 are the configurations of the synthetic benchmark.
var queues001 = []string{
	"centralised+spin", "perthread+spin",
	"perthread+neighbour+one+spin", "perthread+neighbour+half+spin", "perthread+neighbour+all+spin",
	"perthread+random+one+spin", "perthread+random+half+spin", "perthread+random+all+spin",
}

// fifo001 are those whose threads begin with the oldest task of their own queue. The document does not say with which
// they begin. With one steal a task, its 3 and 63 steals are those of a thread each that begins with the newest.
var fifo001 = []string{"perthread-fifo+spin", "perthread-fifo+neighbour+one+spin"}

// asleep001 steals like the third of queues001, and threads without a task sleep. So with more threads than cores none
// waits for a core, and a run takes hardly longer than its schedule.
const asleep001 = "perthread+neighbour+one"

// shortQueue shortens the name of a queue for figures.
func shortQueue(q string) string {
	q = strings.TrimSuffix(q, "+spin")
	return strings.TrimPrefix(strings.ReplaceAll(q, "+", " "), "perthread ")
}

var busy = []metric{
	wallMS, {"bound-ns", "lower bound, ms", 1e-6}, {"queue-steals", "steals", 1}, {"moved", "tasks moved", 1},
	{"failed-steals", "failed steals", 1}, {"lock-waits", "lock waits", 1},
}

// lockOnce is why a shared queue for even tasks cannot be slower by much.
const lockOnce = "a thread locks the shared queue once a task, and the tasks are even: what queues per thread can " +
	"save is 160 locks at most, some 20 µs, where the document has 10 ms"

var f1 = &Experiment{
	ID: "001/f1", Place: "Results 1, \"Time taken v/s number of tasks, 1000×1000 MM\"",
	About: "matrix multiplication by queue and number of tasks",
	Notes: "Each task has a range of the innermost index, as in the document, and a private partial product, without " +
		"which its tasks race. The document does not give its number of threads: here it is that of the cores, and " +
		"twice that.",
	plan: func(p *Plan) {
		sizes := []int{p.size(192, 500), p.size(384, 1000)}
		for _, n := range sizes {
			for _, w := range []int{p.Cores, 2 * p.Cores} {
				control := "" // the claims are about as many threads as cores
				if w == p.Cores {
					control = againFlag + "queue=centralised+spin"
				}
				for _, input := range []string{"dense", "skewed", "sparse"} {
					p.run(4*time.Second, "matmul-k -input %s -n %d -workers %d -tasks 4,16,64,160 -reps %d -queue "+
						"centralised+spin,perthread+spin,perthread+neighbour+one+spin,perthread+random+half+spin%s",
						input, n, w, p.reps(5, 10), control)
				}
			}
		}
	},
	figures: func(d *Data) (all []*Figure) {
		for _, n := range d.values("n") {
			w := d.values("workers")[0]
			all = append(all, chart{
				file: "001-f1-" + n, title: fmt.Sprintf("%s×%[1]s matrices, %s threads", n, w), x: "tasks",
				xLabel: "tasks",
				logX:   true, y: "ns/op", yLabel: "time, ms", scale: 1e-6, series: "queue", label: shortQueue,
			}.lines(d.where("input=dense n=%s workers=%s", n, w)))
		}
		return all
	},
	printed: printedF1,
	columns: []string{"input", "n", "workers", "tasks", "queue"},
	metrics: busy,
	claims: []*Claim{
		{
			ID: "001/f1 perthread", Place: "Results 1",
			needs: twoThreads, refuted: lockOnce, baseline: "input=dense queue=centralised+spin",
			Says: "Queues per thread without stealing are slightly faster than the centralised one, by some 10 ms.",
			judge: func(d *Data) Verdict {
				mean, found := d.evenRuns("dense").gaps("perthread+spin", "centralised+spin")
				return verdict(mean < -0.01, "per-thread against centralised: %s", found)
			},
		},
		{
			ID: "001/f1 stealing", Place: "Results 1",
			needs: twoThreads, baseline: "input=dense queue=perthread+spin",
			Says: "With stealing the time is about the same or slightly longer, for the work is even.",
			judge: func(d *Data) Verdict {
				mean, found := d.evenRuns("dense").gaps("perthread+neighbour+one+spin", "perthread+spin")
				return verdict(mean > -0.02, "stealing against none: %s", found)
			},
		},
		{
			ID: "001/f1 skew", Place: "Results 1",
			needs: twoThreads, baseline: "input=skewed|sparse queue=centralised+spin",
			Says: "What queues per thread gain comes from skew: of numbers, or of a sparse matrix. Without it they " +
				"gain nothing.",
			judge: func(d *Data) Verdict {
				gain := func(input string) float64 {
					mean, _ := d.evenRuns(input).gaps("perthread+spin", "centralised+spin")
					return -mean
				}
				return verdict(min(gain("skewed"), gain("sparse")) > max(0.02, gain("dense")+0.02),
					"the time that queues per thread save: %s with dense input, %s with skewed, %s with sparse",
					pct(gain("dense")),
					pct(gain("skewed")), pct(gain("sparse")))
			},
		},
		{
			ID: "001/f1 gap", Place: "Results 1",
			needs: twoThreads, refuted: lockOnce, baseline: "input=dense queue=centralised+spin",
			Says: "The gap between the centralised queue and queues per thread grows with the input and the number " +
				"of tasks.",
			judge: func(d *Data) Verdict {
				gap := func(n, tasks string) float64 {
					part := d.where("input=dense workers=%d n=%s tasks=%s", d.Env.Cores, n, tasks)
					return part.median("ns/op", "queue=centralised+spin") - part.median("ns/op",
						"queue=perthread+spin")
				}
				ns, tasks := d.values("n"), d.values("tasks")
				if len(ns) < 2 || len(tasks) < 2 {
					return verdict(false, "NaN")
				}
				few, many := tasks[0], tasks[len(tasks)-1]
				small, large := ns[0], ns[len(ns)-1]
				return verdict(gap(large, many) > max(0, 1.1*gap(large, few), 1.1*gap(small, many)),
					"n=%s: %s with %s tasks, %s with %s; n=%s: %s with %[5]s tasks", large, ms(gap(large, few)), few,
					ms(gap(large, many)), many, small, ms(gap(small, many)))
			},
		},
	},
}

// evenRuns returns the multiplications with that input and as many threads as there are cores. With more, threads that
// look for tasks again and again take the cores of those that have one.
func (d *Data) evenRuns(input string) *Data {
	return d.where("workload=matmul-k input=%s workers=%d", input, d.Env.Cores)
}

// gaps compares the time with queue a to that with queue b, for each number of threads, size and number of tasks. The
// mean is that of the differences, as shares.
func (d *Data) gaps(a, b string) (mean float64, found string) {
	var all []string
	cases := 0.0
	for _, w := range d.values("workers") {
		for _, n := range d.values("n") {
			for _, t := range d.values("tasks") {
				part := d.where("workers=%s n=%s tasks=%s", w, n, t)
				x, y := part.median("ns/op", "queue=%s", a), part.median("ns/op", "queue=%s", b)
				cases++
				mean += x/y - 1
				all = append(all, fmt.Sprintf("%s/%s/%s %s", w, n, t, percent(x, y)))
			}
		}
	}
	mean /= cases
	return mean, fmt.Sprintf("%+.0f %% on average; by threads, n and tasks: %s", 100*mean, strings.Join(all, ", "))
}

var (
	f2 = sleepExperiment("f2", "Results 2, \"Random sleep, 4 threads/40 tasks\"", 4, 40, "1ms")
	f3 = sleepExperiment("f3", "Results 2, \"Random sleep, 16 threads/160 tasks\"", 16, 160, "500us")
	f4 = sleepExperiment("f4", "Results 2, \"Random sleep, 64 threads/320 tasks\"", 64, 320, "500us")
)

// sleepExperiment is the synthetic benchmark with that many threads and tasks.
func sleepExperiment(name, place string, threads, tasks int, unit string) *Experiment {
	id := "001/" + name
	e := &Experiment{
		ID: id, Place: place,
		About: fmt.Sprintf("tasks that sleep for 1 to %d units, on %d threads, by queue", tasks, threads),
		Notes: "The text has task i sleep for i units, and the title says random: both are here. Task i sleeping for" +
			" i units, the centralised queue and the deal to threads give the same assignment, so the queue's " +
			"lock is all that can differ. The threads take the newest task of their queues; with perthread-fifo " +
			"they take the oldest, so that in order no thread has anything to steal at the end. Ticks are the " +
			"lower bound of any schedule. The unit is " + unit + ", not a second, unless wsbench replay -unit says " +
			"otherwise. Threads that look for tasks again and again take cores from those that wake; with " + asleep001 +
			" they sleep, so that the time is that of the schedule but for some percent.",
		plan: func(p *Plan) {
			unit := p.unitOr(unit)
			seconds := time.Duration(float64(p.size(3,
				10))*2.2*float64(tasks*tasks/threads/2)*unitOf(unit)*10) * time.Nanosecond
			for _, workload := range []string{"sleep", "sleep-permuted"} {
				p.run(seconds/2, "%s -n %d -workers %d -unit %s -reps %d -queue %s"+againFlag+"queue="+queues001[2],
					workload, tasks, threads, unit, p.reps(3, 10),
					strings.Join(slices.Concat(queues001, fifo001, []string{asleep001}), ","))
			}
		},
		figures: func(d *Data) []*Figure {
			c := chart{
				file: "001-" + name, title: fmt.Sprintf("%d threads, %d tasks", threads, tasks), x: "queue",
				y:      "ns/op",
				yLabel: "time, ms", scale: 1e-6, series: "workload", bound: "bound-ns",
				label: func(w string) string {
					if w == "sleep" {
						return "in order"
					}
					return "permuted"
				},
			}
			f := c.bars(d.where("queue=%s", strings.Join(slices.Concat(queues001, fifo001), "|")))
			for i, q := range f.X.Categories {
				f.X.Categories[i] = shortQueue(q)
			}
			return []*Figure{f}
		},
		printed: printedSleep,
		columns: []string{"workload", "queue", "tasks", "workers"},
		metrics: busy,
	}
	// The document's text has the sleeps in order. TestIdeal001 makes its schedules.
	same := fmt.Sprintf("in order, first in and first out, a thread that runs out finds no task in any queue: the "+
		"schedule is the same with a shared queue, a deal to threads and any way to steal, and takes %d units",
		tasks*(tasks+threads)/(2*threads))
	faster := func(what, says string, a, b string) *Claim {
		return &Claim{
			ID: id + " " + what, Place: place, Says: says,
			needs: asleep, refuted: same, baseline: "queue=" + b,
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, w := range d.values("workload") {
					part := d.where("workload=%s", w)
					x, y := part.median("ns/op", "queue=%s", a), part.median("ns/op", "queue=%s", b)
					held = held && x < 0.98*y // a reader of the figure does not see two percent
					found = append(found, fmt.Sprintf("%s: %s against %s, %s", w, ms(x), ms(y), percent(x, y)))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		}
	}
	none, one, half, all := queues001[1], queues001[2], queues001[3], queues001[4]
	e.claims = []*Claim{
		faster("perthread", "A significant dip from the centralised queue to queues per thread without stealing.",
			none, queues001[0]),
		faster("one", "Stealing one is slower again than no stealing.", none, one),
		faster("half", "Stealing half is the best of stealing from neighbours: faster than one.", half, one),
		faster("all", "Stealing all is slower again than half.", half, all),
		faster("random", "Random victims are better than neighbours.", strings.Join(queues001[5:], "|"),
			strings.Join(queues001[2:5], "|")),
		{
			ID: id + " bound", Place: "beyond the document",
			needs: asleep, baseline: "queue=" + asleep001,
			Says: "Stealing takes at most 5 % longer than the same steals do if nothing but sleep takes time.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, w := range d.values("workload") {
					part := d.where("workload=%s", w)
					took := part.median("ns/op", "queue=%s", asleep001)
					sleeps := workloads.Sleeps(tasks, d.Seed, w == "sleep-permuted")
					ideal := float64(ideal001(sleeps, threads, stealOne)) * unitOf(d.unitOr(unit))
					held = held && took <= 1.05*ideal
					found = append(found, fmt.Sprintf("%s: %s, without costs %s (lower bound of any schedule %s)", w,
						ms(took), ms(ideal), ms(part.stat("bound-ns").Median)))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
	}
	switch name {
	case "f2":
		e.claims = append(e.claims, stealsClaim(id, 3, 40))
	case "f4":
		e.claims = append(e.claims, stealsClaim(id, 63, 320))
	}
	return e
}

// unitOr returns the unit of the sleeps of document 001: usual, if no other is given.
func (o Options) unitOr(usual string) string {
	if o.Unit > 0 {
		return o.Unit.String()
	}
	return usual
}

// unitOf returns a unit of sleep in nanoseconds.
func unitOf(unit string) float64 {
	d, _ := time.ParseDuration(unit) // written above, or by unitOr
	return float64(d)
}

// stealsClaim is what the document says of the number of steals.
func stealsClaim(id string, steals, tasks int) *Claim {
	return &Claim{
		ID: id + " steals", Place: "Results 2",
		needs: asleep, baseline: "queue=perthread+neighbour+one+spin",
		Says: fmt.Sprintf("Stealing one, there are %d steals with %d tasks.", steals, tasks),
		judge: func(d *Data) Verdict {
			part := d.where("queue=perthread+neighbour+one+spin")
			least, most := part.extremes("workload", "queue-steals", 0)
			return verdict(least >= float64(steals)/3 && most <= 3*float64(steals),
				"%s; held if within a factor of 3; with the oldest task first: %s",
				part.each("workload", "queue-steals", 1),
				d.where("queue=%s", fifo001[1]).each("workload", "queue-steals", 1))
		},
	}
}

var f5 = &Experiment{
	ID: "001/f5", Place: "Results 3, \"Centralized vs priority scheduling\"",
	About: "text search that ends with the first hit, by number of tasks: centralised against priority queue",
	Notes: "The word is at three quarters of the text. Priorities are those of a user who knows in which tenth it is " +
		"likely.",
	plan: func(p *Plan) {
		p.run(10*time.Second, "search -n %d -workers %d -tasks 4,16,64,256 -reps %d -queue "+
			"centralised+spin,priority+spin"+againFlag+"queue=centralised+spin",
			p.size(1<<21, 1<<23), p.Cores, p.reps(7, 10))
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "001-f5", title: "Text search", x: "tasks", xLabel: "tasks", logX: true, y: "ns/op",
			yLabel: "time, ms",
			scale:  1e-6, series: "queue", label: shortQueue,
		}.lines(d)}
	},
	printed: printedF5,
	columns: []string{"tasks", "queue", "workers", "n"},
	metrics: busy,
	claims: []*Claim{
		{
			ID: "001/f5 priority", Place: "Results 3",
			needs: inOrder, baseline: "queue=centralised+spin",
			Says: "The priority queue is clearly faster than the centralised one.",
			judge: func(d *Data) Verdict {
				mean, found := d.gaps("priority+spin", "centralised+spin")
				return verdict(mean < -0.1, "priority against centralised: %s", found)
			},
		},
		{
			ID: "001/f5 gap", Place: "Results 3",
			needs: inOrder, baseline: "queue=centralised+spin",
			Says: "The gap is small with few tasks and grows with their number.",
			judge: func(d *Data) Verdict {
				gap := func(tasks string) float64 {
					return d.median("ns/op", "queue=centralised+spin tasks=%s", tasks) -
						d.median("ns/op", "queue=priority+spin tasks=%s", tasks)
				}
				tasks := d.values("tasks")
				if len(tasks) < 2 {
					return verdict(false, "NaN")
				}
				few, many := tasks[0], tasks[len(tasks)-1]
				return verdict(gap(many) > max(0, 1.1*gap(few)), "%s with %s tasks, %s with %s", ms(gap(few)), few,
					ms(gap(many)), many)
			},
		},
	},
}

var summary001 = &Experiment{
	ID: "001/summary", Place: "Results 2, Summary",
	About: "what stealing gains on uneven and on even work, and how that changes with threads and tasks",
	Notes: "The uneven work is that of f2 to f4 and the Mandelbrot set in views of rising unevenness, the even work " +
		"that of f1.",
	plan: func(p *Plan) {
		for _, e := range []*Experiment{f1, f2, f3, f4} {
			e.plan(p)
		}
		for view := range 7 {
			p.run(2*time.Second, "mandelbrot-views -view %d -n %d -tasks %d -workers %d -reps %d -queue %s"+againFlag+
				"queue=perthread+spin", view, p.size(384, 1024), 10*p.Cores, p.Cores, p.reps(5, 10),
				"perthread+spin,"+strings.Join(queues001[2:], ","))
		}
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "001-summary-views", title: "Mandelbrot set, views of rising unevenness", x: "view", xLabel: "view",
			y: "ns/op", yLabel: "time, ms", scale: 1e-6, series: "queue", label: shortQueue,
		}.lines(d.where("workload=mandelbrot-views " +
			"queue=perthread+spin|perthread+neighbour+one+spin|perthread+random+half+spin"))}
	},
	printed: printedSummary001,
	columns: []string{"workload", "view", "n", "workers", "tasks", "queue"},
	metrics: busy,
	claims: []*Claim{
		{
			ID: "001/summary uneven", Place: "Summary",
			needs: twoThreads, baseline: "queue=perthread+spin",
			Says: "On uneven work stealing clearly helps.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, w := range []string{
					"workload=sleep tasks=40", "workload=sleep tasks=160", "workload=sleep tasks=320",
					"workload=sleep-permuted tasks=40", "workload=sleep-permuted tasks=160",
					"workload=sleep-permuted tasks=320",
					"workload=mandelbrot-views view=6",
				} {
					gain := d.where("%s", w).gain()
					held = held && gain > 0.03
					found = append(found, fmt.Sprintf("%s: %s less time with the best way to steal", w, pct(gain)))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
		{
			ID: "001/summary even", Place: "Summary",
			needs: twoThreads, baseline: "input=dense queue=perthread+spin",
			Says: "On even work stealing is slower.",
			judge: func(d *Data) Verdict {
				mean, found := d.evenRuns("dense").gaps("perthread+neighbour+one+spin",
					"perthread+spin")
				return verdict(mean > 0.01, "stealing against none: %s", found)
			},
		},
		{
			ID: "001/summary shrink", Place: "Results 2",
			needs: asleep, baseline: "queue=perthread+neighbour+one+spin",
			refuted: "with the document's sleeps in order, all ways to steal take the same time at each size, so " +
				"that they never differ: see f2 to f4",
			Says: "The more threads and tasks, the less the ways to steal differ.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, w := range []string{"sleep", "sleep-permuted"} {
					stealing := d.where("workload=%s queue=%s", w, strings.Join(queues001[2:], "|"))
					spread := func(tasks int) float64 {
						least, most := stealing.where("tasks=%d", tasks).extremes("queue", "ns/op", 0)
						return most/least - 1
					}
					held = held && spread(40) > spread(160)+0.01 && spread(160) > spread(320)+0.01
					found = append(found, fmt.Sprintf("%s: slowest way to steal over fastest %s with 40 tasks, %s "+
						"with 160, %s with 320", w,
						pct(spread(40)), pct(spread(160)), pct(spread(320))))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
	},
}

// gain returns by how much the best way to steal is faster than queues per thread without stealing.
func (d *Data) gain() float64 {
	least, _ := d.where("queue=%s", strings.Join(queues001[2:], "|")).extremes("queue", "ns/op", 0)
	return 1 - least/d.median("ns/op", "queue=perthread+spin")
}

package replay

// What document 003 has of its figures in numbers: its tables, which are among its figures, and its text.

var printedFig21 = []printed{{figures: "003-fig2-1", says: notInNumbers}}

var printedFig52 = []printed{{figures: "003-fig5-2-*", values: printedAllotments()}}

func printedAllotments() (all []value) {
	present := make(map[int]bool)
	for i, e := range dpTrace {
		present[e.job] = e.desire > 0
		k := 0
		for job := 1; job <= len(dpTrace); job++ {
			if present[job] {
				all = append(all, value{"job " + itoa(job), itoa(i + 1), float64(e.printed[k])})
				k++
			}
		}
	}
	return all
}

var printedFig62 = []printed{{figures: "003-fig6-2", values: printedDesires()}}

func printedDesires() (all []value) {
	for i, e := range desireTrace {
		at := itoa(i + 1)
		all = append(all, value{"usage", at, float64(e.usage)}, value{"desire", at, float64(e.desire)},
			value{"allotment", at, float64(e.allotment)})
	}
	return all
}

var printedFig71 = []printed{{
	figures: "003-fig7-1",
	values: []value{{"parallelism", "fib", 169152}, {"parallelism", "loopy", 63.95}, {"parallelism", "cholesky", 771.7},
		{"parallelism", "knary", 3698}},
	says: "by time, of fib(33), loopy(64), cholesky(2048,10000) and knary(10,6,1)",
}}

// printedT16 are the quotients of two of the columns of Fig 7-1, of which T1 was measured with the profiler on.
var printedT16 = []printed{{figures: "003-fig7-1-t16", values: speedups(), says: "T1 with the profiler on"}}

func speedups() (all []value) {
	for _, j := range fixedJobs {
		all = append(all, value{"virtual", j.name, j.t1 / j.t16})
	}
	return all
}

var printedO1 = []printed{
	{figures: "003-o1", says: "not given in numbers, but for Cilk with 16 processors: fib 71 ms, loopy 109 ms, cholesky " +
		"127 ms, knary 120 ms"},
	{figures: "003-o1-intervals", says: "not given in numbers, but that there are always many more than 4 with 16 " +
		"processors"},
}

var printedO2 = []printed{{figures: "003-o2", says: "not given in numbers, but that there is virtually none " +
	"above 5 ms"}}

var printedFig74 = []printed{{figures: "003-fig7-4*", says: "not given in numbers, but that ready threads take more " +
	"than 2.5 times as long even with the shortest est_cycle"}}

// printedO3 are the seconds of Fig 7-6 in subcomputations, which take 4.36 s.
var printedO3 = []printed{{
	figures: "003-o3",
	values: []value{
		{static003, "16", 9.035 / 4.36}, {shared003, "16", 12.31 / 4.36}, {limited003, "16", 8.984 / 4.36},
		{static003, "32", 17.83 / 4.36}, {shared003, "32", 19.70 / 4.36}, {limited003, "32", 17.83 / 4.36},
		{static003, "64", 36.21 / 4.36}, {shared003, "64", 37.68 / 4.36}, {limited003, "64", 35.81 / 4.36},
	},
	says: "its seconds, in subcomputations of 4.36 s",
}}

var printedFig77 = []printed{
	{figures: "003-fig7-7-response", values: ofArrivals(known003, 4./3, 3./2, 7./6, 5./4)},
	{figures: "003-fig7-7-throughput", values: ofArrivals(known003, 3./2, 2, 3./2, 12./7)},
	{figures: "003-fig7-7-power", values: ofArrivals(known003, 9./8, 4./3, 9./7, 48./35)},
}

// ofArrivals returns the four values of a row of Fig 7-7: two for each arrival of job C.
func ofArrivals(shared string, staticStart, sharedStart, staticHalf, sharedHalf float64) []value {
	return []value{
		{static003, "0", staticStart}, {shared, "0", sharedStart}, {static003, "half", staticHalf},
		{shared, "half", sharedHalf},
	}
}

// p1T is T in seconds, which Fig 7-8 does not have: its throughput of Cilk, 0.09450 jobs/s, is 3/2T in theory.
const p1T = 3 / (2 * 0.09450)

var printedP1 = []printed{
	printedP1Of("0-response", 21.10/p1T, 23.26/p1T), printedP1Of("half-response", 18.48/p1T, 19.76/p1T),
	printedP1Of("0-throughput", 0.09450*p1T, 0.1291*p1T), printedP1Of("half-throughput", 0.09450*p1T, 0.1022*p1T),
	printedP1Of("0-power", 4.478e-3*p1T*p1T, 5.550e-3*p1T*p1T),
	printedP1Of("half-power", 5.115e-3*p1T*p1T, 5.175e-3*p1T*p1T),
}

func printedP1Of(name string, static, shared float64) printed {
	return printed{
		figures: "003-p1-" + name, values: []value{{static003, "16", static}, {shared003, "16", shared}},
		says: "its seconds, with T = 15.87 s, which follows from its throughput of Cilk, 3/2T",
	}
}

var printedP1OnMachine = []printed{
	{figures: "003-p1-machine-response", says: "with sharing 1.102 times as long for t = 0, and 1.069 times for t = T/2"},
	{figures: "003-p1-machine-throughput", says: "with sharing 1.366 times for t = 0, and 1.082 times for t = T/2"},
	{figures: "003-p1-machine-power", says: "with sharing 1.239 times for t = 0, and 1.012 times for t = T/2"},
}

var printedP2 = []printed{{figures: "003-p2", says: "22.12 s with sharing and 31.33 s without on 16 processors, " +
	"0.706 times as long; it has no T"}}

// printedP3 are T over T1/P̄ + T∞ of Fig 7-10, where loopy is pfloop.
var printedP3 = []printed{{
	figures: "003-p3",
	values: []value{
		{shared003, "knary(11,3,3)", 11.37 / 6.242}, {shared003, "knary(11,4,0)", 8.704 / 8.164},
		{shared003, "knary(10,4,2)", 8.617 / 4.540}, {shared003, "strassen(1024)", 3.450 / 4.170},
		{shared003, "loopy(64)", 18.55 / 22.01}, {shared003, "fib(33)", 18.99 / 13.35},
		{shared003, "cholesky(2048,10000)", 43.74 / 31.85},
	},
	says: "its T over its bound, on 16 processors",
}}

var printedP3OnMachine = []printed{{figures: "003-p3-machine", says: "seconds of other sizes on 16 processors; its " +
	"times are 0.83 to 1.90 of the bound"}}

var printedServices = []printed{{figures: "003-services-*", says: "no such experiment"}}

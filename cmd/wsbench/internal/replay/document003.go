package replay

import (
	"strconv"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/virtual"
	"github.com/magpie-go/magpie/internal/allot"
)

// The experiments of document 003 that need no real processors: those that are exact, and those on virtual ones.
var document003 = []*Experiment{fig21Of003, fig52Of003, fig62Of003, fig63Of003, t16Of003, fig74Of003, o3Of003,
	fig77Of003, p1Of003, p2Of003, p2LagOf003, p3Of003}

const (
	ideal003 = "On an ideal machine: desires are known, allotments follow them at once, and nothing else takes time."

	virtual003 = "The document has 16 processors. Here they are virtual: a step is a unit of work or a steal attempt, " +
		"and moving tasks, waking workers and switching take no time. Cilk is static partitions, and Cilk-AP is desires " +
		"by steal attempts (WSAP) every cycle, with allotments by water-filling. Thieves draw their victims from a " +
		"generator with a seed, so that results are the same on any machine. "
)

// A control003 is a way to share virtual processors.
type control003 struct {
	name    string
	machine func(processors int) virtual.Machine
}

const (
	static003 = "static"
	shared003 = "WSAP"
	known003  = "known-desires"
)

// cycle003 is est_cycle in steps, where an experiment does not say otherwise.
const cycle003 = 50

func staticOn(processors int) virtual.Machine {
	return virtual.Machine{Processors: processors, Control: virtual.Static}
}

func sharedOn(processors int) virtual.Machine {
	return virtual.Machine{
		Processors: processors, Control: virtual.Shared, Rule: allot.WSAP{Efficiency: 500}, Cycle: cycle003,
	}
}

func knownOn(processors int) virtual.Machine {
	return virtual.Machine{Processors: processors, Control: virtual.Shared}
}

var controls003 = []control003{{static003, staticOn}, {shared003, sharedOn}, {known003, knownOn}}

// virtualProcessors are the sizes of the machine, of which the document has the last.
var virtualProcessors = []int{4, 8, 16}

// arrival003 has the jobs of scenario (a) of Fig 2-1: A and B arrive at step 0, and C at step t. Each can use half of
// the processors, and takes length steps on these.
func arrival003(processors, length, t int) []virtual.Job {
	job := virtual.Job{
		Limit: processors / 2, Phases: []virtual.Phase{virtual.Parallel(processors / 2 * length)},
	}
	late := job
	late.Arrival = t
	return []virtual.Job{job, job, late}
}

// complements003 has the jobs of scenario (b) of Fig 2-1: one is serial and then parallel, the other the other way
// round. With all processors but one, the parallel phase takes as long as the serial one.
func complements003(processors, length int) []virtual.Job {
	serial, parallel := virtual.Serial(length), virtual.Parallel(length*(processors-1))
	return []virtual.Job{
		{Phases: []virtual.Phase{serial, parallel}},
		{Phases: []virtual.Phase{parallel, serial}},
	}
}

// phases003 has the jobs of experiment P2: those of complements003, with the document's T1/T∞ of 13.68 on 16
// processors.
func phases003(processors, length int) []virtual.Job {
	serial, parallel := virtual.Serial(length), virtual.Parallel(length*1268*processors/1600)
	return []virtual.Job{
		{Phases: []virtual.Phase{serial, parallel}},
		{Phases: []virtual.Phase{parallel, serial}},
	}
}

// arrivals are the times t of job C. T is the time of a job on half of the processors.
var arrivals = []struct {
	name, text string
	at         func(length int) int
}{
	{"0", "0", func(int) int { return 0 }},
	{"half", "T/2", func(length int) int { return length / 2 }},
}

// performance returns the figures of jobs, of which each takes length steps on its partition: times in units of that.
func performance(r virtual.Result, length int) []bench.Metric {
	t := float64(length)
	return []bench.Metric{
		{Name: "response", Value: r.MeanResponse() / t},
		{Name: "throughput", Value: r.Throughput() * t},
		{Name: "power", Value: r.Power() * t * t},
	}
}

var performanceMetrics = []metric{{"response", "mean response, T", 1}, {"throughput", "throughput, 1/T", 1},
	{"power", "power, 1/T²", 1}}

// overStatic returns how many times as large as under static partitions a figure is under another control.
func (d *Data) overStatic(figure, control, format string, args ...any) float64 {
	part := d.where(format, args...)
	return part.median(figure, "control=%s", control) / part.median(figure, "control=%s", static003)
}

// computing is how long a computation may take, for the plan.
const computing = 100 * time.Millisecond

func itoa(n int) string { return strconv.Itoa(n) }

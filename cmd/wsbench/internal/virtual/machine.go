package virtual

import (
	"fmt"

	"github.com/magpie-go/magpie/internal/allot"
)

// A Machine has processors that jobs share.
type Machine struct {
	Processors int
	Control    Control

	// Partition is the number of processors of a job with Static: at most its limit. 0 means half of them.
	Partition int

	// Rule estimates desires with Shared, every Cycle steps from the arrival of a job. Without a rule desires are
	// known, and are the processors that a job can use: allotments follow them at once. This is the document's theory.
	Rule  allot.Rule
	Cycle int // est_cycle, in steps

	Seed uint64 // of the victims that thieves draw

	// Incremental, with Shared: allotments are by the document's algorithm DP. Otherwise they are by WaterFill.
	Incremental bool
}

// Control is how jobs come by processors.
type Control int

// See the package's comment.
const (
	Static Control = iota
	Uncontrolled
	Shared
)

// A Result tells how the jobs fared.
type Result struct{ Jobs []Outcome }

// An Outcome tells how a job fared. Times are in steps; those of Arrival, Start, Finish and Cycles are from step 0.
type Outcome struct {
	Job
	Start, Finish int

	// AllProcs is the time from Arrival until all workers of the job have had work (section 7.1), 0 if some never had.
	AllProcs int

	// Usage is the mean number of workers awake from Start to Finish: the document's P̄ (section 7.2.3).
	Usage float64

	Cycles []Cycle // with a Rule
}

// A Cycle is an estimate of a job's desire.
type Cycle struct {
	At        int // step
	Count     allot.Count
	Desire    int // for the next cycle
	Allotment int // the same
}

// PUS returns the share of purely unsuccessful attempts, 0 without any.
func (c Cycle) PUS() float64 {
	return float64(c.Count.Pure) / float64(max(c.Count.Attempts, 1))
}

// Response returns the time from arrival to completion.
func (o Outcome) Response() int { return o.Finish - o.Arrival }

// GreedyBound returns T1/P̄ + T∞, which a greedy schedule does not exceed (document 003, theorem 3).
func (o Outcome) GreedyBound() float64 { return float64(o.Work())/o.Usage + float64(o.Span()) }

// MeanResponse returns the mean response time.
func (r Result) MeanResponse() float64 {
	sum := 0
	for _, o := range r.Jobs {
		sum += o.Response()
	}
	return float64(sum) / float64(len(r.Jobs))
}

// Throughput returns completed jobs per step, from the first arrival to the last completion.
func (r Result) Throughput() float64 {
	first, last := r.Jobs[0].Arrival, 0
	for _, o := range r.Jobs {
		first, last = min(first, o.Arrival), max(last, o.Finish)
	}
	return float64(len(r.Jobs)) / float64(last-first)
}

// Power returns throughput divided by mean response time (document 003, section 7.2).
func (r Result) Power() float64 { return r.Throughput() / r.MeanResponse() }

// Run runs jobs until all are complete. It panics if the machine or a job makes no sense.
func (m Machine) Run(jobs []Job) Result {
	s := m.simulate(jobs)
	for s.unfinished > 0 {
		s.step()
	}
	r := Result{Jobs: make([]Outcome, len(jobs))}
	for i, j := range s.jobs {
		j.Usage = float64(j.usage) / float64(j.Finish-j.Start)
		r.Jobs[i] = j.Outcome
	}
	return r
}

func (m Machine) check(jobs []Job) {
	if m.Processors < 1 || m.Partition < 0 || m.Partition > m.Processors || m.Rule != nil && m.Cycle < 1 {
		panic(fmt.Sprintf("virtual: no such machine: %+v", m))
	}
	for _, j := range jobs {
		if j.Arrival < 0 || j.Limit < 0 || len(j.Phases) == 0 {
			panic(fmt.Sprintf("virtual: no such job: %q", j.Name))
		}
		for _, p := range j.Phases {
			if p.Tasks < 1 || p.Grain < 0 || p.Width < 0 || p.Spread < 0 || p.Width > 0 && p.Spread > 0 {
				panic(fmt.Sprintf("virtual: no such phase of job %q: %+v", j.Name, p))
			}
		}
	}
}

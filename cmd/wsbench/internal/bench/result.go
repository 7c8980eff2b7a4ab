package bench

import (
	"slices"
	"strings"
)

// A Result is one repetition. The field names of its JSON form are part of the command line's interface.
type Result struct {
	Workload string `json:"workload"`
	Engine   string `json:"engine"`
	Policy   string `json:"policy"`
	Deque    string `json:"deque"`
	Forks    string `json:"forks"`
	Workers  int    `json:"workers"`
	N        int    `json:"n"` // the size asked for; Tasks is the number that results
	Rep      int    `json:"rep"`
	Seed     uint64 `json:"seed"`
	Inputs   string `json:"inputs,omitempty"` // values of the workload's parameters, as in "view=3", separated by slashes
	Tasks    int    `json:"tasks"`            // for a program: the unit of its figures, see its workload
	Edges    int    `json:"edges"`

	// BuildNS is the time of building the graph, freezing it and checking it for cycles. It includes the workload's own
	// work: dag draws its edges and makes a closure for each task. Graphs are built as often as they are run, all in
	// advance: repetition i has the time of build i, whatever the setting. For a program, which is not built, it is 0.
	BuildNS int64 `json:"build_ns"`
	// WallNS is the time from handing the built graph, or the program, to the engine until the engine reports the end.
	WallNS int64 `json:"wall_ns"`
	// CPUNS is the processor time, user and system, of the whole process meanwhile.
	CPUNS     int64   `json:"cpu_ns"`
	NSPerTask float64 `json:"ns_per_task"` // WallNS / Tasks
	CPUUtil   float64 `json:"cpu_util"`    // CPUNS / WallNS: the number of busy cores

	Steals  uint64 `json:"steals"`         // items that thieves took from other workers' deques
	Parks   uint64 `json:"parks"`          // how often a worker went to sleep
	VCtx    int64  `json:"vctx"`           // voluntary context switches of the process
	ICtx    int64  `json:"ictx"`           // involuntary ones
	PeakRSS int64  `json:"peak_rss_bytes"` // the most memory resident during the run, earlier memory included

	// Joules is the energy of all processor packages meanwhile. It is 0 where their counters cannot be read.
	Joules float64 `json:"joules,omitempty"`

	// Whole says that WallNS, CPUNS and what follows from them are of everything that a process does with the graph:
	// they include building it, and making and closing the executor. This is the window of perf stat, which document 000
	// uses, without the start of the process and of the Go runtime.
	Whole bool `json:"whole,omitempty"`
	// Pinned says that the process had as many processors as Workers, or all if there are fewer, dealt over the
	// processor packages, as with taskset in document 000.
	Pinned bool `json:"pinned,omitempty"`

	// Again says that it is of a second measurement of the same setting, see [Again].
	Again bool `json:"again,omitempty"`

	// Verified says that the data after this run is right and the engine counted exactly Tasks tasks, and that in an
	// untimed run of the same graph in the same setting the order of every edge held. For a program it says that the
	// result is right. Results that are not verified are never reported.
	Verified bool `json:"verified"`

	// Of a workload that is a list of tasks: see [DivisionPoint]. Tasks is the number of the tasks.
	Queue string `json:"queue,omitempty"`
	// BoundNS is a lower bound of WallNS, if one is known: the longest task, or the sum of all divided by the workers.
	BoundNS int64        `json:"bound_ns,omitempty"`
	Pool    *PoolFigures `json:"pool,omitempty"` // of engine magpie

	// Active has the mean numbers of workers that ran items, in parts of the time of equal length, if they were asked
	// for. Counting them takes time too.
	Active []float64 `json:"active,omitempty"`

	// Properties are figures of the workload's data, which no run changes.
	Properties []Metric `json:"properties,omitempty"`

	// Profile is set in the results of engine profile, which are of a program with a timer in it: its time is much
	// longer than that of engine serial.
	Profile *ProfileFigures `json:"profile,omitempty"`
	// AllProcsNS is the all-procs time of document 003 in engine magpie: from handing the program to a new executor
	// until every worker has begun a call of it. It is of a run apart, after that of WallNS, which notes each worker's
	// first call. 0: it was not asked for, or the program had ended before.
	AllProcsNS int64 `json:"all_procs_ns,omitempty"`

	// Peers is set under the policies of the names bws-…
	Peers *PeerFigures `json:"peers,omitempty"`

	// Share is set if the executor shares the machine.
	Share *ShareFigures `json:"share,omitempty"`

	// Metrics are the figures of a probe, which has no time of a graph.
	Metrics []Metric `json:"metrics,omitempty"`
}

// A Metric is one figure of a probe.
type Metric struct {
	Name  string  `json:"name"` // as in the Go benchmark format: p50-ns
	Value float64 `json:"value"`
}

// better gives the direction in which each unit improves. Units that are missing only explain the others.
var better = map[string]string{
	"ns/op":         "lower",
	"ns/task":       "lower",
	"build-ns/task": "lower",

	"p50-ns":          "lower",
	"p99-ns":          "lower",
	"vs-bare":         "lower",
	"vs-row":          "lower",
	"cpu-ns":          "lower",
	"cpu-percent":     "lower",
	"wakeups":         "lower",
	"worker-cpu-ns":   "lower",
	"worker-switches": "lower",
	"allocs/op":       "lower",
	"B/op":            "lower",
	"B/task":          "lower",
	"B/edge":          "lower",

	"mean-ns":       "lower",
	"ns/node":       "lower",
	"retries/steal": "lower",
	"steals/s":      "higher",

	"at-once-percent": "higher",

	"vs-bound": "lower",

	"all-procs-ns": "lower",

	"settled-ns":   "lower",
	"late-thieves": "lower",
}

// isProbe reports whether the result is a probe's.
func (r Result) isProbe() bool { return len(r.Metrics) > 0 }

// isDivision reports whether the result is that of a list of tasks.
func (r Result) isDivision() bool { return r.Queue != "" }

// Row returns the result as reports see it.
func (r Result) Row() Row { return Row{r.point(), r.figures(), r.details(), r.Verified} }

func (r Result) point() Point {
	p := Point{Kind: "Run"}
	if r.isProbe() {
		p.Kind = "Probe"
	}
	p = p.With("workload", r.Workload).With("engine", r.Engine)
	if r.Policy != None {
		p = p.With("policy", r.Policy).With("deque", r.Deque).With("forks", r.Forks).With(shareName, r.Share.setting())
	}
	p = p.With("workers", r.Workers).With("n", r.N)
	for input := range strings.SplitSeq(r.Inputs, "/") {
		if name, value, ok := strings.Cut(input, "="); ok {
			p = p.withAny(Attribute{name, value, true})
		}
	}
	if r.Whole {
		p = p.With(windowName, "whole")
	}
	if r.Pinned {
		p = p.With(pinnedName, "pinned")
	}
	if r.isDivision() {
		p = p.With("queue", r.Queue).With("tasks", r.Tasks)
	}
	return p.again(r.Again)
}

func (r Result) figures() []Metric {
	if r.isProbe() {
		return r.Metrics // the time of a probe is not a figure
	}
	all := []Metric{{"ns/op", float64(r.WallNS)}, {"ns/task", r.NSPerTask}}
	if r.BuildNS != 0 {
		all = append(all, Metric{"build-ns/task", float64(r.BuildNS) / float64(r.Tasks)})
	}
	if r.BoundNS != 0 {
		all = append(all, Metric{"vs-bound", float64(r.WallNS) / float64(r.BoundNS)})
	}
	if p := r.Pool; p != nil && len(p.BusyNS) > 0 {
		all = append(all,
			Metric{"busy-least-ns", float64(slices.Min(p.BusyNS))},
			Metric{"busy-most-ns", float64(slices.Max(p.BusyNS))},
			Metric{"queue-steals", float64(p.Steals)},
			Metric{"moved/steal", p.movedPerSteal()},
			Metric{"failed-steals", float64(p.FailedSteals)},
			Metric{"lock-waits", float64(p.LockWaits)},
			Metric{"lock-wait-ns", float64(p.LockWaitNS)},
			Metric{"looks", float64(p.Looks)})
	}
	if r.Profile != nil {
		all = append(all, r.Profile.metrics()...)
	}
	if r.AllProcsNS != 0 {
		all = append(all, Metric{"all-procs-ns", float64(r.AllProcsNS)})
	}
	if r.Peers != nil {
		all = append(all, r.Peers.metrics()...)
	}
	if r.Active != nil {
		mean, _ := activeMetrics(r.Active)
		all = append(all, mean)
	}
	if r.Share != nil {
		all = append(all, r.Share.metrics()...)
	}
	return append(all,
		Metric{"cpu-util", r.CPUUtil},
		Metric{"steals", float64(r.Steals)},
		Metric{"parks", float64(r.Parks)},
		Metric{"vctx", float64(r.VCtx)},
		Metric{"ictx", float64(r.ICtx)},
		Metric{"peak-rss-bytes", float64(r.PeakRSS)})
}

// details are the figures that only replays take.
func (r Result) details() []Metric {
	all := append([]Metric{{"cpu-ns", float64(r.CPUNS)}}, r.Properties...)
	if r.Joules != 0 {
		all = append(all, Metric{"joules", r.Joules})
	}
	if r.BoundNS != 0 {
		all = append(all, Metric{"bound-ns", float64(r.BoundNS)})
	}
	if r.Pool != nil {
		all = append(all, Metric{"moved", float64(r.Pool.Moved)})
	}
	_, parts := activeMetrics(r.Active)
	return append(all, parts...)
}

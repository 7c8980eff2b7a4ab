package bench

import (
	"fmt"
	"strconv"
)

// A DequePoint has the settings of one repetition of a deque experiment. Settings that an experiment does not have are
// 0 or empty.
type DequePoint struct {
	Experiment string `json:"experiment"`
	Deque      string `json:"deque"`
	Capacity   int    `json:"capacity"`                 // of a queue; some kinds grow
	Block      int    `json:"block,omitempty"`          // items in a block, for kinds with blocks
	Stolen     int    `json:"stolen_percent,omitempty"` // the share asked for; a metric has the share reached
	Thieves    int    `json:"thieves,omitempty"`
	Workers    int    `json:"workers,omitempty"`
	Tree       string `json:"tree,omitempty"`
	Work       int    `json:"work"` // spins after each operation, or for each node
	N          int    `json:"n"`    // pushes, steals or nodes
}

// A DequeResult is one repetition. The field names of its JSON form are part of the command line's interface. It is
// verified that each item came out of the queue once. As with a [Result], results that are not verified are never
// reported.
type DequeResult struct {
	DequePoint
	Rep      int      `json:"rep"`
	Seed     uint64   `json:"seed"`
	WallNS   int64    `json:"wall_ns"` // all but the preparation; the metrics have the figures of the experiment
	CPUNS    int64    `json:"cpu_ns"`
	CPUUtil  float64  `json:"cpu_util"`
	VCtx     int64    `json:"vctx"`
	ICtx     int64    `json:"ictx"`
	Verified bool     `json:"verified"`
	Metrics  []Metric `json:"metrics"`
}

// A pointKey is a setting of a point, with the name of its flag.
type pointKey struct{ name, value string }

// keys returns the settings of the experiment, without those that all experiments have.
func (p DequePoint) keys() (all []pointKey) {
	add := func(name string, value int, always bool) {
		if value != 0 || always {
			all = append(all, pointKey{name, strconv.Itoa(value)})
		}
	}
	add("block", p.Block, false)
	add("stolen", p.Stolen, p.Experiment == ownerExperimentName)
	add("thieves", p.Thieves, false)
	add("workers", p.Workers, false)
	if p.Tree != "" {
		all = append(all, pointKey{"tree", p.Tree})
	}
	add("work", p.Work, false)
	return all
}

// key returns the value of a setting, or "".
func (p DequePoint) key(name string) string {
	for _, k := range p.keys() {
		if k.name == name {
			return k.value
		}
	}
	return ""
}

func (p DequePoint) String() string {
	s := p.Deque
	for _, k := range p.keys() {
		s += ", " + k.name + " " + k.value
	}
	return s
}

func (r *DequeResult) benchLine() (name string, values []Metric) { return r.benchName(), r.Metrics }

// benchName returns the name of the point's benchmark, without the word Benchmark.
func (p DequePoint) benchName() string {
	s := fmt.Sprintf("Deque/experiment=%s/deque=%s/capacity=%d", p.Experiment, p.Deque, p.Capacity)
	for _, k := range p.keys() {
		s += "/" + k.name + "=" + k.value
	}
	return s + fmt.Sprintf("/n=%d", p.N)
}

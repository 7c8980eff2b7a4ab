package bench

import (
	"fmt"
	"strconv"
)

// A DequePoint is what one repetition of a deque experiment is told. What an experiment has no use for is 0 or empty.
type DequePoint struct {
	Experiment string `json:"experiment"`
	Deque      string `json:"deque"`
	Capacity   int    `json:"capacity"`                 // of a queue; some kinds grow
	Block      int    `json:"block,omitempty"`          // items in a block, of kinds that have blocks
	Stolen     int    `json:"stolen_percent,omitempty"` // the share that was asked for; what was reached is a metric
	Thieves    int    `json:"thieves,omitempty"`
	Workers    int    `json:"workers,omitempty"`
	Tree       string `json:"tree,omitempty"`
	Work       int    `json:"work"` // spins after each operation, or for each node
	N          int    `json:"n"`    // pushes, steals or nodes
}

// A DequeResult is one repetition. The field names of its JSON form are part of the command line's interface. As with a
// [Result], one that is not verified is never reported: each item came out of the queue once.
type DequeResult struct {
	DequePoint
	Rep      int      `json:"rep"`
	Seed     uint64   `json:"seed"`
	WallNS   int64    `json:"wall_ns"` // of everything but the preparation; what was measured are the metrics
	CPUNS    int64    `json:"cpu_ns"`
	CPUUtil  float64  `json:"cpu_util"`
	VCtx     int64    `json:"vctx"`
	ICtx     int64    `json:"ictx"`
	Verified bool     `json:"verified"`
	Metrics  []Metric `json:"metrics"`
}

// A setting of a point, by the name of its flag.
type pointKey struct{ name, value string }

// keys are the settings that the experiment has, but for those that all have.
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

// key is the value of a setting, or empty.
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

// benchName is the name of its benchmark, without the word itself.
func (p DequePoint) benchName() string {
	s := fmt.Sprintf("Deque/experiment=%s/deque=%s/capacity=%d", p.Experiment, p.Deque, p.Capacity)
	for _, k := range p.keys() {
		s += "/" + k.name + "=" + k.value
	}
	return s + fmt.Sprintf("/n=%d", p.N)
}

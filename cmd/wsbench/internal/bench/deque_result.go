package bench

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
	Again      bool   `json:"again,omitempty"`
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

// Row returns the result as reports see it.
func (r DequeResult) Row() Row {
	return Row{Point: r.point(), Figures: r.Metrics, Verified: r.Verified}
}

// own returns the settings of the experiment, without those that all experiments have.
func (p DequePoint) own() Point {
	all := Point{}.With("block", p.Block).With("stolen", p.Stolen)
	if p.Experiment == ownerExperimentName && p.Stolen == 0 {
		all = all.withAny(Attribute{Name: "stolen", Value: "0"})
	}
	return all.With("thieves", p.Thieves).With("workers", p.Workers).With("tree", p.Tree).With("work", p.Work).
		again(p.Again)
}

func (p DequePoint) point() Point {
	all := Point{Kind: "Deque"}.With("experiment", p.Experiment).With("deque", p.Deque).With("capacity", p.Capacity)
	return all.withAny(p.own().Settings...).With("n", p.N)
}

func (p DequePoint) String() string {
	s := p.Deque
	for _, k := range p.own().Settings {
		s += ", " + k.Name + " " + k.Value
	}
	return s
}

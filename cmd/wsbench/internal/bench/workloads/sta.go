package workloads

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/goroutines"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/sta"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/plan"
)

// timing is what OpenTimer is to document 000: static timing analysis of a circuit with random changes, one after the
// other. Each change is followed by an incremental update, a task graph of its own; package sta documents it. As in
// OpenTimer the graph is built on one thread, which then waits for its run.
//
// The number of tasks of an update is not known in advance: -n is the number of changes.
var timing = &Workload{
	Name: "sta",
	About: "n changes of a circuit, each with an update of its timing, a task graph; -circuit c6288 is a 16×16 " +
		"multiplier of NOR gates, c6288-mapped one of a library, tv80 and b19 are random circuits of those sizes; " +
		"figures are per change",
	Size:    "changes; document 000 has 80800 for c6288, 51000 for tv80, 10100 for b19",
	Default: 500,
	Small:   2,
	Params:  []*Param{circuitParam, cornersParam, changesParam},
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Width: timingWidth, Data: timingBytes + changeBytes*float64(n)}
	},
	Program: func(n int, seed uint64, v Values) (Program, error) {
		return newTiming(n, seed, value[circuitSource](v, circuitParam).make(seed), value[int](v, cornersParam),
			value[timingChanges](v, changesParam))
	},
}

const (
	// timingWidth is more than the tasks of one update that are ready at once, in b19.
	timingWidth = 1 << 12
	// timingBytes is the memory for c6288 and tv80, with default corners.
	timingBytes = 32 << 20
	// netBytes is the memory of a net: in the circuit, in two timers without their corners, and in the graph of an
	// update of all nets.
	netBytes = 1000
	// cornerBytes is the memory of a net in a corner, in two timers.
	cornerBytes = 64
	// changeBytes is the memory of a change.
	changeBytes = 32
)

var cornersParam = IntParam("corners", "K", 16, 1, 256,
	"corners in which sta computes each time: the work of a task, 25 ns each")

var circuitParam = NewParam("circuit", "C", "c6288",
	"circuit of sta: "+circuitNames()+", or a file .bench or .v", parseCircuit)

// timingChanges are the changes that sta makes: of sizes only, or a fifth each that resize a gate, insert and remove a
// buffer, and connect and disconnect an input.
type timingChanges string

const (
	resizing   timingChanges = "resize"
	anyChanges timingChanges = "any"
)

var changesParam = NewParam("changes", "C", string(resizing),
	"changes of sta: resize, or any, also of gates and inputs", func(s string) (timingChanges, error) {
		if c := timingChanges(s); c == resizing || c == anyChanges {
			return c, nil
		}
		return "", fmt.Errorf("choose %s or %s", resizing, anyChanges)
	})

// A circuitSource is a value of circuitParam.
type circuitSource struct {
	name string
	make func(seed uint64) *circuit.Circuit
}

func (c circuitSource) String() string { return c.name }

// circuits are those that are not from a file.
var circuits = []circuitSource{
	{"c6288", func(uint64) *circuit.Circuit { return circuit.C6288() }},
	{"c6288-mapped", func(uint64) *circuit.Circuit { return circuit.C6288Mapped() }},
	{"tv80", circuit.TV80},
	{"b19", circuit.B19},
}

func circuitNames() string {
	var names []string
	for _, c := range circuits {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

func parseCircuit(s string) (circuitSource, error) {
	for _, c := range circuits {
		if c.name == s {
			return c, nil
		}
	}
	if ext := filepath.Ext(s); ext != ".bench" && ext != ".v" {
		return circuitSource{}, fmt.Errorf("choose %s, or a file whose name ends in .bench or .v", circuitNames())
	}
	c, err := circuit.Read(s)
	if err != nil {
		return circuitSource{}, input.Errorf("%v", err)
	}
	// The name becomes a part of the name of a benchmark, in which there are no blanks.
	name := strings.Join(strings.Fields(filepath.Base(s)), "_")
	return circuitSource{name, func(uint64) *circuit.Circuit { return c }}, nil
}

type timingProgram struct {
	changes []sta.Change
	circuit *circuit.Circuit // without spare gates
	timer   *sta.Timer
	full    *sta.Timer // for full analyses
	slacks  uint64     // checksum of the slacks after each change
	want    uint64
	err     error // of a run with goroutines
}

func newTiming(n int, seed uint64, c *circuit.Circuit, corners int, changes timingChanges) (*timingProgram, error) {
	nets := float64(c.Len())
	if changes == anyChanges {
		nets *= 2
	}
	need := nets*(netBytes+cornerBytes*float64(corners)) + changeBytes*float64(n)
	if have := Available(); need > have {
		return nil, input.Errorf("sta needs about %s for %s with -corners %d, and %s are available: choose fewer",
			GiB(need), c.Name, corners, GiB(have))
	}
	// The clock is a tenth too fast for the circuit before the changes.
	latest := sta.New(c, 0, corners).Latest()
	p := &timingProgram{circuit: c}
	var spread *circuit.Spread
	if changes == anyChanges {
		spread = circuit.SpreadOf(c)
		c = spread.Circuit
	}
	p.timer = sta.New(c, 0.9*latest, corners)
	p.full = p.timer.Copy()

	rng := splitmix64(seed)
	changer := sta.NewChanger(p.full, spread, rng.next)
	for range n {
		p.changes = append(p.changes, changer.Next())
	}

	p.Reset()
	p.Serial()
	p.want = p.slacks
	return p, p.Verify()
}

// apply makes the changes one after the other. run runs the update after each.
func (p *timingProgram) apply(run func(u *sta.Update) error) error {
	for _, c := range p.changes {
		p.timer.Do(c)
		if err := run(p.timer.Update()); err != nil {
			return err
		}
		worst, total := p.timer.Slack()
		for _, slack := range []float64{worst, total} {
			p.slacks = (p.slacks ^ math.Float64bits(slack)) * fnvPrime
		}
	}
	return nil
}

// Serial computes the same cones without making graphs of them.
func (p *timingProgram) Serial() {
	_ = p.apply(func(u *sta.Update) error { // no task fails
		u.Serial()
		return nil
	})
}

func (p *timingProgram) Magpie(ex *executor.Executor) error {
	return p.apply(func(u *sta.Update) error { return ex.Run(context.Background(), u.Graph()) })
}

// Goroutines runs the plan of each graph as engine goroutines does.
func (p *timingProgram) Goroutines(int) {
	p.err = p.apply(func(u *sta.Update) error {
		tasks, err := plan.Of(u.Graph())
		if err != nil {
			return err
		}
		return goroutines.New(tasks).Run(context.Background())
	})
}

func (p *timingProgram) Reset() {
	p.timer.Reset()
	p.slacks, p.err = fnvOffset, nil
}

// Verify compares the times with those of a full analysis, bit for bit, and the slacks after each change with those of
// serial updates.
func (p *timingProgram) Verify() error {
	if p.err != nil {
		return p.err
	}
	p.full.Resemble(p.timer)
	if n, differs := p.timer.FirstDifference(p.full); differs {
		return fmt.Errorf("the times of net %s are not those of a full analysis", p.timer.Circuit().NameOf(n))
	}
	if p.slacks != p.want {
		return fmt.Errorf("the slacks after the changes have the checksum %#x, those of serial updates %#x",
			p.slacks, p.want)
	}
	return nil
}

// Properties implements [Propertied]: the columns of document 000's Table I.
func (p *timingProgram) Properties() []Property {
	return []Property{{"gates", float64(p.circuit.Gates())}, {"nets", float64(p.circuit.Len())}}
}

package sta

import (
	"math"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
)

// A Timer has the timing of a circuit. It serves one goroutine at a time, besides the tasks of an update.
type Timer struct {
	circuit *circuit.Circuit
	period  float64
	corners []corner
	wiring
	gates   []technology // by net: of its gate, with the inputs that it has
	sizes   []float64    // by net: of its gate
	times   []timing     // by net, and for each net by corner
	scratch scratch      // of updates
}

// timing has the times of a net in a corner, in picoseconds. An input has no delay.
type timing struct{ slew, delay, arrival, required float64 }

// The technology: capacitances in femtofarads, times in picoseconds. The values are made up, of the order of those of a
// 45 nm library; nothing depends on them but how critical a path is.
const (
	wireLoad   = 0.4 // of each pin that is driven
	outputLoad = 4.0 // of an output
	inputSlew  = 10.0
	slewDelay  = 0.2 // delay for each picosecond of input slew
	slewCarry  = 0.1 // slew for each picosecond of input slew
	slewDrive  = 1.4 // slew for each picosecond of load-dependent delay
)

// A technology has the properties of a kind of gate with size 1 and two inputs; another input makes it slower and
// larger by a half.
type technology struct {
	intrinsic float64 // delay without load
	drive     float64 // delay for each femtofarad of load
	pin       float64 // capacitance of an input
}

var technologies = [...]technology{
	circuit.Input: {},
	circuit.Buf:   {9, 3.2, 0.9},
	circuit.Not:   {4, 3.0, 1.0},
	circuit.And:   {14, 3.4, 1.0},
	circuit.Nand:  {7, 3.8, 1.1},
	circuit.Or:    {17, 3.6, 1.0},
	circuit.Nor:   {9, 5.0, 1.2},
	circuit.Xor:   {21, 5.2, 1.9},
	circuit.Xnor:  {20, 5.2, 1.9},
}

func technologyOf(kind circuit.Kind, inputs int) technology {
	k := technologies[kind]
	if more := inputs - 2; more > 0 {
		factor := 1 + float64(more)/2
		k.intrinsic *= factor
		k.pin *= factor
	}
	return k
}

// A corner is a combination of process, voltage and temperature: all gates, and all wires, differ from the nominal ones
// by a factor.
type corner struct{ gate, wire float64 }

// newCorners returns n corners. The first is the nominal one. Others are within 30 % for gates and 20 % for wires, at
// places that fill these ranges evenly whatever n is.
func newCorners(n int) (all []corner) {
	fraction := func(x float64) float64 { return x - math.Floor(x) }
	for i := range n {
		k := float64(i)
		all = append(all, corner{0.7 + 0.6*fraction(0.5+k*math.Phi), 0.8 + 0.4*fraction(0.5+k*math.Sqrt2)})
	}
	return all
}

// New returns the timing of c in a number of corners, with all gates of size 1.
func New(c *circuit.Circuit, period float64, corners int) *Timer {
	t := &Timer{
		circuit: c,
		period:  period,
		corners: newCorners(corners),
		gates:   make([]technology, c.Len()),
		sizes:   make([]float64, c.Len()),
		times:   make([]timing, c.Len()*corners),
	}
	t.wiring.make(c.Len())
	t.scratch.make(c.Len())
	t.Reset()
	return t
}

// Reset gives all gates size 1 and the inputs that they have in the circuit, and computes the timing of the whole
// circuit.
func (t *Timer) Reset() {
	for i := range t.sizes {
		t.sizes[i] = 1
	}
	if t.edited {
		t.begin(t.circuit)
		for n := range t.gates {
			t.gates[n] = technologyOf(t.circuit.Kind(circuit.Net(n)), len(t.fanins[n]))
		}
	}
	t.Full()
}

// of returns the times of a net, by corner.
func (t *Timer) of(n circuit.Net) []timing {
	k := len(t.corners)
	return t.times[int(n)*k:][:k]
}

// Full computes the timing of the whole circuit, net by net. No update is pending then.
func (t *Timer) Full() {
	t.scratch.changed = t.scratch.changed[:0]
	c := t.circuit
	for n := range circuit.Net(c.Inputs()) {
		for i := range t.corners {
			t.of(n)[i] = timing{slew: inputSlew}
		}
	}
	for n := circuit.Net(c.Inputs()); int(n) < c.Len(); n++ {
		t.forward(n)
	}
	for n := c.Len() - 1; n >= 0; n-- {
		t.backward(circuit.Net(n))
	}
}

// forward computes the slews, delays and arrival times of a gate from the slews and arrival times of the nets that it
// reads, and from the sizes of the gates that read it. The conversions forbid fused multiplications: the times are the
// same on every machine.
func (t *Timer) forward(gate circuit.Net) {
	readers := t.fanouts[gate]
	wires := wireLoad * float64(len(readers))
	pins := 0.0
	for _, to := range readers {
		pins += float64(t.gates[to].pin * t.sizes[to])
	}
	if t.circuit.IsOutput(gate) {
		pins += outputLoad
	}
	of, k := t.of(gate), t.gates[gate]
	resistance := k.drive / t.sizes[gate]
	for i, corner := range t.corners {
		slew, arrival := 0.0, 0.0
		for _, from := range t.fanins[gate] {
			n := &t.of(from)[i]
			slew = max(slew, n.slew)
			arrival = max(arrival, n.arrival)
		}
		driving := float64(corner.gate*resistance) * (pins + float64(corner.wire*wires))
		n := &of[i]
		n.delay = float64(corner.gate*k.intrinsic) + driving + float64(slewDelay*slew)
		n.slew = float64(slewDrive*driving) + float64(slewCarry*slew)
		n.arrival = arrival + n.delay
	}
}

// backward computes the required times of a net from those of the gates that read it, and their delays. They are
// infinite for a net from which no output is reached.
func (t *Timer) backward(net circuit.Net) {
	latest := math.Inf(1)
	if t.circuit.IsOutput(net) {
		latest = t.period
	}
	of := t.of(net)
	for i := range of {
		required := latest
		for _, to := range t.fanouts[net] {
			n := &t.of(to)[i]
			required = min(required, n.required-n.delay)
		}
		of[i].required = required
	}
}

// Circuit returns the circuit.
func (t *Timer) Circuit() *circuit.Circuit { return t.circuit }

// Size returns the size of a gate.
func (t *Timer) Size(gate circuit.Net) float64 { return t.sizes[gate] }

// Slack returns the worst slack of an output, and the sum of all negative ones: the worst and the total negative slack,
// over all corners.
func (t *Timer) Slack() (worst, total float64) {
	worst = math.Inf(1)
	for _, n := range t.circuit.Outputs() {
		for _, times := range t.of(n) {
			slack := t.period - times.arrival
			worst = min(worst, slack)
			total += min(slack, 0)
		}
	}
	return worst, total
}

// Latest returns the arrival time of the latest output in any corner: the shortest period without negative slack.
func (t *Timer) Latest() (latest float64) {
	for _, n := range t.circuit.Outputs() {
		for _, times := range t.of(n) {
			latest = max(latest, times.arrival)
		}
	}
	return latest
}

// Copy returns a timer with the sizes and inputs of t, whose times are those of a full analysis. What does not change
// is shared.
func (t *Timer) Copy() *Timer {
	c := &Timer{circuit: t.circuit, period: t.period, corners: t.corners, gates: make([]technology, len(t.gates))}
	c.wiring.make(len(t.fanins))
	c.sizes, c.times = make([]float64, len(t.sizes)), make([]timing, len(t.times))
	c.scratch.make(len(t.sizes))
	c.Resemble(t)
	return c
}

// Resemble gives t the sizes and inputs of other, which has the same circuit, and computes its times by a full
// analysis.
func (t *Timer) Resemble(other *Timer) {
	copy(t.sizes, other.sizes)
	copy(t.gates, other.gates)
	t.wiring.resemble(&other.wiring)
	t.Full()
}

// FirstDifference returns a net whose size or times are not bit for bit those of other, which has the same circuit and
// corners.
func (t *Timer) FirstDifference(other *Timer) (n circuit.Net, differs bool) {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	for n := range circuit.Net(t.circuit.Len()) {
		if !same(t.sizes[n], other.sizes[n]) {
			return n, true
		}
		for i, a := range t.of(n) {
			b := other.of(n)[i]
			if !same(a.slew, b.slew) || !same(a.delay, b.delay) || !same(a.arrival, b.arrival) ||
				!same(a.required, b.required) {
				return n, true
			}
		}
	}
	return 0, false
}

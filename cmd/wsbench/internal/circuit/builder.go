package circuit

import (
	"fmt"
	"math"
	"strings"
)

// A builder collects the inputs, gates and outputs of a circuit, in any order, by the names of their nets.
type builder struct {
	file    string
	nets    []netPart
	byName  map[string]uint32
	inputs  []uint32 // declared, then outputs of flip-flops
	cut     []uint32 // outputs of flip-flops
	gates   []gatePart
	pins    []uint32 // inputs of all gates
	outputs []uint32
	data    []uint32 // data pins of flip-flops
}

type netPart struct {
	name   string
	at     Pos // of the first mention
	driver Pos
	gate   int // that drives it, or noGate
	driven bool
	output bool // declared
	listed bool // in the outputs of the circuit, see circuit
}

const noGate = -1

type gatePart struct {
	kind     Kind
	net      uint32
	from, to int // the inputs in pins
	at       Pos
}

func newBuilder(file string) *builder { return &builder{file: file, byName: make(map[string]uint32)} }

func (b *builder) errorf(at Pos, format string, args ...any) error {
	return &Error{b.file, at, fmt.Sprintf(format, args...)}
}

func (b *builder) net(at Pos, name string) uint32 {
	n, ok := b.byName[name]
	if !ok {
		n = uint32(len(b.nets))
		b.byName[name] = n
		b.nets = append(b.nets, netPart{name: name, at: at, gate: noGate})
	}
	return n
}

// drive records that net n has a driver.
func (b *builder) drive(at Pos, n uint32, gate int) error {
	net := &b.nets[n]
	if net.driven {
		first := ""
		if net.driver.Line > 0 {
			first = fmt.Sprintf(", first at line %d", net.driver.Line)
		}
		return b.errorf(at, "net %s is driven twice%s: an input, a gate or a flip-flop drives it, and only one of "+
			"them: rename one", net.name, first)
	}
	net.driven, net.driver, net.gate = true, at, gate
	return nil
}

func (b *builder) input(at Pos, name string) error {
	n := b.net(at, name)
	b.inputs = append(b.inputs, n)
	return b.drive(at, n, noGate)
}

func (b *builder) output(at Pos, name string) error {
	n := b.net(at, name)
	if b.nets[n].output {
		return b.errorf(at, "net %s is declared an output twice: remove one declaration", name)
	}
	b.nets[n].output = true
	b.outputs = append(b.outputs, n)
	return nil
}

// flipFlop cuts a flip-flop.
func (b *builder) flipFlop(at Pos, q, d string) error {
	b.flipFlopData(at, d)
	return b.flipFlopOutput(at, q)
}

func (b *builder) flipFlopData(at Pos, name string) { b.data = append(b.data, b.net(at, name)) }

func (b *builder) flipFlopOutput(at Pos, name string) error {
	n := b.net(at, name)
	b.cut = append(b.cut, n)
	return b.drive(at, n, noGate)
}

// gate adds a gate. The names of its nets are at the same place.
func (b *builder) gate(at Pos, kind Kind, output string, inputs ...string) error {
	switch {
	case len(inputs) == 0:
		return b.errorf(at, "gate %s has no inputs: give it one", output)
	case kind.single() && len(inputs) > 1:
		return b.errorf(at, "gate %s is a %v with %d inputs: it has one", output, kind, len(inputs))
	}
	from := len(b.pins)
	for _, name := range inputs {
		b.pins = append(b.pins, b.net(at, name))
	}
	n := b.net(at, output)
	b.gates = append(b.gates, gatePart{kind, n, from, len(b.pins), at})
	return b.drive(at, n, len(b.gates)-1)
}

func (b *builder) pinsOf(gate int) []uint32 { return b.pins[b.gates[gate].from:b.gates[gate].to] }

// circuit returns the circuit, and the builder is of no more use. The inputs are in the order of their declaration;
// outputs of flip-flops come after those. Gates of one level are in the order in which they were added.
func (b *builder) circuit(name string) (*Circuit, error) {
	for i := range b.nets {
		if n := &b.nets[i]; !n.driven {
			return nil, b.errorf(n.at, "net %s is used and nothing drives it: declare it an input or add its gate; "+
				"or the file is cut in half", n.name)
		}
	}
	outputs := b.allOutputs()
	switch {
	case len(b.gates) == 0:
		return nil, b.errorf(Pos{}, "the circuit has no gates: is this the right file, and all of it?")
	case len(outputs) == 0:
		return nil, b.errorf(Pos{}, "the circuit has no outputs: declare one, or the file is cut in half")
	case len(b.nets) > math.MaxInt32 || len(b.pins) > math.MaxInt32:
		return nil, b.errorf(Pos{}, "the circuit has more than %d nets or pins: split it", math.MaxInt32)
	}
	levels, err := b.levels()
	if err != nil {
		return nil, err
	}
	order := append(b.inputs, b.cut...)
	inputs := len(order)
	order = append(order, b.byLevel(levels)...)
	numbers := make([]Net, len(order))
	for i, n := range order {
		numbers[n] = Net(i)
	}

	c := &Circuit{
		Name:    name,
		inputs:  inputs,
		kinds:   make([]Kind, len(order)),
		levels:  make([]uint32, len(order)),
		names:   make([]string, len(order)),
		fanins:  lists{make([]uint32, 1, len(order)+1), make([]Net, 0, len(b.pins))},
		outputs: make([]Net, len(outputs)),
		output:  make([]bool, len(order)),
	}
	for i, n := range order {
		net := &b.nets[n]
		c.names[i] = net.name
		if net.gate != noGate {
			c.kinds[i], c.levels[i] = b.gates[net.gate].kind, levels[net.gate]
			for _, p := range b.pinsOf(net.gate) {
				c.fanins.all = append(c.fanins.all, numbers[p])
			}
		}
		c.fanins.ends = append(c.fanins.ends, uint32(len(c.fanins.all)))
	}
	c.fanouts = c.fanins.reverse()
	for i, n := range outputs {
		c.outputs[i] = numbers[n]
		c.output[numbers[n]] = true
	}
	return c, nil
}

// allOutputs lists the outputs that are declared, and then the data pins of flip-flops that are not among them.
func (b *builder) allOutputs() (all []uint32) {
	for _, n := range append(b.outputs, b.data...) {
		if net := &b.nets[n]; !net.listed {
			net.listed = true
			all = append(all, n)
		}
	}
	return all
}

// levels returns the level of each gate, or an error that names the gates of a cycle.
func (b *builder) levels() ([]uint32, error) {
	drivers := lists{make([]uint32, 1, len(b.gates)+1), make([]Net, 0, len(b.pins))} // by gate, all numbers of gates
	left := make([]int, len(b.gates))                                                // by gate: drivers without level
	var ready []Net
	for i := range b.gates {
		for _, p := range b.pinsOf(i) {
			if from := b.nets[p].gate; from != noGate {
				drivers.all = append(drivers.all, Net(from))
				left[i]++
			}
		}
		drivers.ends = append(drivers.ends, uint32(len(drivers.all)))
		if left[i] == 0 {
			ready = append(ready, Net(i))
		}
	}
	readers := drivers.reverse()
	levels := make([]uint32, len(b.gates))
	for done := 0; done < len(ready); done++ {
		from := ready[done]
		for _, to := range readers.of(from) {
			levels[to] = max(levels[to], levels[from]+1)
			if left[to]--; left[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	if len(ready) < len(b.gates) {
		return nil, b.cycleError(left)
	}
	for i := range levels {
		levels[i]++ // the inputs have level 0
	}
	return levels, nil
}

// cycleError names the gates of a cycle. Every gate with left > 0 reads another such gate, so a walk from gate to
// driver comes round.
func (b *builder) cycleError(left []int) error {
	at := 0
	for left[at] == 0 {
		at++
	}
	seen := make(map[int]int)
	var path []int
	for {
		if first, ok := seen[at]; ok {
			path = path[first:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, p := range b.pinsOf(at) {
			if from := b.nets[p].gate; from != noGate && left[from] > 0 {
				at = from
				break
			}
		}
	}
	// The path leads from gates to their drivers. It is shown in the direction of the signals, from the gate that the
	// file has first.
	first := 0
	for i := range path {
		if path[i] < path[first] {
			first = i
		}
	}
	const most = 12 // names that fit in a message
	var names []string
	for i := range path {
		if i == most && len(path) > most+1 {
			names = append(names, fmt.Sprintf("… (%d more)", len(path)-most))
			break
		}
		names = append(names, b.nets[b.gates[path[(first-i+len(path))%len(path)]].net].name)
	}
	names = append(names, b.nets[b.gates[path[first]].net].name)
	return b.errorf(b.gates[path[first]].at, "gates form a cycle, %s: cut it, for example with a flip-flop",
		strings.Join(names, " → "))
}

// byLevel lists the nets of all gates in the order of levels, and within a level in the order of adding.
func (b *builder) byLevel(levels []uint32) []uint32 {
	highest := uint32(0)
	for _, l := range levels {
		highest = max(highest, l)
	}
	next := make([]int, highest+2) // by level: the place of its next gate
	for _, l := range levels {
		next[l+1]++
	}
	for i := range highest + 1 {
		next[i+1] += next[i]
	}
	order := make([]uint32, len(levels))
	for i, l := range levels {
		order[next[l]] = b.gates[i].net
		next[l]++
	}
	return order
}

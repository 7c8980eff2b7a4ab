package circuit

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A cell is what the name of a library's cell says: how an instance is added to the circuit.
type cell struct {
	form   form
	kind   Kind
	inputs int // of a gate; 0: any number

	// A grouped cell has gates of kind inner, and a last one of kind that reads them: AOI21 has And and Nor. The pins
	// of a group have a letter in common. groups are the sizes, ascending.
	inner  Kind
	groups []int
}

type form uint8

const (
	oneGate form = iota
	grouped
	flipFlop
	multiplexer // of two
	halfAdder
	fullAdder
)

// drive is the end of a cell's name, in one of the usual spellings of a drive strength: _X1, x4, _1, D1BWP.
const drive = `([_XD]+\d+[A-Z]*)?$`

// A letter in another place makes another function, as in AND2B.
var (
	gateName     = regexp.MustCompile(`^(CLKINV|INV|NOT|CLKBUF|BUF|NAND|AND|NOR|OR|XNOR|XOR)(\d*)` + drive)
	groupedName  = regexp.MustCompile(`^(AOI|OAI|AO|OA)(\d{2,})` + drive)
	groupedOpen  = regexp.MustCompile(`^(A|O)(\d{2,})(OI|AI|O|A)` + drive) // as in a21oi
	otherName    = regexp.MustCompile(`^(MUX2|HA|FA)` + drive)
	flipFlopName = regexp.MustCompile(`^S?DFF`)
)

var groupedKinds = map[string]cell{
	"AOI": {inner: And, kind: Nor}, "OAI": {inner: Or, kind: Nand}, "AO": {inner: And, kind: Or},
	"OA": {inner: Or, kind: And},
}

var otherForms = map[string]form{"MUX2": multiplexer, "HA": halfAdder, "FA": fullAdder}

const knownCells = "cells are read whose name begins with INV, BUF, AND, NAND, OR, NOR, XOR, XNOR, AOI, OAI, AO, OA, " +
	"MUX2, HA, FA or DFF, as NAND2_X1; map the circuit to those"

// cellOf returns the cell with a name of some library. The part up to the last double underscore is the library's.
func cellOf(name string) (cell, bool) {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	name = strings.ToUpper(name)
	if flipFlopName.MatchString(name) {
		return cell{form: flipFlop}, true
	}
	if m := gateName.FindStringSubmatch(name); m != nil {
		c := cell{kind: kindsByName[strings.TrimPrefix(m[1], "CLK")]}
		if !c.kind.single() { // a digit after INV or BUF is a drive strength
			c.inputs, _ = strconv.Atoi(m[2]) // 0 if there is none, or the number is out of range
		}
		return c, true
	}
	if m := groupedName.FindStringSubmatch(name); m != nil {
		return groupedCell(m[1], m[2])
	}
	if m := groupedOpen.FindStringSubmatch(name); m != nil {
		return groupedCell(m[1]+m[3], m[2])
	}
	if m := otherName.FindStringSubmatch(name); m != nil {
		return cell{form: otherForms[m[1]]}, true
	}
	return cell{}, false
}

func groupedCell(kinds, sizes string) (cell, bool) {
	c, ok := groupedKinds[kinds]
	c.form = grouped
	for _, digit := range []byte(sizes) {
		c.groups = append(c.groups, int(digit-'0'))
	}
	slices.Sort(c.groups)
	return c, ok
}

// A pin is the connection of a pin of a cell. The net of an open pin has the empty name.
type pin struct{ name, net string }

// The usual names of output pins, in upper case.
var (
	outputPins   = []string{"Y", "Z", "ZN", "X", "O", "Q", "OUT", "OUTPUT"}
	flopPins     = []string{"Q", "QN", "QB", "Q_N"}
	sumPins      = []string{"S", "SUM"}
	carryPins    = []string{"CO", "COUT"}
	selectorPins = []string{"S", "S0"}
)

// An instance is one instance of a cell, which is being added.
type instance struct {
	*builder
	cell
	cellName string
	name     string
	at       Pos
	pins     []pin
}

// take removes a pin with one of these names from the pins, and returns its net.
func (i *instance) take(names ...string) (net string, ok bool) {
	at := slices.IndexFunc(i.pins, func(p pin) bool { return slices.Contains(names, strings.ToUpper(p.name)) })
	if at < 0 {
		return "", false
	}
	net = i.pins[at].net
	i.pins = slices.Delete(i.pins, at, at+1)
	return net, true
}

// add adds the instance to the circuit. Cells with a function that no gate has become several gates. The nets between
// those have the name of the instance before a dot.
func (i *instance) add() error {
	switch i.form {
	case flipFlop:
		return i.addFlipFlop()
	case halfAdder, fullAdder:
		return i.addAdder()
	}
	output, ok := i.take(outputPins...)
	switch {
	case !ok:
		return i.errorf(i.at, "%s has no output: name its pin Y, Z, ZN, X, O, Q or OUT", i.name)
	case output == "":
		return i.errorf(i.at, "the output of %s is open: connect it", i.name)
	}
	if p := slices.IndexFunc(i.pins, func(p pin) bool {
		return slices.Contains(outputPins, strings.ToUpper(p.name))
	}); p >= 0 {
		return i.errorf(i.at, "%s has two outputs: %s has one", i.name, i.cellName)
	}
	switch i.form {
	case grouped:
		return i.addGrouped(output)
	case multiplexer:
		return i.addMultiplexer(output)
	}
	inputs, err := i.inputs(i.cell.inputs)
	if err != nil {
		return err
	}
	return i.gate(i.at, i.kind, output, inputs...)
}

// inputs returns the nets of the pins that are left. There must be that many, if it is not 0.
func (i *instance) inputs(want int) (nets []string, err error) {
	for _, p := range i.pins {
		if p.net == "" {
			return nil, i.errorf(i.at, "pin %s of %s is open: connect it", p.name, i.name)
		}
		nets = append(nets, p.net)
	}
	if want != 0 && len(nets) != want {
		return nil, i.errorf(i.at, "%s has %d inputs, and %s has %d", i.name, len(nets), i.cellName, want)
	}
	return nets, nil
}

// inner adds a gate inside the cell, and returns the name of its net.
func (i *instance) inner(suffix string, kind Kind, inputs ...string) (string, error) {
	net := i.name + "." + suffix
	return net, i.gate(i.at, kind, net, inputs...)
}

func (i *instance) addGrouped(output string) error {
	want := 0
	for _, size := range i.groups {
		want += size
	}
	if _, err := i.inputs(want); err != nil {
		return err
	}
	var letters []string
	groups := make(map[string][]string)
	for _, p := range i.pins {
		letter := strings.ToUpper(p.name[:1])
		if groups[letter] == nil {
			letters = append(letters, letter)
		}
		groups[letter] = append(groups[letter], p.net)
	}
	var sizes []int
	var last []string
	for _, letter := range letters {
		nets := groups[letter]
		sizes = append(sizes, len(nets))
		if len(nets) == 1 {
			last = append(last, nets[0])
			continue
		}
		net, err := i.inner(letter, i.cell.inner, nets...)
		if err != nil {
			return err
		}
		last = append(last, net)
	}
	slices.Sort(sizes)
	if !slices.Equal(sizes, i.groups) {
		return i.errorf(i.at, "the pins of %s are not grouped as %s says: name those of a group A1, A2, those of the "+
			"next B1, B2, and so on", i.name, i.cellName)
	}
	return i.gate(i.at, i.kind, output, last...)
}

func (i *instance) addMultiplexer(output string) error {
	selector, ok := i.take(selectorPins...)
	if !ok || selector == "" {
		return i.errorf(i.at, "%s has no pin S: connect it", i.name)
	}
	slices.SortFunc(i.pins, func(a, b pin) int { return cmp.Compare(a.name, b.name) })
	data, err := i.inputs(2)
	if err != nil {
		return err
	}
	not, err := i.inner("N", Not, selector)
	if err != nil {
		return err
	}
	first, err := i.inner("A", And, data[0], not)
	if err != nil {
		return err
	}
	second, err := i.inner("B", And, data[1], selector)
	if err != nil {
		return err
	}
	return i.gate(i.at, Or, output, first, second)
}

// addAdder adds the gates of the outputs that are connected.
func (i *instance) addAdder() error {
	sum, _ := i.take(sumPins...)
	carry, _ := i.take(carryPins...)
	want := 2
	if i.form == fullAdder {
		want = 3
	}
	in, err := i.inputs(want)
	if err != nil {
		return err
	}
	if sum != "" {
		if err := i.gate(i.at, Xor, sum, in...); err != nil {
			return err
		}
	}
	if carry == "" {
		return nil
	}
	if i.form == halfAdder {
		return i.gate(i.at, And, carry, in...)
	}
	var pairs []string
	for k, suffix := range []string{"A", "B", "C"} {
		pair, err := i.inner(suffix, And, in[k], in[(k+1)%3])
		if err != nil {
			return err
		}
		pairs = append(pairs, pair)
	}
	return i.gate(i.at, Or, carry, pairs...)
}

func (i *instance) addFlipFlop() error {
	data, _ := i.take("D")
	if data == "" {
		return i.errorf(i.at, "flip-flop %s has no pin D: connect it", i.name)
	}
	i.flipFlopData(i.at, data)
	for {
		output, ok := i.take(flopPins...)
		if !ok {
			return nil
		}
		if output != "" {
			if err := i.flipFlopOutput(i.at, output); err != nil {
				return err
			}
		}
	}
}

package circuit

import "strings"

// A Kind is a function of gates. All of them are symmetric: the order of a gate's inputs does not matter.
type Kind uint8

const (
	Input Kind = iota // not a gate: the net is an input of the circuit
	Buf
	Not
	And
	Nand
	Or
	Nor
	Xor
	Xnor
)

var kindNames = [...]string{"INPUT", "BUF", "NOT", "AND", "NAND", "OR", "NOR", "XOR", "XNOR"}

func (k Kind) String() string { return kindNames[k] }

// kindsByName has the names of gates in .bench files, in upper case.
var kindsByName = map[string]Kind{
	"BUF": Buf, "BUFF": Buf, "NOT": Not, "INV": Not, "AND": And, "NAND": Nand, "OR": Or, "NOR": Nor, "XOR": Xor,
	"XNOR": Xnor,
}

func kindOf(name string) (Kind, bool) {
	k, ok := kindsByName[strings.ToUpper(name)]
	return k, ok
}

// single reports whether gates of kind k have exactly one input. Others have one or more.
func (k Kind) single() bool { return k == Buf || k == Not }

// eval returns the output of a gate. Each bit of a word is one case.
func (k Kind) eval(inputs []Net, values []uint64) uint64 {
	v := values[inputs[0]]
	switch k {
	case And, Nand:
		for _, i := range inputs[1:] {
			v &= values[i]
		}
	case Or, Nor:
		for _, i := range inputs[1:] {
			v |= values[i]
		}
	case Xor, Xnor:
		for _, i := range inputs[1:] {
			v ^= values[i]
		}
	}
	switch k {
	case Not, Nand, Nor, Xnor:
		return ^v
	}
	return v
}

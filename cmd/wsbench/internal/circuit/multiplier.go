package circuit

import (
	"fmt"
	"slices"
	"strconv"
)

// C6288 returns the ISCAS-85 benchmark c6288, a multiplier of two numbers of 16 bits. It is the published netlist, gate
// by gate, with its names and the order of its pins: 256 AND gates make the partial products, and 240 adders of nine
// NOR gates add them, in 15 rows and a last row in which the carry ripples. 16 adders have only two inputs, and there
// two NOR gates become NOT gates. Inputs are the bits of the first factor and then those of the second; outputs are the
// bits of the product. Both begin with the lowest. (The published file has the last two outputs in reverse.)
//
// The netlist has 2416 gates, in 124 levels; tables of the benchmark say 2406. See [C6288Mapped] for a smaller one.
func C6288() *Circuit { return multiply("c6288", (*multiplier).adder) }

// C6288Mapped returns c6288 mapped to a library with XNOR gates: an adder is two of these, three NAND gates and a NOT
// gate. It has 1664 gates, in 89 levels. Table I of Lin, Huang and Wong (2020) has 1.7 thousand for c6288, which is
// such a circuit: the netlist in OpenTimer's repository (commit 1608e74a) has 1667 cells, among them 449 XNOR and XOR,
// 873 NAND and 228 NOT gates, in 81 levels.
func C6288Mapped() *Circuit { return multiply("c6288-mapped", (*multiplier).mappedAdder) }

// multiply returns the multiplier with these adders. Of their inputs b and c one may be none.
func multiply(name string, adder func(m *multiplier, a, b, c int) (sum, carry int)) *Circuit {
	m := new(multiplier)
	const bits = 16
	var a, b []int
	for range bits {
		a = append(a, m.input())
	}
	for range bits {
		b = append(b, m.input())
	}
	var products [bits][bits]int // by bit of a and bit of b
	for i := range bits {
		for j := range bits {
			products[i][j] = m.gate(And, a[i], b[j])
		}
	}
	// sums[i] and carries[i] are the results of column i of the row before. A row has no sum in its last column, but
	// the partial product of the highest bit of a.
	var sums, carries [bits]int
	for i := range bits {
		sums[i], carries[i] = products[i][0], none
	}
	m.outputs = append(m.outputs, sums[0])
	for j := 1; j < bits; j++ {
		for i := range bits - 1 {
			sums[i], carries[i] = adder(m, sums[i+1], carries[i], products[i][j])
		}
		sums[bits-1] = products[bits-1][j]
		m.outputs = append(m.outputs, sums[0])
	}
	carry := none
	for i := range bits - 1 {
		sums[i], carry = adder(m, sums[i+1], carries[i], carry)
		m.outputs = append(m.outputs, sums[i])
	}
	m.outputs = append(m.outputs, carry)
	return m.circuit(name)
}

// none is an input that an adder does not have.
const none = -1

// A multiplier has the gates of C6288. Inputs and gates are numbered in the order of adding.
type multiplier struct {
	parts   []part
	outputs []int
}

type part struct {
	kind  Kind
	pins  []int
	level int
	reads int // pins of gates that read it
}

func (m *multiplier) input() int {
	m.parts = append(m.parts, part{kind: Input})
	return len(m.parts) - 1
}

func (m *multiplier) gate(kind Kind, pins ...int) int {
	p := part{kind: kind, pins: pins}
	for _, from := range pins {
		m.parts[from].reads++
		p.level = max(p.level, m.parts[from].level+1)
	}
	m.parts = append(m.parts, p)
	return len(m.parts) - 1
}

// nor returns a NOR gate, or a NOT gate if b is none.
func (m *multiplier) nor(a, b int) int {
	if b == none {
		return m.gate(Not, a)
	}
	return m.gate(Nor, a, b)
}

// adder returns the sum and the carry of a, b and c, by NOR gates.
func (m *multiplier) adder(a, b, c int) (sum, carry int) {
	ab := m.nor(a, b)
	equal := m.gate(Nor, m.gate(Nor, a, ab), m.nor(ab, b)) // a and b are
	neither := m.nor(equal, c)
	left, right := m.gate(Nor, equal, neither), m.nor(neither, c)
	carry = m.gate(Nor, ab, neither)
	return m.gate(Nor, left, right), carry
}

// mappedAdder returns the same by gates of a library.
func (m *multiplier) mappedAdder(a, b, c int) (sum, carry int) {
	if b == none {
		b, c = c, none
	}
	equal, both := m.gate(Xnor, a, b), m.gate(Nand, a, b) // both is low if a and b are high
	differ := m.gate(Not, equal)
	if c == none {
		return differ, m.gate(Not, both)
	}
	return m.gate(Xnor, equal, c), m.gate(Nand, both, m.gate(Nand, differ, c))
}

// circuit names the nets as ISCAS-85 does: in the order of levels, each by the number of its line. A line is a net, or
// a branch of a net that is read more than once.
func (m *multiplier) circuit(name string) *Circuit {
	order := make([]int, len(m.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return m.parts[a].level - m.parts[b].level })
	names := make([]string, len(m.parts))
	line := 1
	for _, i := range order {
		names[i] = strconv.Itoa(line) + "gat"
		line++
		if reads := m.parts[i].reads; reads > 1 {
			line += reads
		}
	}
	b := newBuilder(name)
	for _, i := range order {
		var pins []string
		for _, p := range m.parts[i].pins {
			pins = append(pins, names[p])
		}
		if m.parts[i].kind == Input {
			must(b.input(Pos{}, names[i]))
		} else {
			must(b.gate(Pos{}, m.parts[i].kind, names[i], pins...))
		}
	}
	for _, i := range m.outputs {
		must(b.output(Pos{}, names[i]))
	}
	c, err := b.circuit(name)
	must(err)
	return c
}

// must panics if a generator has made something else than a circuit.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("circuit: %v", err))
	}
}

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
// The netlist has 2416 gates; tables of the benchmark say 2406. Table I of Lin, Huang and Wong (2020) has 1.7 thousand
// for c6288: that is the circuit after mapping to a library with XOR gates, of which OpenTimer's repository has a
// netlist with 1667 cells and 81 levels (commit 1608e74a). This one has 124 levels.
func C6288() *Circuit {
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
			sums[i], carries[i] = m.adder(sums[i+1], carries[i], products[i][j])
		}
		sums[bits-1] = products[bits-1][j]
		m.outputs = append(m.outputs, sums[0])
	}
	carry := none
	for i := range bits - 1 {
		sums[i], carry = m.adder(sums[i+1], carries[i], carry)
		m.outputs = append(m.outputs, sums[i])
	}
	m.outputs = append(m.outputs, carry)
	return m.circuit("c6288")
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

// adder returns the sum and the carry of a, b and c. Of b and c one may be none.
func (m *multiplier) adder(a, b, c int) (sum, carry int) {
	ab := m.nor(a, b)
	equal := m.gate(Nor, m.gate(Nor, a, ab), m.nor(ab, b)) // a and b are
	neither := m.nor(equal, c)
	left, right := m.gate(Nor, equal, neither), m.nor(neither, c)
	carry = m.gate(Nor, ab, neither)
	return m.gate(Nor, left, right), carry
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

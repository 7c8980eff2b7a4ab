package sta

import (
	"slices"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
)

// A Change is one of the operations of OpenTimer that its random tests make: repower_gate, insert_gate, remove_gate,
// connect_pin and disconnect_pin.
type Change struct {
	Operation Operation
	Gate      circuit.Net
	From      circuit.Net // of Insert, Connect and Disconnect
	To        circuit.Net // of Insert
	Size      float64     // of Resize
}

// An Operation is the kind of a Change, and the name of a method of [Timer].
type Operation int

const (
	Resize Operation = iota
	Insert
	Remove
	Connect
	Disconnect
	operations
)

// Do makes a change.
func (t *Timer) Do(c Change) {
	switch c.Operation {
	case Resize:
		t.Resize(c.Gate, c.Size)
	case Insert:
		t.Insert(c.Gate, c.From, c.To)
	case Remove:
		t.Remove(c.Gate)
	case Connect:
		t.Connect(c.Gate, c.From)
	case Disconnect:
		t.Disconnect(c.Gate, c.From)
	}
}

// A Changer draws changes of a timer's circuit, each for the circuit as the ones before have left it.
type Changer struct {
	timer    *Timer // has had all changes so far
	spread   *circuit.Spread
	next     func() uint64
	inserted []circuit.Net
}

// NewChanger returns a Changer that draws changes with next, and makes them on t. If t is a timer of a Spread, spread
// is that, and the changes are of all operations, as often as each other where they can be made. Otherwise spread is
// nil, and gates are resized.
func NewChanger(t *Timer, spread *circuit.Spread, next func() uint64) *Changer {
	return &Changer{timer: t, spread: spread, next: next}
}

// maxInputs is how many inputs a gate has at most when one is connected.
const maxInputs = 4

// Next draws a change and makes it.
func (c *Changer) Next() Change {
	change := c.draw()
	c.timer.Do(change)
	switch change.Operation {
	case Insert:
		c.inserted = append(c.inserted, change.Gate)
	case Remove:
		at := slices.Index(c.inserted, change.Gate)
		c.inserted = slices.Delete(c.inserted, at, at+1)
	}
	return change
}

func (c *Changer) draw() Change {
	gate := c.gate()
	if c.spread != nil {
		o := Operation(c.below(int(operations)))
		if change, ok := c.of(o, gate); ok {
			return change
		}
	}
	old, size := c.timer.Size(gate), 0.0
	for size = old; size == old; {
		size = float64(int(1) << c.below(4))
	}
	return Change{Operation: Resize, Gate: gate, Size: size}
}

// gate draws a gate that is no spare.
func (c *Changer) gate() circuit.Net {
	if c.spread != nil {
		of := c.spread.Of()
		return c.spread.Net(circuit.Net(of.Inputs() + c.below(of.Gates())))
	}
	of := c.timer.Circuit()
	return circuit.Net(of.Inputs() + c.below(of.Gates()))
}

// below draws a number from 0 to n-1.
func (c *Changer) below(n int) int { return int(c.next() % uint64(n)) }

// of draws a change by operation o at a gate. It returns false if there is none.
func (c *Changer) of(o Operation, gate circuit.Net) (change Change, ok bool) {
	inputs := c.timer.Fanin(gate)
	switch o {
	case Insert: // the spare of a net that the gate reads
		from := inputs[c.below(len(inputs))]
		n, isSpare := c.spread.Origin(from)
		spare := c.spread.Spare(n)
		return Change{Operation: o, Gate: spare, From: from, To: gate}, !isSpare && len(c.timer.Fanin(spare)) == 0
	case Remove:
		if n := len(c.inserted); n > 0 {
			return Change{Operation: o, Gate: c.inserted[c.below(n)]}, true
		}
	case Connect: // a net of a smaller number
		kind := c.spread.Kind(gate)
		n, _ := c.spread.Origin(gate)
		from := c.spread.Net(circuit.Net(c.below(int(n))))
		takesMore := kind != circuit.Buf && kind != circuit.Not && len(inputs) < maxInputs
		return Change{Operation: o, Gate: gate, From: from}, takesMore
	case Disconnect:
		return Change{Operation: o, Gate: gate, From: inputs[c.below(len(inputs))]}, len(inputs) > 1
	}
	return Change{}, false
}

package sta

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
)

// wiring says which nets each gate reads. It begins as that of the circuit. The lists are replaced, never written to:
// at first they are the circuit's own.
type wiring struct {
	fanins  [][]circuit.Net // by net
	fanouts [][]circuit.Net // by net: ascending, so that loads are added up in the same order whatever the changes were
	edited  bool            // it may not be that of the circuit
}

func (w *wiring) make(nets int) {
	w.fanins, w.fanouts, w.edited = make([][]circuit.Net, nets), make([][]circuit.Net, nets), true
}

// begin makes the wiring that of the circuit.
func (w *wiring) begin(c *circuit.Circuit) {
	for n := range circuit.Net(c.Len()) {
		w.fanins[n], w.fanouts[n] = c.Fanin(n), c.Fanout(n)
	}
	w.edited = false
}

// resemble makes the wiring that of other.
func (w *wiring) resemble(other *wiring) {
	copy(w.fanins, other.fanins)
	copy(w.fanouts, other.fanouts)
	w.edited = other.edited
}

// Fanin lists the nets that a gate reads. The caller must not change it.
func (t *Timer) Fanin(gate circuit.Net) []circuit.Net { return t.fanins[gate] }

// Fanout lists the gates that read a net, in ascending order. The caller must not change it.
func (t *Timer) Fanout(net circuit.Net) []circuit.Net { return t.fanouts[net] }

// Resize gives a gate another size, a positive number. The times are wrong until an update of it has run, as after
// every change.
func (t *Timer) Resize(gate circuit.Net, size float64) {
	t.sizes[gate] = size
	t.changed(gate)
	for _, from := range t.fanins[gate] {
		t.changed(from)
	}
}

// Connect lets a gate read one net more. The net must have a smaller number than the gate.
func (t *Timer) Connect(gate, from circuit.Net) {
	if from >= gate {
		panic(fmt.Sprintf("sta: gate %d cannot read net %d: a gate has a larger number than the nets that it reads",
			gate, from))
	}
	t.fanins[gate] = append(slices.Clip(t.fanins[gate]), from)
	readers := t.fanouts[from]
	at, _ := slices.BinarySearch(readers, gate)
	t.fanouts[from] = slices.Insert(slices.Clip(readers), at, gate)
	t.rewired(gate, from)
}

// Disconnect takes one of the nets that a gate reads from it.
func (t *Timer) Disconnect(gate, from circuit.Net) {
	at := slices.Index(t.fanins[gate], from)
	if at < 0 {
		panic(fmt.Sprintf("sta: gate %d does not read net %d", gate, from))
	}
	t.fanins[gate] = slices.Concat(t.fanins[gate][:at], t.fanins[gate][at+1:])
	readers := t.fanouts[from]
	at, _ = slices.BinarySearch(readers, gate)
	t.fanouts[from] = slices.Concat(readers[:at], readers[at+1:])
	t.rewired(gate, from)
}

// Insert puts a gate, which reads nothing and is not read, behind a net: another gate that reads the net reads the gate
// in its place.
func (t *Timer) Insert(gate, from, to circuit.Net) {
	t.Connect(gate, from)
	t.Disconnect(to, from)
	t.Connect(to, gate)
}

// Remove is the reverse of Insert, for a gate that reads one net: the gates that read it read that net in its place.
func (t *Timer) Remove(gate circuit.Net) {
	from := t.fanins[gate][0]
	for len(t.fanouts[gate]) > 0 {
		to := t.fanouts[gate][0]
		t.Disconnect(to, gate)
		t.Connect(to, from)
	}
	t.Disconnect(gate, from)
}

// rewired notes that a gate has begun or ceased to read a net.
func (t *Timer) rewired(gate, from circuit.Net) {
	t.edited = true
	t.gates[gate] = technologyOf(t.circuit.Kind(gate), len(t.fanins[gate]))
	t.changed(gate)
	t.changed(from)
	for _, from := range t.fanins[gate] { // the pins of a gate with more inputs are larger
		t.changed(from)
	}
}

// changed notes that the times of a net have changed, other than by those of other nets.
func (t *Timer) changed(n circuit.Net) { t.scratch.changed = append(t.scratch.changed, n) }

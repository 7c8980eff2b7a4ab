package sta

import (
	"context"
	"math/bits"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
	"github.com/magpie-go/magpie/graph"
)

// An Update computes again what the changes since the last update influence. It is valid until the next change, and it
// runs once.
type Update struct {
	timer *Timer
	// The cones. Forward is in ascending order and backward in descending order, so each net comes after those from
	// which its times are computed.
	forward, backward []circuit.Net
	edges             int // of the graph, or an upper bound
}

// scratch is memory that updates use one after the other.
type scratch struct {
	changed           []circuit.Net // since the last update
	forward, backward []circuit.Net
	members           bitset // a cone; empty between updates
	places            []uint32
	tasks             []graph.Task // zero between updates

	// The bodies of tasks, which are made with the first graph.
	forwardFuncs, backwardFuncs []func(context.Context) error
}

// absent is the place of a net that is not in the forward cone.
const absent = ^uint32(0)

func (s *scratch) make(nets int) {
	s.members = make(bitset, (nets+63)/64)
	s.places = make([]uint32, nets)
	for i := range s.places {
		s.places[i] = absent
	}
}

// Update returns the update for the changes since the last.
func (t *Timer) Update() *Update {
	s := &t.scratch
	u := &Update{timer: t}
	for _, n := range s.changed {
		if t.circuit.Kind(n) != circuit.Input {
			s.members.add(n)
		}
	}
	u.forward = s.forward[:0]
	for gate := range s.members.ascending {
		u.forward = append(u.forward, gate)
		for _, to := range t.fanouts[gate] {
			s.members.add(to)
		}
		u.edges += len(t.fanins[gate]) + 1
	}
	for _, gate := range u.forward {
		s.members.add(gate)
	}
	for _, n := range s.changed { // an input, too, has other readers
		s.members.add(n)
	}
	u.backward = s.backward[:0]
	for net := range s.members.descending {
		u.backward = append(u.backward, net)
		for _, from := range t.fanins[net] {
			s.members.add(from)
		}
		u.edges += len(t.fanins[net])
	}
	s.forward, s.backward, s.changed = u.forward, u.backward, s.changed[:0]
	return u
}

// Tasks returns the number of tasks.
func (u *Update) Tasks() int { return len(u.forward) + len(u.backward) }

// Serial runs the update on the calling goroutine, without a graph.
func (u *Update) Serial() {
	for _, gate := range u.forward {
		u.timer.forward(gate)
	}
	for _, net := range u.backward {
		u.timer.backward(net)
	}
}

// Graph returns the update as a graph with a task for each net of each cone.
func (u *Update) Graph() *graph.Graph {
	t := u.timer
	s := &t.scratch
	t.makeFuncs()
	g := graph.New("timing update")
	g.Reserve(u.Tasks(), u.edges)
	tasks := s.tasks[:0]
	for i, gate := range u.forward {
		task := g.Task(s.forwardFuncs[gate])
		tasks = append(tasks, task)
		s.places[gate] = uint32(i)
		for _, from := range t.fanins[gate] {
			if place := s.places[from]; place != absent {
				tasks[place].Precede(task)
			}
		}
	}
	// In the backward cone the place of a net is that of its backward task from the time when it is added. All gates
	// that read the net are before it.
	for _, net := range u.backward {
		task := g.Task(s.backwardFuncs[net])
		place := s.places[net]
		s.places[net] = uint32(len(tasks))
		tasks = append(tasks, task)
		readers := t.fanouts[net]
		if len(readers) == 0 && place != absent {
			tasks[place].Precede(task)
		}
		for _, to := range readers {
			// A gate that reads the net and is in neither cone has its times from before.
			if place := s.places[to]; place != absent {
				tasks[place].Precede(task)
			}
		}
	}
	for _, net := range u.backward { // the forward cone is part of it
		s.places[net] = absent
	}
	clear(tasks)
	s.tasks = tasks
	return g
}

// makeFuncs makes the bodies of tasks.
func (t *Timer) makeFuncs() {
	s := &t.scratch
	if s.forwardFuncs != nil {
		return
	}
	s.forwardFuncs = make([]func(context.Context) error, len(t.sizes))
	s.backwardFuncs = make([]func(context.Context) error, len(t.sizes))
	for i := range t.sizes {
		n := circuit.Net(i)
		s.forwardFuncs[i] = func(context.Context) error { t.forward(n); return nil }
		s.backwardFuncs[i] = func(context.Context) error { t.backward(n); return nil }
	}
}

// A bitset is a set of nets.
type bitset []uint64

func (b bitset) add(n circuit.Net) { b[n/64] |= 1 << (n % 64) }

// ascending removes all members, the smallest first, and yields each. Larger ones may be added meanwhile.
func (b bitset) ascending(yield func(circuit.Net) bool) {
	for i := range b {
		for b[i] != 0 {
			bit := bits.TrailingZeros64(b[i])
			b[i] &^= 1 << bit
			if !yield(circuit.Net(64*i + bit)) {
				return
			}
		}
	}
}

// descending removes all members, the largest first, and yields each. Smaller ones may be added meanwhile.
func (b bitset) descending(yield func(circuit.Net) bool) {
	for i := len(b) - 1; i >= 0; i-- {
		for b[i] != 0 {
			bit := bits.Len64(b[i]) - 1
			b[i] &^= 1 << bit
			if !yield(circuit.Net(64*i + bit)) {
				return
			}
		}
	}
}

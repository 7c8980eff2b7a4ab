package circuit

import "slices"

// A Net is a wire with one driver: an input of the circuit, or the gate of the same number. Inputs have the numbers
// from 0 on. Gates follow in the order of their levels, so a gate has a larger number than the nets that it reads.
type Net uint32

// A Circuit is a combinational circuit. It does not change.
type Circuit struct {
	Name string

	inputs  int
	kinds   []Kind // by net
	levels  []uint32
	names   []string
	fanins  lists // by net: the nets that the gate reads; an input reads none
	fanouts lists // by net: the gates that read it, ascending, twice if they read it twice
	outputs []Net
	output  []bool // by net
}

// Len returns the number of nets.
func (c *Circuit) Len() int { return len(c.kinds) }

// Inputs returns the number of inputs.
func (c *Circuit) Inputs() int { return c.inputs }

// Gates returns the number of gates.
func (c *Circuit) Gates() int { return len(c.kinds) - c.inputs }

// Outputs lists the nets that are outputs. The caller must not change it.
func (c *Circuit) Outputs() []Net { return c.outputs }

// IsOutput reports whether n is an output.
func (c *Circuit) IsOutput(n Net) bool { return c.output[n] }

// Kind returns the function of gate n, or Input.
func (c *Circuit) Kind(n Net) Kind { return c.kinds[n] }

// NameOf returns the name of net n.
func (c *Circuit) NameOf(n Net) string { return c.names[n] }

// Fanin lists the nets that gate n reads. The caller must not change it.
func (c *Circuit) Fanin(n Net) []Net { return c.fanins.of(n) }

// Fanout lists the gates that read net n, in ascending order. The caller must not change it.
func (c *Circuit) Fanout(n Net) []Net { return c.fanouts.of(n) }

// Level returns the number of gates on the longest path from an input to n, with the gate of n.
func (c *Circuit) Level(n Net) int { return int(c.levels[n]) }

// Depth returns the highest level.
func (c *Circuit) Depth() int { return int(c.levels[len(c.levels)-1]) }

// Equal reports whether both circuits have the same nets, with the same numbers and names, and the same outputs.
func (c *Circuit) Equal(d *Circuit) bool {
	return c.inputs == d.inputs && slices.Equal(c.kinds, d.kinds) && slices.Equal(c.names, d.names) &&
		slices.Equal(c.fanins.all, d.fanins.all) && slices.Equal(c.fanins.ends, d.fanins.ends) &&
		slices.Equal(c.outputs, d.outputs)
}

// Eval returns the value of each net for the given values of the inputs. A word has 64 cases, one in each bit.
func (c *Circuit) Eval(inputs []uint64) []uint64 {
	values := make([]uint64, c.Len())
	copy(values[:c.inputs], inputs)
	for n := Net(c.inputs); int(n) < len(values); n++ {
		values[n] = c.kinds[n].eval(c.Fanin(n), values)
	}
	return values
}

// Lists are one list of nets for each net, in two arrays.
type lists struct {
	ends []uint32 // list i is all[ends[i]:ends[i+1]]
	all  []Net
}

func (l *lists) of(n Net) []Net { return l.all[l.ends[n]:l.ends[n+1]] }

// reverse returns the lists of the nets in whose lists each net is.
func (l *lists) reverse() lists {
	r := lists{make([]uint32, len(l.ends)), make([]Net, len(l.all))}
	for _, n := range l.all {
		r.ends[n+1]++
	}
	for i := range len(r.ends) - 1 {
		r.ends[i+1] += r.ends[i]
	}
	next := slices.Clone(r.ends)
	for to := range Net(len(l.ends) - 1) {
		for _, from := range l.of(to) {
			r.all[next[from]] = to
			next[from]++
		}
	}
	return r
}

package circuit

// A Spread is a circuit with a spare gate for each net: a buffer that reads nothing and that no gate reads. The number
// of the spare is between that of its net and those of the gates that read the net. So a user that changes what gates
// read can put the spare behind its net, and gates still have larger numbers than the nets that they read.
type Spread struct {
	*Circuit
	of *Circuit
}

// SpreadOf returns c with spare gates.
func SpreadOf(c *Circuit) *Spread {
	s := &Spread{&Circuit{Name: c.Name, inputs: c.inputs}, c}
	nets := 2 * c.Len()
	s.kinds, s.levels = make([]Kind, nets), make([]uint32, nets)
	s.names, s.output = make([]string, nets), make([]bool, nets)
	for n := range Net(c.Len()) {
		at, spare := s.Net(n), s.Spare(n)
		s.kinds[at], s.kinds[spare] = c.kinds[n], Buf
		s.levels[at], s.levels[spare] = c.levels[n], c.levels[n]
		s.names[at], s.names[spare] = c.names[n], c.names[n]+" spare"
		s.output[at] = c.output[n]
	}
	s.fanins.ends = make([]uint32, 1, nets+1)
	for at := range Net(nets) {
		if n, isSpare := s.Origin(at); !isSpare {
			for _, from := range c.Fanin(n) {
				s.fanins.all = append(s.fanins.all, s.Net(from))
			}
		}
		s.fanins.ends = append(s.fanins.ends, uint32(len(s.fanins.all)))
	}
	s.fanouts = s.fanins.reverse()
	for _, n := range c.outputs {
		s.outputs = append(s.outputs, s.Net(n))
	}
	return s
}

// Of returns the circuit without spare gates.
func (s *Spread) Of() *Circuit { return s.of }

// Net returns the number of the net that has the number n in the circuit without spare gates. Inputs keep theirs, and
// their spares follow.
func (s *Spread) Net(n Net) Net {
	if int(n) < s.inputs {
		return n
	}
	return 2 * n
}

// Spare returns the number of that net's spare.
func (s *Spread) Spare(n Net) Net {
	if int(n) < s.inputs {
		return n + Net(s.inputs)
	}
	return 2*n + 1
}

// Origin returns the number that net at has in the circuit without spare gates or, if at is a spare, that its net has.
func (s *Spread) Origin(at Net) (n Net, isSpare bool) {
	switch inputs := Net(s.inputs); {
	case at < inputs:
		return at, false
	case at < 2*inputs:
		return at - inputs, true
	}
	return at / 2, at%2 == 1
}

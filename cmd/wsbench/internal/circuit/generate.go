package circuit

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// A Size is the extent of a generated circuit.
type Size struct {
	Inputs, Outputs int
	Gates           int
	Depth           int // levels of gates, of the same width
	// Reach is the distance, in gates of a level, from which a gate has its inputs. It decides how large the cones are
	// that one gate influences.
	Reach int
}

// The sizes of TV80 and B19. The numbers of gates are those in Table I of Lin, Huang and Wong (2020). The inputs,
// outputs and depth of tv80 are those of the netlist in OpenTimer's repository (commit 1608e74a) with its flip-flops
// cut. With its reach, cones are as large as in that netlist: after a change of a random gate an update of package sta
// computes 400 arrival times and 2100 required times on average. For b19 there is no such netlist: its inputs and
// outputs are about those of the ITC'99 benchmark, and the rest is arbitrary.
var (
	TV80Size = Size{Inputs: 375, Outputs: 384, Gates: 5300, Depth: 46, Reach: 2}
	B19Size  = Size{Inputs: 6666, Outputs: 6672, Gates: 255300, Depth: 74, Reach: 8}
)

// TV80 returns a random circuit of the size of tv80, a processor. It is not that design: its number of gates is.
func TV80(seed uint64) *Circuit { return Generate("tv80", TV80Size, seed) }

// B19 returns a random circuit of the size of b19, the largest of the ITC'99 benchmarks. It is not that design: its
// number of gates is.
func B19(seed uint64) *Circuit { return Generate("b19", B19Size, seed) }

// Generate returns a random circuit, the same for the same seed. Every gate has an input from the level before, so that
// its level is as long a path, and others from levels before or from the inputs of the circuit. All gates of the last
// level are outputs, and any others that no gate reads; inner gates make up the number.
//
// Generate panics if a level would have no gates, or the outputs do not suffice.
func Generate(name string, s Size, seed uint64) *Circuit {
	if s.Depth < 1 || s.Gates < s.Depth || s.Inputs < 1 || s.Reach < 1 {
		panic(fmt.Sprintf("circuit: no circuit has the size %+v", s))
	}
	g := &generator{Size: s, rng: rand.New(rand.NewPCG(seed, 0x6369726375697473)), builder: newBuilder(name)}
	for i := range s.Inputs {
		must(g.input(Pos{}, g.inputName(i)))
	}
	g.read = make([]bool, s.Gates)
	for level := range s.Depth {
		for gate := g.first(level); gate < g.first(level+1); gate++ {
			g.add(level, gate)
		}
	}
	g.addOutputs()
	c, err := g.circuit(name)
	must(err)
	return c
}

type generator struct {
	Size
	*builder
	rng  *rand.Rand
	read []bool // by gate: whether another reads it
}

func (g *generator) inputName(i int) string { return "i" + strconv.Itoa(i) }
func (g *generator) gateName(i int) string  { return "g" + strconv.Itoa(i) }

// first returns the first gate of a level.
func (g *generator) first(level int) int { return int(int64(level) * int64(g.Gates) / int64(g.Depth)) }

// add adds a gate of a level. Most gates have two inputs, as in mapped designs.
func (g *generator) add(level, gate int) {
	pins := 2
	switch r := g.rng.IntN(20); {
	case r < 3:
		pins = 1
	case r >= 17:
		pins = 3
	case r == 16:
		pins = 4
	}
	kinds := []Kind{Nand, Nor, Nand, Nor, And, Or, Xor, Xnor}
	if pins == 1 {
		kinds = []Kind{Not, Not, Buf}
	}
	place := float64(gate-g.first(level)) / float64(g.first(level+1)-g.first(level))
	names := []string{g.straight(level, place)}
	for len(names) < pins {
		names = append(names, g.nearby(level, place))
	}
	must(g.gate(Pos{}, kinds[g.rng.IntN(len(kinds))], g.gateName(gate), names...))
}

// straight returns the net before a place in a level: with it all nets of the level before are read, if the levels have
// the same width.
func (g *generator) straight(level int, place float64) string {
	if level == 0 {
		return g.inputName(int(place * float64(g.Inputs)))
	}
	first, end := g.first(level-1), g.first(level)
	gate := first + int(place*float64(end-first))
	g.read[gate] = true
	return g.gateName(gate)
}

// nearby returns a net near a place, of the last levels before, or an input: in a design flip-flops feed all levels.
func (g *generator) nearby(level int, place float64) string {
	away := g.rng.IntN(2*g.Reach+1) - g.Reach
	back := 1
	for back <= level && g.rng.IntN(2) == 0 {
		back++
	}
	if back > level || g.rng.IntN(16) == 0 {
		return g.inputName(at(g.Inputs, place, away))
	}
	first, end := g.first(level-back), g.first(level-back+1)
	gate := first + at(end-first, place, away)
	g.read[gate] = true
	return g.gateName(gate)
}

// at returns the index at a place among n, moved by some, and held at the ends.
func at(n int, place float64, away int) int { return min(max(int(place*float64(n))+away, 0), n-1) }

func (g *generator) addOutputs() {
	var inner []int
	left := g.Outputs
	for gate := range g.Gates {
		if g.read[gate] {
			inner = append(inner, gate)
			continue
		}
		must(g.output(Pos{}, g.gateName(gate)))
		left--
	}
	if left < 0 || left > len(inner) {
		panic(fmt.Sprintf("circuit: %d outputs do not fit the size %+v", g.Outputs, g.Size))
	}
	g.rng.Shuffle(len(inner), func(i, j int) { inner[i], inner[j] = inner[j], inner[i] })
	for _, gate := range inner[:left] {
		must(g.output(Pos{}, g.gateName(gate)))
	}
}

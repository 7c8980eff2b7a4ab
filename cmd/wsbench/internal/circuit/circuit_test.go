package circuit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestEval compares each gate with the definition of its function.
func TestEval(t *testing.T) {
	parity := func(ones, of int) bool { return ones%2 == 1 }
	all := func(ones, of int) bool { return ones == of }
	some := func(ones, of int) bool { return ones > 0 }
	not := func(f func(ones, of int) bool) func(int, int) bool {
		return func(ones, of int) bool { return !f(ones, of) }
	}
	for kind, f := range map[Kind]func(ones, of int) bool{
		Buf: some, Not: not(some), And: all, Nand: not(all), Or: some, Nor: not(some), Xor: parity, Xnor: not(parity),
	} {
		for pins := 1; pins <= 4; pins++ {
			if kind.single() && pins > 1 {
				continue
			}
			inputs := make([]Net, pins)
			for i := range inputs {
				inputs[i] = Net(i)
			}
			for bits := range 1 << pins {
				values := make([]uint64, pins)
				ones := 0
				for i := range values {
					if bits>>i&1 == 1 {
						values[i] = ^uint64(0)
						ones++
					}
				}
				want := uint64(0)
				if f(ones, pins) {
					want = ^want
				}
				require.Equal(t, want, kind.eval(inputs, values), "%v of %b", kind, bits)
			}
		}
	}
}

// TestC6288Multiplies compares the circuits with the multiplication of the machine, for corners and at random.
func TestC6288Multiplies(t *testing.T) {
	multiplies(t, C6288())
	multiplies(t, C6288Mapped())
}

// TestC6288Mapped has the figures that the comment of the circuit has.
func TestC6288Mapped(t *testing.T) {
	c := C6288Mapped()
	count := make(map[Kind]int)
	for n := range Net(c.Len()) {
		count[c.Kind(n)]++
	}
	require.Equal(t, map[Kind]int{Input: 32, And: 256, Not: 256, Nand: 688, Xnor: 464}, count)
	require.Equal(t, 1664, c.Gates())
	require.Equal(t, 89, c.Depth())
}

func multiplies(t *testing.T, c *Circuit) {
	rng := rand.New(rand.NewPCG(1, 2))
	corners := []uint64{0, 1, 2, 3, 0x7fff, 0x8000, 0x8001, 0xaaaa, 0x5555, 0xfffe, 0xffff}
	for range 300 {
		var a, b [64]uint64
		inputs := make([]uint64, 32)
		for k := range 64 {
			a[k], b[k] = rng.Uint64N(1<<16), rng.Uint64N(1<<16)
			if rng.IntN(4) == 0 {
				a[k] = corners[rng.IntN(len(corners))]
			}
			if rng.IntN(4) == 0 {
				b[k] = corners[rng.IntN(len(corners))]
			}
			for i := range 16 {
				inputs[i] |= a[k] >> i & 1 << k
				inputs[16+i] |= b[k] >> i & 1 << k
			}
		}
		values := c.Eval(inputs)
		for k := range 64 {
			product := uint64(0)
			for i, n := range c.Outputs() {
				product |= values[n] >> k & 1 << i
			}
			require.Equal(t, a[k]*b[k], product, "%d × %d", a[k], b[k])
		}
	}
}

// TestC6288IsTheBenchmark compares the figures with those that the published file has in its first lines, and the gates
// with those of that file: the checksum is of its lines "net = GATE(net, net)".
func TestC6288IsTheBenchmark(t *testing.T) {
	c := C6288()
	count := make(map[Kind]int)
	lines, stems, branches, most := 0, 0, 0, 0
	for n := range Net(c.Len()) {
		count[c.Kind(n)]++
		lines++
		fanout := len(c.Fanout(n))
		if most = max(most, fanout); fanout > 1 {
			stems++
			branches += fanout
			lines += fanout
		}
	}
	require.Equal(t, map[Kind]int{Input: 32, And: 256, Not: 32, Nor: 2128}, count)
	require.Equal(t, 2416, c.Gates())
	require.Len(t, c.Outputs(), 32)
	require.Equal(t, []int{6288, 1456, 3840, 16}, []int{lines, stems, branches, most})
	require.Equal(t, 124, c.Depth())

	var gates strings.Builder
	for line := range strings.Lines(written(t, c)) {
		if strings.Contains(line, "=") {
			gates.WriteString(strings.ToLower(line))
		}
	}
	sum := sha256.Sum256([]byte(gates.String()))
	require.Equal(t, "ccc9ac7158a57c0fc229dfc8da377ab5fc76f630371f3d3564e1d3c254e35555", hex.EncodeToString(sum[:]))
}

func written(t testing.TB, c *Circuit) string {
	var b bytes.Buffer
	require.NoError(t, writeBench(&b, c))
	return b.String()
}

// checkCircuit fails if c is inconsistent.
func checkCircuit(t testing.TB, c *Circuit) {
	require.Equal(t, c.Len(), c.Inputs()+c.Gates())
	require.NotEmpty(t, c.Outputs())
	names := make(map[string]bool)
	reads := make(map[[2]Net]int)
	for n := range Net(c.Len()) {
		require.False(t, names[c.NameOf(n)], "two nets are called %s", c.NameOf(n))
		names[c.NameOf(n)] = true
		require.Equal(t, int(n) < c.Inputs(), c.Kind(n) == Input)
		require.Equal(t, c.Kind(n) == Input, len(c.Fanin(n)) == 0)
		level := -1
		for _, from := range c.Fanin(n) {
			require.Less(t, from, n)
			level = max(level, c.Level(from))
			reads[[2]Net{from, n}]++
		}
		require.Equal(t, level+1, c.Level(n))
		if n > 0 {
			require.LessOrEqual(t, c.Level(n-1), c.Level(n))
		}
	}
	require.Equal(t, c.Level(Net(c.Len()-1)), c.Depth())
	for n := range Net(c.Len()) {
		for i, to := range c.Fanout(n) {
			reads[[2]Net{n, to}]--
			if i > 0 {
				require.LessOrEqual(t, c.Fanout(n)[i-1], to)
			}
		}
	}
	for pair, left := range reads {
		require.Zero(t, left, "net %d is read by gate %d", pair[0], pair[1])
	}
	outputs := 0
	for n := range Net(c.Len()) {
		if c.IsOutput(n) {
			outputs++
		}
	}
	require.Len(t, c.Outputs(), outputs)
	for _, n := range c.Outputs() {
		require.True(t, c.IsOutput(n))
	}
}

func TestGenerated(t *testing.T) {
	c := TV80(1)
	require.Equal(t, 5300, c.Gates())
	if !testkit.Quick() {
		c := B19(1)
		require.Equal(t, []int{6666, 6672, 255300, 74}, []int{c.Inputs(), len(c.Outputs()), c.Gates(), c.Depth()})
	}
	for _, s := range []Size{TV80Size, {1, 1, 1, 1, 1}, {1, 10, 10, 1, 1}, {2, 3, 20, 20, 5}} {
		for seed := range uint64(2) {
			c := Generate("x", s, seed)
			require.Equal(t, []int{s.Inputs, s.Outputs, s.Gates, s.Depth},
				[]int{c.Inputs(), len(c.Outputs()), c.Gates(), c.Depth()})
			checkCircuit(t, c)
			require.True(t, c.Equal(Generate("y", s, seed)))
		}
	}
	require.False(t, c.Equal(TV80(2)))
	for _, s := range []Size{{}, {1, 1, 1, 2, 1}, {1, 0, 1, 1, 1}, {1, 2, 1, 1, 1}, {1, 1, 1, 1, 0}} {
		require.Panics(t, func() { Generate("x", s, 1) }, "%+v", s)
	}
}

// TestWriteRead: a circuit that is written and read is the same.
func TestWriteRead(t *testing.T) {
	for _, c := range []*Circuit{C6288(), TV80(1)} {
		checkCircuit(t, c)
		again, err := ReadBench("x/"+c.Name+".bench", strings.NewReader(written(t, c)))
		require.NoError(t, err)
		require.True(t, c.Equal(again))
		require.Equal(t, c.Name, again.Name)
	}
}

func TestWriteRefusesNames(t *testing.T) {
	c, err := ReadVerilog("x.v", strings.NewReader(`module m(a); output a; input \b(1) ; not (a, \b(1) ); endmodule`))
	require.NoError(t, err)
	require.EqualError(t, writeBench(new(bytes.Buffer), c),
		`circuit m: net "b(1)": names in a .bench file have no blanks and none of (),=#: rename it`)
}

// TestSpread: without its spare gates, which nothing reads, a Spread is the circuit.
func TestSpread(t *testing.T) {
	random := Generate("random", Size{Inputs: 3, Outputs: 12, Gates: 60, Depth: 7, Reach: 5}, 1)
	for _, c := range []*Circuit{C6288(), TV80(1), random} {
		s := SpreadOf(c)
		require.Equal(t, 2*c.Len(), s.Len())
		require.Equal(t, c.Inputs(), s.Inputs())
		for n := range Net(c.Len()) {
			at, spare := s.Net(n), s.Spare(n)
			origin, isSpare := s.Origin(at)
			require.Equal(t, n, origin)
			require.False(t, isSpare)
			origin, isSpare = s.Origin(spare)
			require.Equal(t, n, origin)
			require.True(t, isSpare)

			require.Equal(t, c.Kind(n), s.Kind(at))
			require.Equal(t, c.NameOf(n), s.NameOf(at))
			require.Equal(t, c.IsOutput(n), s.IsOutput(at))
			require.Equal(t, Buf, s.Kind(spare))
			require.Empty(t, s.Fanin(spare))
			require.Empty(t, s.Fanout(spare))
			require.False(t, s.IsOutput(spare))
			require.Greater(t, spare, at)
			require.Len(t, s.Fanin(at), len(c.Fanin(n)))
			for i, from := range c.Fanin(n) {
				require.Equal(t, s.Net(from), s.Fanin(at)[i])
				require.Less(t, s.Spare(from), at)
			}
			for i, to := range c.Fanout(n) {
				require.Equal(t, s.Net(to), s.Fanout(at)[i])
			}
		}
		for i, n := range c.Outputs() {
			require.Equal(t, s.Net(n), s.Outputs()[i])
		}
	}
}

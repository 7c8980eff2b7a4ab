package circuit

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzBench: no text makes the reader panic, and a circuit that is read, written and read again is the same.
func FuzzBench(f *testing.F) {
	f.Add(c17Bench)
	f.Add("INPUT(a)\nOUTPUT(q)\nq = DFF(d)\nr = DFF(d)\nd = XNOR(a, q, r)\n#")
	f.Add("INPUT(a)\nOUTPUT(b)\nb = AND(a, c)\nc = NOT(b)")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := bench(text)
		if err != nil {
			return
		}
		checkCircuit(t, c)
		again, err := bench(written(t, c))
		require.NoError(t, err)
		require.True(t, c.Equal(again))
	})
}

// FuzzVerilog is FuzzBench for Verilog, except that some names cannot be written.
func FuzzVerilog(f *testing.F) {
	f.Add(c17Verilog)
	f.Add("`x\nmodule m(input [1:0] a, output wire y); wire z; DFF r(.D(y), .Q(z)); assign y = ~a[0];" +
		" NAND2_X1 u(.A(a[1]), .B(z), .Y()); not (\\w , a[1]); endmodule // ")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := verilog(text)
		if err != nil {
			return
		}
		checkCircuit(t, c)
		if writeBench(io.Discard, c) != nil {
			return
		}
		again, err := bench(written(t, c))
		require.NoError(t, err)
		require.True(t, c.Equal(again))
	})
}

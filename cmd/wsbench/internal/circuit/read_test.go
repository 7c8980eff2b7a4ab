package circuit

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// c17 is the smallest circuit of ISCAS-85, in both formats.
const (
	c17Bench = `# c17
INPUT(1)
INPUT(2)
INPUT(3)
INPUT(6)
INPUT(7)
OUTPUT(22)
OUTPUT(23)

10 = NAND(1, 3)
11 = NAND(3, 6)
16 = NAND(2, 11)
19 = NAND(11, 7)
22 = NAND(10, 16)
23 = NAND(16, 19)
`
	c17Verilog = `// c17
module c17 (N1,N2,N3,N6,N7,N22,N23);
input N1,N2,N3,N6,N7;
output N22,N23;
wire N10,N11,N16,N19;
nand NAND2_1 (N10, N1, N3);
nand NAND2_2 (N11, N3, N6);
nand NAND2_3 (N16, N2, N11);
nand NAND2_4 (N19, N11, N7);
nand NAND2_5 (N22, N10, N16);
nand NAND2_6 (N23, N16, N19);
endmodule
`
)

func bench(text string) (*Circuit, error)   { return ReadBench("x.bench", strings.NewReader(text)) }
func verilog(text string) (*Circuit, error) { return ReadVerilog("x.v", strings.NewReader(text)) }

// TestReadC17: both formats give the same circuit, from files too, up to the names of its nets.
func TestReadC17(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"c17.bench": c17Bench, "c17.v": c17Verilog} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		c, err := Read(path)
		require.NoError(t, err)
		checkCircuit(t, c)
		require.Equal(t, "c17", c.Name)
		require.Equal(t, []int{5, 6, 2, 3}, []int{c.Inputs(), c.Gates(), len(c.Outputs()), c.Depth()})
		again, err := bench(regexp.MustCompile(`N(\d)`).ReplaceAllString(written(t, c), "$1"))
		require.NoError(t, err)
		original, err := bench(c17Bench)
		require.NoError(t, err)
		require.True(t, again.Equal(original))
	}
	_, err := Read(filepath.Join(dir, "none.bench"))
	require.ErrorIs(t, err, os.ErrNotExist)
	broken := errors.New("broken")
	_, err = ReadBench("x", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	_, err = ReadVerilog("x", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

// TestReadForms reads each form of both formats, and compares with the circuit in the form that is written.
func TestReadForms(t *testing.T) {
	for _, tt := range []struct {
		name string
		read func(string) (*Circuit, error)
		text string
		want string
	}{
		{"any order, comments, blanks, case", bench,
			" y=nand ( a ,b )# y\r\n\n#\nOutput( y )\r\ninput(a)\n\tINPUT(b)",
			"INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = NAND(a, b)\n"},
		{"every gate", bench,
			"INPUT(a)\nOUTPUT(8)\n1=BUFF(a)\n2=BUF(1)\n3=INV(2)\n4=NOT(3)\n5=OR(a,a,4)\n6=NOR(5)\n7=XOR(6,a)\n8=XNOR(7,a)",
			"INPUT(a)\nOUTPUT(8)\n1 = BUF(a)\n2 = BUF(1)\n3 = NOT(2)\n4 = NOT(3)\n5 = OR(a, a, 4)\n6 = NOR(5)\n" +
				"7 = XOR(6, a)\n8 = XNOR(7, a)\n"},
		{"flip-flops", bench,
			"OUTPUT(d)\nq=DFF(d)\nINPUT(a)\nr=dff(e)\nd=AND(a,q)\ne=NOT(r)\ns=DFF(e)\nt=DFF(q)",
			"INPUT(a)\nINPUT(q)\nINPUT(r)\nINPUT(s)\nINPUT(t)\nOUTPUT(d)\nOUTPUT(e)\nOUTPUT(q)\n" +
				"d = AND(a, q)\ne = NOT(r)\n"},
		{"an input is an output", bench, "INPUT(a)\nOUTPUT(a)\nb=NOT(a)", "INPUT(a)\nOUTPUT(a)\nb = NOT(a)\n"},
		{"declared ports, comments, attributes", verilog,
			"`timescale 1ns\n(* top *) module m(input wire a, b, output y);/* and\n */ and(y,a,b)// \n; endmodule //",
			"INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = AND(a, b)\n"},
		{"vectors", verilog,
			"module m(a,y); input [1:0] a; output [0:1] y; wire [0:1] y; xor(y[0],a[0],a[1]), x1(y[1],a[1],a[0]);endmodule",
			"INPUT(a[1])\nINPUT(a[0])\nOUTPUT(y[0])\nOUTPUT(y[1])\ny[0] = XOR(a[0], a[1])\ny[1] = XOR(a[1], a[0])\n"},
		{"several outputs", verilog, "module m; input a; output x, y; not n(x, y, a); endmodule",
			"INPUT(a)\nOUTPUT(x)\nOUTPUT(y)\nx = NOT(a)\ny = NOT(a)\n"},
		{"assign", verilog, `module m; input a, \wire ; output x; wire y; assign y = a, x = ~ \wire ; endmodule`,
			"INPUT(a)\nINPUT(wire)\nOUTPUT(x)\ny = BUF(a)\nx = NOT(wire)\n"},
		{"cells", verilog,
			"module m(); input a,b; output y; NAND2_X1 u1(.A1(a),.A2(b),.ZN(c)); sky130_fd_sc_hd__inv_2 u2(.A(c),.Y(d)), " +
				"u3(.Y(e),.A(d)); XOR2D1BWP u4(.A1(e), .A2(a), .Z(y)); CLKBUFX4 u5(.A(y), .Y(f)); endmodule",
			"INPUT(a)\nINPUT(b)\nOUTPUT(y)\nc = NAND(a, b)\nd = NOT(c)\ne = NOT(d)\ny = XOR(e, a)\nf = BUF(y)\n"},
		{"cells of flip-flops", verilog,
			"module m; input ck, a; output y; DFFR_X1 r(.D(d), .CK(ck), .Q(q), .QN()); or (d, a, q); buf (y, q);" +
				"DFFX1 s(.D(y), .CK(ck), .Q(), .QN(z)); endmodule",
			"INPUT(ck)\nINPUT(a)\nINPUT(q)\nINPUT(z)\nOUTPUT(y)\nOUTPUT(d)\nd = OR(a, q)\ny = BUF(q)\n"},
	} {
		c, err := tt.read(tt.text)
		require.NoError(t, err, tt.name)
		checkCircuit(t, c)
		require.Equal(t, tt.want, written(t, c), tt.name)
	}
}

// TestCells compares cells that become several gates with their functions.
func TestCells(t *testing.T) {
	for _, tt := range []struct {
		cell     string
		function func(a, b, c, d uint64) uint64
	}{
		{"AOI21_X1 u(.A(c), .B1(a), .B2(b), .ZN(y))", func(a, b, c, d uint64) uint64 { return ^(a&b | c) }},
		{"OAI22 u(.A1(a), .A2(b), .B1(c), .B2(d), .ZN(y))", func(a, b, c, d uint64) uint64 { return ^((a | b) & (c | d)) }},
		{"AO22X1 u(.A1(a), .A2(b), .B1(c), .B2(d), .Y(y))", func(a, b, c, d uint64) uint64 { return a&b | c&d }},
		{"OA211 u(.A1(a), .A2(b), .B(c), .C(d), .Y(y))", func(a, b, c, d uint64) uint64 { return (a | b) & c & d }},
		{"lib__a211oi_4 u(.A1(a), .A2(b), .B1(c), .C1(d), .Y(y))", func(a, b, c, d uint64) uint64 { return ^(a&b | c | d) }},
		{"lib__o21ai_1 u(.A1(a), .A2(b), .B1(c), .Y(y))", func(a, b, c, d uint64) uint64 { return ^((a | b) & c) }},
		{"MUX2_X2 u(.S(c), .Z(y), .B(b), .A(a))", func(a, b, c, d uint64) uint64 { return a&^c | b&c }},
		{"mux2_1 u(.A0(a), .A1(b), .S(c), .X(y))", func(a, b, c, d uint64) uint64 { return a&^c | b&c }},
		{"HA_X1 u(.A(a), .B(b), .S(y))", func(a, b, c, d uint64) uint64 { return a ^ b }},
		{"HA_X1 u(.A(a), .B(b), .CO(y), .S())", func(a, b, c, d uint64) uint64 { return a & b }},
		{"FA_X1 u(.A(a), .B(b), .CI(c), .S(y))", func(a, b, c, d uint64) uint64 { return a ^ b ^ c }},
		{"fa_1 u(.A(a), .B(b), .CIN(c), .COUT(y), .SUM(x))", func(a, b, c, d uint64) uint64 { return a&b | a&c | b&c }},
	} {
		c, err := verilog("module m(input a, b, c, d, output y); " + tt.cell + "; endmodule")
		require.NoError(t, err, tt.cell)
		checkCircuit(t, c)
		a, b, e, d := uint64(0xaaaa), uint64(0xcccc), uint64(0xf0f0), uint64(0xff00)
		values := c.Eval([]uint64{a, b, e, d})
		require.Equal(t, tt.function(a, b, e, d)&0xffff, values[c.Outputs()[0]]&0xffff, tt.cell)
	}
}

// TestReadErrors: each message names the place, and what to do.
func TestReadErrors(t *testing.T) {
	for _, tt := range []struct {
		read func(string) (*Circuit, error)
		text string
		want string
	}{
		{bench, "", "x.bench: the circuit has no gates: is this the right file, and all of it?"},
		{bench, "INPUT(a)\nb = NOT(a)", "x.bench: the circuit has no outputs: declare one, or the file is cut in half"},
		{bench, "INPUT(a)\nOUTPUT(d)\nb = AND(a, d)\nc = NOT(b)\n  d = NOT(c)\ne = NOT(d)",
			"x.bench:3:1: gates form a cycle, b → c → d → b: cut it, for example with a flip-flop"},
		{bench, "OUTPUT(a)\na = AND(a, a)", "x.bench:2:1: gates form a cycle, a → a: cut it, for example with a flip-flop"},
		{bench, "INPUT(a)\nOUTPUT(b)\nb = NOT(\tc)\n",
			"x.bench:3:1: net c is used and nothing drives it: declare it an input or add its gate; " +
				"or the file is cut in half"},
		{bench, "INPUT(a)\nOUTPUT(b)\n", "x.bench:2:1: net b is used and nothing drives it: declare it an input or " +
			"add its gate; or the file is cut in half"},
		{bench, "INPUT(a)\nb = NOT(a)\nb = NOT(a)", "x.bench:3:1: net b is driven twice, first at line 2: " +
			"an input, a gate or a flip-flop drives it, and only one of them: rename one"},
		{bench, "INPUT(a)\nINPUT(a)", "x.bench:2:1: net a is driven twice, first at line 1: " +
			"an input, a gate or a flip-flop drives it, and only one of them: rename one"},
		{bench, "a = DFF(b)\na = DFF(c)", "x.bench:2:1: net a is driven twice, first at line 1: " +
			"an input, a gate or a flip-flop drives it, and only one of them: rename one"},
		{bench, "OUTPUT(a)\nOUTPUT(a)", "x.bench:2:1: net a is declared an output twice: remove one declaration"},
		{bench, "a = LUT(b)", "x.bench:1:5: no gate LUT: there are AND, NAND, OR, NOR, XOR, XNOR, NOT, BUFF and DFF; " +
			"map the circuit to those"},
		{bench, "a = NOT(b, c)", "x.bench:1:1: gate a is a NOT with 2 inputs: it has one"},
		{bench, "a = DFF(b, c)", "x.bench:1:5: flip-flop a has 2 inputs: it has one, the data"},
		{bench, "INOUT(a)", "x.bench:1:1: no declaration INOUT: there are INPUT and OUTPUT, " +
			"and a gate is net = GATE(net, net…)"},
		{bench, "INPUT(a, b)", "x.bench:1:1: INPUT has 2 names: it declares one net, write a line for each"},
		{bench, "a = AND(b, c", "x.bench:1:13: the line ends where ',' or ')' is expected: complete it; " +
			"or the file is cut in half"},
		{bench, "a = AND(b,", "x.bench:1:11: the line ends where a name is expected: complete it; " +
			"or the file is cut in half"},
		{bench, "a =", "x.bench:1:4: the line ends where a name is expected: complete it; or the file is cut in half"},
		{bench, "a = b", "x.bench:1:6: the line ends where '(' or '=' is expected: complete it; " +
			"or the file is cut in half"},
		{bench, "INPUT(a) b", "x.bench:1:10: 'b' where the end of the line is expected: " +
			"a line is INPUT(net), OUTPUT(net) or net = GATE(net, net…)"},
		{bench, "= a", "x.bench:1:1: '=' where a name is expected: " +
			"a line is INPUT(net), OUTPUT(net) or net = GATE(net, net…)"},

		{verilog, "", "x.v:1:1: the file ends where 'module' is expected: is it cut in half?"},
		{verilog, "module m; input a;\nnot (b, a)", "x.v:2:11: the file ends where ';' is expected: is it cut in half?"},
		{verilog, "module m; input a;\n", "x.v:2:1: the file ends inside module m: add endmodule; or it is cut in half"},
		{verilog, "module m; endmodule module n;", `x.v:1:21: "module" after endmodule: only one module is read, ` +
			"flatten the design to one"},
		{verilog, "module m; /* x\n", "x.v:1:11: a comment begins here and does not end: add */; " +
			"or the file is cut in half"},
		{verilog, "module m;\n input a; output b; LATCH u(.A(a)); endmodule", "x.v:2:21: no cell LATCH: " + knownCells},
		{verilog, "module m; INV u(a, b);", `x.v:1:17: "a" where '.' and the name of a pin is expected: ` + beyond},
		{verilog, "module m; reg a;", `x.v:1:11: "reg" where a declaration of input, output or wire, a gate or a cell ` +
			"is expected: " + beyond},
		{verilog, "module m; assign a = b & c;", `x.v:1:24: "&" where ';' is expected: ` + beyond},
		{verilog, "module m; nand #1 (a, b);", `x.v:1:16: "#" where '(' is expected: ` + beyond},
		{verilog, "module m; 1", `x.v:1:11: "1" where a declaration, a gate or a cell is expected: ` + beyond},
		{verilog, "module m; not (a, 1'b0);", "x.v:1:19: the constant 1'b0: constants are not read, " +
			"simplify the circuit or make it an input"},
		{verilog, "module m; not (a);", "x.v:1:15: not has one terminal: it needs an output and an input"},
		{verilog, "module m; input [3:0] a; not (b, a);", "x.v:1:34: a is a vector: connect its bits one by one, as in a[3]"},
		{verilog, "module m; input [3:0] a; not (b, a[4]);", "x.v:1:34: a[4] is no bit of a[3:0]"},
		{verilog, "module m; input a; not (b, a[4]);", "x.v:1:28: a is no vector: declare it one before, " +
			"or leave out the index"},
		{verilog, "module m; input [9999999:0] a;", "x.v:1:17: a vector of more than 4096 bits: declare several"},
		{verilog, "module m; input [1:0] a; wire [0:1] a;", "x.v:1:37: vector a is declared twice with different ranges: " +
			"write the same range"},
		{verilog, "module m; input [1:0] a; wire a;", "x.v:1:31: a is declared a vector before, and a single net here: " +
			"write the same range"},
		{verilog, "module m; INV u(.A(a), .A(b));", "x.v:1:25: pin A of u is connected twice: remove one"},
		{verilog, "module m; INV u(.A(a), .Y());", "x.v:1:15: the output of u is open: connect it"},
		{verilog, "module m; INV u(.A(), .Y(a));", "x.v:1:15: pin A of u is open: connect it"},
		{verilog, "module m; AOI21 u(.A(a), .B(b), .C(c), .Y(y));", "x.v:1:17: the pins of u are not grouped as AOI21 " +
			"says: name those of a group A1, A2, those of the next B1, B2, and so on"},
		{verilog, "module m; AOI22 u(.A1(a), .A2(b), .B(c), .Y(y));", "x.v:1:17: u has 3 inputs, and AOI22 has 4"},
		{verilog, "module m; MUX2 u(.A(a), .B(b), .Y(y));", "x.v:1:16: u has no pin S: connect it"},
		{verilog, "module m; MUX2 u(.A(a), .S(b), .Y(y));", "x.v:1:16: u has 1 inputs, and MUX2 has 2"},
		{verilog, "module m; FA u(.A(a), .B(b), .S(y));", "x.v:1:14: u has 2 inputs, and FA has 3"},
		{verilog, "module m; INV u(.Z(a), .Y(b));", "x.v:1:15: u has two outputs: INV has one"},
		{verilog, "module m; INV u(.A(a), .B(b));", "x.v:1:15: u has no output: name its pin Y, Z, ZN, X, O, Q or OUT"},
		{verilog, "module m; AND3 u(.A(a), .B(b), .Y(y));", "x.v:1:16: u has 2 inputs, and AND3 has 3"},
		{verilog, "module m; AND2 u(.Y(y));", "x.v:1:16: u has 0 inputs, and AND2 has 2"},
		{verilog, "module m; AND u(.Y(y));", "x.v:1:15: gate y has no inputs: give it one"},
		{verilog, "module m; DFF u(.Q(y));", "x.v:1:15: flip-flop u has no pin D: connect it"},
		{verilog, "module m;\n input a, b; output a; and (a, b);", "x.v:2:28: net a is driven twice, first at line 2: " +
			"an input, a gate or a flip-flop drives it, and only one of them: rename one"},
		{verilog, `module m; input \ ;`, `x.v:1:17: a name is missing after \`},
	} {
		_, err := tt.read(tt.text)
		require.EqualError(t, err, tt.want, "%s", tt.text)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.NotContains(t, err.Error(), "\n")
	}
}

const beyond = "only structural Verilog is read, that is declarations, gates, cells with named pins, " +
	"and assign of one net"

// TestLongCycle: the message stays on a line.
func TestLongCycle(t *testing.T) {
	var b strings.Builder
	const n = 100
	name := func(i int) string { return strings.Repeat("x", i%n+1) }
	b.WriteString("OUTPUT(x)\n")
	for i := range n {
		b.WriteString(name(i+1) + " = NOT(" + name(i) + ")\n")
	}
	_, err := bench(b.String())
	require.ErrorContains(t, err, "x.bench:2:1: gates form a cycle, xx → xxx → xxxx → ")
	require.ErrorContains(t, err, " → … (88 more) → xx: cut it")
}

// TestCutFiles: no part of a file is taken for another circuit without a word, except where only comments are missing.
func TestCutFiles(t *testing.T) {
	for _, tt := range []struct {
		read func(string) (*Circuit, error)
		text string
	}{{bench, c17Bench}, {verilog, c17Verilog}} {
		whole, err := tt.read(tt.text)
		require.NoError(t, err)
		for i := range tt.text {
			c, err := tt.read(tt.text[:i])
			if err == nil {
				require.True(t, c.Equal(whole), "cut at %d", i)
				require.GreaterOrEqual(t, i, len(tt.text)-1)
			}
		}
	}
}

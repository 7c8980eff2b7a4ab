// Package circuit has gate-level netlists: combinational circuits of simple gates, each on a level after those of the
// gates that drive it.
//
// A circuit comes from a file, as [Read] reads it, or from a generator:
//
//	c, err := circuit.Read("adder.bench")
//	c := circuit.C6288()
//
// [C6288] is the benchmark of that name, gate by gate. [TV80] and [B19] are random circuits with the number of gates
// that those benchmarks have.
//
// # Files
//
// [ReadBench] reads the format of the ISCAS benchmarks:
//
//	INPUT(a)
//	INPUT(b)
//	OUTPUT(y)
//	n = NAND(a, b)  # a comment
//	y = NOT(n)
//
// [ReadVerilog] reads one module of structural Verilog: declarations of inputs, outputs and wires, also vectors; the
// gates of the language; assignments of a net or of its complement; and cells with named pins, whose name says what
// they do, as NAND2_X1. Cells such as AOI21, MUX2 and FA become several gates.
//
// A flip-flop is cut in both formats: its output is an input of the circuit, and its data pin an output. Its clock and
// other pins are left out.
//
// What is wrong with a file is an [*Error], with the place and a way out.
package circuit

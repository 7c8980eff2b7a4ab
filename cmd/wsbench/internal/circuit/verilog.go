package circuit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// ReadVerilog reads a file with one module of structural Verilog. The name of the file is for errors; the circuit has
// the module's.
func ReadVerilog(file string, r io.Reader) (*Circuit, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &verilogParser{
		builder: newBuilder(file),
		scanner: scanner{text: string(text), line: 1},
		vectors: make(map[string]vector),
	}
	c, err := p.parse()
	var wrong *Error
	if errors.As(err, &wrong) {
		wrong.File = file // the scanner does not know it
	}
	return c, err
}

// A verilogParser reads a module. tok is the next token.
type verilogParser struct {
	*builder
	scanner scanner
	tok     token
	vectors map[string]vector
}

// A vector is a declared range of nets, as in [15:0].
type vector struct{ first, last int }

// bits lists the indices of v.
func (v vector) bits() (all []int) {
	step := 1
	if v.first > v.last {
		step = -1
	}
	for i := v.first; i != v.last; i += step {
		all = append(all, i)
	}
	return append(all, v.last)
}

func (v vector) has(i int) bool { return min(v.first, v.last) <= i && i <= max(v.first, v.last) }

// mostBits bounds the vectors: a typing error must not take all memory.
const mostBits = 1 << 12

func bitName(name string, bit int) string { return name + "[" + strconv.Itoa(bit) + "]" }

func (p *verilogParser) advance() (err error) {
	p.tok, err = p.scanner.token()
	return err
}

func (p *verilogParser) unexpected(want string) error {
	if p.tok.kind == endOfFile {
		return p.errorf(p.tok.at, "the file ends where %s is expected: is it cut in half?", want)
	}
	return p.errorf(p.tok.at, "%v where %s is expected: only structural Verilog is read, that is declarations, gates, "+
		"cells with named pins, and assign of one net", p.tok, want)
}

// is reports whether the next token is the keyword or punctuation s.
func (p *verilogParser) is(s string) bool {
	return p.tok.text == s && (p.tok.plain || p.tok.kind == punctuation)
}

// accept skips the keyword or punctuation s, if it is next.
func (p *verilogParser) accept(s string) (bool, error) {
	if !p.is(s) {
		return false, nil
	}
	return true, p.advance()
}

func (p *verilogParser) expect(s string) error {
	if !p.is(s) {
		return p.unexpected("'" + s + "'")
	}
	return p.advance()
}

func (p *verilogParser) identifier(want string) (token, error) {
	t := p.tok
	if t.kind != identifier {
		return t, p.unexpected(want)
	}
	return t, p.advance()
}

// list reads what item reads, once or more, separated by commas.
func (p *verilogParser) list(item func() error) error {
	for {
		if err := item(); err != nil {
			return err
		}
		if more, err := p.accept(","); err != nil || !more {
			return err
		}
	}
}

func (p *verilogParser) parse() (*Circuit, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("module"); err != nil {
		return nil, err
	}
	name, err := p.identifier("the name of the module")
	if err != nil {
		return nil, err
	}
	if err := p.ports(); err != nil {
		return nil, err
	}
	for !p.is("endmodule") {
		if p.tok.kind == endOfFile {
			return nil, p.errorf(p.tok.at, "the file ends inside module %s: add endmodule; or it is cut in half",
				name.text)
		}
		if err := p.item(); err != nil {
			return nil, err
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != endOfFile {
		return nil, p.errorf(p.tok.at, "%v after endmodule: only one module is read, flatten the design to one", p.tok)
	}
	return p.circuit(name.text)
}

// ports reads the ports of the module. They may be declared there, or by name only.
func (p *verilogParser) ports() error {
	if open, err := p.accept("("); err != nil {
		return err
	} else if open {
		if !p.is(")") {
			direction, width := "", (*vector)(nil)
			err := p.list(func() (err error) {
				if p.is("input") || p.is("output") {
					if direction, width, err = p.direction(); err != nil {
						return err
					}
				}
				port, err := p.identifier("a port")
				if err != nil || direction == "" {
					return err
				}
				return p.declare(direction, width, port)
			})
			if err != nil {
				return err
			}
		}
		if err := p.expect(")"); err != nil {
			return err
		}
	}
	return p.expect(";")
}

// direction reads the beginning of a declaration: input, output or wire, and the range of a vector.
func (p *verilogParser) direction() (direction string, width *vector, err error) {
	direction = p.tok.text
	if err := p.advance(); err != nil {
		return "", nil, err
	}
	if _, err := p.accept("wire"); err != nil {
		return "", nil, err
	}
	at := p.tok.at
	open, err := p.accept("[")
	if err != nil || !open {
		return direction, nil, err
	}
	v := vector{}
	if v.first, err = p.index(); err != nil {
		return "", nil, err
	}
	if err := p.expect(":"); err != nil {
		return "", nil, err
	}
	if v.last, err = p.index(); err != nil {
		return "", nil, err
	}
	if max(v.first, v.last)-min(v.first, v.last) >= mostBits {
		return "", nil, p.errorf(at, "a vector of more than %d bits: declare several", mostBits)
	}
	return direction, &v, p.expect("]")
}

func (p *verilogParser) index() (int, error) {
	i, err := strconv.Atoi(p.tok.text)
	if p.tok.kind != number || err != nil {
		return 0, p.unexpected("an index")
	}
	return i, p.advance()
}

// declare declares one net or vector.
func (p *verilogParser) declare(direction string, width *vector, t token) error {
	add := func(Pos, string) error { return nil } // wire
	switch direction {
	case "input":
		add = p.input
	case "output":
		add = p.output
	}
	old, again := p.vectors[t.text]
	switch {
	case width == nil && again && direction == "wire":
		return p.errorf(t.at, "%s is declared a vector before, and a single net here: write the same range", t.text)
	case width == nil:
		return add(t.at, t.text)
	case again && old != *width:
		return p.errorf(t.at, "vector %s is declared twice with different ranges: write the same range", t.text)
	}
	p.vectors[t.text] = *width
	for _, i := range width.bits() {
		if err := add(t.at, bitName(t.text, i)); err != nil {
			return err
		}
	}
	return nil
}

// item reads a declaration, an assignment, or instances of a gate or cell.
func (p *verilogParser) item() error {
	t := p.tok
	if t.kind != identifier {
		return p.unexpected("a declaration, a gate or a cell")
	}
	if t.plain {
		switch t.text {
		case "input", "output", "wire":
			return p.declaration()
		case "assign":
			return p.assignment()
		case "and", "nand", "or", "nor", "xor", "xnor", "not", "buf":
			return p.gates()
		case "inout", "reg", "tri", "supply0", "supply1", "parameter", "localparam", "always", "initial", "function",
			"task", "specify", "generate", "defparam", "module":
			return p.unexpected("a declaration of input, output or wire, a gate or a cell")
		}
	}
	return p.cells()
}

func (p *verilogParser) declaration() error {
	direction, width, err := p.direction()
	if err != nil {
		return err
	}
	err = p.list(func() error {
		t, err := p.identifier("a net")
		if err != nil {
			return err
		}
		return p.declare(direction, width, t)
	})
	if err != nil {
		return err
	}
	return p.expect(";")
}

// connection reads a net: its name, or a bit of a vector.
func (p *verilogParser) connection() (string, error) {
	if p.tok.kind == number {
		return "", p.errorf(p.tok.at, "the constant %s: constants are not read, simplify the circuit or make it an "+
			"input",
			p.tok.text)
	}
	t, err := p.identifier("a net")
	if err != nil {
		return "", err
	}
	v, isVector := p.vectors[t.text]
	open, err := p.accept("[")
	switch {
	case err != nil:
		return "", err
	case !open && isVector:
		return "", p.errorf(t.at, "%s is a vector: connect its bits one by one, as in %s", t.text,
			bitName(t.text, v.first))
	case !open:
		return t.text, nil
	case !isVector:
		return "", p.errorf(t.at, "%s is no vector: declare it one before, or leave out the index", t.text)
	}
	i, err := p.index()
	if err != nil {
		return "", err
	}
	if !v.has(i) {
		return "", p.errorf(t.at, "%s is no bit of %s[%d:%d]", bitName(t.text, i), t.text, v.first, v.last)
	}
	return bitName(t.text, i), p.expect("]")
}

// assignment reads assign of a net, or of its complement.
func (p *verilogParser) assignment() error {
	if err := p.advance(); err != nil {
		return err
	}
	err := p.list(func() error {
		at := p.tok.at
		to, err := p.connection()
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		kind := Buf
		for _, complement := range []string{"~", "!"} {
			if not, err := p.accept(complement); err != nil {
				return err
			} else if not {
				kind = Not
				break
			}
		}
		from, err := p.connection()
		if err != nil {
			return err
		}
		return p.gate(at, kind, to, from)
	})
	if err != nil {
		return err
	}
	return p.expect(";")
}

// gates reads instances of a gate of the language: the outputs come first, and only not and buf have several.
func (p *verilogParser) gates() error {
	name := p.tok.text
	kind, _ := kindOf(name)
	if err := p.advance(); err != nil {
		return err
	}
	err := p.list(func() error {
		at := p.tok.at
		if p.tok.kind == identifier { // the name of an instance may be left out
			if err := p.advance(); err != nil {
				return err
			}
		}
		if err := p.expect("("); err != nil {
			return err
		}
		var nets []string
		err := p.list(func() error {
			n, err := p.connection()
			nets = append(nets, n)
			return err
		})
		if err != nil {
			return err
		}
		if len(nets) < 2 {
			return p.errorf(at, "%s has one terminal: it needs an output and an input", name)
		}
		if !kind.single() {
			err = p.gate(at, kind, nets[0], nets[1:]...)
		} else {
			in := nets[len(nets)-1]
			for _, out := range nets[:len(nets)-1] {
				if err = p.gate(at, kind, out, in); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
		return p.expect(")")
	})
	if err != nil {
		return err
	}
	return p.expect(";")
}

// cells reads instances of a cell.
func (p *verilogParser) cells() error {
	t := p.tok
	cell, ok := cellOf(t.text)
	if !ok {
		return p.errorf(t.at, "no cell %s: %s", t.text, knownCells)
	}
	if err := p.advance(); err != nil {
		return err
	}
	err := p.list(func() error { return p.instance(t.text, cell) })
	if err != nil {
		return err
	}
	return p.expect(";")
}

// instance reads one instance of a cell.
func (p *verilogParser) instance(name string, cell cell) error {
	t, err := p.identifier("the name of an instance of " + name)
	if err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	var pins []pin
	err = p.list(func() error {
		if !p.is(".") {
			return p.unexpected("'.' and the name of a pin")
		}
		if err := p.advance(); err != nil {
			return err
		}
		port, err := p.identifier("the name of a pin")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(pins, func(other pin) bool { return other.name == port.text }) {
			return p.errorf(port.at, "pin %s of %s is connected twice: remove one", port.text, t.text)
		}
		if err := p.expect("("); err != nil {
			return err
		}
		connected := pin{name: port.text}
		if !p.is(")") { // otherwise the pin is open
			if connected.net, err = p.connection(); err != nil {
				return err
			}
		}
		pins = append(pins, connected)
		return p.expect(")")
	})
	if err != nil {
		return err
	}
	if err := p.expect(")"); err != nil {
		return err
	}
	return (&instance{p.builder, cell, name, t.text, t.at, pins}).add()
}

package circuit

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Read reads a circuit from a file: structural Verilog if the name ends in .v, otherwise ISCAS .bench. The circuit has
// the file's name without that end.
func Read(path string) (*Circuit, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if filepath.Ext(path) == ".v" {
		return ReadVerilog(path, f)
	}
	return ReadBench(path, f)
}

func circuitName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// ReadBench reads an ISCAS .bench file. The name of the file is for errors and for the name of the circuit.
func ReadBench(file string, r io.Reader) (*Circuit, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b := newBuilder(file)
	number := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		number++
		line, _, _ = strings.Cut(line, "#")
		l := benchLine{builder: b, text: strings.TrimRight(line, blanks), number: number}
		if err := l.parse(); err != nil {
			return nil, err
		}
	}
	return b.circuit(circuitName(file))
}

const (
	blanks     = " \t\r\v\f"
	separators = blanks + "(),=#\n"
)

// A benchLine is one line of a .bench file, up to its comment.
type benchLine struct {
	*builder
	text   string
	number int
	next   int // index in text
}

func (l *benchLine) pos() Pos { return Pos{l.number, l.next + 1} }

func (l *benchLine) skipBlanks() {
	l.next += len(l.text[l.next:]) - len(strings.TrimLeft(l.text[l.next:], blanks))
}

// accept skips the separator s, if it is next.
func (l *benchLine) accept(s byte) bool {
	l.skipBlanks()
	if l.next < len(l.text) && l.text[l.next] == s {
		l.next++
		return true
	}
	return false
}

// name reads a name.
func (l *benchLine) name() (string, error) {
	l.skipBlanks()
	rest := l.text[l.next:]
	if end := strings.IndexAny(rest, separators); end >= 0 {
		rest = rest[:end]
	}
	if rest == "" {
		return "", l.unexpected("a name")
	}
	l.next += len(rest)
	return rest, nil
}

// unexpected returns the error of a line that does not go on with what a .bench file demands.
func (l *benchLine) unexpected(want string) error {
	if l.next == len(l.text) {
		return l.errorf(l.pos(), "the line ends where %s is expected: complete it; or the file is cut in half", want)
	}
	return l.errorf(l.pos(), "%q where %s is expected: "+
		"a line is INPUT(net), OUTPUT(net) or net = GATE(net, net…)", l.text[l.next], want)
}

func (l *benchLine) parse() error {
	l.skipBlanks()
	if l.next == len(l.text) {
		return nil
	}
	at := l.pos()
	first, err := l.name()
	if err != nil {
		return err
	}
	if l.accept('=') {
		return l.gate(at, first)
	}
	names, err := l.names()
	if err != nil {
		return err
	}
	var declare func(Pos, string) error
	switch strings.ToUpper(first) {
	case "INPUT":
		declare = l.input
	case "OUTPUT":
		declare = l.output
	default:
		return l.errorf(at, "no declaration %s: there are INPUT and OUTPUT, and a gate is net = GATE(net, net…)", first)
	}
	if len(names) > 1 {
		return l.errorf(at, "%s has %d names: it declares one net, write a line for each", first, len(names))
	}
	return declare(at, names[0])
}

// names reads a list in parentheses, and then nothing more.
func (l *benchLine) names() (names []string, err error) {
	if !l.accept('(') {
		return nil, l.unexpected("'(' or '='")
	}
	for {
		name, err := l.name()
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		if l.accept(',') {
			continue
		}
		if !l.accept(')') {
			return nil, l.unexpected("',' or ')'")
		}
		l.skipBlanks()
		if l.next < len(l.text) {
			return nil, l.unexpected("the end of the line")
		}
		return names, nil
	}
}

// gate reads the rest of a line that defines net output.
func (l *benchLine) gate(at Pos, output string) error {
	l.skipBlanks()
	function := l.pos()
	name, err := l.name()
	if err != nil {
		return err
	}
	inputs, err := l.names()
	if err != nil {
		return err
	}
	if strings.EqualFold(name, "DFF") {
		if len(inputs) > 1 {
			return l.errorf(function, "flip-flop %s has %d inputs: it has one, the data", output, len(inputs))
		}
		return l.flipFlop(at, output, inputs[0])
	}
	kind, ok := kindOf(name)
	if !ok {
		return l.errorf(function, "no gate %s: there are AND, NAND, OR, NOR, XOR, XNOR, NOT, BUFF and DFF; "+
			"map the circuit to those", name)
	}
	return l.builder.gate(at, kind, output, inputs...)
}

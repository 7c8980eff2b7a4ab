package circuit

import (
	"fmt"
	"strings"
)

// A token is a word of a Verilog file: an identifier, a number, or one character of punctuation. The end of the file
// has the empty text.
type token struct {
	text  string
	kind  tokenKind
	at    Pos
	plain bool // an identifier that is not escaped, so it may be a keyword
}

type tokenKind uint8

const (
	endOfFile tokenKind = iota
	identifier
	number
	punctuation
)

func (t token) String() string {
	if t.kind == endOfFile {
		return "the end of the file"
	}
	return fmt.Sprintf("%q", t.text)
}

// A scanner divides a Verilog file into tokens. It skips comments, attributes and compiler directives.
type scanner struct {
	text      string
	next      int // index in text
	line      int
	lineBegin int // index in text
}

func (s *scanner) pos() Pos { return Pos{s.line, s.next - s.lineBegin + 1} }

// skip skips n bytes.
func (s *scanner) skip(n int) {
	for _, c := range []byte(s.text[s.next : s.next+n]) {
		s.next++
		if c == '\n' {
			s.line++
			s.lineBegin = s.next
		}
	}
}

// skipTo skips up to the next end, and end. It returns false if there is none.
func (s *scanner) skipTo(end string) bool {
	n := strings.Index(s.text[s.next:], end)
	if n < 0 {
		return false
	}
	s.skip(n + len(end))
	return true
}

// skipLine skips the rest of the line.
func (s *scanner) skipLine() {
	if !s.skipTo("\n") {
		s.skip(len(s.text) - s.next)
	}
}

// skipRest skips to after end, which closes what begins here.
func (s *scanner) skipRest(what, begin, end string) error {
	at := s.pos()
	s.skip(len(begin))
	if !s.skipTo(end) {
		return &Error{Pos: at, msg: fmt.Sprintf("%s begins here and does not end: add %s; or the file is cut in half",
			what, end)}
	}
	return nil
}

const verilogBlanks = blanks + "\n"

// skipAll skips everything that is not a token.
func (s *scanner) skipAll() error {
	for {
		rest := s.text[s.next:]
		var err error
		switch {
		case rest == "":
			return nil
		case strings.ContainsRune(verilogBlanks, rune(rest[0])):
			s.skip(1)
		case strings.HasPrefix(rest, "//"), rest[0] == '`':
			s.skipLine()
		case strings.HasPrefix(rest, "/*"):
			err = s.skipRest("a comment", "/*", "*/")
		case strings.HasPrefix(rest, "(*"):
			err = s.skipRest("an attribute", "(*", "*)")
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// token returns the next token.
func (s *scanner) token() (token, error) {
	if err := s.skipAll(); err != nil {
		return token{}, err
	}
	at := s.pos()
	rest := s.text[s.next:]
	if rest == "" {
		return token{at: at}, nil
	}
	while := func(ok func(c byte) bool) string {
		n := 1
		for n < len(rest) && ok(rest[n]) {
			n++
		}
		s.skip(n)
		return rest[:n]
	}
	switch c := rest[0]; {
	case c == '\\':
		text := while(func(c byte) bool { return !strings.ContainsRune(verilogBlanks, rune(c)) })[1:]
		if text == "" {
			return token{}, &Error{Pos: at, msg: `a name is missing after \`}
		}
		return token{text: text, kind: identifier, at: at}, nil
	case isLetter(c):
		text := while(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '$' })
		return token{text: text, kind: identifier, at: at, plain: true}, nil
	case isDigit(c):
		// The value of a constant, as in 1'b0, belongs to the number.
		text := while(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '\'' })
		return token{text: text, kind: number, at: at}, nil
	}
	s.skip(1)
	return token{text: rest[:1], kind: punctuation, at: at}, nil
}

package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Errors of decoding.
var (
	// ErrNewer: the bytes are of a later version. A newer worker can read them.
	ErrNewer = errors.New("of a newer version")
	// ErrMalformed: no version of this code has written the bytes.
	ErrMalformed = errors.New("malformed")
)

// Encode returns the bytes of a message or record. It panics if v holds invalid JSON in a field of that type.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wire: %T does not encode: %v", v, err))
	}
	return data
}

// decode reads data into v, of which version is a field, unless the version is unknown.
func decode(data []byte, what string, v any, version *int) error {
	err := json.Unmarshal(data, v)
	if err != nil { // a newer version may have other types
		var head struct {
			V int `json:"v"`
		}
		if json.Unmarshal(data, &head) != nil {
			return fmt.Errorf("%w %s: %w", ErrMalformed, what, err)
		}
		*version = head.V
	}
	switch {
	case *version > Version:
		return fmt.Errorf("%s %w: %d, and %d is known here", what, ErrNewer, *version, Version)
	case *version < 1:
		return fmt.Errorf("%w %s: version %d", ErrMalformed, what, *version)
	case err != nil:
		return fmt.Errorf("%w %s: %w", ErrMalformed, what, err)
	}
	return nil
}

// DecodeMessage reads a message of the work queue.
func DecodeMessage(data []byte) (m Message, err error) {
	if err := decode(data, "message", &m, &m.V); err != nil {
		return m, err
	}
	switch {
	case !Token(m.Run) || m.Plan == "":
		return m, fmt.Errorf("%w message: run %q, plan %q", ErrMalformed, m.Run, m.Plan)
	case m.Kind == Start && m.Begin != nil && m.Begin.Deadline >= 0:
		return m, nil
	case m.Kind == Part && m.Part >= 0:
		return m, nil
	}
	return m, fmt.Errorf("%w message of kind %q", ErrMalformed, m.Kind)
}

// DecodeState reads the state of a run.
func DecodeState(data []byte) (s State, err error) {
	if err := decode(data, "state", &s, &s.V); err != nil {
		return s, err
	}
	switch s.Phase {
	case Running, Done, Failed, Cancelled:
		return s, nil
	}
	return s, fmt.Errorf("%w state: phase %q", ErrMalformed, s.Phase)
}

// DecodeOutput reads the output of partition part.
func DecodeOutput(data []byte, part int) (o Output, err error) {
	if err := decode(data, "output", &o, &o.V); err != nil {
		return o, err
	}
	if o.Part != part {
		return o, fmt.Errorf("%w output: of partition %d instead of %d", ErrMalformed, o.Part, part)
	}
	return o, nil
}

// DecodeMarks reads a set of n members.
func DecodeMarks(data []byte, n int) (m Marks, err error) {
	if err := decode(data, "marks", &m, &m.V); err != nil {
		return m, err
	}
	if m.N != n || len(m.Bits) != (n+7)/8 {
		return m, fmt.Errorf("%w marks: %d bytes for %d instead of %d members", ErrMalformed, len(m.Bits), m.N, n)
	}
	return m, nil
}

// NewMarks returns an empty set of n members.
func NewMarks(n int) Marks { return Marks{V: Version, N: n, Bits: make([]byte, (n+7)/8)} }

// DecodeTries reads the attempts at a message.
func DecodeTries(data []byte) (t Tries, err error) {
	if err := decode(data, "tries", &t, &t.V); err != nil {
		return t, err
	}
	if min(t.Failed, t.Lost, t.Missing) < 0 {
		return t, fmt.Errorf("%w tries: a count is negative", ErrMalformed)
	}
	return t, nil
}

// DecodePlan reads a plan and checks that its edges are those of an acyclic graph.
func DecodePlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := decode(data, "plan", p, &p.V); err != nil {
		return nil, err
	}
	return p, p.check()
}

// maxToken is arbitrary, and below the limit that servers have for subjects.
const maxToken = 100

// Token reports whether s may be a part of a subject: a run, a class or a worker.
func Token(s string) bool {
	if s == "" || len(s) > maxToken {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

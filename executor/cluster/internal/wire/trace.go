package wire

import (
	"fmt"
	"strings"
)

// A Trace is a W3C trace context: the values of the headers traceparent and tracestate. The zero value is none.
type Trace struct{ Parent, State string }

// TraceParent and TraceState are the headers of a message that has a trace. No version of the wire format is needed for
// them: a worker that does not know them handles the message all the same, and publishes others without.
const (
	TraceParent = "traceparent"
	TraceState  = "tracestate"
)

// maxTraceState is the length that the standard asks implementations to pass on.
const maxTraceState = 512

// ParseTrace returns the trace of two headers. What is malformed of it is left out, and the error says so.
func ParseTrace(parent, state string) (Trace, error) {
	switch {
	case parent == "" && state == "":
		return Trace{}, nil
	case !isParent(parent):
		return Trace{}, fmt.Errorf("%w trace: traceparent %q", ErrMalformed, clip(parent))
	case len(state) > maxTraceState || !isPrintable(state):
		return Trace{Parent: parent}, fmt.Errorf("%w trace: tracestate %q", ErrMalformed, clip(state))
	}
	return Trace{parent, state}, nil
}

// isParent reports whether s is a traceparent: version, ID of the trace, ID of the span and flags. A version after 00
// may have more behind these.
func isParent(s string) bool {
	const length = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(s) < length || !isPrintable(s) || s[:2] == "00" && len(s) > length || len(s) > length && s[length] != '-' ||
		len(s) > maxTraceState {
		return false
	}
	fields := strings.SplitN(s[:length], "-", 4)
	for i, n := range []int{2, 32, 16, 2} {
		if len(fields) <= i || len(fields[i]) != n || strings.Trim(fields[i], "0123456789abcdef") != "" {
			return false
		}
	}
	return fields[0] != "ff" && strings.Trim(fields[1], "0") != "" && strings.Trim(fields[2], "0") != ""
}

// isPrintable reports whether s may be the value of a header.
func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// clip returns the beginning of a text for an error.
func clip(s string) string { return s[:min(len(s), 64)] }

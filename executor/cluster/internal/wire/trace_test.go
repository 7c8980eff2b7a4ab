package wire

import (
	"errors"
	"strings"
	"testing"
)

const aParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestTrace: a trace is as its headers say, and what is malformed of them is left out.
func TestTrace(t *testing.T) {
	for _, test := range []struct {
		name, parent, state string
		want                Trace
		malformed           bool
	}{
		{"none", "", "", Trace{}, false},
		{"parent", aParent, "", Trace{aParent, ""}, false},
		{"both", aParent, "a=1,b=2", Trace{aParent, "a=1,b=2"}, false},
		{"later version", "cc" + aParent[2:] + "-more", "", Trace{"cc" + aParent[2:] + "-more", ""}, false},
		{"later version without more", "cc" + aParent[2:], "", Trace{"cc" + aParent[2:], ""}, false},
		{"longest state", aParent, strings.Repeat("a", 512), Trace{aParent, strings.Repeat("a", 512)}, false},
		{"state alone", "", "a=1", Trace{}, true},
		{"word", "hello", "a=1", Trace{}, true},
		{"short", aParent[:54], "", Trace{}, true},
		{"this version with more", aParent + "-more", "", Trace{}, true},
		{"later version run on", "cc" + aParent[2:] + "more", "", Trace{}, true},
		{"no version", "ff" + aParent[2:], "", Trace{}, true},
		{"capitals", strings.ToUpper(aParent), "", Trace{}, true},
		{"trace of zeros", "00-" + strings.Repeat("0", 32) + aParent[35:], "", Trace{}, true},
		{"span of zeros", aParent[:36] + strings.Repeat("0", 16) + "-01", "", Trace{}, true},
		{"no dashes", strings.ReplaceAll(aParent, "-", "0"), "", Trace{}, true},
		{"dashes elsewhere", aParent[:52] + "01-", "", Trace{}, true},
		{"line break behind", "cc" + aParent[2:] + "-\r\nx: y", "", Trace{}, true},
		{"very long", "cc" + aParent[2:] + "-" + strings.Repeat("x", 512), "", Trace{}, true},
		{"long state", aParent, strings.Repeat("a", 513), Trace{aParent, ""}, true},
		{"state with a line break", aParent, "a=1\r\nb=2", Trace{aParent, ""}, true},
		{"state of bytes", aParent, "a=\xff", Trace{aParent, ""}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseTrace(test.parent, test.state)
			if got != test.want || errors.Is(err, ErrMalformed) != test.malformed || err != nil && !test.malformed {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

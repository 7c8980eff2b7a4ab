// Package errfmt formats errors whose whole text does not fit a line.
package errfmt

import (
	"fmt"
	"io"
)

// Format implements fmt.Formatter for an error. say returns the error's text and formats the wrapped errors with the
// verb that it is given: %v for a text that fits a log line, %+v for everything known, with the stacks of panics.
// Format writes the long text for %+v and the short one for every other verb.
func Format(s fmt.State, verb rune, say func(verb string) string) {
	if verb == 'v' && s.Flag('+') {
		_, _ = io.WriteString(s, say("%+v"))
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), say("%v"))
}

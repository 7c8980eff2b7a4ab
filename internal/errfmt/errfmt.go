// Package errfmt formats errors that have more to tell than fits a line.
package errfmt

import (
	"fmt"
	"io"
)

// Format implements fmt.Formatter for an error. say returns the error's text, in which the errors that it wraps are
// formatted with the verb that say is given: %v for a text that fits a log line, %+v for all that is known, stacks of
// panics too. The long text is written for %+v, the short one for everything else.
func Format(s fmt.State, verb rune, say func(verb string) string) {
	if verb == 'v' && s.Flag('+') {
		_, _ = io.WriteString(s, say("%+v"))
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), say("%v"))
}

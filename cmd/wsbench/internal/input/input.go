// Package input has the errors that say what is wrong with a request.
package input

import "fmt"

// An Error says what is wrong with a request. Nothing has been measured.
type Error struct{ msg string }

func (e *Error) Error() string { return e.msg }

// Errorf returns an *Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

package circuit

import "fmt"

// A Pos is a place in a file. Lines and columns count from 1, and columns are bytes. The zero Pos is the whole file.
type Pos struct{ Line, Column int }

// An Error says what is wrong with a circuit, where, and what to do about it.
type Error struct {
	File string
	Pos
	msg string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.msg)
}

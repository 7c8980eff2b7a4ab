package bench

import "fmt"

// A WrongAnswer says that a run did not do what its graph or program demands. Its time means nothing and is not
// reported.
type WrongAnswer struct {
	Workload string
	Setting  fmt.Stringer // a [Setting], a [DivisionPoint] or a [DequePoint]
	Err      error
}

func (e *WrongAnswer) Error() string {
	return fmt.Sprintf("wrong answer: %s on %v: %v", e.Workload, e.Setting, e.Err)
}

func (e *WrongAnswer) Unwrap() error { return e.Err }

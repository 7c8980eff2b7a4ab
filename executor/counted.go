package executor

import "github.com/magpie-go/magpie/internal/left"

// counted is the part of a body's Hooks that counts workers: a run does not end before the workers that have entered
// its body have left it.
type counted struct {
	// left counts what the run has not done, as the type around it says, and the workers between Enter and Leave.
	left left.Count
}

// Enter implements Hooks.
func (c *counted) Enter(*Worker) { c.left.In(1) }

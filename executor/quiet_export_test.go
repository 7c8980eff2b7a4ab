package executor

import "time"

// A Tempo is a tempo that tests ask.
type Tempo struct{ t tempo }

func (t *Tempo) Next() bool                       { return t.t.next() }
func (t *Tempo) Note(d time.Duration, quiet bool) { t.t.note(int64(d), quiet) }

const (
	QuietSpan   = quietSpan
	FirstTrials = firstTrials
	Retrial     = retrial
)

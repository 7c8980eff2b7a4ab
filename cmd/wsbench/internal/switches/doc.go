// Package switches counts the context switches of whole processes, by the kernel's records of every switch on every
// CPU: it is behind the co-runs of package replay. Linux has such records.
//
// A switch counts for a process if its core goes from or to one of the process's threads. Document 004 tells two kinds
// of them apart: those to a thief, and those to the other program of a co-run. Its kernel knows which threads are
// thieves; a stock kernel does not. So a thief is a thread that gives its core up within half a millisecond
// ([ThiefTime]), whether it yields or blocks. This rule is ours. A thief that finds nothing yields after microseconds.
// A busy worker computes until the kernel takes its core away, at the end of a slice of a millisecond or more.
//
// The rule errs in both directions. A busy worker that is preempted early counts as a thief. So does a thread of the Go
// runtime that wakes for a moment, such as its monitor. A thief that steals and then computes does not count.
package switches

import "time"

// ThiefTime is the time within which a thread that gives its core up counts as a thief.
const ThiefTime = 500 * time.Microsecond

// Counts are the context switches of a process.
type Counts struct {
	Total    int64 `json:"total"`
	ToThief  int64 `json:"to_thief"` // to a thief of this or another process of the co-run
	External int64 `json:"external"` // from the process to another one of the co-run

	// Lost counts the records, two for each switch on any CPU, that the kernel dropped for lack of room since the
	// recording began. The switches in them are not in the other counts.
	Lost int64 `json:"lost,omitempty"`
}

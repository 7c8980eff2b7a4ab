// Package pace decides when a worker whose task calls executor.Yield again and again offers its processor to others.
package pace

import "time"

const (
	// often is the time between two looks at the clock, if calls come closer together: a look costs some 40 ns.
	often = 5 * time.Microsecond
	// most is how many calls there are between two looks at most. Arbitrary: if a task that has called every few
	// nanoseconds calls every millisecond from now on, so many milliseconds pass before the next look.
	most = 32
)

// A Pace is that of one worker. The processor is offered at Interval. A worker that has waited for it keeps it for as
// long as it has waited, up to Longest: the kernel takes what is left of its turn from a thread that offers its core.
// Beside a thread that never sleeps, a worker that did so at each Interval would have a small part of the core.
//
// Times are in nanoseconds.
type Pace struct {
	Interval, Longest int64

	task   uint64 // of the last call
	skips  uint32 // calls until the next look at the clock
	every  uint32 // calls between the last two looks
	looked int64  // the last look
	due    int64  // the next offer
}

// Skip reports whether a call may do without a look at the clock. A new task begins with a look at each call.
func (p *Pace) Skip(task uint64) bool {
	if p.skips > 0 && task == p.task {
		p.skips--
		return true
	}
	return false
}

// Look notes a look at the clock, and reports whether the processor is to be offered.
func (p *Pace) Look(task uint64, now int64) bool {
	if task != p.task || now-p.looked >= int64(often) {
		p.every = 0
	} else {
		p.every = min(2*p.every+1, most)
	}
	p.task, p.skips, p.looked = task, p.every, now
	return now >= p.due
}

// Offered notes that the processor was offered, and when the worker had it again.
func (p *Pace) Offered(from, to int64) {
	p.looked = to
	p.due = to + max(p.Interval, min(to-from, p.Longest))
}

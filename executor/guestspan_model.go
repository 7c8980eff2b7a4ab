//go:build modelcheck

package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// The model has no time. A guest leaves after a few items, and any may be quiet.
const (
	guestItems   = 3
	quietSpan    = tempoUnit * tempoMax
	withheldSpan = quietSpan
)

func (g *guests) mayCome() bool { return true }
func (g *guests) note(*Worker)  {}
func (g *guest) hurry()         {}

func (g *guest) begin(w *Worker) {
	g.begun, g.look = w.counts.items-w.counts.overhead, w.counts.items+2
}

func (g *guest) lookAtClock(w *Worker) bool {
	n := w.counts.items - w.counts.overhead - g.begun
	if n >= pollInterval {
		g.continues()
	}
	return n > guestItems
}

func (g *guest) number(w *Worker) uint64 { return w.counts.items + 1 }
func (*guests) now() int64               { return 0 }
func (*guests) taken(trial) int64        { return 0 }
func (*guests) isLate(trial) bool        { return true }
func (*guests) letOthersRun(trial)       {}

// A quietClock is a word that a thread of the program awaits: it calls tick.
type quietClock struct{ isSet xatomic.Bool }

func (c *quietClock) set(*executor) { c.isSet.Store(true) }

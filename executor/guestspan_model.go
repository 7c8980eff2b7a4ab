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

func (g *guest) number(w *Worker) uint32 { return uint32(w.counts.items) + 1 }
func (*guests) now() int64               { return 0 }
func (*guests) taken(trial) int64        { return 0 }
func (*guests) isLate(trial) bool        { return true }
func (*guests) letOthersRun(trial)       {}

// A quietClock is a word that a thread of the program awaits: it calls tick.
type quietClock struct{ isSet xatomic.Bool }

func (c *quietClock) set(*executor) { c.isSet.Store(true) }

// note expects each caller back, if the program has a clock that ends that.
func (g *guests) note(trial) (left int64) {
	if g.isLong(0) {
		g.returns.left(0)
	}
	return 0
}

func (g *guests) isLong(int64) bool { return g.returns.clock.runs }
func timeSlot(int64) int64          { return 0 }

const longSlots = 1

// mayKeep puts off every other wake-up.
func (e *returns) mayKeep(int64) bool { return e.kept.CompareAndSwap(0, 1) }

// A returnClock is a word that a thread of the program awaits: it calls noReturn.
type returnClock struct {
	isSet xatomic.Bool
	runs  bool // the program has such a thread
}

func (c *returnClock) init(*executor) {}
func (c *returnClock) set()           { c.isSet.Store(true) }

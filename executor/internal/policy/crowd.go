package policy

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A crowd counts the thieves of an executor. It has what policies share that count their thieves.
type crowd struct {
	m       Machine
	_       pad.Line
	thieves xatomic.Int32 // workers that look for work
	_       pad.Line
}

func (c *crowd) Thieves() *xatomic.Int32 { return &c.thieves }
func (c *crowd) Refills() bool           { return false }
func (c *crowd) Actives() int            { return 0 }

// join counts the caller as a thief.
func (c *crowd) join() { c.thieves.Add(1) }

// leave ceases to count the caller as a thief. The caller goes on to run an item, or out of service.
//
// Guard B of document 000: while there was a thief, an item may have been shown without a wake-up. So the last thief
// looks everywhere once more, after it has ceased to count. If it finds an item, it wakes another worker for it, or the
// workers that sleep in a wait.
func (c *crowd) leave() {
	if c.thieves.Add(-1) == 0 && c.m.AnyWork() {
		c.wakeOne()
	}
}

// wakeOne wakes a worker or, if none sleeps outside a wait, those that sleep in one.
func (c *crowd) wakeOne() {
	if c.m.Notify(1) == 0 {
		c.m.NotifyHelpers()
	}
}

// wakeAll wakes every worker that sleeps outside a wait. A woken worker counts itself as a thief.
func (c *crowd) wakeAll() { c.m.Notify(c.m.Workers()) }

// A silence is the Thieves of a policy that is told of every item shown: it stays 0.
type silence struct {
	_    pad.Line
	none xatomic.Int32
	_    pad.Line
}

// deaf has the methods of a Thief whose policy does not care when its worker is active.
type deaf struct{}

func (deaf) Busy(bool) {}
func (deaf) Idle()     {}
func (deaf) Lost()     {}

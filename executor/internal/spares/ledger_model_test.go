//go:build modelcheck

package spares

import (
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A fakeHost is a Host whose spares do nothing.
type fakeHost struct {
	l         Ledger
	fails     int // how many threads cannot be started
	refusals  int // for how many more there is no room
	discharge func(spare int)
	closed    *xatomic.Bool // Close has returned; may be nil
}

func newHost(limit int) *fakeHost {
	c := &fakeHost{discharge: func(int) {}}
	c.l.Init(c, limit, time.Second)
	return c
}

func (c *fakeHost) Make(int)            {}
func (c *fakeHost) WakeAll()            {}
func (c *fakeHost) Discharge(spare int) { c.discharge(spare) }
func (c *fakeHost) Send(spare int, _ bool) {
	model.Assert(c.closed == nil || !c.closed.Load(), "a thread is sent after Close")
	if c.fails > 0 {
		c.fails--
		c.l.Failed(spare)
	} else if c.refusals > 0 {
		c.refusals--
		c.l.Refused(spare)
	}
}

// serve checks that so many spares are in service.
func (c *fakeHost) serve(want int) {
	counts := c.l.Counts()
	model.Assert(counts.Serving == want, "%+v, want %d in service", counts, want)
}

// TestModelLedgerBlockAndSleep: of a worker that blocks and one that goes to sleep at the same time one calls up the
// spare for the second.
func TestModelLedgerBlockAndSleep(t *testing.T) {
	model.Check(t, func() {
		c := newHost(3)
		join := model.Go(c.l.Sleep)
		c.l.Block()
		join()
		c.serve(2)
	})
}

// TestModelLedgerTwo: the same of several of each.
func TestModelLedgerTwo(t *testing.T) {
	model.Check(t, func() {
		c := newHost(3)
		join1, join2 := model.Go(c.l.Sleep), model.Go(c.l.Block)
		c.l.Block()
		join1()
		join2()
		c.serve(3)
	})
}

// TestModelLedgerLeave: a worker goes to sleep while a spare that is surplus leaves. In service are as many as are due.
func TestModelLedgerLeave(t *testing.T) {
	model.Check(t, func() {
		c := newHost(2)
		c.l.Block()
		c.l.Sleep()
		c.l.Wake()
		c.serve(2)
		left := false
		join := model.Go(func() { left = c.l.Leave(1) })
		c.l.Sleep()
		join()
		c.serve(2)
		model.Assert(!left || c.l.Counts().Standby == 0, "the spare that has left stands by, and one is due")
	})
}

// TestModelLedgerLeaveTwice: of two spares, one of them surplus, one leaves.
func TestModelLedgerLeaveTwice(t *testing.T) {
	model.Check(t, func() {
		c := newHost(2)
		c.l.Block()
		c.l.Block()
		c.l.Unblock()
		join := model.Go(func() { c.l.Leave(1) })
		c.l.Leave(0)
		join()
		c.serve(1)
	})
}

// TestModelLedgerGone: a worker blocks while the thread of the only spare ends. The spare is given another.
func TestModelLedgerGone(t *testing.T) {
	model.Check(t, func() {
		c := newHost(1)
		c.l.Block()
		c.l.Unblock()
		c.l.Look()
		ends := false
		c.discharge = func(int) { ends = true }
		model.Assert(c.l.Leave(0) && ends, "an idle spare stays")
		join := model.Go(func() { c.l.Gone(0) })
		c.l.Block()
		join()
		c.serve(1)
	})
}

// TestModelLedgerLook: a worker blocks while the spares on standby are looked at. Either the spare on standby serves,
// or its thread ends and it comes back.
func TestModelLedgerLook(t *testing.T) {
	model.Check(t, func() {
		c := newHost(1)
		c.l.Block()
		c.l.Unblock()
		model.Assert(c.l.Leave(0), "a surplus spare stays")
		c.l.Look()
		c.discharge = func(spare int) { c.l.Gone(spare) } // at once, on the thread that looks
		join := model.Go(c.l.Look)
		c.l.Block()
		join()
		c.serve(1)
	})
}

// TestModelLedgerFailed: a thread cannot be started while another worker calls up. As many as could be started serve,
// and the next call makes up for it.
func TestModelLedgerFailed(t *testing.T) {
	model.Check(t, func() {
		c := newHost(3)
		c.fails = 1
		join := model.Go(c.l.Block)
		c.l.Block()
		join()
		model.Assert(c.l.Counts().Serving >= 1, "none serves")
		c.l.Sleep()
		c.serve(3)
	})
}

// TestModelLedgerRefused: a thread is refused while another worker blocks. The host's CallUp makes up for it.
func TestModelLedgerRefused(t *testing.T) {
	model.Check(t, func() {
		c := newHost(3)
		c.refusals = 1
		join := model.Go(c.l.Block)
		c.l.Block()
		join()
		c.l.CallUp()
		c.serve(2)
	})
}

// TestModelLedgerCallUpAndClose: a thread is not sent after Close has returned.
func TestModelLedgerCallUpAndClose(t *testing.T) {
	model.Check(t, func() {
		c := newHost(1)
		c.fails = 1
		c.l.Block() // refused
		c.closed = new(xatomic.Bool)
		join := model.Go(c.l.CallUp)
		c.l.Close()
		c.closed.Store(true)
		join()
	})
}

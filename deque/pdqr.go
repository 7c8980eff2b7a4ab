package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A pdqr is a growable work-stealing deque whose items only the owner touches. A thief asks for an item and waits for
// the answer. It is the receiver-initiated private deque of Acar, Charguéraud and Rainey, "Scheduling Parallel Programs
// by Work Stealing with Private Deques" (PPoPP 2013). It must not be copied.
//
// There are two differences from [adws]. A thief asks for itself, not for the next thief, and waits a bounded time. An
// owner with nothing to spare says so, and then no thief waits for it.
//
// The deque keeps no pointer that was popped or stolen alive.
type pdqr[T any] struct {
	_ pad.Line // see pad.Line

	// Owner only.
	own  private[T]
	keep int
	// untold is set when thieves may sleep without a request: the item that was put ready for a request has been
	// fetched by a thief, or taken back by the owner.
	untold bool
	_      pad.Line

	// mail is nil, ask, idle, or an item. Thieves change nil to ask, and an item to nil. The owner changes ask to an
	// item or idle, idle to an item, an item to nil, and nil to idle. P30: publishes the item, and everything written
	// before it was pushed. C30: the thread that moves an item out of mail has it.
	mail xatomic.Pointer[T]
	_    pad.Line

	ask, idle *T // no item has these addresses; never written again
	_         pad.Line
}

// newPDQR returns an empty deque. While the owner has keep items or fewer it refuses thieves.
func newPDQR[T any](keep int) *pdqr[T] {
	// The bytes are for items of size zero, which may all have one address.
	unique := new(struct {
		ask  T
		_    byte
		idle T
		_    byte
	})
	d := &pdqr[T]{keep: keep, ask: &unique.ask, idle: &unique.idle}
	d.mail.Store(d.idle)
	return d
}

// Push adds p, which must not be nil. Everything before the Push happens before the return of the Pop or Steal that
// returns p.
//
// Owner only.
func (d *pdqr[T]) Push(p *T) Effect {
	d.own.push(p)
	if m, asks := d.hear(); asks {
		return d.tell(m)
	}
	return Nothing
}

// Pop removes the newest item that no thief has, or returns nil if there is none. If no other item is left, it takes
// back an item that was put ready and that no thief has fetched.
//
// Owner only.
func (d *pdqr[T]) Pop() (*T, Effect) {
	p := d.own.pop()
	if p == nil {
		return d.takeBack(), Nothing
	}
	if m, asks := d.hear(); asks {
		return p, d.tell(m)
	}
	return p, Nothing
}

// Poll answers a request, as Push and Pop do. All three return Shown when they have put an item ready, and once more
// when that item is gone and there is another to spare: a thief that sleeps has to ask again (L30).
//
// Owner only.
func (d *pdqr[T]) Poll() Effect {
	if m, asks := d.hear(); asks {
		return d.tell(m)
	}
	return Nothing
}

// Wanted reports whether no item lies ready. Owner only.
func (d *pdqr[T]) Wanted() bool { return d.Len() == 0 }

// Steal takes the item that was put ready, or asks for one and waits a bounded time. The outcome is Empty if the owner
// has nothing to spare, and NotReady if it has not yet answered. After both the owner puts the next item that it can
// spare ready.
//
// Any thread.
func (d *pdqr[T]) Steal() (*T, Outcome) {
	m := d.mail.Load()
	if m == nil {
		asked := d.mail.CompareAndSwap(nil, d.ask)
		m = d.mail.Load()
		for looks := 1; asked && m == d.ask && looks < patience; looks++ {
			m = d.mail.Load()
		}
	}
	switch {
	case m == d.ask: // another thief's request, or this thief's, which stands after the wait
		return nil, NotReady
	case m == d.idle:
		return nil, Empty
	case m != nil && d.mail.CompareAndSwap(m, nil): // C30
		return m, Stolen
	}
	return nil, Lost // an item came and went
}

// Ask reports whether an item lies ready. If not, a request stands. Any thread.
func (d *pdqr[T]) Ask() bool {
	for {
		m := d.mail.Load()
		if m != nil {
			return m != d.ask && m != d.idle
		}
		if d.mail.CompareAndSwap(nil, d.ask) {
			return false
		}
	}
}

// Len returns 1 if an item lies ready, otherwise 0. Any thread.
func (d *pdqr[T]) Len() int {
	if m := d.mail.Load(); m != nil && m != d.ask && m != d.idle {
		return 1
	}
	return 0
}

// hear returns the content of mail, and whether the owner has to call tell.
func (d *pdqr[T]) hear() (m *T, asks bool) {
	m = d.mail.Load()
	return m, m == d.ask || m == d.idle || m == nil && d.untold
}

// tell is Poll when m, the content of mail, is no item. If m is ask or idle, tell puts the oldest item into mail:
// thieves that saw it idle may sleep (L30). Without an item to spare it refuses a request.
func (d *pdqr[T]) tell(m *T) Effect {
	spare := d.own.count() > d.keep
	switch {
	case !spare:
		if m == d.ask {
			d.mail.Store(d.idle)
		}
		return Nothing
	case m == nil:
		d.untold = false
	default:
		d.mail.Store(d.own.oldest()) // P30
		d.own.shift()
		d.untold = true
	}
	return Shown
}

// takeBack takes back an item that no thief has fetched. Otherwise the item would wait for a thief that may never come,
// while Pop says that there is none. If there is no item, takeBack returns nil and the deque is idle.
func (d *pdqr[T]) takeBack() *T {
	for { // meanwhile a thief may fetch the item, or ask
		m := d.mail.Load()
		switch m {
		case d.idle:
			return nil
		case nil, d.ask:
			if d.mail.CompareAndSwap(m, d.idle) {
				return nil
			}
		default:
			if d.mail.CompareAndSwap(m, nil) { // C30
				return m
			}
		}
	}
}

var pdqrRow = row{
	name:   "pdqr",
	about:  "private: a thief asks, the owner answers (receiver-initiated)",
	traits: traits{hides: true, asks: true},
}

func pdqrQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] {
		d := newPDQR[T](o.Keep)
		d.own.items = make([]*T, 0, o.Capacity)
		return d
	}
}

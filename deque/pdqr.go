package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A pdqr is a growable work-stealing deque whose owner alone ever touches it, and whose thieves ask for an item and
// wait for the answer: the receiver-initiated private deque of Acar, Charguéraud and Rainey (2013). It must not be
// copied.
//
// It differs from [adws] in that a thief asks for itself, not for the next, and waits, though not for ever; and in that
// an owner with nothing to spare says so, and nobody waits for it.
//
// The deque keeps no pointer that was popped or stolen alive.
type pdqr[T any] struct {
	_ pad.Line // see there

	// Owner only.
	own  private[T]
	keep int
	// untold is set when thieves may sleep without a request: somebody has fetched what they had asked for, or the
	// owner has taken it back.
	untold bool
	_      pad.Line

	// mail is nil, ask, idle, or an item. Thieves change nil to ask and items to nil; the owner ask to an item or idle,
	// idle to an item, items to nil, and nil to idle. P30: publishes the item, and what was written before it was
	// pushed. C30: who moves an item out of it has it.
	mail xatomic.Pointer[T]
	_    pad.Line

	ask, idle *T // no item has these addresses; never written again
	_         pad.Line
}

// newPDQR returns an empty deque. While the owner has keep items or fewer it refuses thieves.
func newPDQR[T any](keep int) *pdqr[T] {
	// The bytes are for items of no size, which may all have one address.
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

// Push adds p, which must not be nil. Everything before the Push happens before the Pop or Steal that
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

// Pop removes the item pushed last of those that no thief has, or returns nil if there is none: what was put ready for
// a thief that has not fetched it, the owner takes back.
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

// Poll answers a thief, as Push and Pop do. These say Shown when an item has been put ready, and once more when it is
// gone and there is another to spare: a thief that sleeps has to ask again (L30).
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

// Steal takes the item that was put ready, or asks for one and waits for some time. It is Empty if the owner has
// nothing to spare, and NotReady if it has not yet answered. Whichever of them it is, the next item to spare is put
// ready.
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
	case m == d.ask: // another thief's, or the patience is over and the request stands
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

// Len is one if an item lies ready, otherwise zero. Any thread.
func (d *pdqr[T]) Len() int {
	if m := d.mail.Load(); m != nil && m != d.ask && m != d.idle {
		return 1
	}
	return 0
}

// hear returns what is in the mailbox, and whether the owner has to do anything for thieves if it has an item to spare.
func (d *pdqr[T]) hear() (m *T, asks bool) {
	m = d.mail.Load()
	return m, m == d.ask || m == d.idle || m == nil && d.untold
}

// tell is Poll where m, which the owner has found in the mailbox, is no item. If it is ask or idle the oldest item goes
// there: thieves that saw it idle may sleep (L30). Without an item to spare the owner refuses.
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

// takeBack takes what nobody has fetched from the mailbox: otherwise the owner would say that there is nothing, and the
// item would wait for a thief that may never come. If there is nothing, the deque is idle from then on.
func (d *pdqr[T]) takeBack() *T {
	for { // a thief may fetch the item meanwhile, and one may ask
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

func pdqrRow[T any]() row[T] {
	return row[T]{
		name:   "pdqr",
		about:  "private: a thief asks, the owner answers (receiver-initiated)",
		traits: traits{hides: true, asks: true},
		group: func(_ int, o Options) func(int) Queue[T] {
			return func(int) Queue[T] {
				d := newPDQR[T](o.Keep)
				d.own.items = make([]*T, 0, o.Capacity)
				return d
			}
		},
	}
}

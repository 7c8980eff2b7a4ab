package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// An adws is a growable work-stealing deque whose items only the owner touches: asynchronous delegation without blocks.
// It must not be copied.
//
// There is a mailbox for one item. A thief takes the item in it, and by the same step asks for the next. The owner puts
// its oldest item there when it next pushes, pops or polls. NotReady and Poll are as for [padWS]. A steal costs the
// owner a locked instruction, and at most one item can be stolen at a time.
//
// The deque keeps no pointer that was popped or stolen alive.
type adws[T any] struct {
	ask *T // no item has this address; never written again. First: see pad.Line
	_   pad.Line

	// Owner only.
	own  private[T]
	keep int
	_    pad.Line

	// mail is nil, ask, or an item. Thieves change nil and items to ask; the owner changes ask to an item, and an item
	// to nil. P4: publishes the item, and everything written before it was pushed. C3: the thread that moves an item
	// out of mail has it.
	mail xatomic.Pointer[T]
	_    pad.Line
}

// newADWS returns an empty deque. While the owner has keep items or fewer it answers no request.
func newADWS[T any](keep int) *adws[T] {
	// The byte is for items of size zero, which may all have one address.
	unique := new(struct {
		ask T
		_   byte
	})
	return &adws[T]{keep: keep, ask: &unique.ask}
}

// Push adds p, which must not be nil. Everything before the Push happens before the return of the Pop or Steal that
// returns p.
//
// Owner only.
func (d *adws[T]) Push(p *T) Effect {
	d.own.push(p)
	if d.mail.Load() != d.ask {
		return Nothing
	}
	return d.answer()
}

// Pop removes the newest item that no thief has, or returns nil if there is none.
//
// Owner only.
func (d *adws[T]) Pop() (*T, Effect) {
	p := d.own.pop()
	if p == nil {
		return d.takeBack(), Nothing
	}
	if d.mail.Load() != d.ask {
		return p, Nothing
	}
	return p, d.answer()
}

// Poll answers a request, if there is one. See [padWS.Poll].
//
// Owner only.
func (d *adws[T]) Poll() Effect {
	if d.mail.Load() != d.ask {
		return Nothing
	}
	return d.answer()
}

// Steal takes the item that was put ready, and asks for the next. The outcome is Stolen, NotReady or Lost. L1: after
// NotReady a request stands, as for [padWS.Steal].
//
// Any thread.
func (d *adws[T]) Steal() (*T, Outcome) {
	p := d.mail.Load()
	switch {
	case p == nil:
		d.mail.CompareAndSwap(nil, d.ask) // or another thief has asked
		return nil, NotReady
	case p == d.ask:
		return nil, NotReady
	case d.mail.CompareAndSwap(p, d.ask): // C3
		return p, Stolen
	}
	return nil, Lost
}

// Ask reports whether an item has been put ready. If not, a request stands. Any thread.
func (d *adws[T]) Ask() bool {
	p := d.mail.Load()
	if p == nil {
		d.mail.CompareAndSwap(nil, d.ask) // or another thief has asked
		return false
	}
	return p != d.ask
}

// Len returns 1 if an item has been put ready, otherwise 0. Any thread.
func (d *adws[T]) Len() int {
	if p := d.mail.Load(); p == nil || p == d.ask {
		return 0
	}
	return 1
}

// Wanted reports whether nothing has been put ready. Owner only.
func (d *adws[T]) Wanted() bool { return d.Len() == 0 }

// answer puts the oldest item into mail, which is ask. If there is none to spare, the request stands.
func (d *adws[T]) answer() Effect {
	if d.own.count() <= d.keep {
		return Nothing
	}
	d.mail.Store(d.own.oldest()) // P4
	d.own.shift()
	return Shown
}

// takeBack takes back an item that no thief has fetched, or returns nil. Otherwise the item would wait for a thief that
// may never come, while Pop says that there is none.
func (d *adws[T]) takeBack() *T {
	p := d.mail.Load()
	if p == nil || p == d.ask || !d.mail.CompareAndSwap(p, nil) { // C3
		return nil
	}
	return p
}

var adwsRow = row{
	name:   "adws",
	about:  "no blocks: the owner puts one item at a time where thieves can take it",
	traits: traits{hides: true, asks: true},
}

func adwsQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] {
		d := newADWS[T](o.Keep)
		d.own.items = make([]*T, 0, o.Capacity)
		return d
	}
}

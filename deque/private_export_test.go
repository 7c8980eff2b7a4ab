package deque

// occupied returns the number of places that are not nil, including those of items that have left.
func (q *private[T]) occupied() (n int) {
	for _, p := range q.items[:cap(q.items)] {
		if p != nil {
			n++
		}
	}
	return n
}

// Occupied returns the number of places that are not nil. Owner only, while no thief is active.
func (d *pdqr[T]) Occupied() int { return d.own.occupied() + d.Len() }

// Occupied returns the number of places that are not nil. Owner only, while no owner deals.
func (d *pdqs[T]) Occupied() int {
	n := d.own.occupied()
	if d.cell.Load() != nil {
		n++
	}
	return n
}

// Private returns the number of items that the owner has for itself. Owner only.
func (d *pdqr[T]) Private() int { return d.own.count() }

// First returns the index in its slice at which the owner's items begin. Owner only.
func (d *pdqr[T]) First() int { return d.own.first }

// A PDQRThief is Steal cut into its steps, so that a test decides what happens between them.
type PDQRThief[T any] struct {
	d     *pdqr[T]
	asked bool
	seen  *T
}

// NewPDQRThief returns a thief that has not begun.
func NewPDQRThief[T any](d *pdqr[T]) *PDQRThief[T] { return &PDQRThief[T]{d: d} }

// Step takes one step: a load, a request, or the claim of an item. It reports whether the steal has ended, and its
// outcome.
func (s *PDQRThief[T]) Step() (p *T, outcome Outcome, over bool) {
	d := s.d
	if p, s.seen = s.seen, nil; p != nil {
		s.asked = false
		if d.mail.CompareAndSwap(p, nil) {
			return p, Stolen, true
		}
		return nil, Lost, true
	}
	switch m := d.mail.Load(); {
	case m == d.ask && s.asked:
		return nil, NotReady, false
	case m == d.idle, m == d.ask:
		s.asked = false
		return nil, Empty, true
	case m == nil:
		s.asked = d.mail.CompareAndSwap(nil, d.ask)
	default:
		s.seen = m
	}
	return nil, NotReady, false
}

// Private returns the number of items that the owner has for itself. Owner only.
func (d *pdqs[T]) Private() int { return d.own.count() }

// Wait begins a Receive, and Withdraw ends it. Owner only.
func (d *pdqs[T]) Wait() { d.cell.Store(d.waiting) }

// Withdraw is the end of a Receive. Owner only.
func (d *pdqs[T]) Withdraw() (*T, Outcome) { return d.withdraw() }

// Dealt returns the item that has been dealt to the owner, which waits, or nil.
func (d *pdqs[T]) Dealt() *T {
	if p := d.cell.Load(); p != d.waiting {
		return p
	}
	return nil
}

// AlwaysRing makes the alarm ring at every operation. Owner only.
func (d *pdqs[T]) AlwaysRing() { d.mean, d.alarm = 0, 0 }

// Delays returns the number of operations before each of the next n alarms. Owner only.
func (d *pdqs[T]) Delays(n int) (all []int) {
	for range n {
		all = append(all, exponential(d.random.next(), d.mean))
	}
	return all
}

// Others returns the members that the next n alarms choose. Owner only.
func (d *pdqs[T]) Others(n int) (all []int) {
	for range n {
		all = append(all, d.another())
	}
	return all
}

// Exponential turns a random number into a number of operations between alarms.
var Exponential = exponential

package deque

// occupied is how many places hold something, those of items that have left included.
func (q *private[T]) occupied() (n int) {
	for _, p := range q.items[:cap(q.items)] {
		if p != nil {
			n++
		}
	}
	return n
}

// Occupied is how many places hold something. Owner only, while no thief is at work.
func (d *pdqr[T]) Occupied() int { return d.own.occupied() + d.Len() }

// Occupied is how many places hold something. Owner only, while nobody deals.
func (d *pdqs[T]) Occupied() int {
	n := d.own.occupied()
	if d.cell.Load() != nil {
		n++
	}
	return n
}

// Private is how many items the owner has for itself. Owner only.
func (d *pdqr[T]) Private() int { return d.own.count() }

// First is where in its slice the owner's items begin. Owner only.
func (d *pdqr[T]) First() int { return d.own.first }

// A PDQRThief is Steal cut into its steps, so that a test decides what happens between them.
type PDQRThief[T any] struct {
	d     *pdqr[T]
	asked bool
	seen  *T
}

// NewPDQRThief returns a thief that has not begun.
func NewPDQRThief[T any](d *pdqr[T]) *PDQRThief[T] { return &PDQRThief[T]{d: d} }

// Step takes one step: a look, a request, or the taking of what was seen. It reports whether a steal is over, and how
// it ended.
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

// Private is how many items the owner has for itself. Owner only.
func (d *pdqs[T]) Private() int { return d.own.count() }

// Wait begins a Receive, and Withdraw ends it. Owner only.
func (d *pdqs[T]) Wait() { d.cell.Store(d.waiting) }

// Withdraw is the end of a Receive. Owner only.
func (d *pdqs[T]) Withdraw() (*T, Outcome) { return d.withdraw() }

// Dealt is what has been dealt to the owner, which waits, or nil.
func (d *pdqs[T]) Dealt() *T {
	if p := d.cell.Load(); p != d.waiting {
		return p
	}
	return nil
}

// AlwaysRing has an alarm ring at every operation. Owner only.
func (d *pdqs[T]) AlwaysRing() { d.mean, d.alarm = 0, 0 }

// Delays is how many operations go by before each of the next n alarms. Owner only.
func (d *pdqs[T]) Delays(n int) (all []int) {
	for range n {
		all = append(all, exponential(d.random.next(), d.mean))
	}
	return all
}

// Others is whom the next n alarms are for. Owner only.
func (d *pdqs[T]) Others(n int) (all []int) {
	for range n {
		all = append(all, d.another())
	}
	return all
}

// Exponential makes a random number into one of operations between alarms.
var Exponential = exponential

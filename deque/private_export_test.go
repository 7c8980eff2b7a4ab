package deque

// Private is how many items the owner has for itself. Owner only.
func (d *PDQR[T]) Private() int { return d.own.count() }

// A PDQRThief is Steal cut into its steps, so that a test decides what happens between them.
type PDQRThief[T any] struct {
	d     *PDQR[T]
	asked bool
	seen  *T
}

// NewPDQRThief returns a thief that has not begun.
func NewPDQRThief[T any](d *PDQR[T]) *PDQRThief[T] { return &PDQRThief[T]{d: d} }

// Step takes one step: a look, a request, or the taking of what was seen. It reports whether a steal is over, and how it
// ended.
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

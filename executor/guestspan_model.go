//go:build modelcheck

package executor

// The model has no time. A guest leaves after a few items.
const guestItems = 3

func (g *guests) mayCome() bool  { return true }
func (g *guests) note(*Worker)   {}
func (g *guest) begin(w *Worker) { g.begun, g.look = w.counts.items, w.counts.items+2 }
func (g *guest) hurry(*Worker)   {}
func (g *guest) isTired(w *Worker) bool {
	return !w.core.guests.stays && w.counts.items-g.begun > guestItems
}

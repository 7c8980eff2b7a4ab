package history

import "fmt"

// The rules for answers that no model of a list gives: lost steals, and lengths that are not exact. They hold for the
// deque and for the queue.

// checkLost: each lost steal has a call that explains it.
func (h *History) checkLost() error {
	blamed := make(map[int]map[*Op]bool) // by thread
	// A thread's calls follow one another. Each lost steal blames, of the overlapping claims not yet blamed, the one
	// that ends first, which is of the least use to later steals. So if there is any assignment, this one is found.
	for i := range h.Ops {
		lost := &h.Ops[i]
		if !lost.Lost {
			continue
		}
		var claim *Op
		grown := false
		for j := range h.Ops {
			o := &h.Ops[j]
			if o.Thread == lost.Thread || !o.overlaps(lost) {
				continue
			}
			grown = grown || o.Grew
			if o.claims() && !blamed[lost.Thread][o] && (claim == nil || o.Return < claim.Return) {
				claim = o
			}
		}
		switch {
		case grown:
		case claim == nil:
			return fmt.Errorf("the steal of thread %d at time %d was lost to nobody", lost.Thread, lost.Call)
		default:
			if blamed[lost.Thread] == nil {
				blamed[lost.Thread] = make(map[*Op]bool)
			}
			blamed[lost.Thread][claim] = true
		}
	}
	return nil
}

// checkLen: each length is possible.
func (h *History) checkLen() error {
	for i := range h.Ops {
		l := &h.Ops[i]
		if l.Kind != Len {
			continue
		}
		least, most := h.Initial, h.Initial
		for j := range h.Ops {
			o := &h.Ops[j]
			before, begun := o.Return < l.Call, o.Call < l.Return
			switch {
			case o.Kind == Push && before:
				least++
				most++
			case o.Kind == Push && begun:
				most++
			case o.removes() && before:
				least--
				most--
			case o.removes() && begun:
				least--
			}
		}
		if l.Len < max(0, least) || l.Len > most {
			return fmt.Errorf("thread %d found a length of %d at time %d, possible are %d to %d",
				l.Thread, l.Len, l.Call, max(0, least), most)
		}
	}
	return nil
}

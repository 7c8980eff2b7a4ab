package history

import (
	"fmt"
	"slices"
)

// Owner is the thread that pushes to a deque and pops from it.
const Owner = 0

// CheckDeque returns an error that says what is wrong with a history of a deque, or nil. The package comment lists the
// rules.
func (h *History) CheckDeque() error {
	return h.check(h.checkOwner, h.checkLost, h.checkLen, func() error {
		return h.checkOrder(dequeModel, h.seenOnceMore)
	})
}

// checkOwner: only the owner pushes and pops.
func (h *History) checkOwner() error {
	for i := range h.Ops {
		if o := &h.Ops[i]; (o.Kind == Push || o.Kind == Pop) && o.Thread != Owner {
			return fmt.Errorf("thread %d is not the owner: %v", o.Thread, o)
		}
	}
	return nil
}

// dequeModel is a queue whose owner pops the newest item first.
func dequeModel(l list, o *Op) (ok bool, next list) {
	if o.Kind != Pop {
		return queueModel(l, o)
	}
	if last := len(l) - 1; o.Item != 0 {
		return last >= 0 && int(l[last]) == o.Item, l[:max(0, last)]
	}
	return l == "", l
}

// seenOnceMore reports whether o may have found an item that was gone: an item that was claimed at the top during o,
// while the owner, which had counted it out, put bottom back.
func (h *History) seenOnceMore(o *Op) bool {
	if !o.Lost && (o.Kind != IsEmpty || o.Empty) {
		return false
	}
	during := func(is func(p *Op) bool) bool {
		return slices.ContainsFunc(h.Ops, func(p Op) bool { return p.Thread != o.Thread && p.overlaps(o) && is(&p) })
	}
	return during((*Op).claims) && during((*Op).putsBack)
}
